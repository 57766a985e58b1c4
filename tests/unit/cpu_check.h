/* What the tests of the CPU renderer share: opening jobs and comparing results. */
#ifndef GPUBENCH_TESTS_UNIT_CPU_CHECK_H
#define GPUBENCH_TESTS_UNIT_CPU_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cpu/openmp.h"
#include "model/agreement.h"
#include "model/golden.h"
#include "model/oracle.h"
#include "model/scene.h"

#include "unit/check.h"

static inline void check_ok(bool ok, const struct err *err)
{
    if (!ok)
        fail_msg("%s", err->text);
}

static inline struct renderer *renderer_open(uint32_t threads, const char *isa)
{
    struct err err = ERR_INIT;
    struct renderer *r = NULL;
    check_ok(openmp_create(threads, isa, &r, &err), &err);
    return r;
}

static inline struct render_job *job_open(struct renderer *r, const struct render_spec *spec)
{
    struct err err = ERR_INIT;
    struct render_job *job = NULL;
    check_ok(r->ops->open(r, spec, &job, &err), &err);
    return job;
}

/* Poisons, calls, and checks that nothing of the poison is left. */
static inline void job_call(struct render_job *job)
{
    struct err err = ERR_INIT;
    const struct renderer_ops *ops = job->renderer->ops;
    size_t params = (size_t)job->spec.batch * job->spec.triangles * SCENE_STRIDE;
    size_t image = (size_t)job->spec.batch * job->spec.width * job->spec.height * 3;
    check_ok(ops->poison(job, &err), &err);
    check_ok(ops->inputs_changed(job, &err), &err);
    check_ok(ops->call(job, &err), &err);
    for (size_t i = 0; job->io.grads != NULL && i < params; i++)
        if (!isfinite(job->io.grads[i]))
            fail_msg("gradient %zu is %g", i, (double)job->io.grads[i]);
    for (size_t i = 0; job->io.image != NULL && i < image; i++)
        if (!isfinite(job->io.image[i]))
            fail_msg("image value %zu is %g", i, (double)job->io.image[i]);
    for (size_t i = 0; job->io.loss != NULL && i < job->spec.batch; i++)
        assert_true(isfinite(job->io.loss[i]));
}

/* Random scenes, each with a background and a target (or upstream gradients) of its own. */
static inline void job_fill(struct render_job *job, uint64_t seed, float extent)
{
    const struct render_spec *spec = &job->spec;
    size_t values = (size_t)spec->width * spec->height * 3;
    for (uint32_t b = 0; b < spec->batch; b++) {
        scene_random(job->io.params + (size_t)b * spec->triangles * SCENE_STRIDE, spec->triangles, seed, b,
                     extent);
        for (uint32_t c = 0; c < 3; c++)
            job->io.background[3 * b + c] = 0.1f * (float)(c + 1) + 0.01f * (float)b;
        float *pixels = job->io.target != NULL ? job->io.target : job->io.upstream;
        if (pixels != NULL)
            scene_random_upstream(pixels + b * values, values, seed + 1, b);
    }
}

/* Errors of scene `b` of a job against the double-precision reference. */
static inline void job_compare(const struct render_job *job, uint32_t b, struct agreement *errors)
{
    struct err err = ERR_INIT;
    const struct render_spec *spec = &job->spec;
    size_t values = (size_t)spec->width * spec->height * 3, params = (size_t)spec->triangles * SCENE_STRIDE;
    double *image = calloc(values, sizeof *image), *grads = calloc(params + 1, sizeof *grads);
    assert_non_null(image);
    assert_non_null(grads);
    struct oracle_input in = {
        .width = spec->width,
        .height = spec->height,
        .triangles = spec->triangles,
        .sigma = spec->sigma,
        .params = job->io.params + params * b,
        .background = job->io.background + (size_t)3 * b,
        .target = job->io.target != NULL ? job->io.target + values * b : NULL,
        .upstream = job->io.upstream != NULL ? job->io.upstream + values * b : NULL,
    };
    struct oracle_output out = {.image = image, .grads = job->io.grads != NULL ? grads : NULL};
    check_ok(oracle_render(&in, &out, &err), &err);
    agreement_init(errors);
    if (job->io.image != NULL)
        errors->value[AGREE_IMAGE] = agreement_image(job->io.image + values * b, image, values);
    if (job->io.loss != NULL)
        errors->value[AGREE_LOSS] = agreement_loss(job->io.loss[b], out.loss);
    if (job->io.grads != NULL)
        agreement_grads(errors, job->io.grads + params * b, grads, spec->triangles, false);
    free(image);
    free(grads);
}

static inline void check_within(const char *what, const struct agreement *errors,
                                const struct agreement *tolerance)
{
    enum agreement_group worst;
    if (!agreement_within(errors, tolerance, &worst))
        fail_msg("%s: %s is off by %.3g, allowed %.3g", what, agreement_group_name(worst),
                 errors->value[worst], tolerance->value[worst]);
}

/* Against the reference, with a sweep's tolerances. */
static inline void job_check(const char *what, const struct render_job *job)
{
    for (uint32_t b = 0; b < job->spec.batch; b++) {
        struct agreement errors, tolerance;
        size_t params = (size_t)job->spec.triangles * SCENE_STRIDE;
        job_compare(job, b, &errors);
        agreement_tolerance(&tolerance, job->spec.sigma, false, job->io.params + params * b,
                            job->spec.triangles);
        check_within(what, &errors, &tolerance);
    }
}

/* Runs `test` with the scalar variant and with each instruction-set path. */
static inline void each_path(void (*test)(struct renderer *, struct render_spec))
{
    size_t count;
    const char *const *names = openmp_isa_names(&count);
    struct render_spec spec;
    struct renderer *r;
    for (size_t i = 0; i < count; i++) {
        if (!openmp_isa_runs(names[i])) {
            print_message("# skipped: this CPU does not run %s\n", names[i]);
            continue;
        }
        spec_init(&spec);
        r = renderer_open(2, names[i]);
        test(r, spec);
        r->ops->destroy(r);
    }
    spec_init(&spec);
    spec.variant = VARIANT_SCALAR;
    r = renderer_open(2, NULL);
    test(r, spec);
    r->ops->destroy(r);
}

static inline void set_size(struct render_spec *spec, uint32_t width, uint32_t height, uint32_t triangles,
                            uint32_t batch)
{
    spec->width = width;
    spec->height = height;
    spec->triangles = triangles;
    spec->batch = batch;
}

#endif
