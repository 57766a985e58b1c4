/* What was reached beside the ceilings: figures that can be worked out by hand. */
#include "unit/made.h"

#include "report/kinds.h"

static void expect_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

static struct json *add_ceilings(struct results *r, const char *on)
{
    struct json *records = json_set_array(r->head, "environment");
    json_set_string(json_add_object(records), "when", "before"); /* one without */
    struct json *entry = json_add_object(json_set_array(json_add_object(records), "ceilings"));
    json_set_string(entry, "on", on);
    return entry;
}

static struct cell *add_gpu_cell(struct results *r)
{
    struct cell *c = made_cell(r, "device", MADE_GPU, 256, 512, 800000, 10);
    c->spec.batch = 16;
    c->pairs = 30000000;
    c->device_ns = 300000;
    c->counts.bytes_up = 12910592;
    c->counts.bytes_down = 327744;
    return c;
}

static struct json *add_gpu_ceilings(struct results *r)
{
    struct json *top = add_ceilings(r, "ocl:0:0");
    json_set_number(top, "flop_per_s", 60e12);
    json_set_number(top, "exp_per_s", 4e12);
    json_set_number(top, "copy_bytes_per_s", 4e12);
    json_set_number(top, "launch_ns", 12500);
    json_set_number(top, "up_pinned_bytes_per_s", 50e9);
    json_set_number(top, "up_pageable_bytes_per_s", 10e9);
    json_set_number(top, "down_pinned_bytes_per_s", 50e9);
    json_set_null(top, "down_pageable_bytes_per_s");
    return top;
}

static double value_at(const struct table *t, size_t column)
{
    assert_true(t->row_count == 1 && column < t->column_count);
    return t->fields[column].value;
}

static const char *text_at(const struct table *t, size_t column)
{
    return t->fields[column].text;
}

static struct table *make(const struct results *r, size_t *count)
{
    struct table *tables = NULL;
    struct err err = ERR_INIT;
    *count = 0;
    assert_true(roofline_make(r, &tables, count, &err));
    return tables;
}

static void test_the_ceilings_come_first(void **state)
{
    (void)state;
    struct results r;
    size_t count;
    made_init(&r);
    add_gpu_cell(&r);
    add_gpu_ceilings(&r);
    struct table *t = make(&r, &count);
    assert_int_equal(count, 3);
    char *text = made_text(&t[0], 80, false);
    assert_non_null(strstr(text, "60.0 TFLOP/s"));
    assert_non_null(strstr(text, "12.5 us"));
    assert_non_null(strstr(text, "10.0 GB/s"));
    assert_non_null(strstr(text, "CPU: not measured"));
    free(text);
    tables_free(t, count);
    made_fini(&r);
}

static void test_kernels_beside_their_bound(void **state)
{
    (void)state;
    struct results r;
    size_t count;
    made_init(&r);
    add_gpu_cell(&r);
    add_gpu_ceilings(&r);
    struct table *tables = make(&r, &count);
    const struct table *t = &tables[1];
    const double flop = 30e6 * 145, bytes = 16 * (2 * 512 * 40.0 + 12 + 256 * 256 * 12 + 8);
    expect_near(value_at(t, 2), 300000);
    expect_near(value_at(t, 3), 100); /* pairs a nanosecond */
    expect_near(value_at(t, 4), flop / 300000);
    expect_near(value_at(t, 5), 100 * flop / 300e-6 / 60e12);
    expect_near(value_at(t, 6), bytes / 300000);
    expect_near(value_at(t, 7), 100 * bytes / 300e-6 / 4e12);
    expect_near(value_at(t, 8), flop / 60e3);
    assert_string_equal(text_at(t, 9), "FLOP");
    expect_near(value_at(t, 10), 100 * flop / 60e3 / 300000);
    tables_free(tables, count);
    made_fini(&r);
}

