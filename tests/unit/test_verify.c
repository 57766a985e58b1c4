#include "unit/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/verify.h"

/* A renderer that answers with the case's own values, or not quite. */
enum mistake { RIGHT, PIXEL_UNWRITTEN, GRADIENT_UNWRITTEN, LOSS_OFF, CALL_FAILS, OPEN_REFUSES, DOES_NOT_FIT };

struct fake {
    struct renderer base;
    enum mistake mistake;
    const struct golden_case *golden;
    bool poisoned;
    size_t open_jobs;
};

struct fake_job {
    struct render_job base;
    float params[10], background[3], target[6], image[6], grads[10];
    double loss[1];
};

static struct fake *fake_of(const struct render_job *job)
{
    return (struct fake *)(void *)job->renderer;
}

static bool fake_footprint(struct renderer *r, const struct render_spec *spec, struct render_footprint *out,
                           struct err *err)
{
    (void)spec;
    memset(out, 0, sizeof *out);
    return ((struct fake *)(void *)r)->mistake != DOES_NOT_FIT || err_set(err, ERR_LIMIT, "9 GB of 1 GB");
}

static bool fake_open(struct renderer *r, const struct render_spec *spec, struct render_job **out,
                      struct err *err)
{
    struct fake *fake = (struct fake *)(void *)r;
    if (fake->mistake == OPEN_REFUSES)
        return err_set(err, ERR_UNSUPPORTED, "not on this device");
    struct fake_job *job = mem_calloc(1, sizeof *job, "a job", err);
    if (!job)
        return false;
    bool gradient = spec->mode == MODE_GRADIENT;
    job->base = (struct render_job){.renderer = r, .spec = *spec};
    job->base.io = (struct render_io){.params = job->params,
                                      .background = job->background,
                                      .target = gradient ? job->target : NULL,
                                      .image = spec->keep_images || !gradient ? job->image : NULL,
                                      .loss = gradient ? job->loss : NULL,
                                      .grads = gradient ? job->grads : NULL};
    fake->open_jobs++;
    *out = &job->base;
    return true;
}

static bool fake_inputs_changed(struct render_job *job, struct err *err)
{
    (void)job;
    (void)err;
    return true;
}

static bool fake_poison(struct render_job *job, struct err *err)
{
    struct fake_job *fake = (struct fake_job *)(void *)job;
    (void)err;
    mem_poison(fake->image, sizeof fake->image);
    mem_poison(fake->grads, sizeof fake->grads);
    mem_poison(fake->loss, sizeof fake->loss);
    fake_of(job)->poisoned = true;
    return true;
}

static bool fake_call(struct render_job *job, struct err *err)
{
    const struct fake *fake = fake_of(job);
    const struct golden_case *c = fake->golden;

    assert_true(fake->poisoned);
    assert_memory_equal(job->io.params, c->scene.params, 10 * sizeof(float));
    if (fake->mistake == CALL_FAILS)
        return err_set(err, ERR_OPENCL, "clFinish: CL_OUT_OF_RESOURCES (-5)");
    for (size_t i = fake->mistake == PIXEL_UNWRITTEN; i < 6; i++)
        job->io.image[i] = (float)c->image[i];
    if (job->spec.mode == MODE_FORWARD)
        return true;
    assert_memory_equal(job->io.target, c->target, 6 * sizeof(float));
    job->io.loss[0] = c->loss * (fake->mistake == LOSS_OFF ? 1.01 : 1);
    for (size_t i = 0; i < 10 - (size_t)(fake->mistake == GRADIENT_UNWRITTEN); i++)
        job->io.grads[i] = (float)c->grads[i];
    return true;
}

static void fake_close(struct render_job *job)
{
    if (job)
        fake_of(job)->open_jobs--;
    free(job);
}

static const struct renderer_ops fake_ops = {.footprint = fake_footprint,
                                             .open = fake_open,
                                             .inputs_changed = fake_inputs_changed,
                                             .call = fake_call,
                                             .poison = fake_poison,
                                             .close = fake_close};

