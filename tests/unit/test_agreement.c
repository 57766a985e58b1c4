#include "unit/check.h"

#include <math.h>
#include <string.h>

#include "model/agreement.h"
#include "model/scene.h"

static void expect_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%.17g where %.17g should be", got, want);
}

static void test_image_error_is_the_largest_difference(void **state)
{
    const float got[3] = {1.0f, 2.0f, -1.0f};
    const double want[3] = {1.0, 1.75, -1.5};
    (void)state;
    expect_near(agreement_image(got, want, 3), 0.5);
    assert_true(agreement_image(got, want, 0) == 0.0);
}

static void test_nan_anywhere_is_infinitely_wrong(void **state)
{
    float got[SCENE_STRIDE] = {NAN, 2.0f, 1.0f};
    double want[SCENE_STRIDE] = {1.0, NAN, 1.0};
    struct agreement a;
    (void)state;
    assert_true(agreement_image(got, want, 1) == INFINITY);
    assert_true(agreement_image(got + 1, want + 1, 2) == INFINITY);
    assert_true(agreement_loss(NAN, 1.0) == INFINITY);
    assert_true(agreement_loss(1.0, NAN) == INFINITY);
    agreement_init(&a);
    agreement_grads(&a, got, want, 1, false);
    assert_true(a.value[AGREE_VERTICES] == INFINITY);
    agreement_grads(&a, got, want, 1, true);
    assert_true(a.value[AGREE_VERTICES] == INFINITY);
    assert_true(a.value[AGREE_COLOUR] == 0.0 && a.value[AGREE_ALPHA] == 0.0);
}

static void test_loss_error_is_relative(void **state)
{
    (void)state;
    expect_near(agreement_loss(1.5, 2.0), 0.25);
    expect_near(agreement_loss(1.5, -2.0), 1.75);
    expect_near(agreement_loss(0.125, 0.0), 0.125);
    assert_true(agreement_loss(0.0, 0.0) == 0.0);
}

static void test_each_group_has_a_norm_of_its_own(void **state)
{
    float got[2 * SCENE_STRIDE] = {0};
    double want[2 * SCENE_STRIDE] = {0};
    struct agreement a;
    (void)state;
    agreement_init(&a);
    for (size_t i = 0; i < 2 * SCENE_STRIDE; i++) {
        want[i] = i % SCENE_STRIDE < 6 ? 1000.0 : i % SCENE_STRIDE < 9 ? 1.0 : 0.001;
        got[i] = (float)want[i];
    }
    /* A tenth off in one value of each group: hidden by none of the larger groups. */
    got[5] = 900.0f;
    got[SCENE_STRIDE + 8] = 0.9f;
    got[SCENE_STRIDE + 9] = 0.0f;
    agreement_grads(&a, got, want, 2, false);
    expect_near(a.value[AGREE_VERTICES], 0.1 / sqrt(12.0));
    assert_true(fabs(a.value[AGREE_COLOUR] - 0.1 / sqrt(6.0)) < 1e-7);
    assert_true(fabs(a.value[AGREE_ALPHA] - 1.0 / sqrt(2.0)) < 1e-7);
    assert_true(isnan(a.value[AGREE_IMAGE]) && isnan(a.value[AGREE_LOSS]));
}

static void test_a_group_without_gradients_is_compared_absolutely(void **state)
{
    float got[SCENE_STRIDE] = {0};
    double want[SCENE_STRIDE] = {0};
    struct agreement a;
    (void)state;
    got[6] = 0.25f;
    agreement_grads(&a, got, want, 1, false);
    assert_true(a.value[AGREE_VERTICES] == 0.0 && a.value[AGREE_ALPHA] == 0.0);
    assert_true(a.value[AGREE_COLOUR] == 0.25);
    agreement_grads(&a, NULL, NULL, 0, false);
    assert_true(a.value[AGREE_COLOUR] == 0.0);
}

static void test_summed_vertices_ignore_which_of_them_moved(void **state)
{
    const float got[SCENE_STRIDE] = {0, 1, 2, 3, 4, 5};
    const double moved[SCENE_STRIDE] = {4, 5, 0, 1, 2, 3}, other[SCENE_STRIDE] = {4, 5, 0, 1, 2, 0};
    struct agreement a;
    (void)state;
    agreement_grads(&a, got, moved, 1, true);
    assert_true(a.value[AGREE_VERTICES] == 0.0);
    agreement_grads(&a, got, moved, 1, false);
    assert_true(a.value[AGREE_VERTICES] > 0.5);
    agreement_grads(&a, got, other, 1, true);
    expect_near(a.value[AGREE_VERTICES], 3.0 / sqrt(72.0));
}

static void test_tolerance_grows_with_sharpness_and_distance(void **state)
{
    float params[2 * SCENE_STRIDE] = {0, 0, 1, 0, 0, 1};
    struct agreement a;
    (void)state;
    agreement_tolerance(&a, 0.01f, false, params, 2);
    expect_near(a.value[AGREE_IMAGE], 1e-5);
    expect_near(a.value[AGREE_LOSS], 1e-5);
    expect_near(a.value[AGREE_COLOUR], 5e-5);
    expect_near(a.value[AGREE_ALPHA], 1e-4);
    expect_near(a.value[AGREE_VERTICES], 2e-3);
    params[SCENE_STRIDE + 3] = -8.0f;
    agreement_tolerance(&a, 0.0009765625f, true, params, 2);
    expect_near(a.value[AGREE_IMAGE], 1e-5 * 8 * 2.048);
    expect_near(a.value[AGREE_LOSS], 1e-5);
    expect_near(a.value[AGREE_VERTICES], 5e-3 * 8 * 2.048);
}

