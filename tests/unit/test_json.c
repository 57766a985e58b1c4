#include "unit/check.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static struct json *parse(const char *text)
{
    struct err err = ERR_INIT;
    struct json *root = json_parse(text, strlen(text), "doc", &err);
    if (!root)
        fail_msg("%s", err.text);
    return root;
}

static void expect_error_bytes(const char *text, size_t len, const char *want)
{
    struct err err = ERR_INIT;
    struct json *root = json_parse(text, len, "doc", &err);
    assert_null(root);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_string_equal(err.text, want);
    err_fini(&err);
}

static void expect_error(const char *text, const char *want)
{
    expect_error_bytes(text, strlen(text), want);
}

static void expect_print(const struct json *root, bool pretty, const char *want)
{
    struct strbuf out = STRBUF_INIT;
    struct err err = ERR_INIT;
    assert_true(json_print(root, pretty, &out, &err));
    assert_string_equal(strbuf_str(&out), want);
    strbuf_fini(&out);
}

static void test_reads_what_json_has(void **state)
{
    (void)state;
    struct json *root = parse(" {\"a\": [1, -2.5e1, true, null, \"x\\n\\u00e9\\ud83d\\ude00\"], \"b\": {}}\n");
    const struct json *a = json_get(root, "a");
    assert_int_equal(json_type(root), JSON_OBJECT);
    assert_int_equal(json_count(root), 2);
    assert_int_equal(json_count(a), 5);
    assert_true(json_number(json_at(a, 1)) == -25);
    assert_true(json_bool(json_at(a, 2)));
    assert_int_equal(json_type(json_at(a, 3)), JSON_NULL);
    assert_string_equal(json_string(json_at(a, 4)), "x\n\xC3\xA9\xF0\x9F\x98\x80");
    assert_null(json_at(a, 5));
    assert_null(json_get(root, "A"));
    assert_null(json_get(a, "a"));
    assert_string_equal(json_key(json_at(root, 1)), "b");
    assert_string_equal(json_key(json_at(a, 0)), "");
    json_free(root);
}

static void test_refuses_duplicate_keys(void **state)
{
    (void)state;
    expect_error("{\"axes\": {\"size\": 1,\n\"sigma\": 2,\n\"size\": 3}}",
                 "doc:3: $.axes.size: duplicate key (the first is on line 1)");
    expect_error("{\"a\":1,\"\\u0061\":2}", "doc:1: $.a: duplicate key (the first is on line 1)");
    expect_error("[{\"k k\":1,\"k k\":2}]", "doc:1: $[0][\"k k\"]: duplicate key (the first is on line 1)");
    json_free(parse("{\"a\":{\"a\":1},\"b\":{\"a\":1},\"A\":2}"));
}

static void test_refuses_numbers_that_are_not_finite(void **state)
{
    (void)state;
    expect_error("{\"axes\":{\"size\":[1,2,\n1e999]}}",
                 "doc:2: $.axes.size[2]: 1e999 is not finite in double precision");
    expect_error("[NaN]", "doc:1: $[0]: expected a value, found 'N'");
    expect_error("-Infinity", "doc:1: $: expected a digit, found 'I'");
}

static void test_refuses_what_follows_the_document(void **state)
{
    (void)state;
    expect_error("{}\n\nx", "doc:3: $: expected the end of the document, found 'x'");
    expect_error_bytes("{}\0", 3, "doc:1: $: expected the end of the document, found byte 0x00");
    expect_error("1 2", "doc:1: $: expected the end of the document, found '2'");
}

static void test_refuses_invalid_utf8(void **state)
{
    static const char *const bad[] = {"\"\xFF\"", "\"\xC0\xAF\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"",
                                      "\"\xE2\x82\"", "\"\x80\""};
    struct err err = ERR_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_null(json_parse(bad[i], strlen(bad[i]), "doc", &err));
        assert_non_null(strstr(err.text, "not valid UTF-8"));
        err_fini(&err);
    }
    expect_error("{\"\xFFk\":1}", "doc:1: $: byte 0xFF in a string is not valid UTF-8");
}