static void test_what_bounds_a_call(void **state)
{
    (void)state;
    struct results r;
    size_t count;
    made_init(&r);
    struct cell *c = add_gpu_cell(&r);
    add_gpu_ceilings(&r);
    struct table *tables = make(&r, &count);
    expect_near(value_at(&tables[2], 6), 12910592 / 50.0); /* pinned */
    assert_string_equal(text_at(&tables[2], 10), "up");
    expect_near(value_at(&tables[2], 11), 100 * 12910592 / 50.0 / 800000);
    tables_free(tables, count);

    c->spec.call = CALL_PAGEABLE;
    tables = make(&r, &count);
    expect_near(value_at(&tables[2], 6), 12910592 / 10.0);
    assert_string_equal(text_at(&tables[2], 8), "-"); /* not measured */
    tables_free(tables, count);

    c->spec.call = CALL_RESIDENT;
    c->counts.bytes_up = 0;
    c->pairs = 1000;
    tables = make(&r, &count);
    assert_string_equal(text_at(&tables[2], 10), "launch");
    tables_free(tables, count);
    made_fini(&r);
}

/* Its own count of operations, the time of the call, and the launch that belongs to it. */
static void test_the_cpu(void **state)
{
    (void)state;
    struct results r;
    size_t count;
    made_init(&r);
    struct cell *c = made_cell(&r, "cpu", MADE_CPU, 64, 32, 1000000, 10);
    c->pairs = 1000000;
    c->spec.mode = MODE_FORWARD;
    struct json *top = add_ceilings(&r, "openmp");
    json_set_number(top, "flop_per_s", 100e9);
    json_set_number(top, "copy_bytes_per_s", 1e6);
    json_set_number(top, "launch_ns", 1000);
    struct table *tables = make(&r, &count);
    assert_int_equal(count, 2); /* nothing is copied for it */
    expect_near(value_at(&tables[1], 4), 56);
    expect_near(value_at(&tables[1], 5), 56);
    assert_string_equal(text_at(&tables[1], 9), "bytes");
    tables_free(tables, count);
    json_set_null(top, "copy_bytes_per_s");
    json_set_number(top, "launch_ns", 900000);
    tables = make(&r, &count);
    assert_string_equal(text_at(&tables[1], 7), "-");
    assert_string_equal(text_at(&tables[1], 9), "launch");
    tables_free(tables, count);
    made_fini(&r);
}

/* One line says so, instead of pages of "-"; a device that has none beside one that has keeps its rates. */
static void test_without_ceilings(void **state)
{
    (void)state;
    struct results r;
    size_t count;
    made_init(&r);
    add_gpu_cell(&r);
    struct table *tables = make(&r, &count);
    assert_int_equal(count, 1);
    char *text = made_text(&tables[0], 80, false);
    assert_string_equal(text,
                        "roofline: nothing to show: no ceilings, as the config's tables lack roofline\n");
    free(text);
    tables_free(tables, count);

    json_set_number(add_ceilings(&r, "openmp"), "flop_per_s", 100e9);
    tables = make(&r, &count);
    text = made_text(&tables[1], 80, false);
    assert_non_null(strstr(text, "no ceilings"));
    assert_string_equal(text_at(&tables[1], 9), "-");
    expect_near(value_at(&tables[1], 3), 100);
    free(text);
    tables_free(tables, count);
    made_fini(&r);
}

static void test_a_wrong_cell_has_no_figure(void **state)
{
    (void)state;
    struct results r;
    size_t count;
    made_init(&r);
    made_fail(add_gpu_cell(&r), CELL_WRONG, "far off");
    json_set_string(add_gpu_ceilings(&r), "trouble", "clFinish failed");
    struct table *tables = make(&r, &count);
    for (size_t i = 1; i < count; i++) {
        assert_string_equal(text_at(&tables[i], 2), "wrong");
        for (size_t c = 2; c < tables[i].column_count; c++)
            assert_true(isnan(tables[i].fields[c].value));
    }
    char *text = made_text(&tables[0], 80, false);
    assert_non_null(strstr(text, "H200: clFinish failed"));
    free(text);
    tables_free(tables, count);
    made_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_ceilings_come_first), cmocka_unit_test(test_kernels_beside_their_bound),
        cmocka_unit_test(test_what_bounds_a_call),      cmocka_unit_test(test_the_cpu),
        cmocka_unit_test(test_without_ceilings),        cmocka_unit_test(test_a_wrong_cell_has_no_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
