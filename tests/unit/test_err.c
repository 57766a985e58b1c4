#include "unit/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static void test_the_first_failure_is_kept(void **state)
{
    struct err err = ERR_INIT;
    (void)state;
    assert_false(err_set(&err, ERR_LIMIT, "needs %d bytes", 10));
    assert_false(err_set(&err, ERR_IO, "later"));
    assert_false(err_set_native(&err, ERR_IO, ENOENT, "later"));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_int_equal(err.native, 0);
    assert_string_equal(err.text, "needs 10 bytes");
    assert_false(err_set(NULL, ERR_IO, "nobody asks"));
}

static void test_errno_is_spelt_out(void **state)
{
    struct err err = ERR_INIT;
    (void)state;
    err_set_native(&err, ERR_IO, ENOENT, "a.json: cannot open");
    assert_int_equal(err.native, ENOENT);
    assert_string_equal(err.text, "a.json: cannot open: No such file or directory");
    err_fini(&err);
    err_set_native(&err, ERR_OPENCL, -5, "clFinish: CL_OUT_OF_RESOURCES (-5)");
    assert_int_equal(err.native, -5);
    assert_string_equal(err.text, "clFinish: CL_OUT_OF_RESOURCES (-5)");
}

static void test_wrap_says_on_what(void **state)
{
    struct err err = ERR_INIT;
    (void)state;
    assert_false(err_wrap(&err, "no error"));
    assert_int_equal(err.code, ERR_NONE);
    assert_string_equal(err.text, "");
    err_set(&err, ERR_CONFIG, "unknown key");
    err_wrap(&err, "case %s", "a");
    err_wrap(&err, "config");
    assert_string_equal(err.text, "config: case a: unknown key");
}

static void test_long_texts_are_cut_not_overrun(void **state)
{
    struct err err = ERR_INIT;
    char text[3000];
    (void)state;
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    err_set(&err, ERR_BUILD, "%s", text);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    err_wrap(&err, "kernel");
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    assert_memory_equal(err.text, "kernel: xxx", 11);
    err_wrap(&err, "%s", text);
    assert_memory_equal(err.text, "kernel: xxx", 11);
    err_fini(&err);
    err_set_native(&err, ERR_IO, ENOENT, "%s", text);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void test_names_of_codes(void **state)
{
    (void)state;
    for (int code = ERR_NONE; code <= ERR_INTERNAL; code++)
        assert_int_equal(err_code_parse(err_code_name((enum err_code)code)), code);
    assert_string_equal(err_code_name(ERR_NO_DEVICE), "no-device");
    assert_string_equal(err_code_name((enum err_code)999), "internal");
    assert_int_equal(err_code_parse("no such code"), ERR_INTERNAL);
}

static void test_texts_are_one_line(void **state)
{
    struct err err = ERR_INIT;
    (void)state;
    err_set(&err, ERR_CONFIG, "no\nsuch\x1b[31m \x7f file caf\xc3\xa9");
    err_wrap(&err, "a\tb");
    assert_string_equal(err.text, "a?b: no?such?[31m ? file caf\xc3\xa9");
    err_fini(&err);
}

static void test_fini_releases_the_log(void **state)
{
    struct err err = ERR_INIT;
    (void)state;
    err_set(&err, ERR_BUILD, "does not build");
    err.log = malloc(10000);
    err_fini(&err);
    assert_null(err.log);
    assert_int_equal(err.code, ERR_NONE);
    err_fini(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_failure_is_kept), cmocka_unit_test(test_errno_is_spelt_out),
        cmocka_unit_test(test_wrap_says_on_what),         cmocka_unit_test(test_long_texts_are_cut_not_overrun),
        cmocka_unit_test(test_names_of_codes),            cmocka_unit_test(test_fini_releases_the_log),
        cmocka_unit_test(test_texts_are_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
