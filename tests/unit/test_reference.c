/* What of a point is compared with the reference, and that a wrong element shows, whole and sampled. */
#include "unit/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/reference.h"
#include "model/oracle.h"
#include "unit/fake_backend.h"

static struct config config = {.scene = {.seed = 11, .extent = 0.15f},
                               .target = {.kind = TARGET_FLAT, .color = {0.4f, 0.5f, 0.6f}}};
static const struct input_files files = {.config = &config};

struct setup {
    struct inputs inputs;
    struct reference reference;
    struct renderer renderer;
    struct render_job *job;
};

static void begin(struct setup *s, const struct reference_limits *limits, uint32_t batch, bool upstream)
{
    struct render_spec spec;
    struct err err = ERR_INIT;
    *s = (struct setup){.renderer = {.ops = &fake_ops}};
    spec_init(&spec);
    spec.width = 24;
    spec.height = 16;
    spec.triangles = 12;
    spec.batch = batch;
    spec.upstream = upstream;
    unsetenv("FAKE_FAULT");
    assert_true(inputs_init(&s->inputs, &files, &spec, &err));
    assert_true(reference_init(&s->reference, &s->inputs, limits, &err));
    spec.keep_images = true;
    assert_true(fake_open(&s->renderer, &spec, &s->job, &err));
    inputs_fill(&s->inputs, &s->job->io);
    assert_true(fake_call(s->job, &err));
}

static void end(struct setup *s)
{
    fake_close(s->job);
    reference_fini(&s->reference);
    inputs_fini(&s->inputs);
}

static bool check(const struct setup *s, bool only_images, char text[1024])
{
    struct agreement errors;
    struct err err = ERR_INIT;
    agreement_init(&errors);
    bool ok = reference_check(&s->reference, &s->job->io, only_images, &errors, &err);
    assert_int_equal(ok, err.code == ERR_NONE);
    if (text != NULL)
        strcpy(text, err.text);
    err_fini(&err);
    return ok;
}

/* Pairs of the whole batch, by rendering every scene. */
static uint64_t pairs_of_all(const struct setup *s)
{
    struct reference all;
    struct err err = ERR_INIT;
    assert_true(reference_init(&all, &s->inputs, &reference_limits, &err));
    uint64_t pairs = all.pairs;
    assert_false(all.pairs_estimated);
    assert_int_equal(all.scene_count, s->inputs.spec.batch);
    assert_true(s->reference.pairs_estimated || all.layers_p99 == s->reference.layers_p99);
    assert_true(s->reference.pairs_estimated || all.layers_most == s->reference.layers_most);
    reference_fini(&all);
    return pairs;
}

static void test_whole(void **state)
{
    (void)state;
    struct setup s;
    char text[1024];
    begin(&s, &reference_limits, 3, false);
    assert_null(s.reference.pixels);
    assert_int_equal(s.reference.pixel_count, 24 * 16);
    assert_true(check(&s, false, NULL));
    s.job->io.image[2 * 24 * 16 * 3 + 5] += 1e-3f;
    assert_false(check(&s, false, text));
    assert_memory_equal(text, "scene 2: image off by 0.001, allowed 1e-05", 27);
    end(&s);
    begin(&s, &reference_limits, 3, false);
    s.job->io.loss[1] *= 1.001;
    assert_false(check(&s, false, text));
    assert_memory_equal(text, "scene 1: loss off by ", 21);
    assert_true(check(&s, true, NULL));
    end(&s);
}

