#include "unit/check.h"

#include <math.h>
#include <string.h>

#include "model/finite_diff.h"
#include "model/scene.h"

#define T 8
#define SIZE 64

static const float background[3] = {0.1f, 0.11f, 0.14f};

struct fixture {
    float params[T * SCENE_STRIDE];
    float target[SIZE * SIZE * 3];
    double grads[T * SCENE_STRIDE];
    struct oracle_input in;
};

static struct fixture f;

static int set_up(void **state)
{
    struct oracle_output out = {.grads = f.grads};
    struct err err = ERR_INIT;

    (void)state;
    scene_random(f.params, T, 11, 0, SCENE_DEFAULT_EXTENT);
    for (size_t i = 0; i < SIZE * SIZE * 3; i++)
        f.target[i] = 0.4f + 0.1f * (float)(i % 3);
    f.in = (struct oracle_input){SIZE, SIZE, T, 0.03f, f.params, background, f.target, NULL};
    return oracle_render(&f.in, &out, &err) && out.pairs > 1000 ? 0 : -1;
}

static struct finite_diff_error at_step(finite_diff_loss loss, const double *grads, double step)
{
    struct finite_diff_error error;
    struct err err = ERR_INIT;

    assert_true(finite_diff(loss, &f.in, &f.in, grads, &step, 1, &error, &err));
    assert_true(error.step == step);
    return error;
}

static void test_the_reference_is_the_derivative_of_its_loss(void **state)
{
    struct finite_diff_error error = at_step(finite_diff_oracle_loss, f.grads, 1e-5);
    (void)state;
    assert_int_equal(error.left_out, 0);
    assert_true(error.all < 1e-6);
    for (int g = AGREE_VERTICES; g < AGREE_GROUPS; g++)
        assert_true(error.groups.value[g] < 1e-6);
    assert_true(isnan(error.groups.value[AGREE_IMAGE]) && isnan(error.groups.value[AGREE_LOSS]));
}

/* What a renderer that works in float32 gives. */
static double rounded_loss(void *ctx, const float *params)
{
    return (double)(float)finite_diff_oracle_loss(ctx, params);
}

static void test_the_error_of_a_float32_loss_is_u_shaped(void **state)
{
    static const double steps[] = {1e-6, 1e-5, 5e-4, 5e-3, 2e-2};
    struct finite_diff_error errors[5];
    struct err err = ERR_INIT;
    (void)state;
    assert_true(finite_diff(rounded_loss, &f.in, &f.in, f.grads, steps, 5, errors, &err));
    assert_true(errors[0].all > 0.1); /* rounding */
    assert_true(errors[1].all > 0.01);
    assert_true(errors[2].all < 0.004); /* 0.3 % */
    assert_true(errors[3].all > 0.005); /* curvature */
    assert_true(errors[4].all > 0.05);
    assert_true(errors[4].left_out > errors[2].left_out);
}

static void test_a_wrong_gradient_shows(void **state)
{
    double wrong[T * SCENE_STRIDE];
    (void)state;
    /* The nearest edge's two vertices taken for one another. */
    memcpy(wrong, f.grads, sizeof(wrong));
    for (size_t t = 0; t < T; t++) {
        memcpy(wrong + t * SCENE_STRIDE, f.grads + t * SCENE_STRIDE + 2, 2 * sizeof(double));
        memcpy(wrong + t * SCENE_STRIDE + 2, f.grads + t * SCENE_STRIDE, 2 * sizeof(double));
    }
    struct finite_diff_error error = at_step(finite_diff_oracle_loss, wrong, 1e-5);
    assert_true(error.groups.value[AGREE_VERTICES] > 0.1 && error.all > 0.1);
    assert_true(error.groups.value[AGREE_ALPHA] < 1e-6);
}

static double failing_loss(void *ctx, const float *params)
{
    (void)ctx;
    (void)params;
    return NAN;
}

static void test_a_loss_that_fails_is_infinitely_wrong(void **state)
{
    struct finite_diff_error error = at_step(failing_loss, f.grads, 1e-5);
    (void)state;
    assert_true(error.all == INFINITY && error.groups.value[AGREE_COLOUR] == INFINITY);
}

/* Counts calls, and sees that only one value at a time is moved. */
static double counting_loss(void *ctx, const float *params)
{
    size_t moved = 0;

    for (size_t i = 0; i < T * SCENE_STRIDE; i++)
        moved += params[i] != f.params[i];
    assert_int_equal(moved, 1);
    ++*(size_t *)ctx;
    return 0.0;
}

static void test_one_parameter_moves_at_a_time(void **state)
{
    const double step = 1e-5;
    struct finite_diff_error error;
    struct err err = ERR_INIT;
    size_t calls = 0;
    (void)state;
    assert_true(finite_diff(counting_loss, &calls, &f.in, f.grads, &step, 1, &error, &err));
    assert_int_equal(calls, 2 * T * SCENE_STRIDE);
    assert_true(fabs(error.all - 1.0) < 1e-12); /* every slope is 0 */
}

static void test_an_empty_scene_has_nothing_to_compare(void **state)
{
    const double step = 1e-5;
    struct oracle_input empty = f.in;
    struct finite_diff_error error;
    struct err err = ERR_INIT;
    (void)state;
    empty.triangles = 0;
    empty.params = NULL;
    assert_true(finite_diff(failing_loss, NULL, &empty, NULL, &step, 1, &error, &err));
    assert_true(error.all == 0.0 && error.left_out == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_reference_is_the_derivative_of_its_loss),
        cmocka_unit_test(test_the_error_of_a_float32_loss_is_u_shaped),
        cmocka_unit_test(test_a_wrong_gradient_shows),
        cmocka_unit_test(test_a_loss_that_fails_is_infinitely_wrong),
        cmocka_unit_test(test_one_parameter_moves_at_a_time),
        cmocka_unit_test(test_an_empty_scene_has_nothing_to_compare),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
