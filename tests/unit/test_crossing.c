#include "unit/check.h"

#include <math.h>

#include "report/crossing.h"

/* A ratio with an interval of +-10 %. */
static struct ratio ratio(double value)
{
    struct ratio r = {true, value, true, {value / 1.1, value * 1.1}, NAN, RATIO_TIE};

    if (r.ci95[0] > RATIO_TIE_HIGH)
        r.verdict = RATIO_SECOND;
    if (r.ci95[1] < RATIO_TIE_LOW)
        r.verdict = RATIO_FIRST;
    return r;
}

static bool near(double got, double want)
{
    return fabs(got - want) < 1e-9;
}

static const double axis[] = {32, 128, 512};

static void test_one_crossing_is_interpolated_in_logarithms(void **state)
{
    const struct ratio r[] = {ratio(0.5), ratio(2), ratio(4)};
    struct crossing c;
    (void)state;
    crossing_find(axis, r, 1, 3, &c);
    assert_int_equal(c.changes, 1);
    assert_int_equal(c.below, RATIO_FIRST);
    assert_true(near(c.at, 64));            /* half way between 32 and 128 */
    assert_true(near(c.ci95[0], 64 / 1.1)); /* here the ratio grows as the axis does */
    assert_true(near(c.ci95[1], 64 * 1.1));
}

static void test_ties_and_gaps_widen_the_bracket(void **state)
{
    struct ratio r[] = {ratio(2), ratio(1), ratio(0.5)};
    struct crossing c;
    (void)state;
    crossing_find(axis, r, 1, 3, &c);
    assert_int_equal(c.changes, 1);
    assert_int_equal(c.below, RATIO_SECOND);
    assert_true(near(c.at, 128));
    r[1] = (struct ratio){.value = NAN, .ci95 = {NAN, NAN}, .device = NAN};
    crossing_find(axis, r, 1, 3, &c);
    assert_true(near(c.at, 128));
}

static void test_no_interval_of_a_ratio_none_of_the_crossing(void **state)
{
    struct ratio r[] = {ratio(0.5), ratio(2), ratio(4)};
    struct crossing c;
    (void)state;
    r[1].has_ci = false;
    r[1].ci95[0] = r[1].ci95[1] = NAN;
    crossing_find(axis, r, 1, 3, &c);
    assert_true(near(c.at, 64));
    assert_true(isnan(c.ci95[0]) && isnan(c.ci95[1]));
}

static void test_none_and_several(void **state)
{
    const struct ratio wins[] = {ratio(2), ratio(1), ratio(4)};
    const struct ratio twice[] = {ratio(2), ratio(0.5), ratio(4)};
    struct crossing c;
    (void)state;
    crossing_find(axis, wins, 1, 3, &c);
    assert_int_equal(c.changes, 0);
    assert_true(isnan(c.at));
    crossing_find(axis, twice, 1, 3, &c);
    assert_int_equal(c.changes, 2);
    assert_true(isnan(c.at));
    crossing_find(axis, twice, 1, 0, &c);
    assert_int_equal(c.changes, 0);
}

static void test_stride_walks_down_a_column(void **state)
{
    const struct ratio r[] = {ratio(0.5), ratio(9), ratio(2), ratio(9), ratio(4), ratio(9)};
    struct crossing c;
    (void)state;
    crossing_find(axis, r, 2, 3, &c);
    assert_int_equal(c.changes, 1);
    assert_true(near(c.at, 64));
    crossing_find(axis, r + 1, 2, 3, &c);
    assert_int_equal(c.changes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_crossing_is_interpolated_in_logarithms),
        cmocka_unit_test(test_ties_and_gaps_widen_the_bracket),
        cmocka_unit_test(test_no_interval_of_a_ratio_none_of_the_crossing),
        cmocka_unit_test(test_none_and_several),
        cmocka_unit_test(test_stride_walks_down_a_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
