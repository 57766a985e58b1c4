/* A backend without a device: the reference's figures, and faults on demand.
 *
 * The environment says what goes wrong, so that a worker process can be told: FAKE_FAULT is "WHERE:WHAT", or
 * "WHERE:WHAT:T" for scenes of T triangles alone, on the OpenCL side of the fake. WHERE: list, create,
 * footprint, open, call, phased, profiled, canary, tune. WHAT: crash, kill, quit, hang, error, print, garbage, wrong, lazy
 * (outputs are not written), miss (the pool misses), limit, huge, late (wrong from the tenth call on). FAKE_SLOW_NS: what a
 * call takes longer on the OpenMP side.
 */
#ifndef GPUBENCH_TESTS_UNIT_FAKE_BACKEND_H
#define GPUBENCH_TESTS_UNIT_FAKE_BACKEND_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/worker.h"
#include "model/oracle.h"
#include "model/renderer.h"

struct fake_job {
    struct render_job base;
    unsigned calls;
};

static bool fake_fault(enum backend_kind kind, const char *where, const char *what, uint32_t triangles)
{
    char wanted[64], exact[64];
    const char *fault = getenv("FAKE_FAULT");
    snprintf(wanted, sizeof wanted, "%s:%s", where, what);
    snprintf(exact, sizeof exact, "%s:%s:%u", where, what, triangles);
    return kind == BACKEND_OPENCL && fault != NULL &&
           (strcmp(fault, wanted) == 0 || strcmp(fault, exact) == 0);
}

/* The faults that any step may have. */
static bool fake_step(enum backend_kind kind, const char *where, uint32_t triangles, struct err *err)
{
    if (fake_fault(kind, where, "crash", triangles)) {
        signal(SIGSEGV, SIG_DFL); /* sanitizers catch it */
        raise(SIGSEGV);
    }
    if (fake_fault(kind, where, "kill", triangles))
        raise(SIGKILL);
    if (fake_fault(kind, where, "quit", triangles))
        _exit(3);
    while (fake_fault(kind, where, "hang", triangles))
        clock_sleep_ns(10000000);
    if (fake_fault(kind, where, "limit", triangles))
        return err_set(err, ERR_LIMIT, "needs 4 GB, there is 1 GB");
    return !fake_fault(kind, where, "error", triangles) ||
           err_set_native(err, ERR_OPENCL, -5, "clFake on fake failed: CL_OUT_OF_RESOURCES (-5)");
}

static bool fake_footprint(struct renderer *r, const struct render_spec *spec, struct render_footprint *out,
                           struct err *err)
{
    *out = (struct render_footprint){
        .device_bytes = 1000, .largest_alloc_bytes = 600, .host_bytes = 500, .split = 1};
    /* Only the pictures that verifying keeps are too much. */
    if (spec->keep_images && fake_fault(r->info.backend, "footprint", "huge", spec->triangles))
        out->host_bytes = UINT64_C(1) << 60;
    return fake_step(r->info.backend, "footprint", spec->triangles, err);
}

static void fake_close(struct render_job *job)
{
    if (job == NULL)
        return;
    free(job->io.params);
    free(job->io.background);
    free(job->io.target);
    free(job->io.upstream);
    free(job->io.image);
    free(job->io.loss);
    free(job->io.grads);
    free(job);
}