static void test_refuses_deep_nesting(void **state)
{
    char text[2 * 65 + 1];
    (void)state;
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    text[130] = '\0';
    struct err err = ERR_INIT;
    assert_null(json_parse(text, 130, "doc", &err));
    assert_non_null(strstr(err.text, "more than 64 arrays and objects inside each other"));
    err_fini(&err);
    json_free(json_parse(text + 1, 128, "doc", &err));
    assert_int_equal(err.code, ERR_NONE);
}

static void test_refuses_what_cjson_would_let_pass(void **state)
{
    (void)state;
    expect_error("", "doc:1: $: expected a value, found the end of the document");
    expect_error("[01]", "doc:1: $[0]: a number may not start with 0 and another digit");
    expect_error("[1.]", "doc:1: $[0]: expected a digit after the decimal point, found ']'");
    expect_error("[-]", "doc:1: $[0]: expected a digit, found ']'");
    expect_error("[1e]", "doc:1: $[0]: expected a digit of the exponent, found ']'");
    expect_error("[1,]", "doc:1: $: a comma before ']'");
    expect_error("{\"a\":1,}", "doc:1: $: a comma before '}'");
    expect_error("{a:1}", "doc:1: $: expected a key in double quotes, found 'a'");
    expect_error("{\"a\" 1}", "doc:1: $.a: expected ':' after a key, found '1'");
    expect_error("[1 2]", "doc:1: $: expected ',' or ']', found '2'");
    expect_error("{\"a\":1", "doc:1: $: expected ',' or '}', found the end of the document");
    expect_error("\"a\nb\"",
                 "doc:1: $: byte 0x0A in a string: a control character, or the closing quote is missing");
    expect_error("\"a", "doc:1: $: a string without its closing quote");
    expect_error("\"\\x\"", "doc:1: $: expected an escape that JSON has, found 'x'");
    expect_error("\"\\u0000\"", "doc:1: $: \\u0000 in a string");
    expect_error("\"\\u12G4\"", "doc:1: $: expected four hexadecimal digits after \\u, found 'G'");
    expect_error("\"\\ud800x\"", "doc:1: $: \\uD800 is half of a surrogate pair");
    expect_error("\"\\ude00\"", "doc:1: $: \\uDE00 is half of a surrogate pair");
    expect_error("\"\\ud800\\u0041\"", "doc:1: $: \\uD800\\u0041 is no surrogate pair");
    expect_error("\xEF\xBB\xBF{}", "doc:1: $: expected a value, found byte 0xEF");
    expect_error("tru", "doc:1: $: expected a value, found 't'");
    expect_error("[0.1111111111111111111111111111111111111111111111111111111111111111]",
                 "doc:1: $[0]: a number of 66 characters; at most 63 are read");
}

/* Every prefix of a document is an error, and none is read past its end (ASan watches the copy). */
static void test_prefixes_of_a_document(void **state)
{
    static const char text[] = "{\"a\":[1.5e-3,\"\\ud83d\\ude00\xC3\xA9\",true,null],\"b\":{\"c\":false}}";
    struct err err = ERR_INIT;
    (void)state;
    for (size_t len = 0; len < sizeof(text) - 1; len++) {
        char *copy = malloc(len ? len : 1);
        assert_non_null(copy);
        memcpy(copy, text, len);
        assert_null(json_parse(copy, len, "doc", &err));
        assert_int_equal(err.code, ERR_CONFIG);
        err_fini(&err);
        free(copy);
    }
}

static void test_u64(void **state)
{
    uint64_t value = 1;
    (void)state;
    struct json *root = parse("[0, 9007199254740992, \"18446744073709551615\", -1, 1.5, 1e300, \"x\", true]");
    assert_true(json_u64(json_at(root, 0), &value) && value == 0);
    assert_true(json_u64(json_at(root, 1), &value) && value == UINT64_C(9007199254740992));
    assert_true(json_u64(json_at(root, 2), &value) && value == UINT64_MAX);
    for (size_t i = 3; i < 8; i++)
        assert_false(json_u64(json_at(root, i), &value));
    json_free(root);
}

