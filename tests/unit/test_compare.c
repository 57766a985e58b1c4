/* Two runs side by side: which cells belong together, verdicts, causes, what is said about machines. */
#include "unit/made.h"

#include "bench/stats.h"
#include "model/rng.h"
#include "report/compare.h"

static void name_cells(struct results *r)
{
    struct err err = ERR_INIT;

    for (size_t i = 0; i < r->cell_count; i++) {
        struct cell *c = &r->cells[i];
        char id[128];
        snprintf(id, sizeof(id), "%s/%ux%u/t%u/b%u", c->backend, c->spec.width, c->spec.height,
                 c->spec.triangles, c->spec.batch);
        free(c->id);
        c->id = mem_strdup(id, &err);
        assert_non_null(c->id);
    }
}

/* The nine cells on both devices, a CPU's time and a GPU's scaled. */
static void make(struct results *r, double cpu, double gpu)
{
    made_init(r);
    made_crossover(r, MADE_GPU, 40);
    for (size_t i = 0; i < r->cell_count; i++) {
        struct cell *c = &r->cells[i];
        const double factor = c->device == MADE_CPU ? cpu : gpu;
        c->median_ns = (uint64_t)((double)c->median_ns * factor);
        for (size_t k = 0; k < c->sample_count; k++)
            c->samples_ns[k] = (uint64_t)((double)c->samples_ns[k] * factor);
    }
    name_cells(r);
}

/* Canary readings of every point; those of the GPU times a factor, and unsteady by `noise`. */
static void add_canary(struct results *r, double cpu, double gpu, double noise)
{
    struct json *records = json_set_array(r->head, "environment");

    for (size_t i = 0; i < 8; i++) {
        struct json *canary = json_set_array(json_add_object(records), "canary");
        const double wobble = 1 + noise * ((double)(i % 4) - 1.5);
        const char *const names[] = {"cpu", "ocl:0:0"};
        for (size_t k = 0; k < 2; k++) {
            struct json *entry = json_add_object(canary);
            const double factor = wobble * (k ? gpu : cpu);
            json_set_string(entry, "on", names[k]);
            json_set_number(entry, "arithmetic_ns", 1e6 * factor);
            json_set_number(entry, "memory_ns", 2e6 * factor);
            json_set_number(entry, "launch_ns", 1e4);
        }
    }
}

static void compare(const struct results *a, const struct results *b, struct comparison *c)
{
    struct err err = ERR_INIT;
    assert_true(compare_runs(a, b, c, &err));
}

static size_t count(const struct comparison *c, enum compare_verdict verdict)
{
    size_t n = 0;

    for (size_t i = 0; i < c->cell_count; i++)
        n += c->cells[i].verdict == verdict;
    return n;
}

static char *text_of(const struct comparison *c)
{
    struct table *tables = NULL;
    size_t tables_count = 0;
    struct err err = ERR_INIT;

    assert_true(comparison_table(c, &tables, &tables_count, &err));
    char *text = made_text(&tables[0], 200, false);
    tables_free(tables, tables_count);
    return text;
}

static void test_a_run_is_the_same_as_itself(void **state)
{
    (void)state;
    struct results a;
    struct comparison c;

    make(&a, 1, 1);
    compare(&a, &a, &c);
    assert_int_equal(c.cell_count, 18);
    assert_int_equal(count(&c, COMPARE_SAME), 18);
    assert_true(fabs(c.ratio - 1) < 1e-9);
    assert_true(c.ci95[0] < 1 && c.ci95[1] > 1);
    comparison_fini(&c);
    made_fini(&a);
}

/* However unsteady its machine was; another run with the same medians is another matter. */
static void test_a_noisy_run_is_the_same_as_itself(void **state)
{
    (void)state;
    struct results a, b;
    struct comparison c;

    make(&a, 1, 1);
    make(&b, 1, 1);
    add_canary(&a, 1, 1, 0.1);
    add_canary(&b, 1, 1, 0.1);
    json_set_string(a.head, "created", "2026-01-02T03:04:05+00:00");
    json_set_string(b.head, "created", "2026-01-02T03:04:05+00:00");
    compare(&a, &b, &c);
    assert_true(c.itself);
    assert_int_equal(count(&c, COMPARE_SAME), 18);
    char *text = text_of(&c);
    assert_non_null(strstr(text, "A and B are one run"));
    free(text);
    comparison_fini(&c);
    b.cells[3].samples_ns[1]++;
    compare(&a, &b, &c);
    assert_false(c.itself);
    assert_int_equal(count(&c, COMPARE_CANNOT_TELL), 18);
    comparison_fini(&c);
    made_fini(&a);
    made_fini(&b);
}

