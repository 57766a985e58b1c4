/* The shape of tiles: which teams share one, and what every shape must keep to. */
#include <string.h>

#include "unit/check.h"

#include "gpu/variant.h"

static const struct device_info gpu = {.backend = BACKEND_OPENCL, .kind = DEVICE_GPU, .max_work_group_size = 1024};

static struct tile_shape shape_of(enum gpu_path path, const char *tile, const struct render_spec *spec)
{
    struct tile_request request = {0};
    struct tile_shape shape;
    struct err err = ERR_INIT;

    if (tile && !tile_parse(tile, &request, &err))
        fail_msg("%s", err.text);
    if (!shape_choose(path, &gpu, 32, &request, spec, &shape, &err))
        fail_msg("%s", err.text);
    return shape;
}

static struct render_spec spec_of(uint32_t size, uint32_t triangles)
{
    struct render_spec spec;

    spec_init(&spec);
    spec.width = spec.height = size;
    spec.triangles = triangles;
    return spec;
}

/* Small images of many triangles have too few tiles to fill a device. */
static void test_teams_share_deep_tiles(void **state)
{
    struct render_spec spec = spec_of(64, 512);
    struct tile_shape shape = shape_of(PATH_PTX, NULL, &spec);

    (void)state;
    assert_true(shape.shared);
    assert_int_equal(shape.teams, 4);
    assert_int_equal(group_tiles(&shape), 1);
    spec.mode = MODE_FORWARD;
    assert_true(shape_of(PATH_PTX, NULL, &spec).shared);
    spec = spec_of(64, 64);
    shape = shape_of(PATH_PTX, NULL, &spec);
    assert_true(shape.shared);
    assert_int_equal(shape.teams, 2);
    assert_int_equal(tile_width(&shape) * tile_height(&shape), 64);
    spec.strategy = STRATEGY_RECOMPUTE;
    shape = shape_of(PATH_PTX, NULL, &spec);
    assert_int_equal(shape.teams, 1);
    assert_int_equal(tile_width(&shape) * tile_height(&shape), 32);
    spec = spec_of(256, 512);
    assert_int_equal(shape_of(PATH_PTX, NULL, &spec).teams, 1);
}

/* Passes of their own do not know the canvases of the other teams; bins are read from the first triangle on. */
static void test_who_never_shares(void **state)
{
    static const enum strategy apart[] = {STRATEGY_RECOMPUTE, STRATEGY_TAPED};
    struct render_spec spec;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        spec = spec_of(64, 512);
        spec.strategy = apart[i];
        const struct tile_shape shape = shape_of(PATH_PTX, "1x2x4", &spec);
        assert_false(shape.shared);
        assert_int_equal(group_tiles(&shape), 4);
    }
    spec = spec_of(256, SPEC_MANY_TRIANGLES);
    assert_true(shape_of(PATH_PTX, "1x2x4", &spec).bin_tiles > 0);
    assert_false(shape_of(PATH_PTX, "1x2x4", &spec).shared);
    spec = spec_of(64, SPEC_MANY_TRIANGLES);
    assert_int_equal(shape_of(PATH_PTX, NULL, &spec).bin_tiles, 0);
    assert_true(shape_of(PATH_PTX, NULL, &spec).shared);
    assert_true(shape_of(PATH_LOCAL, NULL, &spec).bin_tiles > 0);
    spec.strategy = STRATEGY_TAPED;
    assert_true(shape_of(PATH_PTX, NULL, &spec).bin_tiles > 0);
    spec = spec_of(64, 512);
    assert_false(shape_of(PATH_LOCAL, NULL, &spec).shared);
    assert_false(shape_of(PATH_SUBGROUPS, NULL, &spec).shared);
}

static void test_macros_say_who_shares(void **state)
{
    const struct render_spec spec = spec_of(64, 512);
    struct tile_shape shape = shape_of(PATH_PTX, NULL, &spec);
    struct strbuf text = STRBUF_INIT;

    (void)state;
    shape_defines(PATH_PTX, &shape, &text);
    assert_non_null(strstr(strbuf_str(&text), " -DTEAMS=4u"));
    assert_non_null(strstr(strbuf_str(&text), " -DSHARED_TILE"));
    strbuf_reset(&text);
    shape.shared = false;
    shape_defines(PATH_PTX, &shape, &text);
    assert_null(strstr(strbuf_str(&text), "SHARED_TILE"));
    strbuf_fini(&text);
}

