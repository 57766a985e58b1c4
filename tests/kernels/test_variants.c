/* Every variant of every kernel that calls use, from the list that `gpubench kernels` goes by, once, on
 * scenes whose sides no tile divides: under Oclgrind this is where invalid accesses, races and barriers that
 * some work-items skip show. */
#include "unit/gpu_fixture.h"

#include "bench/tiny.h"
#include "gpu/groups.h"
#include "gpu/variants.h"

static void run_variants(const char *path)
{
    struct renderer *r = open_renderer(path);
    struct program_variant *variants;
    struct err err = ERR_INIT;
    struct tiny_result result;
    size_t count, ran = 0;

    if (builds_slowly(r) && strcmp(r->info.platform, "Oclgrind") != 0) {
        print_message("skipped: %s takes half a minute for each kernel with barriers\n", r->info.name);
        r->ops->destroy(r);
        skip();
    }
    expect_ok(variants_list(r, false, &variants, &count, &err), &err, "variants_list");
    for (size_t i = 0; i < count; i++) {
        bool again = i > 0 && memcmp(&variants[i].spec, &variants[i - 1].spec, sizeof(variants[i].spec)) == 0;
        if (!variants[i].has_call || again)
            continue;
        expect_ok(tiny_run(r, &variants[i].spec, &result, &err), &err, variants[i].label);
        ran++;
    }
    assert_true(ran >= 20);
    variants_free(variants, count);
    r->ops->destroy(r);
}

static void test_cpu(void **state)
{
    (void)state;
    run_variants("cpu");
}

static void test_local(void **state)
{
    (void)state;
    run_variants("local");
}

/* The loops of `gpubench lanes`, with idle lanes and two repeats. */
static void test_uneven_lanes(void **state)
{
    const struct groups_effort effort = {.repeats = 2, .rounds = 1, .local = LANES_MAX_GROUP};
    struct renderer *r = open_renderer(NULL);
    float directions[MARCH_RAYS][2];
    uint32_t steps[MARCH_RAYS];
    struct lane_order order;
    struct err err = ERR_INIT;
    uint64_t ns;

    (void)state;
    march_directions(directions);
    expect_ok(lane_order_init(LANES_8X4, MARCH_RAYS, 1, 1, &order, &err), &err, "lane_order_init");
    expect_ok(groups_march(r, directions, &order, &effort, 0, steps, &ns, &err), &err, "groups_march");
    for (size_t i = 0; i < MARCH_RAYS; i++)
        assert_in_range(steps[i] + 2, march_steps(directions[i]), march_steps(directions[i]) + 4);
    lane_order_fini(&order);
    r->ops->destroy(r);
}

static void test_walk_of_lists(void **state)
{
    enum { W = 21, H = 10, T = 9 };
    static const float ground[3] = {0.1f, 0.2f, 0.3f};
    const struct groups_effort effort = {.repeats = 2, .rounds = 1, .local = LANES_MAX_GROUP};
    struct renderer *r = open_renderer(NULL);
    float params[T * SCENE_STRIDE], image[W * H * 3];
    double want[W * H * 3];
    struct pixel_lists lists;
    struct lane_order order;
    struct err err = ERR_INIT;
    uint64_t ns;

    (void)state;
    scene_random(params, T, 11, 0, 0.3f);
    expect_ok(pixel_lists_init(params, T, 0.01f, W, H, &lists, &err), &err, "pixel_lists_init");
    expect_ok(lane_order_init(LANES_8X8, W, H, 1, &order, &err), &err, "lane_order_init");
    const struct groups_scene scene = {W, H, T, 0.01f, params, ground, &lists};
    expect_ok(groups_walk(r, &scene, &order, &effort, image, &ns, &err), &err, "groups_walk");
    const struct oracle_input in = {
        .width = W, .height = H, .triangles = T, .sigma = 0.01f, .params = params, .background = ground};
    struct oracle_output out = {.image = want};
    expect_ok(oracle_render(&in, &out, &err), &err, "oracle_render");
    assert_true(out.pairs > 0);
    assert_true(agreement_image(image, want, W * H * 3) < 1e-5);
    lane_order_fini(&order);
    pixel_lists_fini(&lists);
    r->ops->destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_local),
        cmocka_unit_test(test_uneven_lanes),
        cmocka_unit_test(test_walk_of_lists),
    };

    return cmocka_run_group_tests_name("variants", tests, NULL, NULL);
}
