#include "gpu/slice.h"

#include <math.h>

#include "gpu/error.h"
#include "model/scene.h"

static bool watch_fail(const struct opencl_job *job, cl_int code, const char *call, struct err *err)
{
    return opencl_fail(err, code, call, job->r->base.info.name);
}

static bool take(struct opencl_job *job, struct slice_buffers *b, cl_mem *which, cl_mem_flags usage,
                 uint64_t scene_bytes, uint32_t scenes, struct err *err)
{
    if (scene_bytes == 0)
        return true;
    if (!pool_take(&job->r->pool, usage, scene_bytes * scenes, which, err))
        return false;
    b->taken[b->taken_count++] = *which;
    return true;
}

bool slice_take(struct opencl_job *job, struct slice_buffers *out, struct err *err)
{
    const struct scene_bytes *s = &job->plan.scene;
    const uint32_t scenes = job->plan.slice_scenes;
    const cl_mem_flags own = CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS;

    job->r->pool.keeps = job->base.spec.pool;
    *out = (struct slice_buffers){0};
    if (!take(job, out, &out->in, CL_MEM_READ_ONLY, s->in, scenes, err) ||
        !take(job, out, &out->goal, CL_MEM_READ_ONLY, s->goal, scenes, err) ||
        !take(job, out, &out->image, CL_MEM_READ_WRITE, s->image, scenes, err) ||
        !take(job, out, &out->out, CL_MEM_READ_WRITE, s->out, scenes, err) ||
        !take(job, out, &out->triangles, own, s->triangles, scenes, err) ||
        !take(job, out, &out->bounds, own, s->bounds, scenes, err) ||
        !take(job, out, &out->bins, own, s->bins, scenes, err) ||
        !take(job, out, &out->slots, own, s->slots, scenes, err) ||
        !take(job, out, &out->tape, own, s->tape, scenes, err) ||
        !take(job, out, &out->loss, own, s->loss, scenes, err)) {
        slice_give(job, out);
        return false;
    }
    if (!out->in)
        out->in = job->in.buffer;
    if (!out->goal)
        out->goal = job->resident_goal ? job->resident_goal : job->goal.buffer;
    if (!out->image)
        out->image = job->image.buffer;
    if (!out->out)
        out->out = job->out.buffer;
    return true;
}

void slice_give(struct opencl_job *job, struct slice_buffers *b)
{
    for (size_t i = b->taken_count; i > 0; i--)
        pool_give(&job->r->pool, b->taken[i - 1]);
    b->taken_count = 0;
}

/* ---- transfers ---- */

void slice_view(const struct opencl_job *job, struct slice *s)
{
    const struct render_spec *spec = &job->base.spec;
    const bool shared = job->r->base.info.host_unified;
    const double softness = fmax((double)spec->sigma, 1e-8);

    s->view = (struct shared_view){
        .width = spec->width,
        .height = spec->height,
        .triangles = spec->triangles,
        .tiles_x = job->tiles_x,
        .tiles_y = job->tiles_y,
        .slot_capacity = job->slot_capacity,
        .in_first = shared ? s->first : 0,
        .in_scenes = shared ? spec->batch : s->scenes,
        .out_first = shared ? s->first : 0,
        .out_scenes = shared ? spec->batch : s->scenes,
        .goal_first = shared || job->resident_goal ? s->first : 0,
        .image_first = shared && job->image.buffer ? s->first : 0,
        .sigma = spec->sigma,
        .inverse_softness = (float)(1.0 / softness),
        .exp2_scale = (float)(1.4426950408889634 / softness),
        .loss_scale = (float)(1.0 / (3.0 * spec->width * spec->height)),
    };
}

static bool write_part(struct opencl_job *job, struct watch *watch, cl_mem buffer, const void *data, uint64_t offset,
                       uint64_t bytes, struct err *err)
{
    cl_int code;

    if (bytes == 0)
        return true;
    job->counts.bytes_up += bytes;
    code = clEnqueueWriteBuffer(watch->queue, buffer, CL_FALSE, (size_t)offset, (size_t)bytes, data, 0, NULL, NULL);
    return code == CL_SUCCESS || watch_fail(job, code, "clEnqueueWriteBuffer", err);
}

