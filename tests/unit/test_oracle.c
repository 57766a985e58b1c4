#include "unit/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/golden.h"
#include "model/oracle.h"
#include "model/scene.h"

#define GOLDEN "tests/golden"

static const float black[3] = {0, 0, 0};

/* Renders into poisoned arrays, so that an element nobody wrote is NaN; free() releases both. */
static struct oracle_output render(const struct oracle_input *in)
{
    size_t values = (size_t)in->width * in->height * 3, params = (size_t)in->triangles * SCENE_STRIDE;
    struct err err = ERR_INIT;
    struct oracle_output out = {.image = mem_calloc(values, sizeof(double), "image", &err),
                                .grads = mem_calloc(params, sizeof(double), "grads", &err)};

    mem_poison(out.image, values * sizeof(double));
    mem_poison(out.grads, params * sizeof(double));
    bool ok = oracle_render(in, &out, &err);
    assert_string_equal(err.text, "");
    assert_true(ok);
    return out;
}

static void release(struct oracle_output *out)
{
    free(out->image);
    free(out->grads);
}

static void expect_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.17g is not within %g of %.17g", got, tolerance, want);
}

/* ---- golden cases ---- */

static void to_float(float *out, const double *in, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (float)in[i];
}

/* A case proves something only where its triangles touch the image. */
static void expect_coverage(const struct golden_case *c, const struct oracle_output *out)
{
    double changed = 0.0;

    for (size_t i = 0; i < (size_t)c->width * c->height * 3; i++)
        changed = fmax(changed, fabs(out->image[i] - (double)c->scene.background[i % 3]));
    if (c->scene.triangles == 0) {
        assert_true(out->pairs == 0 && changed == 0.0);
    } else {
        assert_true(changed > 0.1);
        assert_true(out->pairs > c->width && out->pairs <= out->in_bounds);
    }
}

static void expect_case(const struct golden_case *c)
{
    size_t values = (size_t)c->width * c->height * 3, params = (size_t)c->scene.triangles * SCENE_STRIDE;
    struct oracle_output out = render(&(struct oracle_input){.width = c->width,
                                                             .height = c->height,
                                                             .triangles = c->scene.triangles,
                                                             .sigma = c->sigma,
                                                             .params = c->scene.params,
                                                             .background = c->scene.background,
                                                             .target = c->target});
    float *image = malloc(values * sizeof(float)), *grads = malloc((params + 1) * sizeof(float));
    struct agreement errors;
    enum agreement_group worst;

    assert_true(image && grads);
    to_float(image, out.image, values);
    to_float(grads, out.grads, params);
    errors.value[AGREE_IMAGE] = agreement_image(image, c->image, values);
    errors.value[AGREE_LOSS] = agreement_loss(out.loss, c->loss);
    agreement_grads(&errors, grads, c->grads, c->scene.triangles, c->vertices_summed);
    if (!agreement_within(&errors, &c->tolerance, &worst))
        fail_msg("%s: %s is off by %g, over %g", c->name, agreement_group_name(worst), errors.value[worst],
                 c->tolerance.value[worst]);
    expect_coverage(c, &out);
    assert_true(oracle_pairs_in_bounds(c->scene.params, c->scene.triangles, c->sigma, c->width, c->height) ==
                out.in_bounds);
    assert_true(oracle_tape_touched_bytes(c->scene.params, c->scene.triangles, c->sigma, c->width,
                                          c->height) == c->tape_bytes);
    free(image);
    free(grads);
    release(&out);
}

static void test_golden_cases(void **state)
{
    char **names;
    size_t count;
    struct err err = ERR_INIT;
    (void)state;
    assert_true(golden_list(GOLDEN, &names, &count, &err));
    assert_int_equal(count, 11);
    for (size_t i = 0; i < count; i++) {
        char path[256];
        struct golden_case c;
        snprintf(path, sizeof(path), "%s/%s", GOLDEN, names[i]);
        assert_true(golden_load(path, &c, &err));
        expect_case(&c);
        golden_fini(&c);
    }
    golden_list_free(names, count);
}

/* ---- bounds ---- */

static void expect_bounds(const float verts[6], float sigma, uint32_t width, uint32_t height,
                          struct bounds want)
{
    struct bounds got = bounds_of(verts, sigma, width, height);

    assert_int_equal(got.left, want.left);
    assert_int_equal(got.right, want.right);
    assert_int_equal(got.top, want.top);
    assert_int_equal(got.bottom, want.bottom);
}

