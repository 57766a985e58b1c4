#include "gpu/slice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "gpu/error.h"
#include "gpu/fit.h"
#include "gpu/limits.h"
#include "gpu/path.h"
#include "model/oracle.h"
#include "model/scene.h"
#include "shared.h"

/* Room beyond what the first scenes need: parameters move while a training loop runs. */
#define SLOT_HEADROOM(slots) ((slots) + (slots) / 4 + 256)

static void memory_of(const struct opencl_renderer *r, struct memory_limits *out)
{
    *out = (struct memory_limits){.budget_bytes = r->budget_bytes,
                                  .max_alloc_bytes = r->base.info.max_alloc_bytes,
                                  .shared = r->base.info.host_unified};
}

bool job_reserve_slots(struct opencl_job *job, uint64_t slots, struct err *err)
{
    struct memory_limits limits;

    if (slots >= SHARED_NO_SLOT)
        return err_set(err, ERR_LIMIT, "a scene of %u triangles on %ux%u has more partial sums than 2^32",
                       (unsigned)job->base.spec.triangles, (unsigned)job->base.spec.width,
                       (unsigned)job->base.spec.height);
    memory_of(job->r, &limits);
    if (!memory_plan(&job->base.spec, &job->shape, slots, &limits, &job->plan, err))
        return false;
    job->slot_capacity = (uint32_t)slots;
    return true;
}

bool job_grow_slots(struct opencl_job *job, uint64_t needed, struct err *err)
{
    const uint64_t most = (uint64_t)job->base.spec.triangles * job->tiles_x * job->tiles_y;

    if (needed > most || needed <= job->slot_capacity)
        return err_set(err, ERR_WRONG, "%s counted %llu partial sums of a scene; there can be %llu, and there was room for %u",
                       job->r->base.info.name, (unsigned long long)needed, (unsigned long long)most,
                       (unsigned)job->slot_capacity);
    return job_reserve_slots(job, needed + needed / 4, err);
}

/* The most partial sums that any scene of the batch has: setup.cl's tiles_met, summed. */
static uint64_t count_slots(const struct opencl_job *job)
{
    const struct render_spec *spec = &job->base.spec;
    const int32_t w = (int32_t)tile_width(&job->shape), h = (int32_t)tile_height(&job->shape);
    uint64_t most = 0;

    for (uint32_t b = 0; b < spec->batch; b++) {
        const float *params = job->base.io.params + (size_t)b * spec->triangles * SCENE_STRIDE;
        uint64_t slots = 0;
        for (uint32_t t = 0; t < spec->triangles; t++) {
            struct bounds box = bounds_of(params + (size_t)t * SCENE_STRIDE, spec->sigma, spec->width, spec->height);
            if (box.left < box.right)
                slots += (uint64_t)((box.right - 1) / w - box.left / w + 1) *
                         (uint64_t)((box.bottom - 1) / h - box.top / h + 1);
        }
        most = slots > most ? slots : most;
    }
    return most;
}

bool job_kernel(struct opencl_renderer *r, const char *file, const char *name, const char *defines, cl_kernel *out,
                struct err *err)
{
    cl_program program;
    cl_int code;

    if (!renderer_program(r, file, defines, &program, err))
        return false;
    *out = clCreateKernel(program, name, &code);
    return *out || opencl_fail(err, code, "clCreateKernel", r->base.info.name);
}

static bool create_kernels(struct opencl_job *job, struct err *err)
{
    struct strbuf defines = STRBUF_INIT;
    bool ok = false;

    shape_defines(job->r->path, &job->shape, &defines);
    if (!strbuf_ok(&defines, err) ||
        (!job->shape.whole &&
         !job_kernel(job->r, "setup.cl", "setup", strbuf_str(&defines), &job->setup, err)) ||
        (job->base.spec.mode == MODE_GRADIENT && !job->shape.whole &&
         !job_kernel(job->r, "gather.cl", "gather", strbuf_str(&defines), &job->gather, err)))
        goto out;
    bin_defines(&job->shape, &defines);
    const size_t shape_length = defines.len;
    if (job->shape.bin_tiles > 0 && (!strbuf_ok(&defines, err) ||
                                     !job_kernel(job->r, "bin.cl", "bin", strbuf_str(&defines), &job->bin, err)))
        goto out;
    for (size_t i = 0; i < job->pass_count; i++) {
        strbuf_cut(&defines, shape_length);
        pass_defines(&job->base.spec, &job->passes[i], &defines);
        if (!strbuf_ok(&defines, err) ||
            !job_kernel(job->r, pass_file(job->r->path, &job->shape), pass_kernel(&job->shape), strbuf_str(&defines),
                        &job->pass_kernels[i], err) ||
            !path_fits(job->r, job->pass_kernels[i], &job->shape, err))
            goto out;
    }
    ok = true;
out:
    strbuf_fini(&defines);
    return ok;
}

