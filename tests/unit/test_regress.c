/* The regression check on runs made in memory: what fails it and what does not. */
#include "unit/regress_runs.h"

static void test_a_baseline_keeps_the_medians_of_its_processes(void **state)
{
    (void)state;
    struct results b;
    uint64_t *medians;
    size_t count;
    struct err err = ERR_INIT;

    make_baseline(&b, 0.01);
    assert_int_equal(baseline_processes(&b), 5);
    assert_int_equal(b.cell_count, CELLS);
    assert_int_equal(b.cells[0].median_ns, 1000000);
    assert_int_equal(json_count(json_get(b.head, "environment")), 5);
    assert_true(baseline_medians(&b, &b.cells[0], &medians, &count, &err));
    assert_int_equal(count, 5);
    assert_int_equal(medians[0], 980000);
    assert_int_equal(medians[4], 1020000);
    free(medians);
    results_fini(&b);
}

static void test_a_baseline_is_right_throughout(void **state)
{
    (void)state;
    struct results runs[5], b;
    struct err err = ERR_INIT;

    for (size_t i = 0; i < 5; i++)
        make(&runs[i], 1);
    made_fail(&runs[3].cells[1], CELL_WRONG, "image 1e-2");
    assert_false(baseline_make(runs, 5, 5, &b, &err));
    assert_int_equal(err.code, ERR_WRONG);
    assert_non_null(strstr(err.text, "device/64x64/t64/b16 is wrong (image 1e-2)"));
    err_fini(&err);
    runs[3].cells[1].status = CELL_SKIPPED;
    assert_false(baseline_make(runs, 5, 5, &b, &err));
    err_fini(&err);
    for (size_t i = 0; i < 5; i++)
        runs[i].cells[1].status = CELL_SKIPPED;
    assert_true(baseline_make(runs, 5, 5, &b, &err));
    results_fini(&b);
    runs[4].cell_count--;
    assert_false(baseline_make(runs, 5, 5, &b, &err));
    assert_non_null(strstr(err.text, "was not measured in every process"));
    err_fini(&err);
    runs[4].cell_count++;
    for (size_t i = 0; i < 5; i++)
        made_fini(&runs[i]);
}

static void test_the_same_passes(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 1.02);
    start(&r, &b, &now);
    assert_int_equal(suspects(&r), 0);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SAME], CELLS);
    assert_int_equal(r.compared, CELLS);
    assert_true(r.cells[0].detectable > 0.05 && r.cells[0].detectable < 0.2);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

/* A baseline measures more processes of what differs, as long as that can help. */
static void test_a_baseline_that_is_unsure(void **state)
{
    (void)state;
    static const double steps[] = {0.001, 0.02};
    for (size_t i = 0; i < 2; i++) {
        struct results b;
        struct regression r;
        make_baseline(&b, steps[i]);
        start(&r, &b, &b);
        assert_int_equal(regress_unsure(&r, JUDGE_MOST, b.cells[0].id), i == 1);
        assert_false(regress_unsure(&r, 1, b.cells[0].id));
        regress_fini(&r);
        results_fini(&b);
    }
}

static void test_more_processes_of_some_cells(void **state)
{
    (void)state;
    struct results runs[7], b;
    struct err err = ERR_INIT;
    uint64_t *medians;
    size_t count;

    for (size_t i = 0; i < 7; i++)
        make(&runs[i], 1 + (double)i / 100);
    runs[5].cell_count = 1;
    runs[6].cell_count = 2;
    assert_true(baseline_make(runs, 5, 7, &b, &err));
    assert_int_equal(baseline_processes(&b), 5);
    const size_t want[CELLS] = {7, 6, 5, 5};
    for (size_t i = 0; i < CELLS; i++) {
        assert_true(baseline_medians(&b, &b.cells[i], &medians, &count, &err));
        assert_int_equal(count, want[i]);
        free(medians);
    }
    assert_int_equal(b.cells[0].median_ns, 1030000);
    results_fini(&b);
    runs[5].cell_count = runs[6].cell_count = CELLS;
    for (size_t i = 0; i < 7; i++)
        made_fini(&runs[i]);
}

/* More work that also takes longer is slower, with the counts as its cause; a little longer, and counts are
 * all there is to say. */
static void test_more_work(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 1.25);
    for (size_t i = 0; i < CELLS; i++)
        now.cells[i].pairs = 1250000;
    start(&r, &b, &now);
    assert_int_equal(suspects(&r), CELLS);
    for (int i = 0; i < 3; i++)
        again(&r, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SLOWER], CELLS);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "pairs 1000000 -> 1250000 (measured)"));
    free(text);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

static void test_a_machine_that_is_faster_itself(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 0.7);
    start(&r, &b, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_FASTER], CELLS);
    regress_fini(&r);
    add_canary(&now, 0.7);
    start(&r, &b, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_CANNOT_TELL], CELLS);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

