#include "unit/check.h"

#include <math.h>

#include "model/golden.h"
#include "unit/scratch.h"

#define GOLDEN "tests/golden"

static const char *const files[] = {"case.json", "scene.json", "image.f32", "target.f32", "grads.f32"};
#define FILES (sizeof(files) / sizeof(files[0]))

static void test_cases_are_listed_in_order(void **state)
{
    char **names;
    size_t count;
    struct err err = ERR_INIT;
    (void)state;
    assert_true(golden_list(GOLDEN, &names, &count, &err));
    assert_int_equal(count, 11);
    assert_string_equal(names[0], "degenerate-at-64");
    assert_string_equal(names[10], "random-64-at-48-soft");
    golden_list_free(names, count);
}

static void test_a_folder_without_cases_is_an_error(void **state)
{
    char dir[SCRATCH_MAX];
    char **names;
    size_t count;
    struct err err = ERR_INIT;
    (void)state;
    scratch_make(dir);
    assert_false(golden_list(dir, &names, &count, &err));
    assert_int_equal(err.code, ERR_CONFIG);
    assert_non_null(strstr(err.text, "no golden case"));
    assert_null(names);
    err_fini(&err);
    scratch_remove(dir, NULL, 0);
    assert_false(golden_list(dir, &names, &count, &err));
    assert_int_equal(err.code, ERR_IO);
    err_fini(&err);
}

static void test_a_case_is_read(void **state)
{
    struct golden_case c;
    struct err err = ERR_INIT;
    (void)state;
    assert_true(golden_load(GOLDEN "/random-40-at-160x24-sharp/", &c, &err));
    assert_string_equal(c.name, "random-40-at-160x24-sharp");
    assert_string_equal(c.note, "non-square, sharp edges, bright background");
    assert_true(c.width == 160 && c.height == 24 && c.sigma == 0.0015f);
    assert_int_equal(c.scene.triangles, 40);
    assert_true(c.loss == 0.127347216 && c.tape_bytes == 115752);
    assert_true(c.tolerance.value[AGREE_IMAGE] == 7e-6 && c.tolerance.value[AGREE_VERTICES] == 6e-4);
    assert_true(c.tolerance.value[AGREE_ALPHA] == 2e-5);
    assert_false(c.vertices_summed);
    golden_fini(&c);
    assert_null(c.target);
    assert_true(golden_load(GOLDEN "/degenerate-at-64", &c, &err));
    assert_true(c.vertices_summed);
    golden_fini(&c);
}

static void test_an_empty_case_has_no_gradients(void **state)
{
    struct golden_case c;
    struct err err = ERR_INIT;
    (void)state;
    assert_true(golden_load(GOLDEN "/empty-at-16", &c, &err));
    assert_int_equal(c.scene.triangles, 0);
    assert_true(c.image[0] == (double)c.scene.background[0]);
    golden_fini(&c);
}

/* A copy of the smallest case, to be broken. */
static void copy_case(char dir[SCRATCH_MAX])
{
    char path[SCRATCH_MAX];

    scratch_make(dir);
    for (size_t i = 0; i < FILES; i++) {
        size_t len;
        char *data = scratch_read(scratch_path(path, GOLDEN "/one-triangle-at-16", files[i]), &len);
        scratch_write(scratch_path(path, dir, files[i]), data, len);
        free(data);
    }
}

static void expect_refused(const char *dir, const char *message)
{
    struct golden_case c;
    struct err err = ERR_INIT;

    assert_false(golden_load(dir, &c, &err));
    if (!strstr(err.text, message))
        fail_msg("\"%s\" does not say \"%s\"", err.text, message);
    assert_true(strncmp(err.text, dir, strlen(dir)) == 0 || err.code == ERR_IO);
    assert_null(c.target);
    assert_null(c.scene.params);
    err_fini(&err);
}