static bool create_arrays(struct opencl_job *job, struct err *err)
{
    const struct render_spec *spec = &job->base.spec;
    const uint64_t b = spec->batch, t = spec->triangles, pixels = (uint64_t)spec->width * spec->height;
    const enum host_kind near = job->r->base.info.host_unified ? HOST_SHARED : HOST_PINNED;
    const enum host_kind goal = spec->call == CALL_PAGEABLE && near == HOST_PINNED ? HOST_ORDINARY : near;
    const bool gradient = spec->mode == MODE_GRADIENT;
    struct render_io *io = &job->base.io;

    /* Products of at most 2^20 x 2^30 x 12: no overflow. */
    if (!host_array_init(&job->in, job->r, near, b * (t * SCENE_STRIDE + 3) * sizeof(float), err) ||
        !host_array_init(&job->out, job->r, near, b * (t * SCENE_STRIDE + 2) * sizeof(float), err) ||
        (gradient && !host_array_init(&job->goal, job->r, goal, b * pixels * 12, err)) ||
        (image_to_host(spec) && !host_array_init(&job->image, job->r, near, b * pixels * 12, err)))
        return false;
    io->params = job->in.data;
    io->background = io->params + b * t * SCENE_STRIDE;
    if (spec->mode == MODE_FORWARD || spec->keep_images)
        io->image = job->image.data;
    if (!gradient)
        return true;
    io->grads = job->out.data;
    if (spec->upstream) {
        io->upstream = job->goal.data;
        return true;
    }
    io->target = job->goal.data;
    io->loss = mem_calloc(b, sizeof(double), "losses", err);
    return io->loss != NULL;
}

bool job_open(struct renderer *renderer, const struct render_spec *spec, struct render_job **out,
              struct err *err)
{
    struct opencl_renderer *r = (struct opencl_renderer *)renderer;
    struct opencl_job *job = NULL;

    *out = NULL;
    if (!spec_check(spec, BACKEND_OPENCL, err))
        return false;
    job = mem_calloc(1, sizeof(*job), "a job", err);
    if (!job)
        return false;
    job->base.renderer = renderer;
    job->base.spec = *spec;
    job->r = r;
    job->pass_count = passes_of(spec, job->passes);
    if (!renderer_shape(r, spec, &job->shape, err) || !limits_allow(renderer, spec, &job->shape, err))
        goto fail;
    job->tiles_x = (spec->width - 1) / tile_width(&job->shape) + 1;
    job->tiles_y = (spec->height - 1) / tile_height(&job->shape) + 1;
    if (!job_reserve_slots(job, 0, err) || !create_kernels(job, err) || !create_arrays(job, err))
        goto fail;
    *out = &job->base;
    return true;
fail:
    job_close(&job->base);
    return false;
}

void job_close(struct render_job *base)
{
    struct opencl_job *job = (struct opencl_job *)base;

    if (!job)
        return;
    fit_close(job->fit);
    if (job->group_counts)
        clReleaseMemObject(job->group_counts);
    pool_give(&job->r->pool, job->resident_goal);
    free(job->base.io.loss);
    host_array_fini(&job->image, job->r);
    host_array_fini(&job->goal, job->r);
    host_array_fini(&job->out, job->r);
    host_array_fini(&job->in, job->r);
    for (size_t i = 0; i < job->pass_count; i++)
        if (job->pass_kernels[i])
            clReleaseKernel(job->pass_kernels[i]);
    if (job->gather)
        clReleaseKernel(job->gather);
    if (job->bin)
        clReleaseKernel(job->bin);
    if (job->setup)
        clReleaseKernel(job->setup);
    free(job);
}

