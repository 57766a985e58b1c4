/* The regression check on runs made in memory: what is measured again, and what that decides. */
#include "unit/regress_runs.h"

static void test_a_suspect_is_slower_when_three_processes_confirm(void **state)
{
    (void)state;
    struct results b, now, fresh;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 1.3);
    start(&r, &b, &now);
    assert_int_equal(suspects(&r), CELLS);
    assert_true(regress_wants_again(&r, "cpu/64x64/t32/b16"));
    assert_false(regress_wants_again(&r, "cpu/8x8/t1/b1"));
    for (int i = 0; i < 2; i++) {
        make(&fresh, 1.25);
        again(&r, &fresh);
        made_fini(&fresh);
    }
    assert_int_equal(suspects(&r), CELLS);
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
    assert_int_equal(suspects(&r), 1);
    assert_true(regress_wants_again(&r, now.cells[0].id));
    assert_true(regress_wants_again(&r, now.cells[1].id));
    assert_false(regress_wants_again(&r, now.cells[2].id));
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

/* Two fresh processes against one: what made the first one slow was not the program. */
static void test_a_suspect_that_is_cleared(void **state)
{
    (void)state;
    struct results b, now, fresh;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 1.3);
    make(&fresh, 1.01);
    start(&r, &b, &now);
    again(&r, &fresh);
    assert_int_equal(suspects(&r), 0);
    assert_int_equal(regress_pending(&r, NULL), CELLS);
    again(&r, &fresh);
    assert_int_equal(regress_pending(&r, NULL), 0);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SAME], CELLS);
    assert_true(fabs(r.cells[0].change - 0.01) < 1e-6);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "same: slower at first (1.30 ms), not in a fresh process (1.01 ms)"));
    free(text);
    regress_fini(&r);
    made_fini(&fresh);
    made_fini(&now);
    results_fini(&b);
}

/* A spread of 3 % hides 5 % from one process. */
#define WIDE 0.02

/* Measures again with these factors in turn, as long as something is pending; returns how often. */
static size_t again_with(struct regression *r, const double *factors, size_t count)
{
    size_t i = 0;

    for (; regress_pending(r, NULL) > 0; i++) {
        struct results fresh;
        make(&fresh, factors[i % count]);
        again(r, &fresh);
        made_fini(&fresh);
        assert_true(i < 100);
    }
    return i;
}

static void test_several_processes_tell_what_one_cannot(void **state)
{
    (void)state;
    static const double same[] = {1.02, 0.96, 1.04, 0.98}, slower[] = {1.06, 1.12, 1.09, 1.09};
    struct results b, now;
    struct regression r;

    make_baseline_of(&b, 15, WIDE);
    make(&now, 1);
    start(&r, &b, &now);
    assert_int_equal(r.cells[0].verdict, CHECK_CANNOT_TELL);
    const size_t wanted = r.cells[0].wanted;
    assert_int_equal(wanted, judge_needed(&r.cells[0].base, JUDGE_THRESHOLD));
    assert_true(wanted > JUDGE_AGAIN);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "4 cells cannot be told by one process: a check that measures takes up to 4"));
    free(text);
    assert_int_equal(again_with(&r, same, 4), wanted - 1);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SAME], CELLS);
    assert_true(r.cells[0].detectable < 0.15);
    text = text_of(&r);
    assert_non_null(strstr(text, "4 cells: compared by the mean of 4 processes"));
    free(text);
    regress_fini(&r);

    /* 9 % slower: a suspect once the mean says so, and as many processes again confirm it. */
    start(&r, &b, &now);
    assert_int_equal(again_with(&r, slower, 4), 2 * wanted - 1);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SLOWER], CELLS);
    assert_true(fabs(r.cells[0].change - 0.09) < 0.005);
    regress_fini(&r);

    /* Time is over after one more. */
    start(&r, &b, &now);
    again(&r, &now);
    regress_limit(&r, 0);
    assert_int_equal(regress_pending(&r, NULL), 0);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_CANNOT_TELL], CELLS);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

/* Too few to know how much processes differ: several would be compared by a guess. */
static void test_a_baseline_of_few_processes_is_no_measure_for_several(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline(&b, WIDE);
    make(&now, 1);
    start(&r, &b, &now);
    assert_int_equal(regress_pending(&r, NULL), 0);
    assert_true(regress_unsure(&r, JUDGE_MOST, now.cells[0].id));
    assert_false(regress_unsure(&r, JUDGE_MOST, "cpu/8x8/t1/b1"));
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_CANNOT_TELL], CELLS);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

/* Four points that need three more processes each, and the first one five: 5 for the processes, 5 + 3 * 3 for their
 * points. What needs the most is left at what there is. */
