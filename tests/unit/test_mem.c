#include "unit/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/utf8.h"

static void test_sizes_do_not_overflow(void **state)
{
    uint64_t out = 7;
    (void)state;
    assert_true(mem_mul(UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1, &out));
    assert_true(out == UINT64_C(0xFFFFFFFF00000000));
    assert_false(mem_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &out));
    assert_true(out == UINT64_C(0xFFFFFFFF00000000));
    assert_true(mem_add(UINT64_MAX - 1, 1, &out));
    assert_true(out == UINT64_MAX);
    assert_false(mem_add(UINT64_MAX, 1, &out));
    assert_true(out == UINT64_MAX);
}

static void test_arrays_that_cannot_be_had_are_errors(void **state)
{
    struct err err = ERR_INIT;
    (void)state;
    assert_null(mem_calloc(UINT64_MAX / 4, 8, "tape", &err));
    assert_int_equal(err.code, ERR_MEMORY);
    assert_string_equal(err.text, "tape: 4611686018427387903 elements of 8 bytes are more than memory can hold");
    err_fini(&err);
    assert_null(mem_alloc_aligned(UINT64_MAX, 1, "image", &err));
    assert_int_equal(err.code, ERR_MEMORY);
    err_fini(&err);

    void *array = NULL;
    size_t capacity = 0;
    assert_false(mem_grow(&array, &capacity, SIZE_MAX / 2, 4, "cells", &err));
    assert_int_equal(err.code, ERR_MEMORY);
    assert_null(array);
    assert_int_equal(capacity, 0);
}

static void test_arrays(void **state)
{
    struct err err = ERR_INIT;
    (void)state;
    char *zero = mem_calloc(100, 3, "bytes", &err);
    assert_non_null(zero);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(zero[i], 0);
    free(zero);
    void *empty = mem_calloc(0, 8, "nothing", &err);
    assert_non_null(empty);
    free(empty);
    for (uint64_t count = 0; count < 200; count += 33) {
        float *aligned = mem_alloc_aligned(count, sizeof(float), "floats", &err);
        assert_non_null(aligned);
        assert_int_equal((uintptr_t)aligned % 64, 0);
        mem_poison(aligned, count * sizeof(float));
        for (uint64_t i = 0; i < count; i++)
            assert_true(isnan(aligned[i]));
        free(aligned);
    }
}

static void test_growing_keeps_what_is_there(void **state)
{
    struct err err = ERR_INIT;
    void *array = NULL;
    size_t capacity = 0, moves = 0;
    (void)state;
    for (size_t i = 0; i < 10000; i++) {
        size_t before = capacity;
        assert_true(mem_grow(&array, &capacity, i + 1, sizeof(size_t), "numbers", &err));
        assert_true(capacity > i);
        moves += capacity != before;
        ((size_t *)array)[i] = i;
    }
    for (size_t i = 0; i < 10000; i++)
        assert_true(((size_t *)array)[i] == i);
    assert_true(moves < 25);
    free(array);
}

static void test_poisoned_doubles_are_nan(void **state)
{
    double values[3] = {1, 2, 3};
    (void)state;
    mem_poison(values, 2 * sizeof(double));
    assert_true(isnan(values[0]) && isnan(values[1]));
    assert_true(values[2] == 3);
    mem_poison(NULL, 0);
}

static void test_strbuf(void **state)
{
    struct strbuf sb = STRBUF_INIT;
    struct err err = ERR_INIT;
    (void)state;
    assert_string_equal(strbuf_str(&sb), "");
    strbuf_add(&sb, "ab");
    strbuf_addc(&sb, 'c');
    strbuf_addf(&sb, "-%d-%s", 42, "x");
    strbuf_pad(&sb, '.', 3);
    strbuf_add_bytes(&sb, "yz!", 2);
    assert_string_equal(strbuf_str(&sb), "abc-42-x...yz");
    assert_int_equal(sb.len, 13);
    strbuf_cut(&sb, 100);
    assert_int_equal(sb.len, 13);
    strbuf_cut(&sb, 2);
    assert_string_equal(strbuf_str(&sb), "ab");
    strbuf_reset(&sb);
    assert_string_equal(strbuf_str(&sb), "");
    for (int i = 0; i < 5000; i++)
        strbuf_addf(&sb, "%4d", i);
    assert_int_equal(sb.len, 20000);
    assert_string_equal(strbuf_str(&sb) + 19992, "49984999");
    assert_true(strbuf_ok(&sb, &err));
    strbuf_fini(&sb);
    strbuf_fini(NULL);
}

static void test_strbuf_remembers_failure(void **state)
{
    struct strbuf sb = STRBUF_INIT;
    struct err err = ERR_INIT;
    (void)state;
    strbuf_add(&sb, "kept");
    strbuf_pad(&sb, 'x', SIZE_MAX - 2);
    strbuf_add(&sb, "lost");
    strbuf_addf(&sb, "%d", 1);
    assert_string_equal(strbuf_str(&sb), "kept");
    assert_false(strbuf_ok(&sb, &err));
    assert_int_equal(err.code, ERR_MEMORY);
    strbuf_fini(&sb);
}

static void test_utf8(void **state)
{
    static const struct {
        const char *text;
        size_t len, want;
    } cases[] = {
        {"a", 1, 1},
        {"\xC3\xA9", 2, 2},
        {"\xE2\x82\xAC", 3, 3},
        {"\xF0\x9F\x98\x80", 4, 4},
        {"\xF4\x8F\xBF\xBF", 4, 4},     /* U+10FFFF */
        {"\xEF\xBF\xBF", 3, 3},
        {"", 0, 0},
        {"\xC3", 1, 0},                 /* cut off */
        {"\xC3(", 2, 0},
        {"\xC1\xBF", 2, 0},             /* overlong */
        {"\xE0\x9F\xBF", 3, 0},
        {"\xF0\x8F\xBF\xBF", 4, 0},
        {"\xED\xA0\x80", 3, 0},         /* a surrogate */
        {"\xF4\x90\x80\x80", 4, 0},     /* over U+10FFFF */
        {"\xF5\x80\x80\x80", 4, 0},
        {"\xBF", 1, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(utf8_sequence(cases[i].text, cases[i].len), cases[i].want);
    assert_int_equal(utf8_length("a\xC3\xA9\xFF\xE2\x82\xAC"), 4);
}

static void test_the_machine(void **state)
{
    (void)state;
    assert_true(mem_machine_bytes() >= UINT64_C(1) << 26);
    assert_true(mem_free_bytes() > 0 && mem_free_bytes() <= mem_machine_bytes());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_do_not_overflow),
        cmocka_unit_test(test_arrays_that_cannot_be_had_are_errors),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_growing_keeps_what_is_there),
        cmocka_unit_test(test_poisoned_doubles_are_nan),
        cmocka_unit_test(test_strbuf),
        cmocka_unit_test(test_strbuf_remembers_failure),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
