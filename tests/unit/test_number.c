#include "unit/check.h"

#include <math.h>

#include "report/number.h"

static void test_ratios_have_two_digits_and_more_near_one(void **state)
{
    static const struct {
        double value;
        const char *want;
    } cases[] = {{0.042, "0.042"}, {0.42, "0.42"},   {0.996, "1.00"}, {1.02, "1.02"}, {1.994, "1.99"},
                 {1.996, "2.0"},   {3.44, "3.4"},    {9.96, "10"},    {11.4, "11"},   {640.2, "640"},
                 {0, "0.00"},      {2e6, "2.0e+06"}, {NAN, "-"},      {INFINITY, "-"}};
    char got[NUMBER_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        number_ratio(got, cases[i].value);
        assert_string_equal(got, cases[i].want);
    }
    number_sig2(got, 1.02);
    assert_string_equal(got, "1.0");
    number_sig2(got, 12.4);
    assert_string_equal(got, "12");
}

static void expect_interval(double value, double low, double high, bool has_ci, const char *want)
{
    const struct ratio r = {true, value, has_ci, {low, high}, NAN, RATIO_TIE};
    char got[NUMBER_MAX];

    number_interval(got, &r);
    assert_string_equal(got, want);
}

static void test_intervals_share_decimals_where_that_says_something(void **state)
{
    const struct ratio none = {false, NAN, false, {NAN, NAN}, NAN, RATIO_NONE};
    char got[NUMBER_MAX];
    (void)state;
    expect_interval(3.41, 3.32, 3.49, true, "3.4 [3.3,3.5]");
    expect_interval(3.41, 3.40, 3.42, true, "3.41 [3.40,3.42]");
    expect_interval(1.02, 0.97, 1.061, true, "1.02 [0.97,1.06]");
    expect_interval(5.9, 0.24, 21.8, true, "5.9 [0.24,22]");
    expect_interval(23, 0.37, 35, true, "23 [0.37,35]");
    expect_interval(3.41, NAN, NAN, false, "3.4");
    number_interval(got, &none);
    assert_string_equal(got, "-");
}

static void test_errors_sizes_and_times(void **state)
{
    char got[NUMBER_MAX];
    (void)state;
    number_error(got, 2.2e-5);
    assert_string_equal(got, "2.2e-5");
    number_error(got, 0);
    assert_string_equal(got, "0.0e+0");
    number_error(got, 3.1e-12);
    assert_string_equal(got, "3.1e-12");
    number_size(got, 64, 64);
    assert_string_equal(got, "64²");
    number_size(got, 96, 64);
    assert_string_equal(got, "96x64");
    assert_string_equal(number_unit(0).name, "us");
    assert_string_equal(number_unit(1e6).name, "ms");
    assert_string_equal(number_unit(2e9).name, "s");
    number_time(got, 12345, number_unit(12345));
    assert_string_equal(got, "12.3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ratios_have_two_digits_and_more_near_one),
        cmocka_unit_test(test_intervals_share_decimals_where_that_says_something),
        cmocka_unit_test(test_errors_sizes_and_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
