#include "unit/made.h"

#include "report/decide.h"

static struct decide_question question(uint32_t size, uint32_t triangles)
{
    struct decide_question q = {.has_triangles = triangles > 0};

    spec_init(&q.spec);
    q.spec.width = q.spec.height = size;
    q.spec.triangles = triangles;
    return q;
}

static struct decision ask(const struct results *r, uint32_t size, uint32_t triangles)
{
    struct decide_question q = question(size, triangles);
    struct err err = ERR_INIT;
    struct decision d;

    assert_true(decide(r, &q, &d, &err));
    return d;
}

static void test_a_measured_point_is_its_own_answer(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_crossover(&r, MADE_GPU, 10);
    struct decision d = ask(&r, 64, 32);
    assert_int_equal(d.basis, DECIDE_MEASURED);
    assert_int_equal(d.winner->device, MADE_CPU);
    assert_int_equal(d.confidence, CONFIDENCE_HIGH);
    assert_true(d.low == d.high && d.outside == 0);
    assert_true(fabs(d.winner_ns - (100 + 64 * 64 * 32)) < 1);
    assert_true(fabs(d.margin.value - d.other_ns / d.winner_ns) < 1e-9);
    d = ask(&r, 256, 512);
    assert_int_equal(d.winner->device, MADE_GPU);
    assert_int_equal(d.margin.verdict, RATIO_SECOND);
    made_fini(&r);
}

/* Times that are powers of both axes are interpolated without an error. */
static void test_power_laws_are_interpolated_exactly(void **state)
{
    static const uint32_t sizes[] = {64, 256}, triangles[] = {32, 512};
    struct results r;
    (void)state;
    made_init(&r);
    for (size_t s = 0; s < 2; s++)
        for (size_t t = 0; t < 2; t++) {
            made_cell(&r, "cpu", MADE_CPU, sizes[s], triangles[t], 10ull * sizes[s] * sizes[s] * triangles[t],
                      10);
            made_cell(&r, "device", MADE_GPU, sizes[s], triangles[t], 1000ull * sizes[s] * triangles[t], 10);
        }
    struct decision d = ask(&r, 200, 100);
    assert_int_equal(d.basis, DECIDE_INTERPOLATED);
    assert_int_equal(d.winner->device, MADE_GPU);
    assert_true(fabs(d.winner_ns / (1000.0 * 200 * 100) - 1) < 1e-9);
    assert_true(fabs(d.other_ns / (10.0 * 200 * 200 * 100) - 1) < 1e-9);
    assert_true(fabs(d.margin.value - 2) < 1e-9);
    assert_true(d.margin.ci95[0] > 1.9 && d.margin.ci95[1] < 2.1);
    /* At 64 the CPU wins, at 256 the device: they do not agree. */
    assert_int_equal(d.confidence, CONFIDENCE_LOW);
    d = ask(&r, 100, 64);
    assert_int_equal(d.margin.verdict, RATIO_TIE);
    made_fini(&r);
}

/* The nearest points count, and a gap in the grid is bridged by a larger box. */
static void test_the_smallest_box_is_taken(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_crossover(&r, MADE_GPU, 10);
    struct decision d = ask(&r, 100, 512);
    assert_int_equal(d.low->spec.width, 64);
    assert_int_equal(d.high->spec.width, 128);
    for (size_t i = 0; i < r.cell_count; i++)
        if (r.cells[i].spec.width == 128 && r.cells[i].spec.triangles == 512)
            r.cells[i].status = CELL_TIMEOUT;
    d = ask(&r, 100, 512);
    assert_int_equal(d.low->spec.width, 64);
    assert_int_equal(d.high->spec.width, 256);
    made_fini(&r);
}

static void test_outside_nothing_is_claimed(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_crossover(&r, MADE_GPU, 10);
    struct decision d = ask(&r, 1024, 128);
    assert_int_equal(d.basis, DECIDE_NEAREST);
    assert_int_equal(d.confidence, CONFIDENCE_NONE);
    assert_int_equal(d.outside, 1u << SURFACE_SIZE);
    assert_int_equal(d.at.width, 256);
    assert_true(fabs(d.measured[SURFACE_SIZE][0] - 64) < 1e-9 &&
                fabs(d.measured[SURFACE_SIZE][1] - 256) < 1e-9);
    struct decide_question q = question(64, 32);
    struct err err = ERR_INIT;
    q.spec.sigma = 0.02f;
    q.spec.batch = 1;
    assert_true(decide(&r, &q, &d, &err));
    assert_int_equal(d.outside, 1u << SURFACE_BATCH | 1u << SURFACE_SIGMA);
    made_fini(&r);
}

