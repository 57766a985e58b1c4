/* Ceilings: there and back through a record, and sane ones of the CPU and of an OpenCL device. */
#include "unit/gpu_fixture.h"

#include "bench/ceilings.h"
#include "cpu/openmp.h"

static void expect_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

static bool made_ceilings(struct renderer *r, struct render_ceilings *out, struct err *err)
{
    if (r->info.compute_units == 0)
        return err_set(err, ERR_OPENCL, "lost");
    *out = (struct render_ceilings){.flop = 1.5e12, .launch_ns = 12500, .up_pinned_bytes = 5e10};
    return true;
}

static void test_record(void **state)
{
    (void)state;
    const struct renderer_ops with = {.ceilings = made_ceilings}, without = {0};
    struct renderer good = {&with, {.selector = "ocl:0:0", .compute_units = 1}};
    struct renderer lost = {&with, {.selector = "ocl:0:1"}}, none = {&without, {.selector = "ocl:0:2"}};
    struct renderer *const all[] = {&none, &good, NULL, &lost};
    struct json *records = json_new_array();
    struct render_ceilings read;
    const char *trouble;
    json_set_string(json_add_object(records), "when", "before"); /* one without */
    ceilings_record(all, 4, json_set_array(json_add_object(records), "ceilings"));

    assert_true(ceilings_find(records, &good.info, &read, &trouble));
    assert_null(trouble);
    expect_near(read.flop, 1.5e12);
    expect_near(read.launch_ns, 12500);
    expect_near(read.up_pinned_bytes, 5e10);
    expect_near(read.down_pageable_bytes, 0);
    assert_true(ceilings_find(records, &lost.info, &read, &trouble));
    assert_string_equal(trouble, "lost");
    expect_near(read.flop, 0);
    assert_false(ceilings_find(records, &none.info, &read, &trouble));
    assert_false(ceilings_find(NULL, &good.info, &read, &trouble));
    json_free(records);
}

/* Within what machines can be: between 10 MFLOP/s and 1 PFLOP/s, and an exponential is no cheaper than a
 * multiply-add. */
static void check_sane(const struct render_ceilings *c)
{
    assert_true(c->flop > 1e7 && c->flop < 1e15);
    assert_true(c->exp > 1e5 && c->exp < c->flop);
    assert_true(c->copy_bytes > 1e7 && c->copy_bytes < 1e14);
    assert_true(c->launch_ns > 0 && c->launch_ns < 1e9);
}

static void test_cpu(void **state)
{
    (void)state;
    size_t count;
    const char *const *names = openmp_isa_names(&count);
    for (size_t i = 0; i < count; i++) {
        struct err err = ERR_INIT;
        struct render_ceilings c;
        struct renderer *r;
        if (!openmp_isa_runs(names[i])) {
            print_message("# this CPU has no %s: not tested\n", names[i]);
            continue;
        }
        expect_ok(openmp_create(1, names[i], &r, &err), &err, names[i]);
        expect_ok(r->ops->ceilings(r, &c, &err), &err, names[i]);
        check_sane(&c);
        expect_near(c.up_pinned_bytes, 0);
        r->ops->destroy(r);
    }
}

static void test_opencl(void **state)
{
    (void)state;
    struct renderer *r = open_renderer(NULL);
    struct render_ceilings c;
    struct err err = ERR_INIT;
    expect_ok(r->ops->ceilings(r, &c, &err), &err, "ceilings");
    check_sane(&c);
    assert_true((c.up_pinned_bytes > 0) == !r->info.host_unified);
    assert_true((c.down_pageable_bytes > 0) == !r->info.host_unified);
    r->ops->destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
