#include "unit/check.h"

#include <math.h>

#include "base/units.h"

static void expect(void (*format)(char[UNITS_MAX], uint64_t), uint64_t value, const char *want)
{
    char got[UNITS_MAX];
    format(got, value);
    assert_string_equal(got, want);
}

static void test_time_has_three_digits_and_one_unit(void **state)
{
    (void)state;
    expect(units_time, 0, "0 ns");
    expect(units_time, 812, "812 ns");
    expect(units_time, 999, "999 ns");
    expect(units_time, 3400, "3.40 us");
    expect(units_time, 12300000, "12.3 ms");
    expect(units_time, 1200000000, "1.20 s");
    expect(units_time, 999499, "999 us");
    expect(units_time, 999500, "1.00 ms");
    expect(units_time, UINT64_C(1234000000000), "1234 s");
}

static void test_bytes_and_counts(void **state)
{
    (void)state;
    expect(units_bytes, 512, "512 B");
    expect(units_bytes, 12582912, "12.6 MB");
    expect(units_bytes, UINT64_C(6442450944), "6.44 GB");
    expect(units_bytes, UINT64_MAX, "18.4 EB");
    expect(units_count, 850, "850");
    expect(units_count, 33300000, "33.3 M");
}

static void test_durations(void **state)
{
    (void)state;
    expect(units_duration, UINT64_C(3723000000000), "1:02:03");
    expect(units_duration, UINT64_C(123000000000), "2:03");
    expect(units_duration, UINT64_C(4400000000), "4 s");
    expect(units_duration, UINT64_C(59600000000), "1:00");
}

static void test_sig3(void **state)
{
    static const struct {
        double value;
        const char *want;
    } cases[] = {{0.00345, "0.00345"}, {12.3, "12.3"}, {845, "845"},   {9.996, "10.0"}, {99.96, "100"},
                 {0.9996, "1.00"},     {0, "0"},       {-1.5, "-1.50"}, {1234567, "1234567"}, {2.4e-7, "2.40e-07"},
                 {0.01, "0.0100"},     {0.099960, "0.100"}};
    char got[UNITS_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        units_sig3(got, cases[i].value);
        assert_string_equal(got, cases[i].want);
    }
    units_sig3(got, -1.7976931348623157e308);
    assert_string_equal(got, "-1.80e+308");
}

static void test_shortest_float(void **state)
{
    (void)state;
    assert_true(units_shortest_float(0.01f) == 0.01);
    assert_true(units_shortest_float(16777216.0f) == 16777216.0);
    assert_true((float)units_shortest_float(1.0f / 3.0f) == 1.0f / 3.0f);
    assert_true(isinf(units_shortest_float(INFINITY)));
}

static void test_parse_double_takes_the_whole_string(void **state)
{
    static const char *const bad[] = {"", " 1", "1 ", "0x10", "inf", "nan", "1e999", "1,5", "1.5x", "--1"};
    double value = 7;
    (void)state;
    assert_true(units_parse_double("-1.5e3", &value));
    assert_true(value == -1500);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(units_parse_double(bad[i], &value));
    assert_true(value == -1500);
}

static void test_parse_u64(void **state)
{
    static const char *const bad[] = {"", "-1", "+1", " 1", "1.0", "18446744073709551616", "1e3"};
    uint64_t value = 7;
    (void)state;
    assert_true(units_parse_u64("18446744073709551615", &value));
    assert_true(value == UINT64_MAX);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(units_parse_u64(bad[i], &value));
    assert_true(value == UINT64_MAX);
}

static void test_parse_bytes(void **state)
{
    static const struct {
        const char *text;
        uint64_t want;
    } good[] = {{"0", 0},       {"4096", 4096},        {"2K", 2000},       {"2Ki", 2048}, {"1.5G", 1500000000},
                {"16GiB", UINT64_C(17179869184)}, {"3MB", 3000000}, {"1T", UINT64_C(1000000000000)}, {"7B", 7}};
    static const char *const bad[] = {"", "K", "1X", "-1", "1 K", "1KK", "1iB", "99999999999999999999", "18446744073709552K", "20000000T"};
    uint64_t value = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(units_parse_bytes(good[i].text, &value));
        assert_true(value == good[i].want);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(units_parse_bytes(bad[i], &value));
}

static void test_items(void **state)
{
    (void)state;
    char out[UNITS_MAX];
    units_items(out, 0, "triangle");
    assert_string_equal(out, "0 triangles");
    units_items(out, 1, "triangle");
    assert_string_equal(out, "1 triangle");
    units_items(out, UINT64_MAX, "triangle");
    assert_string_equal(out, "18446744073709551615 triangles");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_has_three_digits_and_one_unit),
        cmocka_unit_test(test_bytes_and_counts),
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_sig3),
        cmocka_unit_test(test_shortest_float),
        cmocka_unit_test(test_parse_double_takes_the_whole_string),
        cmocka_unit_test(test_parse_u64),
        cmocka_unit_test(test_parse_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