static void test_few_samples_leave_it_open(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_crossover(&r, MADE_GPU, 3);
    struct decision d = ask(&r, 64, 32);
    assert_false(d.margin.has_ci);
    assert_int_equal(d.confidence, CONFIDENCE_LOW);
    made_fini(&r);
}

static void test_one_device_alone_is_no_contest(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 1000000, 10);
    struct decision d = ask(&r, 64, 32);
    assert_int_equal(d.basis, DECIDE_NOTHING);
    assert_null(d.winner);
    made_fini(&r);
}

/* Another line of the winner's device is not who it is held against. */
static void test_the_margin_is_over_another_device(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 9000000, 10);
    made_cell(&r, "fused", MADE_GPU, 64, 32, 1000000, 10);
    made_cell(&r, "taped", MADE_GPU, 64, 32, 2000000, 10)->spec.strategy = STRATEGY_TAPED;
    struct decision d = ask(&r, 64, 32);
    assert_string_equal(d.winner->backend, "fused");
    assert_string_equal(d.other->backend, "cpu");
    assert_true(fabs(d.margin.value - 9) < 1e-9);
    made_fini(&r);
}

static void test_the_call_is_that_of_the_question(void **state)
{
    struct results r;
    struct err err = ERR_INIT;
    struct decision d;
    (void)state;
    made_init(&r);
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 4000000, 10);
    made_cell(&r, "device", MADE_GPU, 64, 32, 8000000, 10)->spec.call = CALL_LOADER;
    made_cell(&r, "device", MADE_GPU, 64, 32, 1000000, 10)->spec.call = CALL_RESIDENT;
    struct decide_question q = question(64, 32);
    assert_true(decide(&r, &q, &d, &err));
    assert_int_equal(d.winner->device, MADE_CPU);
    q.spec.call = CALL_RESIDENT;
    q.by_call = true;
    assert_true(decide(&r, &q, &d, &err));
    assert_int_equal(d.winner->device, MADE_GPU);
    made_fini(&r);
}

/* Scenes of 32 and 512 triangles at two sizes, a triangle covering a sixteenth of the pixels; the CPU takes
 * 10 ns a pair, the device 1 ms and 1 ns a pair. */
static void test_scenes_of_another_source_are_no_contenders(void **state)
{
    struct results r;
    struct decide_question question = {.has_triangles = true};
    struct decision d;
    struct err err = ERR_INIT;
    (void)state;
    made_init(&r);
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 1000, 20);
    made_cell(&r, "device", MADE_GPU, 64, 32, 2000, 20);
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 500, 20)->spec.source = SOURCE_FILE;
    made_cell(&r, "device", MADE_GPU, 64, 32, 100, 20)->spec.source = SOURCE_FILE;
    spec_init(&question.spec);
    question.spec.width = question.spec.height = 64;
    question.spec.triangles = 32;
    assert_true(decide(&r, &question, &d, &err));
    assert_ptr_equal(d.winner, &r.cells[0]);
    question.by_source = true;
    question.spec.source = SOURCE_FILE;
    assert_true(decide(&r, &question, &d, &err));
    assert_ptr_equal(d.winner, &r.cells[3]);
    made_fini(&r);
}

static void made_pairs(struct results *r)
{
    made_init(r);
    for (uint32_t size = 64; size <= 256; size *= 4)
        for (uint32_t triangles = 32; triangles <= 512; triangles *= 16) {
            const uint64_t pairs = (uint64_t)size * size * triangles / 16 * 16;
            made_cell(r, "cpu", MADE_CPU, size, triangles, 10 * pairs, 10)->pairs = pairs;
            made_cell(r, "device", MADE_GPU, size, triangles, 1000000 + pairs, 10)->pairs = pairs;
        }
    for (size_t i = 0; i < r->cell_count; i++)
        r->cells[i].spec.batch = 16;
}

static struct decision ask_pairs(const struct results *r, uint32_t size, double pairs, uint32_t triangles)
{
    struct decide_question q = question(size, triangles);
    struct err err = ERR_INIT;
    struct decision d;

    q.spec.batch = 16;
    q.pairs = pairs;
    assert_true(decide(r, &q, &d, &err));
    return d;
}

