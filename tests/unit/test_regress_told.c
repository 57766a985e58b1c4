/* The regression check on runs made in memory: what it says of them. */
#include "unit/regress_runs.h"

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
    assert_int_equal(suspects(&r), 0);
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

/* What a config's change did: half the threads, and ordinary memory for targets. */
static void test_options_are_causes(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 2);
    b.devices[MADE_CPU].threads = now.devices[MADE_CPU].threads = 16;
    now.cells[0].spec.threads = 8;
    now.cells[1].spec.call = CALL_PAGEABLE;
    now.cells[1].phases = b.cells[1].phases;
    now.cells[1].phases.upload_ns += 900000;
    now.cells[1].phases.total_ns += 900000;
    start(&r, &b, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SLOWER], CELLS);
    assert_string_equal(r.cells[0].causes[0].text, "threads 16 -> 8");
    assert_int_equal(r.cells[0].causes[0].kind, CAUSE_OPTION);
    assert_string_equal(r.cells[1].causes[0].text, "call loader -> pageable");
    assert_non_null(strstr(r.cells[1].causes[1].text, "upload "));
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

/* Also where nothing is slower: each once, with how many cells have it. */
static void test_changed_options_are_named(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;
    struct strbuf json = STRBUF_INIT;
    struct err err = ERR_INIT;

    make_baseline(&b, 0.01);
    make(&now, 1);
    now.devices[MADE_CPU].threads = 1;
    now.cells[1].spec.call = CALL_PAGEABLE;
    json_set_u64(json_set_object(now.head, "options"), "memory_budget_bytes", 1000);
    start(&r, &b, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SAME], CELLS);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "changed since the baseline, in 2 of 4 cells: threads 2 -> 1"));
    assert_non_null(strstr(text, "changed since the baseline, in 1 of 4 cells: call loader -> pageable"));
    assert_non_null(strstr(text, "changed since the baseline, in 2 of 4 cells: --memory-budget not given -> 1000"));
    assert_non_null(strstr(text, "4 cells: 4 same"));
    free(text);
    assert_true(regress_json(&r, 0, &json, &err));
    assert_non_null(strstr(json.data, "\"threads 2 -> 1\""));
    strbuf_fini(&json);
    regress_fini(&r);
    made_fini(&now);
    results_fini(&b);
}

/* Three times as slow at some time, the machine explains anything. */
static void test_no_limit(void **state)
{
    (void)state;
    struct results b, now;
    struct regression r;

    make_baseline(&b, 0.01);
    make(&now, 1);
    add_canary(&now, 3);
    start(&r, &b, &now);
    finish(&r);
    assert_int_equal(r.by_verdict[CHECK_SAME], CELLS);
    char *text = text_of(&r);
    assert_non_null(strstr(text, "limit none: at some time the machine itself was over twice as slow"));
    assert_non_null(strstr(text, " none  none "));
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
        cmocka_unit_test(test_times_of_another_machine_are_not_judged),
        cmocka_unit_test(test_a_slower_cell_is_explained),
        cmocka_unit_test(test_options_are_causes),
        cmocka_unit_test(test_changed_options_are_named),
        cmocka_unit_test(test_no_limit),
        cmocka_unit_test(test_json_and_annotations),
    };
    return cmocka_run_group_tests_name("regress_told", tests, NULL, NULL);
}
