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
    assert_false(baseline_make(runs, 5, &b, &err));
    assert_int_equal(err.code, ERR_WRONG);
    assert_non_null(strstr(err.text, "device/64x64/t64/b16 is wrong (image 1e-2)"));
    err_fini(&err);
    runs[3].cells[1].status = CELL_SKIPPED;
    assert_false(baseline_make(runs, 5, &b, &err));
    err_fini(&err);
    for (size_t i = 0; i < 5; i++)
        runs[i].cells[1].status = CELL_SKIPPED;
    assert_true(baseline_make(runs, 5, &b, &err));
    results_fini(&b);
    runs[4].cell_count--;
    assert_false(baseline_make(runs, 5, &b, &err));
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
    assert_int_equal(regress_suspects(&r), 0);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SAME], CELLS);
    assert_int_equal(r.compared, CELLS);
    assert_true(r.cells[0].detectable > 0.05 && r.cells[0].detectable < 0.2);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

static void test_a_suspect_is_slower_when_three_processes_confirm(void **state)
{
    (void)state;
    struct results b, now, fresh;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 1.3);
    start(&r, &b, &now);
    assert_int_equal(regress_suspects(&r), CELLS);
    assert_true(regress_wants_again(&r, "cpu/64x64/t32/b16"));
    assert_false(regress_wants_again(&r, "cpu/8x8/t1/b1"));
    for (int i = 0; i < 2; i++) {
        make(&fresh, 1.25);
        again(&r, &fresh);
        made_fini(&fresh);
    }
    assert_int_equal(regress_suspects(&r), CELLS);
    /* The third one sees all but the last cell as they were. */
    make(&fresh, 1);
    fresh.cells[CELLS - 1].median_ns *= 2;
    again(&r, &fresh);
    made_fini(&fresh);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SLOWER], 1);
    assert_int_equal(r.by_verdict[CHECK_CANNOT_TELL], CELLS - 1);
    assert_true(fabs(r.cells[CELLS - 1].change - 0.25) < 1e-6);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "slower at first (1.30 ms), not in a fresh process (1.00 ms)"));
    free(text);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

/* Cells of one point alternate: what is measured again is the point. */
static void test_a_suspects_point_is_measured_again(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 1);
    now.cells[0].median_ns *= 2;
    now.cells[1].spec.triangles = now.cells[0].spec.triangles;
    b.cells[1].spec.triangles = b.cells[0].spec.triangles;
    start(&r, &b, &now);
    assert_int_equal(regress_suspects(&r), 1);
    assert_true(regress_wants_again(&r, now.cells[0].id));
    assert_true(regress_wants_again(&r, now.cells[1].id));
    assert_false(regress_wants_again(&r, now.cells[2].id));
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

static void test_a_suspect_that_was_not_measured_often_enough(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 1.3);
    start(&r, &b, &now);
    again(&r, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_CANNOT_TELL], CELLS);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

/* Each process is judged by its own canary: what made the machine slow then is no change of the program. */
static void test_a_machine_that_is_slower_itself(void **state)
{
    (void)state;
    struct results b, now, fresh;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 1.3);
    make(&fresh, 1.3);
    add_canary(&now, 1);
    add_canary(&fresh, 1.4);
    start(&r, &b, &now);
    assert_int_equal(regress_suspects(&r), CELLS);
    again(&r, &fresh);
    assert_int_equal(regress_suspects(&r), 0);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_CANNOT_TELL], CELLS);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "but so was the machine itself, by 40 % (canary)"));
    free(text);
    regress_fini(&r);
    made_fini(&now);
    made_fini(&fresh);
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

    make_baseline(&b, 0.08);
    make(&now, 1.2);
    start(&r, &b, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_CANNOT_TELL], CELLS);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "cannot tell 5.0 % in 4 cells"));
    free(text);
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
    start(&r, &b, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_WRONG], 1); /* although the baseline has no such cell */
    char *text = text_of(&r);
    assert_non_null(strstr(text, "in the baseline, not in the run: cpu/64x64/t32/b16"));
    assert_non_null(strstr(text, "in the run, not in the baseline: cpu/8x8/t1/b1"));
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
        cmocka_unit_test(test_a_suspect_is_slower_when_three_processes_confirm),
        cmocka_unit_test(test_a_suspects_point_is_measured_again),
        cmocka_unit_test(test_a_suspect_that_was_not_measured_often_enough),
        cmocka_unit_test(test_a_machine_that_is_slower_itself),
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