static void test_pairs_stand_for_as_many_triangles(void **state)
{
    struct results r;
    (void)state;
    made_pairs(&r);
    struct decision d = ask_pairs(&r, 128, 128 * 128 * 100, 0);
    assert_int_equal(d.basis, DECIDE_INTERPOLATED);
    assert_int_equal(d.at.triangles, 100);
    assert_true(fabs(d.pairs / (128 * 128 * 100) - 1) < 1e-9);
    assert_true(fabs(fmax(d.winner_ns, d.other_ns) / (10.0 * 128 * 128 * 100) - 1) < 1e-6);
    d = ask_pairs(&r, 64, 64 * 64 * 512, 0);
    assert_int_equal(d.basis, DECIDE_MEASURED);
    assert_int_equal(d.at.triangles, 512);
    assert_int_equal(d.winner->device, MADE_GPU);
    made_fini(&r);
}

static void test_more_pairs_than_measured_are_outside(void **state)
{
    struct results r;
    (void)state;
    made_pairs(&r);
    struct decision d = ask_pairs(&r, 64, 64 * 64 * 16 * 33, 0);
    assert_int_equal(d.basis, DECIDE_NEAREST);
    assert_int_equal(d.outside, 1u << DECIDE_PAIRS);
    assert_int_equal(d.at.triangles, 512);
    assert_true(fabs(d.measured[DECIDE_PAIRS][1] - 32) < 1e-9);
    made_fini(&r);
}

/* Many triangles that cover little: by pairs the CPU wins, by triangles the device. */
static void test_pairs_and_triangles_that_disagree_leave_it_open(void **state)
{
    struct results r;
    (void)state;
    made_pairs(&r);
    struct decision d = ask_pairs(&r, 64, 64 * 64 * 32, 0);
    assert_int_equal(d.winner->device, MADE_GPU);
    for (size_t i = 0; i < r.cell_count; i++)
        if (r.cells[i].spec.triangles == 32 && r.cells[i].device == MADE_GPU) {
            r.cells[i].median_ns *= 10;
            for (size_t s = 0; s < r.cells[i].sample_count; s++)
                r.cells[i].samples_ns[s] *= 10;
        }
    d = ask_pairs(&r, 64, 64 * 64 * 32, 0);
    assert_int_equal(d.winner->device, MADE_CPU);
    assert_int_equal(d.confidence, CONFIDENCE_HIGH);
    assert_null(d.by_triangles);
    d = ask_pairs(&r, 64, 64 * 64 * 32, 32);
    assert_int_equal(d.confidence, CONFIDENCE_HIGH);
    d = ask_pairs(&r, 64, 64 * 64 * 32, 512);
    assert_int_equal(d.winner->device, MADE_CPU);
    assert_int_equal(d.by_triangles->device, MADE_GPU);
    assert_int_equal(d.confidence, CONFIDENCE_LOW);
    made_fini(&r);
}

static void test_rule_of_thumb(void **state)
{
    struct results r;
    struct decide_question large = question(64, 32), small = question(32, 32);
    (void)state;
    made_init(&r);
    assert_true(decide_by_thumb(&r.devices[MADE_GPU], &large));
    assert_false(decide_by_thumb(&r.devices[MADE_GPU], &small));
    assert_false(decide_by_thumb(&r.devices[MADE_POCL], &large));
    small.pairs = DECIDE_THUMB_PAIRS;
    assert_true(decide_by_thumb(&r.devices[MADE_GPU], &small));
    large.pairs = DECIDE_THUMB_PAIRS - 1;
    assert_false(decide_by_thumb(&r.devices[MADE_GPU], &large));
    large.pairs = 0;
    r.devices[MADE_GPU].host_unified = true;
    assert_false(decide_by_thumb(&r.devices[MADE_GPU], &large));
    made_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_measured_point_is_its_own_answer),
        cmocka_unit_test(test_power_laws_are_interpolated_exactly),
        cmocka_unit_test(test_the_smallest_box_is_taken),
        cmocka_unit_test(test_outside_nothing_is_claimed),
        cmocka_unit_test(test_few_samples_leave_it_open),
        cmocka_unit_test(test_one_device_alone_is_no_contest),
        cmocka_unit_test(test_the_margin_is_over_another_device),
        cmocka_unit_test(test_the_call_is_that_of_the_question),
        cmocka_unit_test(test_scenes_of_another_source_are_no_contenders),
        cmocka_unit_test(test_pairs_stand_for_as_many_triangles),
        cmocka_unit_test(test_more_pairs_than_measured_are_outside),
        cmocka_unit_test(test_pairs_and_triangles_that_disagree_leave_it_open),
        cmocka_unit_test(test_rule_of_thumb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