static bool fake_open(struct renderer *r, const struct render_spec *spec, struct render_job **out,
                      struct err *err)
{
    const bool gradient = spec->mode == MODE_GRADIENT;
    const uint64_t values = (uint64_t)spec->batch * spec->width * spec->height * 3;
    struct fake_job *job;
    if (!fake_step(r->info.backend, "open", spec->triangles, err))
        return false;
    job = mem_calloc(1, sizeof *job, "job", err);
    struct render_io *io = &job->base.io;
    job->base.renderer = r;
    job->base.spec = *spec;
    io->params = mem_calloc((uint64_t)spec->batch * spec->triangles * 10, sizeof(float), "params", err);
    io->background = mem_calloc((uint64_t)spec->batch * 3, sizeof(float), "background", err);
    if (gradient && !spec->upstream)
        io->target = mem_calloc(values, sizeof(float), "target", err);
    if (spec->upstream)
        io->upstream = mem_calloc(values, sizeof(float), "upstream", err);
    if (!gradient || spec->keep_images)
        io->image = mem_calloc(values, sizeof(float), "image", err);
    if (gradient && !spec->upstream)
        io->loss = mem_calloc(spec->batch, sizeof(double), "loss", err);
    if (gradient)
        io->grads = mem_calloc((uint64_t)spec->batch * spec->triangles * 10, sizeof(float), "grads", err);
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
    const struct render_spec *s = &job->spec;
    (void)err;
    if (job->io.image != NULL)
        mem_poison(job->io.image, (size_t)s->batch * s->width * s->height * 3 * sizeof(float));
    if (job->io.loss != NULL)
        mem_poison(job->io.loss, s->batch * sizeof(double));
    if (job->io.grads != NULL)
        mem_poison(job->io.grads, (size_t)s->batch * s->triangles * 10 * sizeof(float));
    return true;
}

static bool fake_scene(struct render_job *job, uint32_t b, struct err *err)
{
    const struct render_spec *s = &job->spec;
    const size_t values = (size_t)s->width * s->height * 3, params = (size_t)s->triangles * 10;
    double *image = mem_calloc(values, sizeof *image, "image", err);
    double *grads = mem_calloc(params, sizeof *grads, "grads", err);
    struct oracle_input in = {
        s->width, s->height, s->triangles, s->sigma, job->io.params + b * params, job->io.background + 3 * b,
        NULL,     NULL};
    struct oracle_output out = {.image = image, .grads = s->mode == MODE_GRADIENT ? grads : NULL};
    if (job->io.target != NULL)
        in.target = job->io.target + b * values;
    if (job->io.upstream != NULL)
        in.upstream = job->io.upstream + b * values;
    bool ok = oracle_render(&in, &out, err);
    for (size_t i = 0; i < values && job->io.image != NULL; i++)
        job->io.image[b * values + i] = (float)image[i];
    for (size_t i = 0; i < params && job->io.grads != NULL; i++)
        job->io.grads[b * params + i] = (float)grads[i];
    if (job->io.loss != NULL)
        job->io.loss[b] = out.loss;
    free(image);
    free(grads);
    return ok;
}

static bool fake_call(struct render_job *job, struct err *err)
{
    const struct render_spec *s = &job->spec;
    const enum backend_kind kind = job->renderer->info.backend;
    const unsigned calls = ++((struct fake_job *)job)->calls;
    const char *slow = kind == BACKEND_OPENMP ? getenv("FAKE_SLOW_NS") : NULL;
    if (!fake_step(kind, "call", s->triangles, err))
        return false;
    if (slow != NULL)
        clock_sleep_ns(strtoull(slow, NULL, 10));
    if (fake_fault(kind, "call", "lazy", s->triangles))
        return true;
    for (uint32_t b = 0; b < s->batch; b++)
        if (!fake_scene(job, b, err))
            return false;
    if (job->io.grads != NULL && (fake_fault(kind, "call", "wrong", s->triangles) ||
                                  (calls >= 10 && fake_fault(kind, "call", "late", s->triangles))))
        job->io.grads[6] *= 1.5f;
    return true;
}

static bool fake_call_phased(struct render_job *job, struct render_phases *out, struct err *err)
{
    *out = (struct render_phases){1, 2, 3, 4, 5, 6, 25};
    return fake_step(job->renderer->info.backend, "phased", job->spec.triangles, err) && fake_call(job, err);
}

static bool fake_call_profiled(struct render_job *job, struct render_profile *out, struct err *err)
{
    bool opencl = job->renderer->info.backend == BACKEND_OPENCL;
    *out = (struct render_profile){.device_ns = opencl ? 7 : 0, .valid = opencl};
    if (opencl)
        out->kernel[out->kernels++] = (struct kernel_time){"all", 1, 6, 40};
    if (fake_fault(job->renderer->info.backend, "profiled", "garbage", job->spec.triangles))
        out->device_ns = UINT64_MAX;
    return fake_call(job, err);
}

