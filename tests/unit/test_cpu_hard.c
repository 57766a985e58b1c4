/* Scenes that are hard on the CPU renderer's arithmetic or its lists, on every path that this CPU runs. */
#include "unit/cpu_check.h"

/* Lists longer than a chunk of the tape, plain, nearly opaque and opaque triangles among each other. */
static void long_lists(struct renderer *r, struct render_spec spec)
{
    static const float alpha[] = {0.02f, 0.05f, 0.995f, 0.0f, 1.0f, 0.01f, 1e-5f, 0.05f, 1.5f, -1.0f};
    set_size(&spec, 40, 24, 600, 1);
    spec.keep_images = true;
    struct render_job *job = job_open(r, &spec);
    job_fill(job, 10, 0.5f);
    for (size_t i = 0; i < spec.triangles; i++)
        job->io.params[i * SCENE_STRIDE + 9] = i % 13 == 12 ? alpha[i / 13 % 10] : alpha[i % 2];
    job_call(job);
    job_check("long lists", job);
    r->ops->close(job);

    /* Several chunks and light shining through all of them: the canvas at the start of each counts. */
    set_size(&spec, 24, 20, 700, 1);
    job = job_open(r, &spec);
    job_fill(job, 17, 0.7f);
    for (size_t i = 0; i < spec.triangles; i++)
        job->io.params[i * SCENE_STRIDE + 9] = i % 13 == 12 ? 5e-5f : 0.003f;
    job_call(job);
    job_check("lists of several chunks", job);
    r->ops->close(job);
}

static void test_long_lists(void **state)
{
    (void)state;
    each_path(long_lists);
}

/* Where a weight is at most 1e-6 the triangle is not there, however bright its colour. */
static void faint(struct renderer *r, struct render_spec spec)
{
    static const float alpha[] = {2e-4f, 5e-5f, 1.5e-6f};
    for (size_t i = 0; i < sizeof alpha / sizeof alpha[0]; i++) {
        set_size(&spec, 64, 64, 1, 1);
        spec.sigma = 0.03f;
        spec.keep_images = true;
        struct render_job *job = job_open(r, &spec);
        job_fill(job, 15, 0.2f);
        for (size_t c = 6; c < 9; c++)
            job->io.params[c] = 2e-1f / alpha[i];
        job->io.params[9] = alpha[i];
        job_call(job);
        job_check("faint", job);
        r->ops->close(job);
    }
}

static void test_faint_triangles(void **state)
{
    (void)state;
    each_path(faint);
}

/* Triangles that are lines through pixel centres, or a rounding away from it: which pixels are inside is a
 * matter of the cross products' last bit. */
static void needles(struct renderer *r, struct render_spec spec)
{
    set_size(&spec, 32, 32, 48, 1);
    spec.mode = MODE_FORWARD;
    struct render_job *job = job_open(r, &spec);
    job_fill(job, 16, 0.2f);
    for (uint32_t i = 0; i < spec.triangles; i++) {
        float *v = job->io.params + (size_t)i * SCENE_STRIDE;
        float step = (float)(i % 4), at = ((float)(i % 8) + 0.5f) / 32;
        for (uint32_t j = 0; j < 3; j++) {
            float along = (float)((j * 7 + i) % 20);
            v[2 * j] = at + along * 3 / 96;
            v[2 * j + 1] = at + along * step / 96;
        }
        if (i % 3 == 1)
            v[1] = nextafterf(v[1], 2);
        if (i % 3 == 2)
            v[4] = nextafterf(v[4], -2);
    }
    job_call(job);
    job_check("needles", job);
    r->ops->close(job);
}

static void test_needles(void **state)
{
    (void)state;
    each_path(needles);
}

/* One pixel of a scene has a gradient, and it lies 2e-7 to 2e-5 from an edge: where rounding could turn the
 * direction to the edge. */