static void test_bounds_are_padded_by_six_sigma(void **state)
{
    const float verts[6] = {0.25f, 0.5f, 0.5f, 0.75f, 0.375f, 0.625f};
    (void)state;
    expect_bounds(verts, 0.0078125f, 64, 128, (struct bounds){13, 36, 58, 103});
}

static void test_bounds_beside_the_canvas(void **state)
{
    const float left[6] = {-3, 0, -2, 0, -2, 1}, right[6] = {2, 0, 3, 0, 2, 1};
    (void)state;
    /* The first column belongs to what lies left of it, by the formula; nothing to what lies right. */
    expect_bounds(left, 0.01f, 64, 64, (struct bounds){0, 1, 0, 64});
    expect_bounds(right, 0.01f, 64, 64, (struct bounds){0, 0, 0, 0});
}

static void test_bounds_of_vertices_that_are_not_usable(void **state)
{
    const float bad[] = {NAN, INFINITY, -INFINITY, 16385.0f, -16384.5f, 1e38f};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        for (size_t b = 0; b < sizeof(bad) / sizeof(bad[0]); b++) {
            float verts[6] = {0, 0, 1, 0, 0, 1};
            verts[i] = bad[b];
            expect_bounds(verts, 0.01f, 64, 64, (struct bounds){0, 0, 0, 0});
        }
    }
    const float far[6] = {-16384, -16384, 16384, -16384, 0, 16384};
    expect_bounds(far, 1000.0f, 32768, 32768, (struct bounds){0, 32768, 0, 32768});
    expect_bounds(far, INFINITY, 64, 64, (struct bounds){0, 64, 0, 64});
}

static void test_tape_sizes(void **state)
{
    const float p[2 * SCENE_STRIDE] = {-3, -2, 4, -1, 0.5f, 5, 0, 0, 0, 0.4f,
                                       -3, -2, 4, -1, 0.5f, 5, 0, 0, 0, 0.0f};
    (void)state;
    assert_true(oracle_tape_dense_bytes(16, 512, 256, 256) == UINT64_C(6442450944));
    assert_true(oracle_tape_dense_bytes(0, 512, 256, 256) == 0);
    assert_true(oracle_tape_dense_bytes(UINT32_MAX, UINT32_MAX, 32768, 32768) == UINT64_MAX);
    assert_true(oracle_tape_dense_bytes(UINT32_MAX, UINT32_MAX, 32768, 0) == 0);
    /* A transparent triangle is never composited, so nothing below it needs to be kept. */
    assert_true(oracle_tape_touched_bytes(p, 2, 0.01f, 10, 20) == 10 * 20 * 12);
    assert_true(oracle_pairs_in_bounds(p, 2, 0.01f, 10, 20) == 2 * 10 * 20);
}

/* ---- one pixel by hand ---- */

static void test_one_pixel_by_hand(void **state)
{
    /* The pixel's centre (0.5, 0.5) is 0.125 inside the nearest edge, v0 v1, halfway along it. */
    const float params[SCENE_STRIDE] = {-7, 0.375f, 8, 0.375f, 0.5f, 16, 0.25f, 0.5f, 1, 0.5f};
    const float background[3] = {1, 0, 0.5f}, upstream[3] = {1, -2, 0.25f};
    struct oracle_output out = render(&(struct oracle_input){.width = 1,
                                                             .height = 1,
                                                             .triangles = 1,
                                                             .sigma = 0.0625f,
                                                             .params = params,
                                                             .background = background,
                                                             .upstream = upstream});
    double k = 1.0 / (1.0 + exp(-2.0)), w = 0.5 * k;
    double dw = 1.0 * (0.25 - 1.0) - 2.0 * (0.5 - 0.0) + 0.25 * (1.0 - 0.5);
    double dd = dw * 0.5 * k * (1.0 - k) / 0.0625;
    (void)state;
    expect_near(out.image[0], w * 0.25 + (1 - w) * 1.0, 1e-15);
    expect_near(out.image[1], w * 0.5, 1e-15);
    expect_near(out.image[2], w * 1.0 + (1 - w) * 0.5, 1e-15);
    expect_near(out.grads[6], w, 1e-15);
    expect_near(out.grads[7], -2.0 * w, 1e-15);
    expect_near(out.grads[8], 0.25 * w, 1e-15);
    expect_near(out.grads[9], dw * k, 1e-15);
    /* Moving the edge away from the pixel (y down by -1) makes d larger. */
    expect_near(out.grads[1], -0.5 * dd, 1e-14);
    expect_near(out.grads[3], -0.5 * dd, 1e-14);
    assert_true(out.grads[0] == 0.0 && out.grads[2] == 0.0 && out.grads[4] == 0.0 && out.grads[5] == 0.0);
    assert_true(out.loss == 0.0 && out.pairs == 1 && out.in_bounds == 1);
    release(&out);
}