/* The batch must not decide: a scene's sums are the same to the bit in every batch. */
static void test_the_batch_has_no_say(void **state)
{
    struct render_spec one = spec_of(64, 512), many = one;

    (void)state;
    many.batch = 64;
    const struct tile_shape a = shape_of(PATH_PTX, NULL, &one), b = shape_of(PATH_PTX, NULL, &many);
    assert_int_equal(a.teams, b.teams);
    assert_int_equal(tile_width(&a), tile_width(&b));
    assert_int_equal(tile_height(&a), tile_height(&b));
    assert_int_equal(a.setup_group, b.setup_group);
}

/* Gradients of few triangles and small images, where nothing is asked for that takes another kernel. */
static void test_who_is_rendered_whole(void **state)
{
    static const struct device_info cpu = {.kind = DEVICE_CPU, .max_work_group_size = 1024};
    const struct tile_request whole = {.whole = true}, apart = {.whole = true, .apart = true};
    struct render_spec spec = spec_of(64, 32);
    struct tile_shape shape = shape_of(PATH_PTX, NULL, &spec);
    struct err err = ERR_INIT;

    (void)state;
    assert_true(shape.whole);
    assert_false(shape.shared);
    assert_int_equal(shape.lanes * shape.blocks_x * shape.blocks_y, 32);
    assert_string_equal(pass_file(PATH_PTX, &shape), "scene.cl");
    assert_false(shape_of(PATH_PTX, "1x1", &spec).whole);
    assert_false(shape_of(PATH_LOCAL, NULL, &spec).whole);
    assert_false(shape_of(PATH_LOCAL, "whole", &spec).whole); /* no GPU's work-groups see each other's writes by 1.2 */
    assert_true(shape_choose(PATH_LOCAL, &cpu, 0, &whole, &spec, &shape, &err) && shape.whole);
    assert_int_equal(shape.lanes * shape.teams, 32);
    assert_true(shape_choose(PATH_PTX, &gpu, 0, &apart, &spec, &shape, &err) && !shape.whole);
    spec.reduction = REDUCTION_LOCAL;
    assert_false(shape_of(PATH_PTX, NULL, &spec).whole);
    spec = spec_of(64, 32);
    spec.strategy = STRATEGY_TAPED;
    assert_false(shape_of(PATH_PTX, NULL, &spec).whole);
    spec = spec_of(64, 32);
    spec.mode = MODE_FORWARD;
    assert_false(shape_of(PATH_PTX, NULL, &spec).whole);
    spec = spec_of(64, 32);
    spec.workgroup = 64;
    assert_false(shape_of(PATH_PTX, NULL, &spec).whole);
    spec = spec_of(64, 33);
    assert_false(shape_of(PATH_PTX, NULL, &spec).whole);
    spec = spec_of(64, 0);
    assert_false(shape_of(PATH_PTX, NULL, &spec).whole);
    spec = spec_of(256, 32);
    assert_false(shape_of(PATH_PTX, NULL, &spec).whole);
    assert_true(shape_of(PATH_PTX, "whole", &spec).whole);
}

static void test_only_shapes_are_shapes(void **state)
{
    static const char *const good[] = {"1x1", "2x4", "2x4x2", "16x1x8", "whole"};
    static const char *const bad[] = {"",      "2",     "2x",     "x2",   "2x4x",   "2x4x2x", "2x4 ",    "2x4x2y",
                                      "0x1",   "1x0",   "1x17",   "8x4",  "2x4x0",  "2x4x9",  "-1x1",    "wholes",
                                      "Whole", "2,4x2", "2x4x2x1", "0x0x0"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct tile_request request;
        struct err err = ERR_INIT;
        assert_true(tile_parse(good[i], &request, &err));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tile_request request;
        struct err err = ERR_INIT;
        if (tile_parse(bad[i], &request, &err))
            fail_msg("'%s' was taken for a tile", bad[i]);
        assert_int_equal(err.code, ERR_USAGE);
        err_fini(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_shapes_are_shapes),
        cmocka_unit_test(test_teams_share_deep_tiles),
        cmocka_unit_test(test_who_never_shares),
        cmocka_unit_test(test_macros_say_who_shares),
        cmocka_unit_test(test_the_batch_has_no_say),
        cmocka_unit_test(test_who_is_rendered_whole),
    };

    return cmocka_run_group_tests_name("shapes of tiles", tests, NULL, NULL);
}