static void fake_counts(const struct render_job *job, struct render_counts *out)
{
    *out = (struct render_counts){.dispatches = 2, .bytes_up = 10, .pool_hits = 6, .split = 1};
    out->pool_misses = fake_fault(job->renderer->info.backend, "call", "miss", job->spec.triangles);
}

static bool fake_canary(struct renderer *r, struct render_canary *out, struct err *err)
{
    *out = (struct render_canary){1, 2, 3};
    return fake_step(r->info.backend, "canary", 0, err);
}

static bool fake_tune(struct renderer *r, char *note, size_t size, struct err *err)
{
    if (fake_fault(r->info.backend, "tune", "print", 0))
        snprintf(note, size, "tuned %s", r->info.name);
    snprintf(r->info.tiles, sizeof r->info.tiles, "of glass");
    return fake_step(r->info.backend, "tune", 0, err);
}

static void fake_destroy(struct renderer *r)
{
    free(r);
}

static const struct renderer_ops fake_ops = {.footprint = fake_footprint,
                                             .open = fake_open,
                                             .inputs_changed = fake_inputs_changed,
                                             .call = fake_call,
                                             .call_phased = fake_call_phased,
                                             .call_profiled = fake_call_profiled,
                                             .poison = fake_poison,
                                             .counts = fake_counts,
                                             .close = fake_close,
                                             .destroy = fake_destroy,
                                             .canary = fake_canary,
                                             .tune = fake_tune};

static struct device_info fake_device(enum backend_kind kind, unsigned index)
{
    struct device_info d = {.backend = kind, .kind = kind == BACKEND_OPENCL ? DEVICE_GPU : DEVICE_CPU};
    snprintf(d.selector, sizeof d.selector, kind == BACKEND_OPENCL ? "ocl:0:%u" : "openmp", index);
    snprintf(d.name, sizeof d.name, "Fake %s %u", kind == BACKEND_OPENCL ? "GPU" : "CPU", index);
    snprintf(d.platform, sizeof d.platform, "Fake platform");
    return d;
}

static bool fake_list_openmp(const struct backend_options *options, struct device_info **out, size_t *count,
                             struct err *err)
{
    (void)options;
    *out = mem_calloc(1, sizeof **out, "devices", err);
    (*out)[0] = fake_device(BACKEND_OPENMP, 0);
    *count = 1;
    return true;
}

static bool fake_list_opencl(const struct backend_options *options, struct device_info **out, size_t *count,
                             struct err *err)
{
    (void)options;
    if (fake_fault(BACKEND_OPENCL, "list", "print", 0)) {
        printf("{\"op\":\"listed\"}\n");
        fflush(stdout);
    }
    if (!fake_step(BACKEND_OPENCL, "list", 0, err))
        return false;
    *out = mem_calloc(2, sizeof **out, "devices", err);
    (*out)[0] = fake_device(BACKEND_OPENCL, 0);
    (*out)[1] = fake_device(BACKEND_OPENCL, 1);
    *count = 2;
    return true;
}

static bool fake_create(enum backend_kind kind, const char *selector, struct renderer **out, struct err *err)
{
    if (!fake_step(kind, "create", 0, err))
        return false;
    *out = mem_calloc(1, sizeof **out, "renderer", err);
    (*out)->ops = &fake_ops;
    (*out)->info = fake_device(kind, strcmp(selector, "ocl:0:1") == 0);
    snprintf((*out)->info.path, sizeof(*out)->info.path, "fake");
    return true;
}

static bool fake_create_openmp(const char *selector, const struct backend_options *options,
                               struct renderer **out, struct err *err)
{
    (void)options;
    return fake_create(BACKEND_OPENMP, selector, out, err);
}

static bool fake_create_opencl(const char *selector, const struct backend_options *options,
                               struct renderer **out, struct err *err)
{
    (void)options;
    return fake_create(BACKEND_OPENCL, selector, out, err);
}

static const struct backend_factory fake_factories[] = {
    {BACKEND_OPENMP, fake_list_openmp, fake_create_openmp},
    {BACKEND_OPENCL, fake_list_opencl, fake_create_opencl},
};

#endif