/* Verifies a two-pixel, one-triangle case on a renderer that makes this mistake. */
static void verify(enum mistake mistake, enum render_mode mode, struct verify_result *result)
{
    verify_result_fini(result);
    float params[10] = {0, 0, 1, 0, 0, 1, 0.25f, 0.5f, 0.75f, 0.5f};
    float target[6] = {0.5f, 0.5f, 0.5f, 0.25f, 0.25f, 0.25f};
    double image[6] = {0.125, 0.25, 0.375, 0.5, 0.625, 0.75};
    double grads[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    struct golden_case c = {.width = 2,
                            .height = 1,
                            .sigma = 0.01f,
                            .target = target,
                            .image = image,
                            .grads = grads,
                            .loss = 0.5,
                            .scene = {.triangles = 1, .params = params}};
    struct fake fake = {.base = {.ops = &fake_ops}, .mistake = mistake, .golden = &c};
    struct verify_variant variant = {.name = "fake"};

    for (size_t i = 0; i < AGREE_GROUPS; i++)
        c.tolerance.value[i] = 1e-5;
    spec_init(&variant.spec);
    variant.spec.mode = mode;
    verify_case(&fake.base, &c, &variant, result);
    assert_int_equal(fake.open_jobs, 0);
}

static void test_right(void **state)
{
    struct verify_result result = {0};
    (void)state;
    verify(RIGHT, MODE_GRADIENT, &result);
    assert_int_equal(result.verdict, VERIFY_OK);
    for (size_t i = 0; i < AGREE_GROUPS; i++)
        assert_true(result.errors.value[i] >= 0 && result.errors.value[i] < 1e-6);
    verify_result_fini(&result);
}

static void test_forward_has_an_image_alone(void **state)
{
    struct verify_result result = {0};
    (void)state;
    verify(RIGHT, MODE_FORWARD, &result);
    assert_int_equal(result.verdict, VERIFY_OK);
    assert_true(result.errors.value[AGREE_IMAGE] < 1e-6);
    assert_true(isnan(result.errors.value[AGREE_LOSS]) && isnan(result.errors.value[AGREE_ALPHA]));
    verify(PIXEL_UNWRITTEN, MODE_FORWARD, &result);
    assert_int_equal(result.verdict, VERIFY_WRONG);
    verify_result_fini(&result);
}

static void test_unwritten_elements_show(void **state)
{
    struct verify_result result = {0};
    (void)state;
    verify(PIXEL_UNWRITTEN, MODE_GRADIENT, &result);
    assert_int_equal(result.verdict, VERIFY_WRONG);
    assert_int_equal(result.worst, AGREE_IMAGE);
    assert_true(isinf(result.errors.value[AGREE_IMAGE]));
    verify(GRADIENT_UNWRITTEN, MODE_GRADIENT, &result);
    assert_int_equal(result.verdict, VERIFY_WRONG);
    assert_int_equal(result.worst, AGREE_ALPHA);
    verify_result_fini(&result);
}

static void test_wrong_loss(void **state)
{
    struct verify_result result = {0};
    (void)state;
    verify(LOSS_OFF, MODE_GRADIENT, &result);
    assert_int_equal(result.verdict, VERIFY_WRONG);
    assert_int_equal(result.worst, AGREE_LOSS);
    verify_result_fini(&result);
}

static void test_what_cannot_run(void **state)
{
    static const struct {
        enum mistake mistake;
        enum verify_verdict verdict;
        const char *text;
    } cases[] = {{CALL_FAILS, VERIFY_FAILED, "clFinish: CL_OUT_OF_RESOURCES (-5)"},
                 {OPEN_REFUSES, VERIFY_SKIPPED, "not on this device"},
                 {DOES_NOT_FIT, VERIFY_SKIPPED, "9 GB of 1 GB"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct verify_result result = {0};
        verify(cases[i].mistake, MODE_GRADIENT, &result);
        assert_int_equal(result.verdict, cases[i].verdict);
        assert_string_equal(result.err.text, cases[i].text);
        verify_result_fini(&result);
    }
}

static void test_results_against_each_other(void **state)
{
    struct golden_case c = {.width = 1, .height = 1, .scene = {.triangles = 1}};
    float image[2][3] = {{1, 2, 3}, {1, 2, 3.5f}};
    float grads[2][10] = {{3, 0, 0, 4, 0, 0, 1, 0, 0, 2}, {3, 0, 0, 4.5f, 0, 0, 1, 0, 0, 0}};
    struct verify_result a = {.image = image[0], .grads = grads[0], .loss = 1.0};
    struct verify_result b = {.image = image[1], .grads = grads[1], .loss = 1.25};
    struct verify_result forward = {.image = image[1]};
    struct agreement errors;
    struct err err = ERR_INIT;
    (void)state;
    assert_true(verify_compare(&c, &b, &a, &errors, &err));
    assert_true(errors.value[AGREE_IMAGE] == 0.5);
    assert_true(errors.value[AGREE_LOSS] == 0.25);
    assert_true(fabs(errors.value[AGREE_VERTICES] - 0.1) < 1e-12);
    assert_true(errors.value[AGREE_COLOUR] == 0.0);
    assert_true(errors.value[AGREE_ALPHA] == 1.0);
    assert_true(verify_compare(&c, &forward, &a, &errors, &err));
    assert_true(errors.value[AGREE_IMAGE] == 0.5);
    assert_true(isnan(errors.value[AGREE_LOSS]) && isnan(errors.value[AGREE_VERTICES]));
}

static void test_variants(void **state)
{
    struct verify_variant *variants;
    struct err err = ERR_INIT;
    size_t count;
    (void)state;
    assert_true(verify_variants(BACKEND_OPENMP, &variants, &count, &err));
    assert_int_equal(count, 4);
    assert_string_equal(variants[2].name, "scalar, forward");
    assert_int_equal(variants[2].spec.variant, VARIANT_SCALAR);
    assert_int_equal(variants[2].spec.mode, MODE_FORWARD);
    free(variants);
    assert_true(verify_variants(BACKEND_OPENCL, &variants, &count, &err));
    assert_int_equal(count, 10);
    assert_string_equal(variants[9].name, "taped + direct");
    assert_int_equal(variants[9].spec.strategy, STRATEGY_TAPED);
    assert_int_equal(variants[9].spec.reduction, REDUCTION_DIRECT);
    free(variants);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_forward_has_an_image_alone),
        cmocka_unit_test(test_unwritten_elements_show),
        cmocka_unit_test(test_wrong_loss),
        cmocka_unit_test(test_what_cannot_run),
        cmocka_unit_test(test_results_against_each_other),
        cmocka_unit_test(test_variants),
    };
    return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