static int compare_counts(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Against all pixels of all scenes in a row, sorted. */
static void test_layers(void **state)
{
    (void)state;
    struct setup s;
    struct err err = ERR_INIT;
    float params[12 * 10], background[3] = {0};
    uint32_t covered[3 * 24 * 16];
    uint64_t opaque = 0;
    begin(&s, &reference_limits, 3, false);
    for (uint32_t b = 0; b < 3; b++) {
        struct oracle_input in = {.width = 24, .height = 16, .triangles = 12, .sigma = s.inputs.spec.sigma,
                                  .params = params, .background = background};
        struct oracle_output out = {.covered = covered + b * 24 * 16};
        inputs_params(&s.inputs, b, params);
        assert_true(oracle_render(&in, &out, &err));
        opaque += out.opaque;
    }
    assert_int_equal(s.reference.opaque, opaque);
    const size_t count = sizeof covered / sizeof covered[0];
    qsort(covered, count, sizeof covered[0], compare_counts);
    assert_int_equal(s.reference.layers_p99, covered[(size_t)ceil(0.99 * (double)count) - 1]);
    assert_int_equal(s.reference.layers_most, covered[count - 1]);
    assert_true(s.reference.layers_p99 < s.reference.layers_most);
    end(&s);
}

static void test_some_scenes(void **state)
{
    (void)state;
    struct setup s;
    struct reference_limits limits = reference_limits;
    char text[1024];
    begin(&s, &limits, 8, false);
    uint64_t largest = s.reference.in_bounds / 8 * 2;
    end(&s);
    limits.pairs = largest * 3;
    begin(&s, &limits, 8, false);
    assert_in_range(s.reference.scene_count, 2, 6);
    assert_int_equal(s.reference.scenes[0].index, 0);
    assert_int_equal(s.reference.scenes[s.reference.scene_count - 1].index, 7);
    assert_true(s.reference.pairs == pairs_of_all(&s));
    assert_false(s.reference.pairs_estimated);
    assert_true(check(&s, false, NULL));
    /* An element of a scene that is not compared, which nobody wrote. */
    s.job->io.grads[1 * 120 + 7] = NAN;
    assert_int_not_equal(s.reference.scenes[1].index, 1);
    assert_false(check(&s, false, text));
    assert_string_equal(text, "scene 1: element 7 of the gradients was not written, or is not finite");
    end(&s);
}

static void test_pairs_are_estimated_above_a_limit(void **state)
{
    (void)state;
    struct setup s;
    struct reference_limits limits = {.pairs = 1500, .pixels = 1 << 20, .counted = 100};
    begin(&s, &limits, 8, false);
    assert_true(s.reference.pairs_estimated);
    const double all = (double)pairs_of_all(&s);
    assert_true(fabs((double)s.reference.pairs - all) < 0.2 * all);
    end(&s);
}

static void sampled(bool upstream)
{
    struct setup s;
    struct reference_limits limits = {.pairs = 400, .pixels = 1 << 20, .counted = 1000000};
    struct err err = ERR_INIT;
    struct reference later;
    char text[1024];
    begin(&s, &limits, 3, upstream);
    assert_non_null(s.reference.pixels);
    assert_in_range(s.reference.pixel_count, 5, 24 * 16 / 2);
    assert_int_equal(s.reference.scene_count, 2);
    assert_int_equal(s.reference.scenes[1].index, 2);
    /* Whole pictures' gradients are something else than the sampled pixels'. */
    assert_true(check(&s, true, NULL));
    assert_false(check(&s, false, NULL));
    assert_true(reference_from_outputs(&later, &s.reference, &s.job->io, &err));
    reference_narrow(&s.reference, &s.job->io);
    assert_true(fake_call(s.job, &err));
    assert_true(check(&s, false, text));
    s.job->io.grads[2 * 120 + 6] *= 1.01f;
    s.job->io.grads[2 * 120 + 16] *= 1.01f;
    s.job->io.grads[2 * 120 + 26] *= 1.01f;
    assert_false(check(&s, false, text));
    assert_memory_equal(text, "scene 2: colour off by ", 23);
    /* What the first call gave serves to check later ones. */
    inputs_fill(&s.inputs, &s.job->io);
    assert_true(fake_call(s.job, &err));
    reference_fini(&s.reference);
    s.reference = later;
    assert_true(check(&s, false, NULL));
    s.job->io.grads[6] += 1.0f;
    assert_false(check(&s, false, NULL));
    end(&s);
}

static void test_sampled_pixels(void **state)
{
    (void)state;
    sampled(false);
    sampled(true);
}

static void test_an_empty_batch(void **state)
{
    (void)state;
    struct setup s;
    begin(&s, &reference_limits, 0, false);
    assert_int_equal(s.reference.scene_count, 0);
    assert_int_equal(s.reference.pairs, 0);
    assert_true(check(&s, false, NULL));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_some_scenes),
        cmocka_unit_test(test_pairs_are_estimated_above_a_limit),
        cmocka_unit_test(test_sampled_pixels),
        cmocka_unit_test(test_an_empty_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
