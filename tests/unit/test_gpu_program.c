/* Sources, build logs, and the layout of what host and kernels share. */
#include "unit/gpu_fixture.h"

#include "gpu/layout.h"
#include "gpu/program.h"
#include "gpu/renderer.h"
#include "unit/scratch.h"

static void test_includes_with_lines(void **state)
{
    struct strbuf source = STRBUF_INIT;
    struct err err = ERR_INIT;

    (void)state;
    expect_ok(program_source("tile.cl", NULL, &source, &err), &err, "program_source");
    assert_non_null(strstr(source.data, "#line 1 \"kernels/shared.h\""));
    assert_null(strstr(source.data, "#include \""));
    assert_true(strncmp(source.data, "#line 1 \"kernels/tile.cl\"\n", 26) == 0);
    strbuf_fini(&source);
    assert_false(program_source("absent.cl", NULL, &source, &err));
    assert_int_equal(err.code, ERR_INTERNAL);
    err_fini(&err);
    strbuf_fini(&source);
}

/* What is included where a condition leaves it out must be there where it is included again. */
static void test_conditions_decide_over_includes(void **state)
{
    struct strbuf source = STRBUF_INIT;
    struct err err = ERR_INIT;
    static const char *const files[] = {"a.cl", "b.h", "c.h"};
    static const char *const texts[] = {"#if 0\n#include \"b.h\"\n#endif\n#include \"c.h\"\n", "int of_b;\n",
                                        "#include \"b.h\"\nint of_c;\n"};
    static const char circle[] = "#include \"c.h\"\n";
    char dir[SCRATCH_MAX], path[SCRATCH_MAX];

    (void)state;
    scratch_make(dir);
    for (size_t i = 0; i < 3; i++)
        scratch_write(scratch_path(path, dir, files[i]), texts[i], strlen(texts[i]));
    expect_ok(program_source("a.cl", dir, &source, &err), &err, "program_source");
    const char *second = strstr(strstr(source.data, "int of_b;") + 1, "int of_b;");
    assert_non_null(second);
    assert_non_null(strstr(second, "int of_c;"));
    strbuf_fini(&source);
    scratch_write(path, circle, strlen(circle));
    assert_false(program_source("a.cl", dir, &source, &err));
    assert_non_null(strstr(err.text, "too deep"));
    err_fini(&err);
    strbuf_fini(&source);
    scratch_remove(dir, files, 3);
}

/* NVIDIA's compiler counts the lines of the whole source. */
static void test_lines_of_the_whole_are_named(void **state)
{
    static const char source[] = "#line 1 \"kernels/a.cl\"\n"
                                 "#line 1 \"kernels/b.h\"\n"
                                 "first of b\n"
                                 "second of b\n"
                                 "#line 2 \"kernels/a.cl\"\n"
                                 "second of a\n";
    static const struct {
        const char *log, *named;
    } cases[] = {
        {"<kernel>:4:7: error: x\n", "kernels/b.h:2:7: error: x\n"},
        {"a\n<kernel>:6:1: b <kernel>:3:2: c", "a\nkernels/a.cl:2:1: b kernels/b.h:1:2: c"},
        {"<kernel>:1:1: before", "<kernel>:1:1: before"},
        {"<kernel>: no number", "<kernel>: no number"},
        {"kernels/b.h:2:7: error", "kernels/b.h:2:7: error"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct strbuf named = STRBUF_INIT;
        program_log_lines(cases[i].log, source, &named);
        assert_string_equal(strbuf_str(&named), cases[i].named);
        strbuf_fini(&named);
    }
}

static void test_build_log_names_the_line(void **state)
{
    struct renderer *r = open_renderer(NULL);
    struct opencl_renderer *opencl = (struct opencl_renderer *)r;
    struct err err = ERR_INIT;
    cl_program program = NULL;
    static const char broken[] =
        "#include \"shared.h\"\n\nkernel void broken(global int *out)\n{\n    out[0] = nonsense;\n}\n";
    char dir[SCRATCH_MAX], path[SCRATCH_MAX];

    (void)state;
    scratch_make(dir);
    scratch_write(scratch_path(path, dir, "broken.cl"), broken, strlen(broken));
    scratch_write(scratch_path(path, dir, "shared.h"), "\n\n", 2);
    assert_false(program_build(opencl->context, opencl->device, r->info.name, "broken.cl", dir, "", &program, &err));
    assert_int_equal(err.code, ERR_BUILD);
    assert_null(program);
    assert_non_null(err.log);
    assert_non_null(strstr(err.log, "kernels/broken.cl:5"));
    assert_non_null(strstr(err.text, r->info.name));
    err_fini(&err);
    assert_false(program_build(opencl->context, opencl->device, r->info.name, "absent.cl", dir, "", &program, &err));
    assert_int_equal(err.code, ERR_IO);
    err_fini(&err);
    scratch_remove(dir, (const char *const[]){"broken.cl", "shared.h"}, 2);
    r->ops->destroy(r);
}

static void test_layout_is_the_same_on_both_sides(void **state)
{
    struct renderer *r = open_renderer(NULL);
    struct layout_row rows[LAYOUT_ROWS];
    struct err err = ERR_INIT;

    (void)state;
    expect_ok(layout_compare(r, rows, &err), &err, "layout_compare");
    for (size_t i = 0; i < LAYOUT_ROWS; i++)
        assert_false(layout_differs(&rows[i]));
    assert_string_equal(rows[LAYOUT_ROWS - 1].structure, "shared_triangle");
    assert_int_equal(rows[LAYOUT_ROWS - 1].device.size, 112);
    assert_int_equal(rows[LAYOUT_ROWS - 1].device.align, 16);
    r->ops->destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_includes_with_lines),
        cmocka_unit_test(test_conditions_decide_over_includes),
        cmocka_unit_test(test_lines_of_the_whole_are_named),
        cmocka_unit_test(test_build_log_names_the_line),
        cmocka_unit_test(test_layout_is_the_same_on_both_sides),
    };

    return cmocka_run_group_tests_name("OpenCL programs", tests, NULL, NULL);
}