static void test_time_goes_to_what_needs_the_least(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline_of(&b, 15, WIDE);
    make(&now, 1);
    start(&r, &b, &now);
    assert_int_equal(r.cells[0].wanted, 4);
    assert_int_equal(regress_points(&r, true), CELLS);
    r.cells[0].wanted = 6;
    regress_limit(&r, 19);
    assert_int_equal(regress_pending(&r, NULL), CELLS);
    regress_limit(&r, 18);
    assert_false(regress_wants_again(&r, now.cells[0].id));
    assert_int_equal(regress_pending(&r, NULL), CELLS - 1);
    assert_int_equal(regress_points(&r, true), CELLS - 1);
    assert_int_equal(regress_points(&r, false), CELLS);
    regress_limit(&r, 3 + 2 * 3);
    assert_int_equal(regress_pending(&r, NULL), 2);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

/* Every other process of the baseline is in a mode that is 20 % slower. */
static void make_modes(struct results *out)
{
    struct results runs[MOST_RUNS];
    struct err err = ERR_INIT;

    for (size_t i = 0; i < MOST_RUNS; i++)
        make(&runs[i], i % 2 ? 1 : 1.2);
    assert_true(baseline_make(runs, MOST_RUNS, MOST_RUNS, out, &err));
    for (size_t i = 0; i < MOST_RUNS; i++)
        made_fini(&runs[i]);
}

static void test_two_modes_are_told_by_the_fastest(void **state)
{
    (void)state;
    static const double same[] = {1.2, 1.2, 1.2, 1.01}, slower[] = {1.296, 1.296, 1.08};
    struct results b, now;
    struct regression r;

    make_modes(&b);
    make(&now, 1.2);
    start(&r, &b, &now);
    const size_t wanted = r.cells[0].wanted;
    assert_true(wanted >= JUDGE_FASTEST_LEAST);
    /* The first one in the faster mode tells. */
    assert_int_equal(again_with(&r, same, 4), 4);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SAME], CELLS);
    assert_int_equal(r.cells[0].base.statistic, JUDGE_FASTEST);
    assert_int_equal(r.cells[0].base.compared, wanted);
    assert_true(fabs(r.cells[0].now_ns - 1.01e6) < 1);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "4 cells: compared by the fastest of up to "));
    free(text);
    regress_fini(&r);

    /* Both modes are 8 % slower. */
    start(&r, &b, &now);
    assert_int_equal(again_with(&r, slower, 3), 2 * wanted - 1);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SLOWER], CELLS);
    regress_fini(&r);

    /* All in the slower one at first, and the first one measured again is not. */
    start(&r, &b, &now);
    for (size_t i = 1; i < wanted; i++)
        again(&r, &now);
    assert_int_equal(suspects(&r), CELLS);
    assert_int_equal(again_with(&r, same + 3, 1), 1);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SAME], CELLS);
    regress_fini(&r);
    made_fini(&now);

    /* In the faster one at once. */
    make(&now, 1.02);
    start(&r, &b, &now);
    assert_int_equal(regress_pending(&r, NULL), 0);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SAME], CELLS);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

static void test_what_is_not_measured_again_does_not_wait(void **state)
{
    (void)state;
    struct results b, now, none = {0};
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 1.3);
    start(&r, &b, &now);
    again(&r, &none);
    assert_int_equal(regress_pending(&r, NULL), 0);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_CANNOT_TELL], CELLS);
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
    assert_int_equal(suspects(&r), CELLS);
    again(&r, &fresh);
    assert_int_equal(suspects(&r), 0);
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

/* A machine that is this slow itself says nothing of the program, however slow that is. */
static void test_a_machine_that_is_hopeless(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 50);
    add_canary(&now, 2.5);
    start(&r, &b, &now);
    assert_int_equal(suspects(&r), 0);
    static const double factors[] = {50};
    again_with(&r, factors, 1); /* without a canary: the program alone */
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SLOWER], CELLS);
    regress_fini(&r);

    start(&r, &b, &now);
    for (int i = 0; i < 5; i++)
        again(&r, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_CANNOT_TELL], CELLS);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "the machine itself was slower than for the baseline, by up to 150 % (canary)"));
    assert_null(strstr(text, "inf"));
    free(text);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_suspect_is_slower_when_three_processes_confirm),
        cmocka_unit_test(test_a_suspects_point_is_measured_again),
        cmocka_unit_test(test_a_suspect_that_is_cleared),
        cmocka_unit_test(test_several_processes_tell_what_one_cannot),
        cmocka_unit_test(test_a_baseline_of_few_processes_is_no_measure_for_several),
        cmocka_unit_test(test_time_goes_to_what_needs_the_least),
        cmocka_unit_test(test_two_modes_are_told_by_the_fastest),
        cmocka_unit_test(test_what_is_not_measured_again_does_not_wait),
        cmocka_unit_test(test_a_suspect_that_was_not_measured_often_enough),
        cmocka_unit_test(test_a_machine_that_is_slower_itself),
        cmocka_unit_test(test_a_machine_that_is_hopeless),
    };
    return cmocka_run_group_tests_name("regress_again", tests, NULL, NULL);
}
