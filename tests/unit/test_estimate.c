/* What large cells would take: which part stands for them, and how its times scale up. */
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/estimate.h"

static const struct config config = {.target = {.color = {0.4f, 0.5f, 0.6f}}, .scene = {.extent = 0.15f}};
static const struct input_files files = {.config = &config};

static struct inputs whole(uint32_t width, uint32_t height, uint32_t triangles, uint32_t batch)
{
    struct inputs in = {.files = &files};

    spec_init(&in.spec);
    in.spec.width = width;
    in.spec.height = height;
    in.spec.triangles = triangles;
    in.spec.batch = batch;
    return in;
}

static double work(const struct render_spec *s)
{
    return (double)s->width * s->height * s->batch;
}

static void test_small_cells_are_simply_run(void **state)
{
    struct inputs in = whole(256, 256, 512, 16), part;

    (void)state;
    assert_true(estimate_part(&in, 100000000, &part) == 1);
    in = whole(64, 64, 0, 0);
    assert_true(estimate_part(&in, 0, &part) == 1);
}

static void test_parts(void **state)
{
    struct inputs in = whole(64, 64, 32, 100000), part;
    double times;

    (void)state;
    /* Scenes first. */
    times = estimate_part(&in, 1000000000, &part);
    assert_true(times >= 50 && times <= 200);
    assert_int_equal(part.spec.width, 64);
    assert_int_equal(part.spec.triangles, 32);
    assert_true(times == 100000.0 / part.spec.batch);
    /* Then the picture. */
    in = whole(16384, 8192, 32, 1);
    times = estimate_part(&in, 300000000, &part);
    assert_true(part.spec.width < 16384 && part.spec.height < 8192 && part.spec.triangles == 32);
    assert_true(work(&part.spec) <= 8e6 && work(&part.spec) >= 65536);
    assert_true(times == work(&in.spec) / work(&part.spec));
    /* Then triangles, which files have as many as they have. */
    in = whole(256, 256, 1000000, 2);
    times = estimate_part(&in, UINT64_C(8000000000), &part);
    assert_int_equal(part.spec.batch, 1);
    assert_int_equal(part.spec.width, 256);
    assert_true(part.spec.triangles < 20000 && part.spec.triangles > 1000);
    assert_true(times > 100 && times < 800);
    struct input_files scenes = {.config = &config, .scene_count = 1};
    in.files = &scenes;
    estimate_part(&in, UINT64_C(8000000000), &part);
    assert_int_equal(part.spec.triangles, 1000000);
}

/* The extremes stay within what a spec may be. */
static void test_extremes(void **state)
{
    static const uint32_t sizes[] = {1, 2, 32768};
    struct inputs part;

    (void)state;
    for (int w = 0; w < 3; w++)
        for (int h = 0; h < 3; h++)
            for (int t = 0; t < 2; t++) {
                struct inputs in = whole(sizes[w], sizes[h], t ? SCENE_MAX_TRIANGLES : 0, SPEC_MAX_BATCH);
                const double times = estimate_part(&in, UINT64_MAX, &part);
                assert_true(times >= 1 && times < 1e19);
                assert_true(part.spec.width >= 1 && part.spec.width <= sizes[w]);
                assert_true(part.spec.height >= 1 && part.spec.height <= sizes[h]);
                assert_true(part.spec.batch == 1 && part.spec.triangles <= in.spec.triangles);
            }
}

/* ---- a renderer whose clock ticks with its work ---- */

struct fake {
    struct renderer base;
    uint64_t now_ns;
    int opened;
};

struct fake_job {
    struct render_job base;
    float values[4096];
    double loss[64];
};

static struct fake *fake_of(const struct render_job *job)
{
    return (struct fake *)(void *)job->renderer;
}

static bool fake_open(struct renderer *r, const struct render_spec *spec, struct render_job **out,
                      struct err *err)
{
    struct fake *fake = (struct fake *)(void *)r;
    struct fake_job *job = mem_calloc(1, sizeof *job, "a job", err);

    assert_non_null(job);
    job->base = (struct render_job){.renderer = r, .spec = *spec};
    job->base.io = (struct render_io){.params = job->values, .background = job->values, .loss = job->loss};
    /* The first time builds kernels. */
    fake->now_ns += fake->opened++ == 0 ? 5000000000 : 300;
    *out = &job->base;
    return true;
}

static bool fake_step(struct render_job *job, struct err *err)
{
    (void)err;
    fake_of(job)->now_ns += 100;
    return true;
}

static bool fake_call(struct render_job *job, struct err *err)
{
    (void)err;
    fake_of(job)->now_ns += 1000;
    return true;
}

static void fake_close(struct render_job *job)
{
    free(job);
}

static const struct renderer_ops fake_ops = {.open = fake_open,
                                             .inputs_changed = fake_step,
                                             .poison = fake_step,
                                             .call = fake_call,
                                             .close = fake_close};

static uint64_t fake_now(void *context)
{
    return ((struct fake *)context)->now_ns;
}

static void test_times_scale_up(void **state)
{
    struct fake fake = {.base = {.ops = &fake_ops}};
    const struct sample_clock clock = {.context = &fake, .now_ns = fake_now};
    struct inputs part = whole(4, 4, 3, 2);
    struct estimate e;
    struct err err = ERR_INIT;

    (void)state;
    assert_true(estimate_measure(&fake.base, &part.spec, &part, 50, &clock, &e, &err));
    assert_true(e.call_ns == 50 * 1000);
    assert_true(e.prepare_ns == 3 * 50 * (300 + 100 + 100 + 1000)); /* two jobs, of which one is called twice */
}

static void test_what_fits(void **state)
{
    const struct measure_config rules = {.warmup = 2, .min_samples = 10, .timeout_seconds = 60};
    struct estimate e = {.call_ns = 3.5e9, .prepare_ns = 12e9};
    struct err err = ERR_INIT;

    (void)state;
    assert_true(estimate_fits(&e, &rules, &err));
    e.call_ns = 9e9;
    assert_false(estimate_fits(&e, &rules, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_string_equal(
        err.text, "a call would take about 9.00 s, and 16 of them with all that comes before about 2:36: "
                  "over its 60 s (measure.timeout_seconds)");
    err_fini(&err);
    e.call_ns = 1e300;
    assert_false(estimate_fits(&e, &rules, &err));
    err_fini(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_cells_are_simply_run),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_times_scale_up),
        cmocka_unit_test(test_what_fits),
    };

    return cmocka_run_group_tests_name("estimates of large cells", tests, NULL, NULL);
}