static void test_changes_have_their_direction_and_size(void **state)
{
    (void)state;
    struct results a, b;
    struct comparison c;

    make(&a, 1, 1);
    make(&b, 1.5, 0.5);
    compare(&a, &b, &c);
    assert_int_equal(count(&c, COMPARE_SLOWER), 9);
    assert_int_equal(count(&c, COMPARE_FASTER), 9);
    for (size_t i = 0; i < c.device_count; i++)
        assert_true(fabs(c.devices[i].ratio - (c.devices[i].device == MADE_CPU ? 1.5 : 0.5)) < 0.02);
    comparison_fini(&c);
    made_fini(&a);
    made_fini(&b);
}

static void test_verdicts_by_intervals(void **state)
{
    (void)state;
    static const struct {
        double ci[2];
        enum compare_verdict verdict;
    } cases[] = {{{0.97, 1.04}, COMPARE_SAME},      {{1.06, 1.2}, COMPARE_SLOWER},
                 {{0.5, 0.94}, COMPARE_FASTER},     {{1.02, 1.08}, COMPARE_CANNOT_TELL},
                 {{0.9, 1.2}, COMPARE_CANNOT_TELL}, {{0.93, 0.99}, COMPARE_CANNOT_TELL}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(compare_judge(cases[i].ci), cases[i].verdict);
}

/* Samples of a median with this spread around a factor. */
static void draw(struct cell *cell, double factor, double spread, struct rng *rng)
{
    struct err err = ERR_INIT;

    for (size_t i = 0; i < cell->sample_count; i++) {
        double sum = -6;
        for (int k = 0; k < 12; k++)
            sum += (double)rng_uniform(rng);
        cell->samples_ns[i] = (uint64_t)(1e6 * factor * (1 + spread * sum));
    }
    assert_true(stats_median(cell->samples_ns, cell->sample_count, &cell->median_ns, &err));
}

/* Of 200 pairs that differ by exactly what the pair's verdict says it sees, 95 of 100 are told; of as many
 * that do not differ none is called slower or faster. */
static void test_the_smallest_change_told_is_true(void **state)
{
    (void)state;
    struct results a, b;
    struct rng rng;
    unsigned told = 0, alarms = 0;

    made_init(&a);
    made_init(&b);
    made_cell(&a, "cpu", MADE_CPU, 64, 32, 1000000, 40);
    made_cell(&b, "cpu", MADE_CPU, 64, 32, 1000000, 40);
    name_cells(&a);
    name_cells(&b);
    rng_init(&rng, 9, 9);
    for (int run = 0; run < 200; run++) {
        struct comparison c;
        draw(&a.cells[0], 1, 0.03, &rng);
        draw(&b.cells[0], 1, 0.03, &rng);
        compare(&a, &b, &c);
        const double sees = c.cells[0].detectable;
        alarms += c.cells[0].verdict == COMPARE_SLOWER || c.cells[0].verdict == COMPARE_FASTER;
        comparison_fini(&c);
        draw(&b.cells[0], 1 + sees, 0.03, &rng);
        compare(&a, &b, &c);
        told += c.cells[0].verdict == COMPARE_SLOWER;
        comparison_fini(&c);
    }
    assert_int_equal(alarms, 0);
    assert_in_range(told, 190, 200);
    made_fini(&a);
    made_fini(&b);
}

static void test_few_samples_tell_nothing(void **state)
{
    (void)state;
    struct results a, b;
    struct comparison c;

    made_init(&a);
    made_init(&b);
    made_cell(&a, "cpu", MADE_CPU, 64, 32, 1000, 2);
    made_cell(&b, "cpu", MADE_CPU, 64, 32, 9000, 1);
    name_cells(&a);
    name_cells(&b);
    compare(&a, &b, &c);
    assert_int_equal(c.cells[0].verdict, COMPARE_CANNOT_TELL);
    char *text = text_of(&c);
    assert_non_null(strstr(text, "under 6 samples"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    free(text);
    comparison_fini(&c);
    made_fini(&a);
    made_fini(&b);
}

/* What the canary says of the machine is no change of the program. */
static void test_canary(void **state)
{
    (void)state;
    struct results a, b;
    struct comparison c;

    make(&a, 1, 1);
    make(&b, 1.2, 1.2);
    add_canary(&a, 1, 1, 0);
    add_canary(&b, 1.2, 1, 0); /* the CPU is slower by itself, the GPU is not */
    compare(&a, &b, &c);
    assert_int_equal(count(&c, COMPARE_CANNOT_TELL), 9);
    assert_int_equal(count(&c, COMPARE_SLOWER), 9);
    char *text = text_of(&c);
    assert_non_null(strstr(text, "CPU: the machine itself became 20 % slower"));
    free(text);
    comparison_fini(&c);
    made_fini(&b);

    make(&b, 1.2, 1.2);
    add_canary(&b, 1, 1, 0.1); /* unsteady by about 10 % */
    compare(&a, &b, &c);
    assert_int_equal(count(&c, COMPARE_SLOWER), 0);
    text = text_of(&c);
    assert_non_null(strstr(text, "unsteady by"));
    free(text);
    comparison_fini(&c);
    made_fini(&a);
    made_fini(&b);
}

static void test_other_grids_and_other_work(void **state)
{
    (void)state;
    struct results a, b;
    struct comparison c;
    struct err err = ERR_INIT;

    make(&a, 1, 1);
    make(&b, 1, 1);
    /* Another axis gives another id; the same work is found all the same. */
    free(b.cells[0].id);
    b.cells[0].id = mem_strdup("cpu/64x64/t32/b16/sigma=0.01", &err);
    b.cells[1].spec.sigma = 0.02f;
    b.cells[2].pairs = 1000;
    a.cells[2].pairs = 1001;
    b.cells[3].spec.batch = 99;
    name_cells(&a);
    free(b.cells[3].id);
    b.cells[3].id = mem_strdup("device/64x64/t128/b99", &err);
    strcpy(b.devices[MADE_GPU].path, "local");
    b.devices[MADE_POCL].path[0] = '\0';
    compare(&a, &b, &c);
    assert_int_equal(c.cell_count, 17);
    assert_int_equal(count(&c, COMPARE_OTHER_WORK), 2);
    assert_int_equal(c.cells[0].verdict, COMPARE_SAME);
    char *text = text_of(&c);
    assert_non_null(strstr(text, "    H200 [0:0 ptx]    PoCL [1:0 cpu]\n"));
    assert_non_null(strstr(text, "    H200 [0:0 local]    PoCL [1:0]\n"));
    assert_non_null(strstr(text, "only in A: device/64x64/t128/b16"));
    assert_non_null(strstr(text, "only in B: device/64x64/t128/b99"));
    assert_non_null(strstr(text, "sigma 0.01 -> 0.02"));
    assert_non_null(strstr(text, "pairs 1001 -> 1000"));
    free(text);
    comparison_fini(&c);
    made_fini(&a);
    made_fini(&b);
}

static void test_a_cell_without_a_time(void **state)
{
    (void)state;
    struct results a, b;
    struct comparison c;

    make(&a, 1, 1);
    make(&b, 1, 1);
    made_fail(&b.cells[4], CELL_WRONG, "image 1e-2, allowed 1e-5");
    compare(&a, &b, &c);
    assert_int_equal(c.cells[4].verdict, COMPARE_STATUS);
    char *text = text_of(&c);
    assert_non_null(strstr(text, "ok -> wrong: image 1e-2"));
    free(text);
    comparison_fini(&c);
    made_fini(&a);
    made_fini(&b);
}

static void test_the_device_is_what_differs(void **state)
{
    (void)state;
    struct results a, b;
    struct comparison c;

    make(&a, 1, 1);
    make(&b, 1.01, 1.5);
    snprintf(b.devices[MADE_GPU].name, sizeof(b.devices[MADE_GPU].name), "NVIDIA L4");
    compare(&a, &b, &c);
    assert_false(c.same_machine);
    char *text = text_of(&c);
    assert_non_null(strstr(text, "the device is what differs"));
    free(text);
    comparison_fini(&c);
    made_fini(&b);
    make(&b, 1.5, 1.5);
    compare(&a, &b, &c);
    text = text_of(&c);
    assert_null(strstr(text, "is what differs"));
    free(text);
    comparison_fini(&c);
    made_fini(&a);
    made_fini(&b);
}

static bool has_cause(const struct compare_cell *cell, const char *text)
{
    for (size_t i = 0; i < cell->cause_count; i++)
        if (strstr(cell->causes[i].text, text))
            return true;
    return false;
}

static void test_causes(void **state)
{
    (void)state;
    struct results a, b;
    struct comparison c;

    make(&a, 1, 1);
    make(&b, 1.5, 1.5);
    for (size_t i = 0; i < a.cell_count; i++) {
        made_phases(&a.cells[i], 1000000);
        made_phases(&b.cells[i], 1000000);
        /* Upload takes 0.5 ms more, with twice the bytes. */
        b.cells[i].phases.upload_ns += 500000;
        b.cells[i].phases.total_ns += 500000;
        a.cells[i].counts.bytes_up = 1000;
        b.cells[i].counts.bytes_up = 2000;
    }
    b.cells[1].spec.pool = false;
    b.devices[MADE_CPU].threads = 1;
    json_set_string(json_set_object(json_set_object(b.head, "machine"), "environment"), "OMP_PROC_BIND",
                    "spread");
    compare(&a, &b, &c);
    assert_true(has_cause(&c.cells[0], "upload 200 us -> 700 us, 100 % of the difference"));
    assert_true(has_cause(&c.cells[0], "bytes up 1000 -> 2000"));
    assert_true(has_cause(&c.cells[0], "threads 2 -> 1"));
    assert_true(has_cause(&c.cells[0], "OMP_PROC_BIND unset -> spread"));
    assert_false(has_cause(&c.cells[0], "pool"));
    assert_true(has_cause(&c.cells[1], "pool on -> off"));
    assert_false(has_cause(&c.cells[1], "threads"));
    comparison_fini(&c);
    made_fini(&a);
    made_fini(&b);
}

static void test_json(void **state)
{
    (void)state;
    struct results a, b;
    struct comparison c;
    struct strbuf text = STRBUF_INIT;
    struct err err = ERR_INIT;

    make(&a, 1, 1);
    make(&b, 1, 2);
    made_fail(&b.cells[0], CELL_FAILED, "a \"driver\"\nfailed");
    compare(&a, &b, &c);
    assert_true(comparison_json(&c, &text, &err));
    struct json *root = json_parse(text.data, text.len, "the report", &err);
    assert_non_null(root);
    assert_string_equal(json_string(json_get(root, "schema")), "gpubench-compare");
    assert_int_equal(json_count(json_get(root, "cells")), 18);
    const struct json *cell = json_at(json_get(root, "cells"), 1);
    assert_string_equal(json_string(json_get(cell, "verdict")), "slower");
    assert_true(fabs(json_number(json_get(cell, "ratio")) - 2) < 0.01);
    assert_int_equal(json_type(json_get(json_at(json_get(root, "cells"), 0), "ratio")), JSON_NULL);
    json_free(root);
    strbuf_fini(&text);
    comparison_fini(&c);
    made_fini(&a);
    made_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run_is_the_same_as_itself),
        cmocka_unit_test(test_a_noisy_run_is_the_same_as_itself),
        cmocka_unit_test(test_changes_have_their_direction_and_size),
        cmocka_unit_test(test_verdicts_by_intervals),
        cmocka_unit_test(test_the_smallest_change_told_is_true),
        cmocka_unit_test(test_few_samples_tell_nothing),
        cmocka_unit_test(test_canary),
        cmocka_unit_test(test_other_grids_and_other_work),
        cmocka_unit_test(test_a_cell_without_a_time),
        cmocka_unit_test(test_the_device_is_what_differs),
        cmocka_unit_test(test_causes),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
