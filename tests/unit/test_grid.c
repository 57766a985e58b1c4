#include "unit/check.h"

#include <string.h>

#include "plan/grid.h"

static void make(const char *text, const struct grid_devices *devices, struct config *config,
                 struct grid *grid)
{
    struct err err = ERR_INIT;
    struct json *root = json_parse(text, strlen(text), "x.json", &err);

    assert_non_null(root);
    bool ok = config_from_json(root, "x.json", config, &err) && grid_build(config, devices, grid, &err);
    assert_string_equal(err.text, "");
    assert_true(ok);
    json_free(root);
}

static void expect_ids(const struct grid *grid, const char *const *want, size_t count)
{
    assert_int_equal(grid->cell_count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(grid->cells[i].id, want[i]);
}

static const size_t first[] = {0}, second[] = {1}, both[] = {1, 2};
static const char *const cpu[] = {"openmp"}, *const one[] = {"ocl:0:0"},
                         *const two[] = {"ocl:0:0", "ocl:1:0"};

static void test_points_and_cells(void **state)
{
    static const struct grid_devices devices[] = {{first, cpu, 1}, {second, one, 1}};
    static const char *const want[] = {
        "cpu/64x64/t32/b16",  "device/64x64/t32/b16/call=loader",  "device/64x64/t32/b16/call=resident",
        "cpu/64x64/t128/b16", "device/64x64/t128/b16/call=loader", "device/64x64/t128/b16/call=resident",
    };
    struct config config;
    struct grid grid;
    (void)state;
    make("{\"version\": 1, \"name\": \"n\", \"axes\": {\"call\": [\"loader\", \"resident\"], \"size\": [64],"
         "\"triangles\": [32, 128]}, \"backends\": [{\"name\": \"cpu\", \"backend\": \"openmp\"},"
         "{\"name\": \"device\", \"backend\": \"opencl\", \"reduction\": \"local\"}]}",
         devices, &config, &grid);
    expect_ids(&grid, want, sizeof want / sizeof want[0]);
    assert_int_equal(grid.point_count, 2);
    assert_int_equal(grid.points[1].first_cell, 3);
    assert_int_equal(grid.points[1].cell_count, 3);
    assert_int_equal(grid.points[1].spec.triangles, 128);
    assert_int_equal(grid.cells[4].point, 1);
    assert_int_equal(grid.cells[4].backend, 1);
    assert_int_equal(grid.cells[4].device, 1);
    assert_int_equal(grid.cells[5].spec.call, CALL_RESIDENT);
    assert_int_equal(grid.cells[5].spec.reduction, REDUCTION_LOCAL);
    assert_int_equal(grid.note_count, 1);
    assert_string_equal(grid.notes[0],
                        "cpu: 4 combinations are 2 cells: no difference along call");
    grid_fini(&grid);
    grid_fini(&grid);
    grid_fini(NULL);
    config_fini(&config);
}

static void test_several_devices(void **state)
{
    static const struct grid_devices devices[] = {{both, two, 2}};
    static const char *const want[] = {
        "d/256x256/t512/b16/sigma=0.01/workgroup=64/device=ocl:0:0",
        "d/256x256/t512/b16/sigma=0.01/workgroup=64/device=ocl:1:0",
        "d/256x256/t512/b16/sigma=0.02/workgroup=64/device=ocl:0:0",
        "d/256x256/t512/b16/sigma=0.02/workgroup=64/device=ocl:1:0",
    };
    struct config config;
    struct grid grid;
    (void)state;
    make("{\"version\": 1, \"name\": \"n\", \"axes\": {\"workgroup\": [64], \"sigma\": [0.01, 0.02]},"
         "\"backends\": [{\"name\": \"d\", \"backend\": \"opencl\"}]}",
         devices, &config, &grid);
    expect_ids(&grid, want, sizeof want / sizeof want[0]);
    assert_int_equal(grid.cells[1].device, 2);
    assert_int_equal(grid.note_count, 0);
    grid_fini(&grid);
    config_fini(&config);
}

static void test_backend_without_device(void **state)
{
    static const struct grid_devices devices[] = {{first, cpu, 1}, {NULL, NULL, 0}};
    static const char *const want[] = {"cpu/256x256/t512/b16"};
    struct config config;
    struct grid grid;
    (void)state;
    make("{\"version\": 1, \"name\": \"n\", \"backends\": [{\"name\": \"cpu\", \"backend\": \"openmp\"},"
         "{\"name\": \"device\", \"backend\": \"opencl\"}]}",
         devices, &config, &grid);
    expect_ids(&grid, want, 1);
    grid_fini(&grid);
    config_fini(&config);
}

/* Forward calls have no gradients to reduce: those cells are one. */
static void test_collapse_depends_on_mode(void **state)
{
    static const struct grid_devices devices[] = {{first, one, 1}};
    static const char *const want[] = {
        "d/256x256/t512/b16/mode=forward",
        "d/256x256/t512/b16/mode=gradient/reduction=ordered",
        "d/256x256/t512/b16/mode=gradient/reduction=direct",
    };
    struct config config;
    struct grid grid;
    (void)state;
    make("{\"version\": 1, \"name\": \"n\", \"axes\": {\"mode\": [\"forward\", \"gradient\"],"
         "\"reduction\": [\"ordered\", \"direct\"]}, \"backends\": [{\"name\": \"d\", \"backend\": "
         "\"opencl\"}]}",
         devices, &config, &grid);
    expect_ids(&grid, want, sizeof want / sizeof want[0]);
    assert_int_equal(grid.point_count, 2);
    assert_string_equal(grid.notes[0],
                        "d: 4 combinations are 3 cells: no difference along reduction (in some)");
    grid_fini(&grid);
    config_fini(&config);
}

static void test_refused_cells(void **state)
{
    static const struct grid_devices devices[] = {{first, one, 1}};
    struct config config;
    struct grid grid;
    (void)state;
    make("{\"version\": 1, \"name\": \"n\", \"axes\": {\"strategy\": [\"fused\", \"recompute\"]},"
         "\"backends\": [{\"name\": \"d\", \"backend\": \"opencl\", \"images\": \"roundtrip\"}]}",
         devices, &config, &grid);
    assert_int_equal(grid.cell_count, 2);
    assert_non_null(grid.cells[0].refuse);
    assert_non_null(strstr(grid.cells[0].refuse, "images=roundtrip with strategy=fused"));
    assert_null(grid.cells[1].refuse);
    grid_fini(&grid);
    config_fini(&config);
}

/* Given gradients and a target are different work: a point each, at the same size. */
static void test_upstream_is_a_point_of_its_own(void **state)
{
    static const struct grid_devices devices[] = {{first, cpu, 1}, {second, one, 1}};
    struct config config;
    struct grid grid;
    (void)state;
    make("{\"version\": 1, \"name\": \"n\", \"backends\": [{\"name\": \"u\", \"backend\": \"openmp\","
         "\"upstream\": true}, {\"name\": \"t\", \"backend\": \"opencl\"}]}",
         devices, &config, &grid);
    assert_int_equal(grid.point_count, 2);
    assert_false(grid.points[0].spec.upstream);
    assert_true(grid.points[1].spec.upstream);
    assert_string_equal(grid.cells[1].id, "u/256x256/t512/b16");
    assert_true(grid.cells[1].spec.upstream);
    grid_fini(&grid);
    config_fini(&config);
}

static void test_too_many_cells(void **state)
{
    static const struct grid_devices devices[] = {{first, one, 1}};
    static const char text[] = "{\"version\": 1, \"name\": \"n\", \"axes\": {\"size\": [1]},"
                               "\"backends\": [{\"name\": \"d\", \"backend\": \"opencl\"}]}";
    struct err err = ERR_INIT;
    struct config config;
    struct grid grid;
    (void)state;
    make(text, devices, &config, &grid);
    grid_fini(&grid);
    assert_true(config_override_axis(&config, "batch=1:4000:+1", &err));
    assert_true(config_override_axis(&config, "triangles=1:4000:+1", &err));
    assert_false(grid_build(&config, devices, &grid, &err));
    assert_string_equal(err.text, "x.json: more than 1000000 cells");
    err_fini(&err);
    config_fini(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points_and_cells),       cmocka_unit_test(test_several_devices),
        cmocka_unit_test(test_backend_without_device), cmocka_unit_test(test_collapse_depends_on_mode),
        cmocka_unit_test(test_refused_cells),          cmocka_unit_test(test_upstream_is_a_point_of_its_own),
        cmocka_unit_test(test_too_many_cells),
    };
    return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
