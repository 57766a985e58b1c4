/* Structures by the rules of OpenCL C and WGSL, and what another order saves. */
#include "unit/check.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "model/struct_rules.h"

static size_t parse(const char *text, struct rule_field *fields)
{
    struct err err = ERR_INIT;
    size_t count;

    if (!rules_parse(text, fields, &count, &err))
        fail_msg("%s: %s", text, err.text);
    return count;
}

static uint32_t best(enum struct_rules rules, const struct rule_field *fields, size_t count)
{
    size_t order[RULE_FIELDS_MAX];
    unsigned seen = 0;

    rules_best_order(rules, fields, count, order);
    for (size_t i = 0; i < count; i++)
        seen |= 1u << order[i];
    assert_int_equal(seen, (1u << count) - 1);
    return rules_size_in_order(rules, fields, count, order);
}

static void test_places(void **state)
{
    struct rule_field fields[RULE_FIELDS_MAX];
    struct rule_place at[RULE_FIELDS_MAX];
    size_t count = parse("f32 a, vec3 b, f32 c, vec2 d, mat3x3 e, u32[3] f", fields);

    (void)state;
    assert_int_equal(count, 6);
    assert_string_equal(fields[1].name, "b");
    /* 0, 16, 28 (behind the vec3's 12 bytes), 32, 48 (three columns of 16), 96 to 108 */
    assert_int_equal(rules_place(RULES_WGSL, fields, count, at), 112);
    const uint32_t wgsl[] = {0, 16, 28, 32, 48, 96}, opencl[] = {0, 16, 32, 40, 48, 96};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(at[i].offset, wgsl[i]);
    assert_int_equal(at[1].size, 12);
    assert_int_equal(at[1].padding, 12);
    assert_int_equal(at[4].size, 48);
    assert_int_equal(rules_place(RULES_OPENCL, fields, count, at), 112);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(at[i].offset, opencl[i]);
    assert_int_equal(at[1].size, 16);
}

/* The same seven fields: 80 bytes with the vectors first, 64 with a scalar behind each. */
static void test_the_classic(void **state)
{
    struct rule_field fields[RULE_FIELDS_MAX];
    size_t count = parse("vec3 a, vec3 b, vec3 c, vec3 d, f32 e, f32 f, f32 g", fields);

    (void)state;
    assert_int_equal(rules_place(RULES_WGSL, fields, count, NULL), 80);
    assert_int_equal(best(RULES_WGSL, fields, count), 64);
    assert_int_equal(rules_place(RULES_OPENCL, fields, count, NULL), 80);
    assert_int_equal(best(RULES_OPENCL, fields, count), 80);
    count = parse("vec4 a, vec4 b, f32 c, vec4 d, f32 e, f32 f, f32 g", fields);
    assert_int_equal(rules_place(RULES_OPENCL, fields, count, NULL), 80);
    assert_int_equal(best(RULES_OPENCL, fields, count), 64);
}

static uint32_t least(enum struct_rules rules, const struct rule_field *fields, size_t count, size_t *order,
                      size_t n)
{
    uint32_t smallest = UINT32_MAX;

    if (n == count)
        return rules_size_in_order(rules, fields, count, order);
    for (size_t i = n; i < count; i++) {
        size_t swap = order[n];
        order[n] = order[i];
        order[i] = swap;
        uint32_t size = least(rules, fields, count, order, n + 1);
        smallest = size < smallest ? size : smallest;
        order[i] = order[n];
        order[n] = swap;
    }
    return smallest;
}

/* Every sequence of five types: no order is smaller than the one chosen. */
static void test_no_order_is_smaller(void **state)
{
    (void)state;
    for (unsigned code = 0; code < 4 * 4 * 4 * 4 * 4; code++) {
        struct rule_field fields[5];
        for (unsigned i = 0, rest = code; i < 5; i++, rest /= 4)
            fields[i] = (struct rule_field){.type = (enum rule_type)(RULE_F32 + rest % 4)};
        for (int rules = 0; rules < RULES_COUNT; rules++) {
            size_t order[] = {0, 1, 2, 3, 4};
            uint32_t smallest = least((enum struct_rules)rules, fields, 5, order, 0);
            assert_int_equal(best((enum struct_rules)rules, fields, 5), smallest);
        }
    }
}

static void test_what_cannot_be_read(void **state)
{
    static const char *const wrong[] = {"",         "vec5 a",  "f32 a b",   "mat5x3 a",
                                        "f32[0] a", "f32[2 a", "vec3,,f32", " , ",
                                        "f32[-1]",  "f32[ 2]", "f32[100000]", "f32[4294967297]",
                                        "f32 a,",   "f32 a, vec2 a"};
    struct rule_field fields[RULE_FIELDS_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct err err = ERR_INIT;
        size_t count;
        if (rules_parse(wrong[i], fields, &count, &err))
            fail_msg("\"%s\" was read as fields", wrong[i]);
        assert_int_equal(err.code, ERR_USAGE);
        err_fini(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_the_classic),
        cmocka_unit_test(test_no_order_is_smaller),
        cmocka_unit_test(test_what_cannot_be_read),
    };

    return cmocka_run_group_tests_name("rules of structures", tests, NULL, NULL);
}