/* Of shape.whole: a place for each sum that there can be, and the counts of groups that are done, 0 between calls. */
static bool reserve_whole(struct opencl_job *job, struct err *err)
{
    const struct render_spec *spec = &job->base.spec;
    const cl_uint zero = 0;
    cl_int code;

    if (job->group_counts)
        return true;
    if (!job_reserve_slots(job, whole_slots(spec, &job->shape), err))
        return false;
    const size_t bytes = (size_t)(job->plan.scene.group_counts * job->plan.slice_scenes);
    job->group_counts =
        clCreateBuffer(job->r->context, CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS, bytes, NULL, &code);
    if (!job->group_counts)
        return opencl_fail(err, code, "clCreateBuffer", job->r->base.info.name);
    code = clEnqueueFillBuffer(job->r->queue, job->group_counts, &zero, sizeof(zero), 0, bytes, 0, NULL, NULL);
    code = code ? code : clFinish(job->r->queue);
    if (code == CL_SUCCESS)
        return true;
    clReleaseMemObject(job->group_counts);
    job->group_counts = NULL;
    return opencl_fail(err, code, "clEnqueueFillBuffer", job->r->base.info.name);
}

bool job_inputs_changed(struct render_job *base, struct err *err)
{
    struct opencl_job *job = (struct opencl_job *)base;
    const struct render_spec *spec = &job->base.spec;
    const uint64_t bytes = 12 * (uint64_t)spec->width * spec->height * spec->batch;
    cl_int code;

    if (spec->batch == 0)
        return true;
    if (job->shape.whole) {
        if (!reserve_whole(job, err))
            return false;
    } else if (uses_slots(spec)) {
        uint64_t slots = count_slots(job);
        if (slots > job->slot_capacity && !job_reserve_slots(job, SLOT_HEADROOM(slots), err))
            return false;
    }
    if (spec->call != CALL_RESIDENT || spec->mode != MODE_GRADIENT || job->goal.kind == HOST_SHARED)
        return true;
    if (!job->resident_goal &&
        !pool_take(&job->r->pool, CL_MEM_READ_ONLY, bytes, &job->resident_goal, err))
        return false;
    code = clEnqueueWriteBuffer(job->r->queue, job->resident_goal, CL_TRUE, 0, (size_t)bytes, job->goal.data, 0,
                                NULL, NULL);
    return code == CL_SUCCESS || opencl_fail(err, code, "clEnqueueWriteBuffer", job->r->base.info.name);
}

/* Buffers that a slice writes on the device: filled with a pattern that reads as NaN. */
static bool poison_device(struct opencl_job *job, struct err *err)
{
    static const cl_uint pattern = 0xffffffffu;
    struct slice_buffers b;
    bool ok = false;
    cl_int code = CL_SUCCESS;

    if (!slice_take(job, &b, err))
        return false;
    for (size_t i = 0; i < b.taken_count; i++) {
        size_t bytes = 0;
        code = clGetMemObjectInfo(b.taken[i], CL_MEM_SIZE, sizeof(bytes), &bytes, NULL);
        if (code == CL_SUCCESS)
            code = clEnqueueFillBuffer(job->r->queue, b.taken[i], &pattern, sizeof(pattern), 0, bytes, 0, NULL, NULL);
        if (code != CL_SUCCESS) {
            opencl_fail(err, code, "clEnqueueFillBuffer", job->r->base.info.name);
            goto out;
        }
    }
    code = clFinish(job->r->queue);
    ok = code == CL_SUCCESS || opencl_fail(err, code, "clFinish", job->r->base.info.name);
out:
    slice_give(job, &b);
    return ok;
}

bool job_poison(struct render_job *base, struct err *err)
{
    struct opencl_job *job = (struct opencl_job *)base;

    mem_poison(job->out.data, (size_t)job->out.bytes);
    if (job->image.data)
        mem_poison(job->image.data, (size_t)job->image.bytes);
    for (uint32_t b = 0; job->base.io.loss && b < job->base.spec.batch; b++)
        job->base.io.loss[b] = (double)NAN;
    return job->base.spec.batch == 0 || poison_device(job, err);
}