static void pixel_near_edge(struct renderer *r, struct render_spec spec)
{
    static const enum cpu_variant variants[] = {VARIANT_FAST, VARIANT_SCALAR};
    for (size_t variant = 0; variant < 2; variant++) {
        set_size(&spec, 32, 32, 1, 128);
        spec.variant = variants[variant];
        spec.upstream = true;
        struct render_job *job = job_open(r, &spec);
        job_fill(job, 17, 0.2f);
        for (uint32_t b = 0; b < spec.batch; b++) {
            float *v = job->io.params + (size_t)b * SCENE_STRIDE;
            float *upstream = job->io.upstream + (size_t)b * 32 * 32 * 3;
            uint32_t x = 10 + b % 11, y = 10 + b % 7;
            for (uint32_t i = 0; i < 32 * 32; i++)
                if (i != y * 32 + x)
                    memset(upstream + (size_t)3 * i, 0, 3 * sizeof *upstream);
            double distance = 2.5e-7 * pow(80, b / 127.0), angle = 0.37 * b;
            double px = (x + 0.5) / 32, py = (y + 0.5) / 32, ex = cos(angle), ey = sin(angle);
            double far[3] = {-0.13, 0.21, 0.02}, off[3] = {distance, distance, 0.3};
            for (uint32_t j = 0; j < 3; j++) {
                v[2 * j] = (float)(px + far[j] * ex - off[j] * ey);
                v[2 * j + 1] = (float)(py + far[j] * ey + off[j] * ex);
            }
            v[9] = 0.7f;
        }
        job_call(job);
        job_check(variant == 0 ? "a pixel near an edge, fast" : "a pixel near an edge, scalar", job);
        r->ops->close(job);
    }
}

static void test_pixel_near_edge(void **state)
{
    (void)state;
    each_path(pixel_near_edge);
}

/* Coordinates that are huge, equal, not finite, or beyond what counts as finite. */
static void hostile_coordinates(struct renderer *r, struct render_spec spec)
{
    static const float verts[][6] = {
        {-16384, -16384, 16384, -16384, 0, 16384},
        {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f},
        {0.2f, 0.2f, 0.8f, 0.8f, 0.5f, 0.5f},
        {0.25f, 0.25f, 0.25f, 0.25f, 0.75f, 0.75f},
        {NAN, 0.1f, 0.5f, 0.5f, 0.9f, 0.1f},
        {INFINITY, 0.1f, 0.5f, 0.5f, 0.9f, 0.1f},
        {16385, 0, 0, 1, 1, 0},
        {-900, 0.5f, 900, 0.50001f, 0, 0.49999f},
        {0.1f, 0.9f, 0.1f, 0.1f, 0.1f, 0.5f},
        {-3, -3, 5, -3, 0.5f, 6},
    };
    static const float sigma[] = {0.01f, 0.0015f, 1e-10f, 10.0f};
    for (size_t s = 0; s < sizeof sigma / sizeof sigma[0]; s++) {
        set_size(&spec, 32, 32, sizeof verts / sizeof verts[0], 1);
        spec.sigma = sigma[s];
        struct render_job *job = job_open(r, &spec);
        job_fill(job, 12, 0.1f);
        for (size_t i = 0; i < spec.triangles; i++)
            memcpy(job->io.params + i * SCENE_STRIDE, verts[i], sizeof verts[i]);
        job_call(job);
        for (size_t j = 0; j < SCENE_STRIDE; j++) {
            assert_true(job->io.grads[4 * SCENE_STRIDE + j] == 0);
            assert_true(job->io.grads[5 * SCENE_STRIDE + j] == 0);
            assert_true(job->io.grads[6 * SCENE_STRIDE + j] == 0);
        }
        r->ops->close(job);
    }
}

static void test_hostile_coordinates(void **state)
{
    (void)state;
    each_path(hostile_coordinates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_faint_triangles),
        cmocka_unit_test(test_needles),
        cmocka_unit_test(test_pixel_near_edge),
        cmocka_unit_test(test_hostile_coordinates),
    };
    return cmocka_run_group_tests_name("cpu_hard", tests, NULL, NULL);
}
