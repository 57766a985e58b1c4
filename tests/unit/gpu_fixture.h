/* Renderers, jobs and comparisons that the OpenCL tests share. */
#ifndef GPUBENCH_TESTS_UNIT_GPU_FIXTURE_H
#define GPUBENCH_TESTS_UNIT_GPU_FIXTURE_H

#include "unit/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "gpu/opencl.h"
#include "model/agreement.h"
#include "model/golden.h"
#include "model/image.h"
#include "model/oracle.h"
#include "model/scene.h"

#define GOLDEN "tests/golden"

static inline void expect_ok(bool ok, const struct err *err, const char *what)
{
    if (!ok)
        fail_msg("%s: %s\n%s", what, err->text, err->log ? err->log : "");
}

/* The best OpenCL device for a path (NULL: any); false where there is none. The path of CPU devices is theirs
 * alone (and Oclgrind's, which calls itself a GPU): its work-items keep more to themselves than a GPU has room
 * for. */
static inline bool find_device(const char *path, char selector[32])
{
    const bool on_cpu = path && strcmp(path, "cpu") == 0;
    struct device_info *devices = NULL;
    struct err err = ERR_INIT;
    size_t count = 0;

    if (!opencl_list(NULL, &devices, &count, &err))
        print_message("%s\n", err.text);
    err_fini(&err);
    for (size_t i = 0; i < count; i++)
        if (on_cpu && devices[i].kind != DEVICE_CPU && strcmp(devices[i].platform, "Oclgrind") != 0)
            snprintf(devices[i].trouble, sizeof(devices[i].trouble), "no CPU");
    const size_t best = device_best(devices, count, BACKEND_OPENCL);
    if (best < count)
        snprintf(selector, 32, "%s", devices[best].selector);
    free(devices);
    return best < count;
}

/* The best of all; skips the test when there is none. */
static inline void need_device(char selector[32])
{
    if (!find_device(NULL, selector)) {
        print_message("skipped: no usable OpenCL device\n");
        skip();
    }
}

/* Its renderer on the path (NULL: the device's own best); skips the test when there is none. */
static inline struct renderer *open_renderer(const char *path)
{
    struct opencl_options options = {.path = path};
    struct renderer *r = NULL;
    struct err err = ERR_INIT;
    char selector[32];

    if (!find_device(path, selector)) {
        print_message("skipped: no usable OpenCL device%s%s\n", path ? " for path " : "", path ? path : "");
        skip();
    }
    bool ok = opencl_create(selector, &options, &r, &err);
    if (!ok && err.code == ERR_UNSUPPORTED) {
        print_message("skipped: %s\n", err.text);
        err_fini(&err);
        skip();
    }
    expect_ok(ok, &err, "opencl_create");
    return r;
}

static inline struct render_job *open_job(struct renderer *r, const struct render_spec *spec)
{
    struct render_job *job = NULL;
    struct err err = ERR_INIT;

    expect_ok(r->ops->open(r, spec, &job, &err), &err, "open");
    return job;
}

/* Random scenes, a flat target (or upstream gradients), as the benchmark has them. */
static inline void fill_job(struct render_job *job, uint64_t seed)
{
    static const float ground[3] = {0.1f, 0.11f, 0.14f}, flat[3] = {0.4f, 0.5f, 0.6f};
    const struct render_spec *s = &job->spec;
    const size_t pixels = (size_t)s->width * s->height;
    struct err err = ERR_INIT;

    for (uint32_t b = 0; b < s->batch; b++) {
        scene_random(job->io.params + (size_t)b * s->triangles * SCENE_STRIDE, s->triangles, seed, b, 0.15f);
        memcpy(job->io.background + 3 * (size_t)b, ground, sizeof(ground));
        if (job->io.target)
            image_fill(job->io.target + b * pixels * 3, s->width, s->height, flat);
        if (job->io.upstream)
            scene_random_upstream(job->io.upstream + b * pixels * 3, pixels * 3, seed, b);
    }
    expect_ok(job->renderer->ops->inputs_changed(job, &err), &err, "inputs_changed");
}

/* Poisons, then calls. */
static inline void call_job(struct render_job *job)
{
    struct err err = ERR_INIT;

    expect_ok(job->renderer->ops->poison(job, &err), &err, "poison");
    expect_ok(job->renderer->ops->call(job, &err), &err, "call");
}