static void test_paths(void **state)
{
    struct strbuf out = STRBUF_INIT;
    (void)state;
    struct json *root = parse("{\"axes\":{\"size\":[1,2,{\"a b\":3}]}}");
    const struct json *element = json_at(json_get(json_get(root, "axes"), "size"), 2);
    json_path(root, element, &out);
    assert_string_equal(strbuf_str(&out), "$.axes.size[2]");
    strbuf_reset(&out);
    json_path(root, json_at(element, 0), &out);
    assert_string_equal(strbuf_str(&out), "$.axes.size[2][\"a b\"]");
    strbuf_reset(&out);
    json_path(root, root, &out);
    assert_string_equal(strbuf_str(&out), "$");
    strbuf_fini(&out);
    json_free(root);
}

static struct json *build(void)
{
    struct json *root = json_new_object();
    json_set_string(root, "text", "quote \" back \\ tab \t bell \a latin \xE9 done");
    json_set_string(root, "none", NULL);
    json_set_number(root, "tenth", 0.1);
    json_set_number(root, "infinite", INFINITY);
    json_set_float(root, "sigma", 0.01f);
    json_set_u64(root, "exact", UINT64_C(1) << 53);
    json_set_u64(root, "large", UINT64_MAX);
    json_set_bool(root, "yes", true);
    struct json *list = json_set_array(root, "list");
    json_add_u64(list, 802100);
    json_add_number(list, -2.5);
    json_add_float(list, 0.3f);
    json_add_object(json_set_array(root, "objects"));
    return root;
}

static void test_prints_compact(void **state)
{
    (void)state;
    struct json *root = build();
    expect_print(root, false,
                 "{\"text\":\"quote \\\" back \\\\ tab \\t bell \\u0007 latin \xEF\xBF\xBD done\",\"none\":null,"
                 "\"tenth\":0.1,\"infinite\":null,\"sigma\":0.01,\"exact\":9007199254740992,"
                 "\"large\":\"18446744073709551615\",\"yes\":true,\"list\":[802100,-2.5,0.3],\"objects\":[{}]}");
    json_free(root);
}

static void test_prints_pretty(void **state)
{
    (void)state;
    struct json *root = parse("{\"a\":[1,2.5],\"b\":{\"c\":[\"x\",{}],\"d\":[]}}");
    expect_print(root, true,
                 "{\n  \"a\": [1, 2.5],\n  \"b\": {\n    \"c\": [\n      \"x\",\n      {}\n    ],\n"
                 "    \"d\": []\n  }\n}\n");
    json_free(root);
}

static void test_pretty_number_arrays_wrap_and_read_back(void **state)
{
    struct strbuf out = STRBUF_INIT;
    struct err err = ERR_INIT;
    (void)state;
    struct json *root = json_new_object();
    struct json *samples = json_set_array(root, "samples_ns");
    for (uint64_t i = 0; i < 100; i++)
        json_add_u64(samples, 800000 + i);
    assert_true(json_print(root, true, &out, &err));
    size_t column = 0;
    for (size_t i = 0; i < out.len; i++) {
        column = out.data[i] == '\n' ? 0 : column + 1;
        assert_true(column <= 100);
        assert_false(out.data[i] == ' ' && out.data[i + 1] == '\n');
    }
    struct json *back = parse(out.data);
    assert_int_equal(json_count(json_get(back, "samples_ns")), 100);
    assert_true(json_number(json_at(json_get(back, "samples_ns"), 99)) == 800099);
    json_free(back);
    json_free(root);
    strbuf_fini(&out);
}

static void test_doubles_survive_bit_for_bit(void **state)
{
    static const double values[] = {0.1, 1.0 / 3, 0x1.fffffffffffffp+1023, 0x1p-1022, 0x1p-1074, 5e-300,
                                    0.1 + 0.2, 123456789.123456789, 1e15, 1e22, 9007199254740993.0, -0.0,
                                    0x1.0000000000001p0};
    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct strbuf out = STRBUF_INIT;
        struct err err = ERR_INIT;
        struct json *list = json_new_array();
        json_add_number(list, values[i]);
        assert_true(json_print(list, false, &out, &err));
        struct json *back = parse(strbuf_str(&out));
        double got = json_number(json_at(back, 0));
        assert_memory_equal(&got, &values[i], sizeof(got));
        json_free(back);
        json_free(list);
        strbuf_fini(&out);
    }
    struct json *list = json_new_array();
    json_add_number(list, 0x1p-1074);
    json_add_number(list, 0.1 + 0.2);
    json_add_number(list, 0.3);
    expect_print(list, false, "[5e-324,0.30000000000000004,0.3]");
    json_free(list);
}