static void test_tolerance_ignores_triangles_that_touch_nothing(void **state)
{
    float params[2 * SCENE_STRIDE] = {0, 0, 1, 0, 0, 2, [SCENE_STRIDE] = 100, [SCENE_STRIDE + 1] = NAN};
    struct agreement a;
    (void)state;
    agreement_tolerance(&a, 0.01f, false, params, 2);
    expect_near(a.value[AGREE_IMAGE], 2e-5);
    params[SCENE_STRIDE + 1] = 16385.0f;
    agreement_tolerance(&a, 0.01f, false, params, 2);
    expect_near(a.value[AGREE_IMAGE], 2e-5);
    for (int i = 0; i < 6; i++) /* one that nobody sees does not hide what others get wrong */
        params[SCENE_STRIDE + i] = 300.0f + (float)(i % 3);
    agreement_tolerance(&a, 0.01f, false, params, 2);
    expect_near(a.value[AGREE_IMAGE], 2e-5);
    params[SCENE_STRIDE] = params[SCENE_STRIDE + 3] = -300.0f;
    agreement_tolerance(&a, 0.01f, false, params, 2);
    expect_near(a.value[AGREE_IMAGE], 302e-5);
    agreement_tolerance(&a, 0.01f, false, NULL, 0);
    expect_near(a.value[AGREE_IMAGE], 1e-5);
}

static void test_within_names_the_group_furthest_over(void **state)
{
    struct agreement errors = {{1e-6, 1e-6, NAN, 1e-6, 1e-6}}, tolerance = {{1e-5, 1e-5, 1e-5, 1e-5, 1e-5}};
    enum agreement_group worst = AGREE_IMAGE;
    (void)state;
    assert_true(agreement_within(&errors, &tolerance, &worst));
    errors.value[AGREE_LOSS] = 2e-5;
    errors.value[AGREE_COLOUR] = 9e-5;
    errors.value[AGREE_ALPHA] = 3e-5;
    assert_false(agreement_within(&errors, &tolerance, &worst));
    assert_int_equal(worst, AGREE_COLOUR);
    errors.value[AGREE_ALPHA] = INFINITY;
    assert_false(agreement_within(&errors, &tolerance, &worst));
    assert_int_equal(worst, AGREE_ALPHA);
    /* Compared, but nobody said how far apart it may be. */
    agreement_init(&errors);
    errors.value[AGREE_VERTICES] = 0.0;
    tolerance.value[AGREE_VERTICES] = NAN;
    assert_false(agreement_within(&errors, &tolerance, &worst));
    assert_int_equal(worst, AGREE_VERTICES);
}

static void test_worst_keeps_the_larger_of_what_was_compared(void **state)
{
    struct agreement into, a = {{1, NAN, 3, INFINITY, NAN}}, b = {{2, 1, 1, 1, NAN}};
    (void)state;
    agreement_init(&into);
    agreement_worst(&into, &a);
    agreement_worst(&into, &b);
    assert_true(into.value[0] == 2 && into.value[1] == 1 && into.value[2] == 3);
    assert_true(into.value[3] == INFINITY && isnan(into.value[4]));
}

static void test_json_keeps_what_was_compared(void **state)
{
    struct agreement a = {{2.4e-7, NAN, INFINITY, 0, 1}}, back;
    struct strbuf sb = STRBUF_INIT;
    struct err err = ERR_INIT;
    struct json *object = json_new_object();
    (void)state;
    agreement_to_json(&a, object);
    assert_true(json_print(object, false, &sb, &err));
    assert_string_equal(strbuf_str(&sb), "{\"image\":2.4e-07,\"vertices\":null,\"colour\":0,\"alpha\":1}");
    agreement_from_json(&back, object);
    assert_true(back.value[0] == 2.4e-7 && isnan(back.value[1]) && back.value[2] == INFINITY);
    assert_true(back.value[3] == 0.0 && back.value[4] == 1.0);
    strbuf_fini(&sb);
    json_free(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_image_error_is_the_largest_difference),
        cmocka_unit_test(test_nan_anywhere_is_infinitely_wrong),
        cmocka_unit_test(test_loss_error_is_relative),
        cmocka_unit_test(test_each_group_has_a_norm_of_its_own),
        cmocka_unit_test(test_a_group_without_gradients_is_compared_absolutely),
        cmocka_unit_test(test_summed_vertices_ignore_which_of_them_moved),
        cmocka_unit_test(test_tolerance_grows_with_sharpness_and_distance),
        cmocka_unit_test(test_tolerance_ignores_triangles_that_touch_nothing),
        cmocka_unit_test(test_within_names_the_group_furthest_over),
        cmocka_unit_test(test_worst_keeps_the_larger_of_what_was_compared),
        cmocka_unit_test(test_json_keeps_what_was_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