static void test_loss_is_the_mean_over_all_values(void **state)
{
    const float background[3] = {0.5f, 0.25f, 1};
    float target[2 * 3 * 3] = {0};
    struct oracle_output out = render(&(struct oracle_input){
        .width = 2, .height = 3, .sigma = 0.01f, .background = background, .target = target});
    (void)state;
    expect_near(out.loss, (0.25 + 0.0625 + 1.0) / 3.0, 1e-15);
    assert_true(out.pairs == 0 && out.in_bounds == 0);
    release(&out);
}

/* ---- properties ---- */

#define W 37
#define H 19
#define T 33

static struct oracle_input random_input(float *params, float *target)
{
    static const float background[3] = {0.1f, 0.11f, 0.14f};

    scene_random(params, T, 11, 0, SCENE_DEFAULT_EXTENT);
    for (size_t i = 0; i < W * H * 3; i++)
        target[i] = (float)(i % 7) / 7.0f;
    return (struct oracle_input){W, H, T, 0.01f, params, background, target, NULL};
}

static void test_upstream_gradients_take_the_place_of_the_loss(void **state)
{
    static float params[T * SCENE_STRIDE], target[W * H * 3], upstream[W * H * 3];
    struct oracle_input in = random_input(params, target);
    struct oracle_output want = render(&in);
    (void)state;
    for (size_t i = 0; i < W * H * 3; i++)
        upstream[i] = (float)(2.0 * (want.image[i] - (double)target[i]) / (3.0 * W * H));
    in.target = NULL;
    in.upstream = upstream;
    struct oracle_output got = render(&in);
    assert_true(want.loss > 0.01 && got.loss == 0.0);
    double largest = 0.0;
    for (size_t i = 0; i < T * SCENE_STRIDE; i++)
        largest = fmax(largest, fabs(want.grads[i]));
    assert_true(largest > 1e-3);
    for (size_t i = 0; i < T * SCENE_STRIDE; i++)
        expect_near(got.grads[i], want.grads[i], 1e-6 * largest);
    release(&want);
    release(&got);
}

static void test_order_and_winding_of_vertices_do_not_matter(void **state)
{
    static const int orders[][3] = {{1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}};
    static float params[T * SCENE_STRIDE], other[T * SCENE_STRIDE], target[W * H * 3];
    struct oracle_input in = random_input(params, target);
    struct oracle_output want = render(&in);
    (void)state;
    memcpy(other, params, sizeof(other));
    in.params = other;
    for (size_t o = 0; o < 4; o++) {
        for (size_t t = 0; t < T; t++)
            for (size_t v = 0; v < 3; v++)
                memcpy(other + t * SCENE_STRIDE + 2 * v, params + t * SCENE_STRIDE + 2 * orders[o][v],
                       2 * sizeof(float));
        struct oracle_output got = render(&in);
        for (size_t i = 0; i < W * H * 3; i++)
            expect_near(got.image[i], want.image[i], 1e-12);
        assert_true(got.pairs == want.pairs);
        release(&got);
    }
    release(&want);
}

static void test_pixels_alone_equal_the_whole(void **state)
{
    static float params[T * SCENE_STRIDE], target[W * H * 3];
    static double image[W * H * 3], grads[T * SCENE_STRIDE];
    static uint64_t pixels[W * H];
    struct oracle_input in = random_input(params, target);
    struct oracle_output want = render(&in), got = {.image = image, .grads = grads};
    struct err err = ERR_INIT;
    (void)state;
    for (size_t i = 0; i < W * H; i++)
        pixels[i] = W * H - 1 - i;
    assert_true(oracle_pixels(&in, pixels, W * H, &got, &err));
    for (size_t i = 0; i < W * H; i++)
        assert_memory_equal(image + 3 * i, want.image + 3 * pixels[i], 3 * sizeof(double));
    for (size_t i = 0; i < T * SCENE_STRIDE; i++)
        expect_near(grads[i], want.grads[i], 1e-15);
    expect_near(got.loss, want.loss, 1e-15);
    assert_true(got.pairs == want.pairs && got.in_bounds == want.in_bounds);
    assert_true(oracle_pixels(&in, pixels + 100, 1, &got, &err));
    assert_memory_equal(image, want.image + 3 * pixels[100], 3 * sizeof(double));
    assert_true(got.in_bounds < want.in_bounds);
    release(&want);
}

