/* Lock-step groups: orders of pixels, how full lanes are, and the two workloads. */
#include "unit/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/lanes.h"
#include "model/march.h"
#include "model/oracle.h"
#include "model/scene.h"

static struct lane_order order_of(enum lane_layout layout, uint32_t width, uint32_t height)
{
    struct lane_order order;
    struct err err = ERR_INIT;

    if (!lane_order_init(layout, width, height, 3, &order, &err))
        fail_msg("%s", err.text);
    return order;
}

static void test_every_pixel_has_one_lane(void **state)
{
    static const uint32_t sizes[][2] = {{16, 8}, {21, 10}, {1, 1}, {64, 1}, {3, 70}};

    (void)state;
    for (int layout = 0; layout < LANE_LAYOUTS; layout++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            uint32_t w = sizes[s][0], h = sizes[s][1];
            unsigned seen[64 * 70] = {0};
            struct lane_order order = order_of((enum lane_layout)layout, w, h);
            assert_int_equal(order.count % LANES_MAX_GROUP, 0);
            for (size_t i = 0; i < order.count; i++)
                if (order.pixels[i] != LANES_IDLE) {
                    assert_true(order.pixels[i] < w * h);
                    seen[order.pixels[i]]++;
                }
            for (size_t p = 0; p < (size_t)w * h; p++)
                assert_int_equal(seen[p], 1);
            lane_order_fini(&order);
        }
}

static void test_orders_by_hand(void **state)
{
    struct lane_order blocks = order_of(LANES_8X4, 16, 8), morton = order_of(LANES_MORTON, 16, 8);
    const uint32_t corner[] = {0, 1, 16, 17, 2, 3, 18, 19};

    (void)state;
    assert_int_equal(blocks.pixels[7], 7);
    assert_int_equal(blocks.pixels[8], 16);
    assert_int_equal(blocks.pixels[32], 8);
    assert_memory_equal(morton.pixels, corner, sizeof corner);
    lane_order_fini(&blocks);
    lane_order_fini(&morton);
}

static void test_occupancy_by_hand(void **state)
{
    uint32_t steps[64] = {0};
    struct lane_order order = order_of(LANES_ROWS, 64, 1);

    (void)state;
    steps[0] = 10;
    steps[9] = 4;
    struct occupancy eight = lanes_occupancy(steps, &order, 8, 0),
                     all = lanes_occupancy(steps, &order, 64, 0);
    struct occupancy capped = lanes_occupancy(steps, &order, 8, 5);
    assert_int_equal(eight.used, 14);
    assert_int_equal(eight.held, 8 * 10 + 8 * 4);
    assert_int_equal(all.held, 64 * 10);
    assert_int_equal(capped.used, 9);
    assert_int_equal(capped.held, 8 * 5 + 8 * 4);
    assert_true(fabs(occupancy_full(&eight) - 14.0 / 112) < 1e-12);
    memset(steps, 0, sizeof steps);
    all = lanes_occupancy(steps, &order, 64, 0);
    assert_true(occupancy_full(&all) >= 1 && occupancy_full(&all) <= 1);
    lane_order_fini(&order);
}

/* The published shape: 45 % in groups of 32, 39 % shuffled, 70 % in groups of 8, some 1,800 steps of 4,000.
 */
static void test_march_has_the_shape(void **state)
{
    float directions[MARCH_RAYS][2];
    uint32_t steps[MARCH_RAYS];
    struct lane_order rows = order_of(LANES_ROWS, MARCH_RAYS, 1),
                      shuffled = order_of(LANES_SHUFFLED, MARCH_RAYS, 1);

    (void)state;
    march_directions(directions);
    for (size_t i = 0; i < MARCH_RAYS; i++)
        steps[i] = march_steps(directions[i]);
    struct occupancy wide = lanes_occupancy(steps, &rows, 32, 0),
                     narrow = lanes_occupancy(steps, &rows, 8, 0),
                     mixed = lanes_occupancy(steps, &shuffled, 32, 0);
    assert_in_range(wide.used, 1600, 1900);
    assert_in_range(wide.held, 3600, 4200);
    assert_true(fabs(occupancy_full(&wide) - 0.45) < 0.02);
    assert_true(fabs(occupancy_full(&narrow) - 0.70) < 0.02);
    assert_true(fabs(occupancy_full(&mixed) - 0.39) < 0.03);
    lane_order_fini(&rows);
    lane_order_fini(&shuffled);
}

static void test_lists_are_what_the_reference_tests(void **state)
{
    enum { W = 19, H = 23, T = 30 };
    float params[T * SCENE_STRIDE];
    uint32_t covered[W * H];
    const float ground[3] = {0, 0, 0};
    struct pixel_lists lists;
    struct err err = ERR_INIT;
    uint64_t pairs = 0;

    (void)state;
    scene_random(params, T, 11, 0, 0.3f);
    const struct oracle_input in = {
        .width = W, .height = H, .triangles = T, .sigma = 0.01f, .params = params, .background = ground};
    struct oracle_output out = {.covered = covered};
    if (!oracle_render(&in, &out, &err) || !pixel_lists_init(params, T, 0.01f, W, H, &lists, &err))
        fail_msg("%s", err.text);
    assert_int_equal(lists.first[W * H], out.in_bounds);
    for (size_t p = 0; p < W * H; p++) {
        pairs += covered[p];
        assert_true(covered[p] <= lists.first[p + 1] - lists.first[p]);
        for (uint32_t i = lists.first[p]; i + 1 < lists.first[p + 1]; i++)
            assert_true(lists.list[i] < lists.list[i + 1]);
    }
    assert_int_equal(pairs, out.pairs);
    assert_true(pairs > 0);
    struct pixel_lists even;
    assert_true(pixel_lists_even(&lists, W * H, &even, &err));
    const uint32_t length = (uint32_t)((out.in_bounds + W * H - 1) / (W * H));
    for (size_t p = 0; p < W * H; p++) {
        const uint32_t count = lists.first[p + 1] - lists.first[p], at = even.first[p];
        assert_int_equal(even.first[p + 1] - at, count ? length : 0);
        for (uint32_t i = 0; count && i < length; i++)
            assert_int_equal(even.list[at + i], lists.list[lists.first[p] + i % count]);
    }
    pixel_lists_fini(&even);
    pixel_lists_fini(&lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pixel_has_one_lane),
        cmocka_unit_test(test_orders_by_hand),
        cmocka_unit_test(test_occupancy_by_hand),
        cmocka_unit_test(test_march_has_the_shape),
        cmocka_unit_test(test_lists_are_what_the_reference_tests),
    };

    return cmocka_run_group_tests_name("lanes", tests, NULL, NULL);
}
