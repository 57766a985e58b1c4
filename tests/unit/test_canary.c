/* Drift of the canary, and that it times calls and nothing else, by a clock that only the fake renderer
 * moves. */
#include "unit/check.h"

#include <math.h>

#include "bench/canary.h"
#include "unit/fake_backend.h"

static uint64_t now;
static unsigned calls, opened;

static uint64_t read_now(void *context)
{
    (void)context;
    return now;
}

static const struct sample_clock clock_of_test = {NULL, read_now, NULL, NULL};

static bool slow_open(struct renderer *r, const struct render_spec *spec, struct render_job **out,
                      struct err *err)
{
    now += 1000000;
    opened++;
    calls = 0;
    return fake_open(r, spec, out, err);
}

/* Warm-up calls are slow. */
static bool timed_call(struct render_job *job, struct err *err)
{
    (void)err;
    now += calls++ < 3 ? 9000 : 100 + job->spec.triangles;
    return true;
}

static void test_only_calls_are_timed(void **state)
{
    (void)state;
    struct renderer_ops ops = fake_ops;
    struct renderer renderer = {.ops = &ops};
    struct canary canary = {0};
    struct err err = ERR_INIT;
    ops.open = slow_open;
    ops.call = timed_call;
    assert_true(canary_run(&renderer, &clock_of_test, &canary, &err));
    assert_int_equal(opened, CANARY_KINDS);
    assert_int_equal(canary.ns[CANARY_ARITHMETIC], 228);
    assert_int_equal(canary.ns[CANARY_MEMORY], 100);
    assert_int_equal(canary.ns[CANARY_LAUNCH], 100);
}

static void test_drift(void **state)
{
    (void)state;
    const struct canary list[] = {{0, 0, {100, 50, 10}},
                                  {1, 0, {900, 50, 10}},
                                  {0, 5, {110, 50, 10}},
                                  {1, 5, {900, 50, 0}},
                                  {0, 9, {105, 50, 10}}};
    uint64_t fastest, slowest;
    assert_true(fabs(canary_drift(list, 5, 0, CANARY_ARITHMETIC, &fastest, &slowest) - 0.1) < 1e-12);
    assert_int_equal(fastest, 100);
    assert_int_equal(slowest, 110);
    assert_true(canary_drift(list, 5, 1, CANARY_ARITHMETIC, &fastest, &slowest) == 0);
    /* One alone cannot drift, none at all neither, and nothing is divided by 0. */
    assert_true(canary_drift(list, 2, 0, CANARY_ARITHMETIC, &fastest, &slowest) == 0);
    assert_true(canary_drift(list, 0, 0, CANARY_ARITHMETIC, &fastest, &slowest) == 0);
    assert_true(canary_drift(list, 5, 1, CANARY_LAUNCH, &fastest, &slowest) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_calls_are_timed),
        cmocka_unit_test(test_drift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