static void test_an_opaque_layer_hides_what_is_below(void **state)
{
    float params[2 * SCENE_STRIDE] = {-8, -8, 16, -8, -8, 16, 1, 0, 0, 0.5f,
                                      -8, -8, 16, -8, -8, 16, 0, 1, 0, 1.0f};
    const float target[3] = {0.5f, 0.5f, 0.5f};
    struct oracle_input in = {1, 1, 2, 0.01f, params, black, target, NULL};
    struct oracle_output out = render(&in);
    (void)state;
    assert_true(out.image[0] == 0.0 && out.image[1] == 1.0 && out.image[2] == 0.0);
    for (size_t i = 0; i < SCENE_STRIDE; i++)
        assert_true(out.grads[i] == 0.0);
    expect_near(out.grads[SCENE_STRIDE + 7], 2.0 * 0.5 / 3.0, 1e-15);
    assert_true(out.grads[SCENE_STRIDE + 9] == 0.0); /* the clamp is flat at 1 */
    release(&out);
    params[SCENE_STRIDE + 9] = 0.999f;
    out = render(&in);
    assert_true(out.grads[SCENE_STRIDE + 9] != 0.0);
    release(&out);
}

static void test_triangles_that_touch_nothing_have_no_gradient(void **state)
{
    /* A vertex that is not finite, an opacity of 0, one below 0, a triangle off the canvas. */
    float params[4 * SCENE_STRIDE] = {0, 0, 1, NAN, 0, 1, 1, 1, 1, 0.5f, 0, 0, 1, 0, 0, 1, 1, 1, 1, 0,
                                      0, 0, 1, 0,   0, 1, 1, 1, 1, -1,   5, 5, 6, 5, 5, 6, 1, 1, 1, 0.5f};
    const float target[4 * 4 * 3] = {0.5f};
    struct oracle_output out = render(&(struct oracle_input){4, 4, 4, 0.01f, params, black, target, NULL});
    (void)state;
    assert_true(out.pairs == 0);
    for (size_t i = 0; i < 4 * 4 * 3; i++)
        assert_true(out.image[i] == 0.0);
    for (size_t i = 0; i < 4 * SCENE_STRIDE; i++)
        assert_true(out.grads[i] == 0.0);
    release(&out);
}

static void test_extreme_softness_stays_finite(void **state)
{
    static const float sigmas[] = {1e-30f, 1e-8f, 1000.0f};
    float params[3 * SCENE_STRIDE];
    const float target[8 * 8 * 3] = {0.5f};
    (void)state;
    scene_random(params, 3, 1, 0, 0.5f);
    for (int i = 0; i < 6; i++)
        params[i] = i % 2 ? 0.4375f : (float)i; /* a line through pixel centres: distances of exactly 0 */
    for (size_t s = 0; s < sizeof(sigmas) / sizeof(sigmas[0]); s++) {
        struct oracle_output out =
            render(&(struct oracle_input){8, 8, 3, sigmas[s], params, black, target, NULL});
        assert_true(isfinite(out.loss) && out.pairs > 0);
        for (size_t i = 0; i < 3 * SCENE_STRIDE; i++)
            assert_true(isfinite(out.grads[i]));
        release(&out);
    }
}

static void test_a_target_and_upstream_gradients_are_a_mistake(void **state)
{
    const float values[3] = {0};
    struct oracle_input in = {1, 1, 0, 0.01f, NULL, black, values, values};
    struct oracle_output out = {0};
    struct err err = ERR_INIT;
    (void)state;
    assert_false(oracle_render(&in, &out, &err));
    assert_int_equal(err.code, ERR_INTERNAL);
    err_fini(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_cases),
        cmocka_unit_test(test_bounds_are_padded_by_six_sigma),
        cmocka_unit_test(test_bounds_beside_the_canvas),
        cmocka_unit_test(test_bounds_of_vertices_that_are_not_usable),
        cmocka_unit_test(test_tape_sizes),
        cmocka_unit_test(test_one_pixel_by_hand),
        cmocka_unit_test(test_loss_is_the_mean_over_all_values),
        cmocka_unit_test(test_upstream_gradients_take_the_place_of_the_loss),
        cmocka_unit_test(test_order_and_winding_of_vertices_do_not_matter),
        cmocka_unit_test(test_pixels_alone_equal_the_whole),
        cmocka_unit_test(test_an_opaque_layer_hides_what_is_below),
        cmocka_unit_test(test_triangles_that_touch_nothing_have_no_gradient),
        cmocka_unit_test(test_extreme_softness_stays_finite),
        cmocka_unit_test(test_a_target_and_upstream_gradients_are_a_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
