/* Scenes of so many triangles that they are sorted into bins: what comes out is what comes out without bins,
 * to the bit. The same scene is rendered with and without triangles among its own that nobody sees. */
#include "unit/gpu_fixture.h"

#include "cpu/openmp.h"

struct many {
    uint32_t width, height;
    uint32_t seen;   /* triangles; with more than 1024 that meet a tile, lists have no room for all of them */
    uint32_t stride; /* one in so many is seen, and there are SPEC_MANY_TRIANGLES or more */
    float extent;
};

/* Opaque and nearly opaque ones among them. */
static void fill_seen(float *params, const struct many *m, uint32_t scene)
{
    scene_random(params, m->seen, 23, scene, m->extent);
    for (uint32_t i = 0; i < m->seen; i += 31)
        params[(size_t)i * SCENE_STRIDE + 9] = i % 2 ? 1.0f : 0.996f;
}

static void fill_many(float *params, const struct many *m, const float *seen)
{
    scene_random(params, m->seen * m->stride, 5, 7, m->extent);
    for (uint32_t i = 0; i < m->seen * m->stride; i++) {
        float *p = params + (size_t)i * SCENE_STRIDE;
        if (i % m->stride == m->stride / 2)
            memcpy(p, seen + (size_t)(i / m->stride) * SCENE_STRIDE, SCENE_STRIDE * sizeof(float));
        else if (i % 3 == 0)
            p[9] = 0.0f;
        else
            p[i % 3] += 40000.0f; /* counts as not finite */
    }
}

static struct render_job *open_filled(struct renderer *r, const struct render_spec *spec,
                                      const struct many *m)
{
    const size_t seen = (size_t)m->seen * SCENE_STRIDE, all = (size_t)spec->triangles * SCENE_STRIDE;
    struct render_job *job = open_job(r, spec);
    float *params = malloc(seen * sizeof(float));
    struct err err = ERR_INIT;

    fill_job(job, 1);
    assert_non_null(params);
    for (uint32_t b = 0; b < spec->batch; b++) {
        fill_seen(params, m, b);
        if (spec->triangles == m->seen)
            memcpy(job->io.params + b * all, params, seen * sizeof(float));
        else
            fill_many(job->io.params + b * all, m, params);
    }
    free(params);
    expect_ok(r->ops->inputs_changed(job, &err), &err, "inputs_changed");
    call_job(job);
    return job;
}

static void check_same(struct renderer *r, struct render_spec spec, const struct many *m)
{
    spec.width = m->width;
    spec.height = m->height;
    spec.triangles = m->seen;
    spec.batch = 2;
    spec.keep_images = spec.mode == MODE_GRADIENT;
    struct render_job *few = open_filled(r, &spec, m);
    spec.triangles = m->seen * m->stride;
    assert_true(m->seen < SPEC_MANY_TRIANGLES && spec.triangles >= SPEC_MANY_TRIANGLES);
    struct render_job *many = open_filled(r, &spec, m);
    assert_memory_equal(few->io.image, many->io.image, (size_t)spec.batch * m->width * m->height * 12);
    if (spec.mode == MODE_GRADIENT) {
        assert_memory_equal(few->io.loss, many->io.loss, spec.batch * sizeof(double));
        for (size_t i = 0; i < (size_t)spec.batch * spec.triangles; i++) {
            const float *got = many->io.grads + i * SCENE_STRIDE;
            if (i % m->stride == m->stride / 2)
                assert_memory_equal(few->io.grads + i / m->stride * SCENE_STRIDE, got,
                                    SCENE_STRIDE * sizeof(float));
            for (size_t v = 0; i % m->stride != m->stride / 2 && v < SCENE_STRIDE; v++)
                assert_true(got[v] == 0.0f);
        }
    }
    r->ops->close(many);
    r->ops->close(few);
}

static void check_renderer(struct renderer *r)
{
    static const struct many small = {150, 70, 700, 5, 0.05f}, long_lists = {131, 33, 1900, 2, 0.8f};
    static const struct many thin = {66, 2, 1600, 2, 0.8f}; /* recompute is quadratic */
    struct render_spec spec;

    spec_init(&spec);
    spec.sigma = 0.03f;
    /* Warps that share a tile, as they would without bins, add up in another order. */
    if (strcmp(r->info.path, "ptx") == 0)
        spec.workgroup = 32;
    check_same(r, spec, &small);
    check_same(r, spec, &long_lists);
    spec.mode = MODE_FORWARD;
    check_same(r, spec, &long_lists);
    spec.mode = MODE_GRADIENT;
    if (r->info.backend == BACKEND_OPENCL) {
        spec.strategy = STRATEGY_RECOMPUTE;
        check_same(r, spec, &thin);
    }
    r->ops->destroy(r);
}

static void run_path(const char *path)
{
    struct renderer *r = open_renderer(path);

    if (strcmp(path, "cpu") != 0 && r->info.kind == DEVICE_CPU) {
        print_message("skipped: CPU devices take minutes to build these kernels with barriers\n");
        r->ops->destroy(r);
        skip();
    }
    check_renderer(r);
}

static void test_cpu_path(void **state)
{
    (void)state;
    run_path("cpu");
}

static void test_local_path(void **state)
{
    (void)state;
    run_path("local");
}

static void test_subgroups_path(void **state)
{
    (void)state;
    run_path("subgroups");
}

static void test_ptx_path(void **state)
{
    (void)state;
    run_path("ptx");
}

static void test_openmp(void **state)
{
    size_t count;
    const char *const *names = openmp_isa_names(&count);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        struct renderer *r = NULL;
        struct err err = ERR_INIT;
        if (!openmp_isa_runs(names[i]))
            continue;
        expect_ok(openmp_create(2, names[i], &r, &err), &err, names[i]);
        check_renderer(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_path),       cmocka_unit_test(test_local_path),
        cmocka_unit_test(test_subgroups_path), cmocka_unit_test(test_ptx_path),
        cmocka_unit_test(test_openmp),
    };

    return cmocka_run_group_tests_name("many triangles", tests, NULL, NULL);
}
