#include "unit/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/verify.h"

/* A renderer that answers with the case's own values, or not quite. */
enum mistake { RIGHT, PIXEL_UNWRITTEN, GRADIENT_UNWRITTEN, LOSS_OFF, CALL_FAILS, OPEN_REFUSES, DOES_NOT_FIT, WAVERS };

struct fake {
    struct renderer base;
    enum mistake mistake;
    const struct golden_case *golden;
    bool poisoned;
    size_t open_jobs;
    size_t calls;
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
    struct fake *fake = fake_of(job);
    const struct golden_case *c = fake->golden;

    assert_true(fake->poisoned);
    assert_memory_equal(job->io.params, c->scene.params, 10 * sizeof(float));
    if (fake->mistake == CALL_FAILS)
        return err_set(err, ERR_OPENCL, "clFinish: CL_OUT_OF_RESOURCES (-5)");
    for (size_t i = fake->mistake == PIXEL_UNWRITTEN; job->io.image && i < 6; i++)
        job->io.image[i] = (float)c->image[i];
    if (job->spec.mode == MODE_FORWARD)
        return true;
    assert_memory_equal(job->io.target, c->target, 6 * sizeof(float));
    job->io.loss[0] = c->loss * (fake->mistake == LOSS_OFF ? 1.01 : 1);
    for (size_t i = 0; i < 10 - (size_t)(fake->mistake == GRADIENT_UNWRITTEN); i++)
        job->io.grads[i] = (float)c->grads[i];
    /* Of every third call the gradient 8 is three last bits larger, and the gradient 1 the negative zero. */
    if (fake->mistake == WAVERS && fake->calls++ % 3 == 2) {
        job->io.grads[7] += 3 * 0x1p-20f;
        job->io.grads[0] = -0.0f;
    }
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

/* A two-pixel, one-triangle case and a renderer that makes this mistake with it. */
struct scenario {
    float params[10], target[6];
    double image[6], grads[10];
    struct golden_case golden;
    struct fake fake;
    struct verify_variant variant;
};

static void scenario_init(struct scenario *s, enum mistake mistake, enum render_mode mode)
{
    *s = (struct scenario){.params = {0, 0, 1, 0, 0, 1, 0.25f, 0.5f, 0.75f, 0.5f},
                           .target = {0.5f, 0.5f, 0.5f, 0.25f, 0.25f, 0.25f},
                           .image = {0.125, 0.25, 0.375, 0.5, 0.625, 0.75},
                           .grads = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                           .golden = {.width = 2, .height = 1, .sigma = 0.01f, .loss = 0.5},
                           .fake = {.base = {.ops = &fake_ops}, .mistake = mistake},
                           .variant = {.name = "fake"}};
    s->golden.target = s->target;
    s->golden.image = s->image;
    s->golden.grads = s->grads;
    s->golden.scene = (struct scene){.triangles = 1, .params = s->params};
    s->fake.golden = &s->golden;
    for (size_t i = 0; i < AGREE_GROUPS; i++)
        s->golden.tolerance.value[i] = 1e-5;
    spec_init(&s->variant.spec);
    s->variant.spec.mode = mode;
}

static void verify(enum mistake mistake, enum render_mode mode, struct verify_result *result)
{
    struct scenario s;

    verify_result_fini(result);
    scenario_init(&s, mistake, mode);
    verify_case(&s.fake.base, &s.golden, &s.variant, result);
    assert_int_equal(s.fake.open_jobs, 0);
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

static struct verify_spread repeated(enum mistake mistake, uint64_t repeats)
{
    struct scenario s;
    struct verify_spread spread;
    struct err err = ERR_INIT;

    scenario_init(&s, mistake, MODE_GRADIENT);
    assert_true(verify_repeats(&s.fake.base, &s.golden, &s.variant, repeats, &spread, &err));
    assert_int_equal(s.fake.open_jobs, 0);
    assert_int_equal(spread.values, 11);
    return spread;
}

static void test_repeats(void **state)
{
    (void)state;
    struct verify_spread same = repeated(RIGHT, 5), before = repeated(WAVERS, 2), after = repeated(WAVERS, 4);
    assert_int_equal(same.differing, 0);
    assert_int_equal(same.units, 0);
    assert_true(same.relative == 0);
    assert_int_equal(before.differing, 0);
    assert_int_equal(after.differing, 2);
    assert_int_equal(after.units, 0x3f800000); /* from 1 to 0 */
    assert_true(fabs(after.relative - 1 / sqrt(385)) < 1e-6);
    struct verify_spread unwritten = repeated(GRADIENT_UNWRITTEN, 2);
    assert_int_equal(unwritten.units, UINT32_MAX);
    assert_true(isinf(unwritten.relative));
}

static void test_repeats_that_cannot_run(void **state)
{
    struct scenario s;
    struct verify_spread spread;
    struct err err = ERR_INIT;
    (void)state;
    scenario_init(&s, DOES_NOT_FIT, MODE_GRADIENT);
    assert_false(verify_repeats(&s.fake.base, &s.golden, &s.variant, 2, &spread, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    err_fini(&err);
    scenario_init(&s, CALL_FAILS, MODE_GRADIENT);
    assert_false(verify_repeats(&s.fake.base, &s.golden, &s.variant, 2, &spread, &err));
    assert_int_equal(err.code, ERR_OPENCL);
    assert_int_equal(s.fake.open_jobs, 0);
    err_fini(&err);
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
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_repeats_that_cannot_run),
        cmocka_unit_test(test_variants),
    };
    return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
