/* The regression check on runs made in memory: what fails it and what does not. */
#include "unit/made.h"

#include "bench/stats.h"
#include "report/baseline.h"
#include "report/regress.h"

#define CELLS 4

static void make(struct results *r, double factor)
{
    struct err err = ERR_INIT;

    made_init(r);
    for (size_t i = 0; i < CELLS; i++) {
        const uint64_t ns = (uint64_t)(1e6 * factor * (double)(i + 1));
        struct cell *c =
            made_cell(r, i % 2 ? "device" : "cpu", i % 2 ? MADE_GPU : MADE_CPU, 64, 32u << i, ns, 20);
        char id[128];
        snprintf(id, sizeof(id), "%s/64x64/t%u/b16", c->backend, c->spec.triangles);
        c->id = mem_strdup(id, &err);
        /* Unscattered, so that only processes differ. */
        for (size_t k = 0; k < c->sample_count; k++)
            c->samples_ns[k] = ns;
        c->ci95_ns[0] = c->ci95_ns[1] = ns;
        c->pairs = 1000000;
        c->counts.dispatches = 2;
        made_phases(c, ns);
    }
}

static void add_canary(struct results *r, double factor)
{
    struct json *record = json_add_object(json_set_array(r->head, "environment"));
    struct json *canary = json_set_array(record, "canary");
    const char *const names[] = {"cpu", "ocl:0:0"};

    for (size_t k = 0; k < 2; k++) {
        struct json *entry = json_add_object(canary);
        json_set_string(entry, "on", names[k]);
        json_set_number(entry, "arithmetic_ns", 1e6 * factor);
        json_set_number(entry, "memory_ns", 1e6);
    }
}

/* A baseline of five processes that differ by `step` from one to the next. */
static void make_baseline(struct results *out, double step)
{
    struct results runs[5];
    struct err err = ERR_INIT;

    for (size_t i = 0; i < 5; i++) {
        make(&runs[i], 1 + step * ((double)i - 2));
        add_canary(&runs[i], 1);
    }
    assert_true(baseline_make(runs, 5, out, &err));
    for (size_t i = 0; i < 5; i++)
        made_fini(&runs[i]);
}

static void start(struct regression *r, const struct results *baseline, const struct results *now)
{
    struct err err = ERR_INIT;
    assert_true(regress_init(r, baseline, now, JUDGE_THRESHOLD, &err));
}

static void again(struct regression *r, const struct results *fresh)
{
    struct err err = ERR_INIT;
    assert_true(regress_again(r, fresh, &err));
}

static void finish(struct regression *r)
{
    struct err err = ERR_INIT;
    assert_true(regress_finish(r, &err));
}

static char *text_of(const struct regression *r)
{
    struct table *tables = NULL;
    size_t count = 0;
    struct err err = ERR_INIT;

    assert_true(regress_table(r, &tables, &count, &err));
    char *text = made_text(&tables[0], 200, false);
    tables_free(tables, count);
    return text;
}

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

static void test_times_of_another_machine_are_not_judged(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 9);
    json_set_string(json_set_object(json_set_object(now.head, "machine"), "cpu"), "model", "Xeon");
    now.cells[1].counts.dispatches = 9;
    start(&r, &b, &now);
    assert_int_equal(regress_suspects(&r), 0);
    finish(&r);
    assert_false(r.same_machine);
    assert_int_equal(r.by_verdict[CHECK_NOT_JUDGED], CELLS - 1);
    assert_int_equal(r.by_verdict[CHECK_COUNTS], 1);
    assert_true(r.cells[0].change > 7);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "another machine (CPU unknown -> Xeon): times are shown and not judged"));
    free(text);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

static void test_a_slower_cell_is_explained(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 2);
    now.cells[0].phases = b.cells[0].phases;
    now.cells[0].phases.dispatch_ns += 1000000;
    now.cells[0].phases.total_ns += 1000000;
    now.devices[MADE_CPU].threads = 1;
    start(&r, &b, &now);
    finish(&r);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "dispatch 700 us -> 1.70 ms, 100 % of the difference (measured)"));
    assert_non_null(strstr(text, "threads 2 -> 1 (measured)"));
    free(text);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

static void test_json_and_annotations(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;
    struct strbuf text = STRBUF_INIT, lines = STRBUF_INIT;
    struct err err = ERR_INIT;

    make_baseline(&b, 0.01);
    make(&now, 2);
    made_fail(&now.cells[1], CELL_FAILED, "100 %\nof it");
    start(&r, &b, &now);
    finish(&r);
    assert_true(regress_json(&r, 3, &text, &err));
    struct json *root = json_parse(text.data, text.len, "the report", &err);
    assert_non_null(root);
    assert_string_equal(json_string(json_get(root, "schema")), "gpubench-check");
    assert_false(json_bool(json_get(root, "passed")));
    const struct json *cells = json_get(root, "cells");
    assert_string_equal(json_string(json_get(json_at(cells, 0), "verdict")), "slower");
    assert_true(json_bool(json_get(json_at(cells, 0), "fails")));
    assert_true(fabs(json_number(json_get(json_at(cells, 0), "change")) - 1) < 1e-6);
    assert_int_equal(json_type(json_get(json_at(cells, 1), "change")), JSON_NULL);
    json_free(root);
    regress_annotations(&r, &lines);
    assert_non_null(strstr(
        lines.data, "::error title=gpubench slower::cpu/64x64/t32/b16: slower, +100 %25 (limit 5.0 %25)"));
    assert_non_null(strstr(lines.data, "::error title=gpubench failed::"));
    assert_non_null(strstr(lines.data, "100 %25%0Aof it"));
    strbuf_fini(&lines);
    strbuf_fini(&text);
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
        cmocka_unit_test(test_times_of_another_machine_are_not_judged),
        cmocka_unit_test(test_a_slower_cell_is_explained),
        cmocka_unit_test(test_json_and_annotations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