static void test_a_file_of_the_wrong_length_is_refused(void **state)
{
    static const struct {
        const char *name;
        long delta;
        const char *message;
    } cases[] = {{"image.f32", -4, "image.f32: 3068 bytes where 3072 should be (768 float32 values)"},
                 {"image.f32", 1, "image.f32: 3073 bytes where 3072 should be"},
                 {"target.f32", -1, "target.f32: 3071 bytes where 3072 should be"},
                 {"grads.f32", 4, "grads.f32: 44 bytes where 40 should be (10 float32 values)"},
                 {"grads.f32", -40, "grads.f32: 0 bytes where 40 should be"}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char dir[SCRATCH_MAX], path[SCRATCH_MAX];
        size_t len;
        copy_case(dir);
        char *data = scratch_read(scratch_path(path, dir, cases[i].name), &len);
        data = realloc(data, len + 8);
        assert_non_null(data);
        memset(data + len, 0, 8);
        scratch_write(path, data, (size_t)((long)len + cases[i].delta));
        free(data);
        expect_refused(dir, cases[i].message);
        scratch_remove(dir, files, FILES);
    }
}

static void test_a_missing_file_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        char dir[SCRATCH_MAX], path[SCRATCH_MAX];
        copy_case(dir);
        assert_int_equal(unlink(scratch_path(path, dir, files[i])), 0);
        expect_refused(dir, files[i]);
        scratch_remove(dir, files, FILES);
    }
}

static void test_a_value_that_is_not_finite_is_refused(void **state)
{
    const float nan = NAN;
    char dir[SCRATCH_MAX], path[SCRATCH_MAX];
    size_t len;
    (void)state;
    copy_case(dir);
    char *data = scratch_read(scratch_path(path, dir, "target.f32"), &len);
    memcpy(data + 4 * 700, &nan, sizeof(nan));
    scratch_write(path, data, len);
    free(data);
    expect_refused(dir, "target.f32: value 700 is not finite");
    scratch_remove(dir, files, FILES);
}

static void test_a_case_json_that_is_wrong_says_what(void **state)
{
    static const char *const edits[][3] = {
        {"\"width\": 16", "\"width\": 0", "\"width\" is not an integer from 1 to 32768"},
        {"\"width\": 16", "\"width\": 17", "target.f32: 3072 bytes where 3264 should be"},
        {"\"height\": 16", "\"height\": \"16\"", "\"height\" is a string where a number should be"},
        {"\"height\": 16", "\"heigth\": 16", "unknown key \"heigth\"; did you mean \"height\"?"},
        {"\"triangles\": 1", "\"triangles\": 2", "scene.json: 1 triangles, where case.json says 2"},
        {"\"sigma\": 0.0", "\"sigma\": -0.0", "\"sigma\" is -0.02, which is not above 0"},
        {"\"loss\": 0", "\"loss\": -0", "\"loss\" is -0.250057, which is not 0 or above"},
        {"\"image\"", "\"picture\"", "\"image\" is missing where a number should be"},
        {"\"each\"", "\"all\"", "\"vertices_compared\" is neither \"each\" nor \"summed\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        char dir[SCRATCH_MAX], path[SCRATCH_MAX], edited[2048];
        size_t len;
        copy_case(dir);
        char *text = scratch_read(scratch_path(path, dir, "case.json"), &len);
        const char *at = strstr(text, edits[i][0]);
        assert_non_null(at);
        int size = snprintf(edited, sizeof(edited), "%.*s%s%s", (int)(at - text), text, edits[i][1],
                            at + strlen(edits[i][0]));
        assert_true(size > 0 && (size_t)size < sizeof(edited));
        scratch_write(path, edited, (size_t)size);
        free(text);
        expect_refused(dir, edits[i][2]);
        scratch_remove(dir, files, FILES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases_are_listed_in_order),
        cmocka_unit_test(test_a_folder_without_cases_is_an_error),
        cmocka_unit_test(test_a_case_is_read),
        cmocka_unit_test(test_an_empty_case_has_no_gradients),
        cmocka_unit_test(test_a_file_of_the_wrong_length_is_refused),
        cmocka_unit_test(test_a_missing_file_is_refused),
        cmocka_unit_test(test_a_value_that_is_not_finite_is_refused),
        cmocka_unit_test(test_a_case_json_that_is_wrong_says_what),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
