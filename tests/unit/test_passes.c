/* Several passes over a grid: samples add up, statuses of later passes count, the first point's penalty. */
#include "unit/made.h"

#include "bench/merge.h"
#include "cli/passes.h"

static struct cell *make(struct results *r, uint64_t median_ns, size_t samples, const size_t *blocks,
                         size_t count)
{
    struct err err = ERR_INIT;
    struct cell *c = made_cell(r, "cpu", MADE_CPU, 64, 32, median_ns, samples);

    c->id = mem_strdup("cpu/64x64/t32/b16", &err);
    c->block_starts = mem_calloc(count, sizeof(*c->block_starts), "blocks", &err);
    memcpy(c->block_starts, blocks, count * sizeof(*blocks));
    c->block_count = count;
    return c;
}

static void test_samples_and_blocks_add_up(void **state)
{
    (void)state;
    struct results first, second;
    struct err err = ERR_INIT;
    const size_t blocks[] = {0, 3};

    made_init(&first);
    made_init(&second);
    struct cell *into = make(&first, 1000, 5, blocks, 2), *more = make(&second, 3000, 6, blocks, 2);
    more->agreement.value[AGREE_VERTICES] = 1e-3;
    assert_true(cell_merge(into, more, &err));
    assert_int_equal(into->sample_count, 11);
    assert_int_equal(into->block_count, 4);
    assert_int_equal(into->block_starts[2], 5);
    assert_int_equal(into->block_starts[3], 8);
    assert_int_equal(into->samples_ns[5], more->samples_ns[0]);
    assert_true(into->median_ns > 2900); /* six of eleven are of the second pass */
    assert_true(into->has_ci && into->ci95_ns[0] <= 1010 && into->ci95_ns[1] >= 2970);
    assert_true(into->agreement.value[AGREE_VERTICES] > 9e-4);
    made_fini(&first);
    made_fini(&second);
}

static void test_a_later_pass_that_is_wrong_takes_the_times(void **state)
{
    (void)state;
    struct results first, second;
    struct err err = ERR_INIT;
    const size_t blocks[] = {0};

    made_init(&first);
    made_init(&second);
    struct cell *into = make(&first, 1000, 8, blocks, 1), *more = make(&second, 1000, 8, blocks, 1);
    made_fail(more, CELL_WRONG, "image 1e-2");
    assert_true(cell_merge(into, more, &err));
    assert_int_equal(into->status, CELL_WRONG);
    assert_string_equal(into->reason, "image 1e-2");
    assert_int_equal(into->sample_count, 0);
    assert_false(into->has_ci);
    made_fini(&first);
    made_fini(&second);
}

static void test_medians_of_passes(void **state)
{
    (void)state;
    struct passes p;
    struct err err = ERR_INIT;
    struct cell cell = {.status = CELL_OK};
    const uint64_t medians[3][2] = {{120, 100}, {100, 100}, {100, 103}};
    const char *const ids[] = {"a", "b"};
    struct results r;

    assert_true(passes_init(&p, 3, 2, &err));
    for (; p.now < 3; p.now++)
        for (size_t i = 0; i < 2; i++) {
            assert_false(passes_skip(&p, i));
            cell.median_ns = medians[p.now][i];
            passes_note(&p, i, &cell);
        }
    assert_true(fabs(passes_first_penalty(&p, 1) - 0.2) < 1e-9);
    assert_true(fabs(passes_first_penalty(&p, 2) - (sqrt(1.2 * 100 / 101) - 1)) < 1e-9);
    made_init(&r);
    passes_record(&p, ids, &r);
    const struct json *list = json_get(json_get(json_get(r.head, "passes"), "medians_ns"), "b");
    assert_int_equal(json_count(list), 3);
    assert_int_equal(json_number(json_at(list, 2)), 103);
    made_fini(&r);
    passes_fini(&p);
}

static void test_what_failed_is_not_repeated(void **state)
{
    (void)state;
    struct passes p;
    struct err err = ERR_INIT;
    struct cell cell = {.status = CELL_FAILED, .median_ns = 7};

    assert_true(passes_init(&p, 2, 1, &err));
    passes_note(&p, 0, &cell);
    p.now = 1;
    assert_true(passes_skip(&p, 0));
    assert_true(isnan(passes_first_penalty(&p, 1)));
    passes_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_and_blocks_add_up),
        cmocka_unit_test(test_a_later_pass_that_is_wrong_takes_the_times),
        cmocka_unit_test(test_medians_of_passes),
        cmocka_unit_test(test_what_failed_is_not_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