static bool read_part(struct opencl_job *job, struct watch *watch, cl_mem buffer, void *data, uint64_t offset,
                      uint64_t bytes, struct err *err)
{
    cl_int code;

    if (bytes == 0)
        return true;
    job->counts.bytes_down += bytes;
    code = clEnqueueReadBuffer(watch->queue, buffer, CL_FALSE, (size_t)offset, (size_t)bytes, data, 0, NULL, NULL);
    return code == CL_SUCCESS || watch_fail(job, code, "clEnqueueReadBuffer", err);
}

bool slice_lend(struct opencl_job *job, struct watch *watch, struct err *err)
{
    return host_array_lend(&job->in, job->r, watch->queue, err) &&
           host_array_lend(&job->goal, job->r, watch->queue, err) &&
           host_array_lend(&job->image, job->r, watch->queue, err) &&
           host_array_lend(&job->out, job->r, watch->queue, err);
}

bool slice_upload(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err)
{
    const struct render_spec *spec = &job->base.spec;
    const uint64_t params = (uint64_t)spec->triangles * SCENE_STRIDE * sizeof(float), ground = 3 * sizeof(float);
    const uint64_t image = 12 * (uint64_t)spec->width * spec->height;
    const char *in = job->in.data;

    if (job->in.kind == HOST_SHARED)
        return slice_lend(job, watch, err);
    if (s->scenes == spec->batch) { /* one piece */
        if (!write_part(job, watch, s->buffers.in, in, 0, s->scenes * (params + ground), err))
            return false;
    } else if (!write_part(job, watch, s->buffers.in, in + s->first * params, 0, s->scenes * params, err) ||
               !write_part(job, watch, s->buffers.in, in + spec->batch * params + s->first * ground,
                           s->scenes * params, s->scenes * ground, err)) {
        return false;
    }
    if (spec->mode != MODE_GRADIENT || job->resident_goal)
        return true;
    return write_part(job, watch, s->buffers.goal, (const char *)job->goal.data + s->first * image, 0,
                      s->scenes * image, err);
}

bool slice_wait(struct opencl_job *job, struct watch *watch, struct err *err)
{
    cl_int code;

    if (job->in.kind == HOST_SHARED)
        return host_array_reclaim(&job->in, job->r, watch->queue, err) &&
               host_array_reclaim(&job->goal, job->r, watch->queue, err) &&
               host_array_reclaim(&job->image, job->r, watch->queue, err) &&
               host_array_reclaim(&job->out, job->r, watch->queue, err);
    code = clFinish(watch->queue);
    return code == CL_SUCCESS || watch_fail(job, code, "clFinish", err);
}

bool slice_read_image(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err)
{
    const uint64_t image = 12 * (uint64_t)job->base.spec.width * job->base.spec.height;

    return job->in.kind == HOST_SHARED ||
           read_part(job, watch, s->buffers.image, (char *)job->image.data + s->first * image, 0,
                     s->scenes * image, err);
}

bool slice_read_back(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err)
{
    const struct render_spec *spec = &job->base.spec;
    const uint64_t grads = (uint64_t)spec->triangles * SCENE_STRIDE * sizeof(float), n = s->scenes, b = spec->batch;
    char *out = job->out.data;

    if (job->in.kind == HOST_SHARED)
        return true;
    if (job->base.io.image && !slice_read_image(job, watch, s, err))
        return false;
    if (spec->mode != MODE_GRADIENT)
        return true;
    if (n == b) /* one piece */
        return read_part(job, watch, s->buffers.out, out, 0, n * (grads + 2 * sizeof(float)), err);
    return read_part(job, watch, s->buffers.out, out + s->first * grads, 0, n * grads, err) &&
           read_part(job, watch, s->buffers.out, out + b * grads + s->first * sizeof(float), n * grads,
                     n * sizeof(float), err) &&
           read_part(job, watch, s->buffers.out, out + b * (grads + sizeof(float)) + s->first * sizeof(float),
                     n * (grads + sizeof(float)), n * sizeof(float), err);
}