/* A file from elsewhere is not measured again; all of its interval must be over the limit. */
static void test_a_file_is_judged_as_it_is(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 1.3);
    for (size_t k = 0; k < now.cells[0].sample_count; k++)
        now.cells[0].samples_ns[k] = k % 2 ? 900000 : 1700000;
    start(&r, &b, &now);
    finish(&r);
    assert_int_equal(r.cells[0].verdict, CHECK_CANNOT_TELL);
    assert_int_equal(r.by_verdict[CHECK_SLOWER], CELLS - 1);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

static void test_a_noisy_baseline_cannot_tell(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;
    struct err err = ERR_INIT;

    make_baseline(&b, 0.08);
    make(&now, 1.2);
    start(&r, &b, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_CANNOT_TELL], CELLS);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "cannot tell 5.0 % in 4 cells"));
    assert_non_null(strstr(text, "or allow more (--threshold 38%)")); /* 3 * 0.08 * sqrt(2.5) */
    free(text);
    regress_fini(&r);
    /* What is advised is enough. */
    assert_true(regress_init(&r, &b, &now, 0.38, &err));
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SAME], CELLS);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

/* A file of one process is no baseline: its spread is assumed. Twice as slow is slower all the same. */
static void test_a_file_as_baseline(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make(&b, 1);
    make(&now, 1.2);
    now.cells[1].median_ns *= 2;
    for (size_t k = 0; k < now.cells[1].sample_count; k++)
        now.cells[1].samples_ns[k] *= 2;
    start(&r, &b, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_CANNOT_TELL], CELLS - 1);
    assert_int_equal(r.cells[1].verdict, CHECK_SLOWER);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "the baseline holds 1 process, and 5 are needed"));
    free(text);
    regress_fini(&r);
    made_fini(&now);
    made_fini(&b);
}

static void test_counts_are_exact(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 1);
    now.cells[0].counts.dispatches = 3;
    now.cells[1].counts.pool_misses = 1;
    now.cells[2].pairs = 1000009; /* within 1e-5 */
    now.cells[3].pairs = 1000011;
    start(&r, &b, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_COUNTS], 3);
    assert_int_equal(r.cells[2].verdict, CHECK_SAME);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "dispatches 2 -> 3"));
    assert_non_null(strstr(text, "pool misses 0 -> 1"));
    assert_non_null(strstr(text, "pairs 1000000 -> 1000011"));
    free(text);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

static void test_statuses(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 1);
    made_fail(&now.cells[0], CELL_WRONG, "vertices 0.1, allowed 0.002");
    made_fail(&now.cells[1], CELL_TIMEOUT, "over its 60 s");
    made_fail(&now.cells[2], CELL_SKIPPED, "needs 9 GB");
    start(&r, &b, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_WRONG], 1);
    assert_int_equal(r.by_verdict[CHECK_FAILED], 1);
    assert_int_equal(r.by_verdict[CHECK_SKIPPED], 1);
    assert_int_equal(r.measured, 1);
    assert_int_equal(r.compared, 1);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "cpu/64x64/t32/b16: wrong: ok -> wrong: vertices 0.1"));
    assert_non_null(strstr(text, "needs 9 GB"));
    assert_non_null(strstr(text, "4 cells: 1 same, 1 wrong, 1 failed, 1 skipped"));
    free(text);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

static void test_cells_of_one_side_are_named(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;
    struct err err = ERR_INIT;

    make_baseline(&b, 0.01);
    make(&now, 1);
    free(now.cells[0].id);
    now.cells[0].id = mem_strdup("cpu/8x8/t1/b1", &err);
    now.cells[0].spec.width = 8;
    made_fail(&now.cells[0], CELL_WRONG, "image");
    free(now.cells[1].id);
    now.cells[1].id = mem_strdup("device/8x8/t1/b1", &err);
    now.cells[1].spec.width = 8;
    start(&r, &b, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_WRONG], 1); /* although the baseline has no such cell */
    char *text = text_of(&r);
    assert_non_null(strstr(text, "4 cells: 2 same, 1 wrong, 1 new"));
    assert_non_null(strstr(text, "in the baseline, not in the run: cpu/64x64/t32/b16"));
    assert_non_null(strstr(text, "in the run, not in the baseline: cpu/8x8/t1/b1 (not ok), device/8x8/t1/b1"));
    free(text);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_baseline_keeps_the_medians_of_its_processes),
        cmocka_unit_test(test_a_baseline_is_right_throughout),
        cmocka_unit_test(test_the_same_passes),
        cmocka_unit_test(test_a_baseline_that_is_unsure),
        cmocka_unit_test(test_more_processes_of_some_cells),
        cmocka_unit_test(test_more_work),
        cmocka_unit_test(test_a_machine_that_is_faster_itself),
        cmocka_unit_test(test_a_file_is_judged_as_it_is),
        cmocka_unit_test(test_a_noisy_baseline_cannot_tell),
        cmocka_unit_test(test_a_file_as_baseline),
        cmocka_unit_test(test_counts_are_exact),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_cells_of_one_side_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