static void test_setting_a_key_again_replaces_it(void **state)
{
    (void)state;
    struct json *root = json_new_object();
    json_set_u64(root, "a", 1);
    json_set_u64(root, "b", 2);
    json_set_string(root, "a", "new");
    assert_int_equal(json_count(root), 2);
    expect_print(root, false, "{\"a\":\"new\",\"b\":2}");
    json_free(root);
}

static void test_parsed_documents_can_grow(void **state)
{
    (void)state;
    struct json *root = parse("{\"list\":[1,2]}");
    struct json *copy = NULL;
    struct err err = ERR_INIT;
    copy = json_copy(json_get(root, "list"), &err);
    assert_non_null(copy);
    json_add_u64(copy, 3);
    assert_int_equal(json_count(copy), 3);
    assert_true(json_number(json_at(copy, 2)) == 3);
    json_set(root, "copy", copy);
    expect_print(root, false, "{\"list\":[1,2],\"copy\":[1,2,3]}");
    json_free(root);
}

/* What could not be added makes printing fail: nothing is left out silently. */
static void test_missing_parts_make_printing_fail(void **state)
{
    struct strbuf out = STRBUF_INIT;
    struct err err = ERR_INIT;
    (void)state;
    struct json *root = json_new_object();
    json_set(json_set_object(root, "inner"), "value", NULL);
    assert_false(json_print(root, false, &out, &err));
    assert_int_equal(err.code, ERR_MEMORY);
    json_free(root);
    strbuf_fini(&out);
}

/* make check-unit compiles locales into $LOCPATH where localedef and their sources are installed; ps_AF has
 * a decimal separator of two bytes. */
static void test_decimal_comma_locale(void **state)
{
    const char *name = *state;
    if (!setlocale(LC_ALL, name)) {
        print_message("# there is no locale %s\n", name);
        skip();
    }
    char comma[16];
    snprintf(comma, sizeof(comma), "%.1f", 0.5);
    assert_string_not_equal(comma, "0.5");
    struct json *root = parse("[0.25, 1e-3]");
    assert_true(json_number(json_at(root, 0)) == 0.25);
    assert_true(json_number(json_at(root, 1)) == 0.001);
    expect_print(root, false, "[0.25,0.001]");
    json_free(root);
    expect_error("[0,25.5.]", "doc:1: $: expected ',' or ']', found '.'");
    setlocale(LC_ALL, "C");
}

static void test_load_names_the_file(void **state)
{
    struct err err = ERR_INIT;
    (void)state;
    assert_null(json_load("no/such/file.json", &err));
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.text, "no/such/file.json: cannot open: No such file or directory");
    err_fini(&err);
    assert_null(json_load("/", &err));
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.text, "/: cannot read: Is a directory");
    err_fini(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_what_json_has),
        cmocka_unit_test(test_refuses_duplicate_keys),
        cmocka_unit_test(test_refuses_numbers_that_are_not_finite),
        cmocka_unit_test(test_refuses_what_follows_the_document),
        cmocka_unit_test(test_refuses_invalid_utf8),
        cmocka_unit_test(test_refuses_deep_nesting),
        cmocka_unit_test(test_refuses_what_cjson_would_let_pass),
        cmocka_unit_test(test_prefixes_of_a_document),
        cmocka_unit_test(test_u64),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_prints_compact),
        cmocka_unit_test(test_prints_pretty),
        cmocka_unit_test(test_pretty_number_arrays_wrap_and_read_back),
        cmocka_unit_test(test_doubles_survive_bit_for_bit),
        cmocka_unit_test(test_setting_a_key_again_replaces_it),
        cmocka_unit_test(test_parsed_documents_can_grow),
        cmocka_unit_test(test_missing_parts_make_printing_fail),
        {"decimal comma, de_DE", test_decimal_comma_locale, NULL, NULL, "de_DE.UTF-8"},
        {"decimal separator of two bytes, ps_AF", test_decimal_comma_locale, NULL, NULL, "ps_AF.UTF-8"},
        cmocka_unit_test(test_load_names_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