/* Compares scene b of a job with the reference within the tolerances of a sweep. */
static inline void check_scene(const struct render_job *job, uint32_t b, const char *what)
{
    const struct render_spec *s = &job->spec;
    const size_t pixels = (size_t)s->width * s->height, t = s->triangles;
    const float *params = job->io.params + b * t * SCENE_STRIDE;
    struct agreement errors, tolerance;
    enum agreement_group worst;
    struct err err = ERR_INIT;
    double *image = calloc(pixels * 3, sizeof(double)), *grads = calloc(t * SCENE_STRIDE + 1, sizeof(double));
    struct oracle_input in = {.width = s->width,
                              .height = s->height,
                              .triangles = s->triangles,
                              .sigma = s->sigma,
                              .params = params,
                              .background = job->io.background + 3 * (size_t)b,
                              .target = job->io.target ? job->io.target + b * pixels * 3 : NULL,
                              .upstream = job->io.upstream ? job->io.upstream + b * pixels * 3 : NULL};
    struct oracle_output out = {.image = image, .grads = s->mode == MODE_GRADIENT ? grads : NULL};

    expect_ok(oracle_render(&in, &out, &err), &err, "oracle_render");
    agreement_init(&errors);
    if (job->io.image)
        errors.value[AGREE_IMAGE] = agreement_image(job->io.image + b * pixels * 3, image, pixels * 3);
    if (job->io.loss)
        errors.value[AGREE_LOSS] = agreement_loss(job->io.loss[b], out.loss);
    if (job->io.grads)
        agreement_grads(&errors, job->io.grads + b * t * SCENE_STRIDE, grads, s->triangles, false);
    agreement_tolerance(&tolerance, s->sigma, false, params, s->triangles);
    if (!agreement_within(&errors, &tolerance, &worst))
        fail_msg("%s, scene %u: %s is off by %g, allowed are %g", what, (unsigned)b,
                 agreement_group_name(worst), errors.value[worst], tolerance.value[worst]);
    free(image);
    free(grads);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The renderer on the i-th path, or NULL where no device here can run it. */
#define PATHS 4
static inline struct renderer *try_path(size_t i, uint64_t max_submit_ns)
{
    static const char *const paths[PATHS] = {"cpu", "local", "subgroups", "ptx"};
    struct opencl_options options = {.path = paths[i], .max_submit_ns = max_submit_ns};
    struct renderer *r = NULL;
    struct err err = ERR_INIT;
    char selector[32];

    need_device(selector);
    if (!find_device(paths[i], selector))
        return NULL;
    if (!opencl_create(selector, &options, &r, &err) && err.code != ERR_UNSUPPORTED)
        fail_msg("opencl_create: %s\n%s", err.text, err.log ? err.log : "");
    err_fini(&err);
    return r;
}

/* CPU devices take long to build a kernel with barriers, so that there the paths that have them are tested in
 * one variant here (and in those of the golden cases). */
static inline bool builds_slowly(const struct renderer *r)
{
    return r->info.kind == DEVICE_CPU && strcmp(r->info.path, "cpu") != 0;
}

/* Kernels stay whole, on devices that drive a display, too. */
#define FOR_PATHS(r)                                                                                         \
    for (size_t path_ = 0; path_ < PATHS; path_++)                                                           \
        for (struct renderer *r = try_path(path_, UINT64_MAX); r; r->ops->destroy(r), r = NULL)

static inline struct render_spec small_spec(uint32_t width, uint32_t height, uint32_t triangles,
                                            uint32_t batch)
{
    struct render_spec spec;

    spec_init(&spec);
    spec.width = width;
    spec.height = height;
    spec.triangles = triangles;
    spec.batch = batch;
    spec.keep_images = true;
    return spec;
}

/* Triangles with a vertex that is not finite, or counts as such, touch nothing: their gradients are 0, and all else is as
 * if they were transparent. */
static inline void check_not_finite(struct renderer *r)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 1e30f, 16385.0f};
    const struct render_spec spec = small_spec(33, 18, 2 * COUNT(odd), 1);
    struct render_job *job = open_job(r, &spec), *unseen = open_job(r, &spec);
    struct err err = ERR_INIT;

    fill_job(job, 3);
    fill_job(unseen, 3);
    for (size_t i = 0; i < COUNT(odd); i++) {
        job->io.params[2 * i * SCENE_STRIDE + i] = odd[i];
        unseen->io.params[2 * i * SCENE_STRIDE + 9] = 0.0f;
    }
    expect_ok(r->ops->inputs_changed(job, &err) && r->ops->inputs_changed(unseen, &err), &err, "inputs_changed");
    call_job(job);
    call_job(unseen);
    for (size_t i = 0; i < spec.triangles * (size_t)SCENE_STRIDE; i++)
        if (i / SCENE_STRIDE % 2 == 0 ? job->io.grads[i] != 0.0f : job->io.grads[i] != unseen->io.grads[i])
            fail_msg("%s: value %zu of the gradients is %g", r->info.path, i, (double)job->io.grads[i]);
    assert_memory_equal(job->io.image, unseen->io.image, sizeof(float) * 3 * spec.width * spec.height);
    r->ops->close(unseen);
    r->ops->close(job);
}

#endif
