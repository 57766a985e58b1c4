/* One call: slices of the batch, each uploaded, dispatched and read back. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "gpu/error.h"
#include "gpu/slice.h"
#include "model/scene.h"

/* Ends a phase: in a phased call, waits for the device and adds up the time since the last mark. */
static bool end_phase(struct opencl_job *job, struct watch *watch, enum phase phase, struct err *err)
{
    if (!watch->phased)
        return true;
    cl_int code = clFinish(watch->queue);
    if (code != CL_SUCCESS)
        return opencl_fail(err, code, "clFinish", job->r->base.info.name);
    uint64_t now = clock_now_ns();
    watch->phase_ns[phase] += now - watch->mark_ns;
    watch->mark_ns = now;
    return true;
}

/* The mean of squared differences, in double, in four partial sums so that additions need not wait. */
static double host_loss(const float *image, const float *target, uint64_t count)
{
    double sums[4] = {0};
    uint64_t i = 0;

    for (; i + 4 <= count; i += 4)
        for (uint64_t k = 0; k < 4; k++) {
            double difference = (double)image[i + k] - (double)target[i + k];
            sums[k] += difference * difference;
        }
    for (; i < count; i++) {
        double difference = (double)image[i] - (double)target[i];
        sums[0] += difference * difference;
    }
    return (sums[0] + sums[1] + sums[2] + sums[3]) / (double)count;
}

/* Between forward and backward: the image goes to the host, where the loss is worked out, or only there and
 * back. */
static bool visit_host(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err)
{
    const struct render_spec *spec = &job->base.spec;
    const uint64_t values = 3 * (uint64_t)spec->width * spec->height;
    const uint64_t bytes = values * sizeof(float);
    char *image = (char *)job->image.data + s->first * bytes;
    cl_int code = CL_SUCCESS;

    if (!slice_read_image(job, watch, s, err) || !slice_wait(job, watch, err) ||
        !end_phase(job, watch, PHASE_READBACK, err))
        return false;
    for (uint32_t b = s->first; spec->loss == LOSS_HOST && b < s->first + s->scenes; b++)
        job->base.io.loss[b] = host_loss((const float *)job->image.data + b * values,
                                         (const float *)job->goal.data + b * values, values);
    if (!end_phase(job, watch, PHASE_LOSS, err))
        return false;
    if (job->in.kind == HOST_SHARED)
        return slice_lend(job, watch, err) && end_phase(job, watch, PHASE_UPLOAD, err);
    if (spec->images == IMAGES_ROUNDTRIP) {
        job->counts.bytes_up += s->scenes * bytes;
        code = clEnqueueWriteBuffer(watch->queue, s->buffers.image, CL_FALSE, 0, s->scenes * bytes, image, 0, NULL,
                                    NULL);
    }
    return (code == CL_SUCCESS || opencl_fail(err, code, "clEnqueueWriteBuffer", job->r->base.info.name)) &&
           end_phase(job, watch, PHASE_UPLOAD, err);
}

/* Kernels whose times are taken do not wait for the host; where the device is the host, or submissions are waited for
 * one by one, they have to. */
static bool keep_ahead(struct opencl_job *job, const struct watch *watch, struct err *err)
{
    const struct device_info *info = &job->r->base.info;

    return !watch->profile || info->host_unified || info->max_submit_ns > 0 ||
           stall_enqueue(job->r, watch->queue, err);
}

static bool dispatch(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err)
{
    const struct render_spec *spec = &job->base.spec;
    const bool visits = spec->mode == MODE_GRADIENT && job->pass_count == 2 && !spec->upstream &&
                        (spec->images == IMAGES_ROUNDTRIP || spec->loss == LOSS_HOST);

    if (!keep_ahead(job, watch, err) || !launch_setup(job, watch, s, err) || !launch_pass(job, watch, s, 0, err))
        return false;
    if (job->pass_count == 2) {
        if (visits && (!end_phase(job, watch, PHASE_DISPATCH, err) || !visit_host(job, watch, s, err)))
            return false;
        if (!launch_pass(job, watch, s, 1, err))
            return false;
    }
    return spec->mode != MODE_GRADIENT || launch_gather(job, watch, s, err);
}

/* Losses to the caller's doubles; counts the partial sums, and says how many the scene that has most of them needs.
 */
static uint64_t unpack(struct opencl_job *job, const struct slice *s)
{
    const struct render_spec *spec = &job->base.spec;
    const float *losses = (const float *)job->out.data + (uint64_t)spec->batch * spec->triangles * SCENE_STRIDE;
    const uint32_t *needed = (const uint32_t *)(losses + spec->batch);
    uint64_t most = 0;

    for (uint32_t b = s->first; b < s->first + s->scenes; b++) {
        if (job->base.io.loss && spec->loss == LOSS_DEVICE)
            job->base.io.loss[b] = (double)losses[b];
        job->counts.partial_sums += needed[b];
        most = needed[b] > most ? needed[b] : most;
    }
    return most;
}

static bool run_slice(struct opencl_job *job, struct watch *watch, struct slice *s, struct err *err)
{
    bool ok = false;

    slice_view(job, s);
    if (!end_phase(job, watch, PHASE_PACK, err))
        return false;
    if (!slice_take(job, &s->buffers, err))
        return false;
    if (!end_phase(job, watch, PHASE_ALLOC, err) || !slice_upload(job, watch, s, err) ||
        !end_phase(job, watch, PHASE_UPLOAD, err) || !dispatch(job, watch, s, err) ||
        !end_phase(job, watch, PHASE_DISPATCH, err) || !slice_read_back(job, watch, s, err) ||
        !slice_wait(job, watch, err))
        goto out;
    ok = true;
out:
    if (!ok)
        clFinish(watch->queue); /* nothing may still run on buffers that are given back */
    watch_collect(watch);
    slice_give(job, &s->buffers);
    return ok && end_phase(job, watch, PHASE_READBACK, err);
}

static bool run_call(struct opencl_job *job, struct watch *watch, struct err *err)
{
    const struct render_spec *spec = &job->base.spec;
    struct pool *pool = &job->r->pool;
    const uint64_t hits = pool->hits, misses = pool->misses;

    job->counts = (struct render_counts){0};
    for (uint32_t first = 0; first < spec->batch;) {
        uint32_t left = spec->batch - first;
        struct slice s = {.first = first, .scenes = left < job->plan.slice_scenes ? left : job->plan.slice_scenes};
        if (!run_slice(job, watch, &s, err))
            return false;
        const uint64_t counted = job->counts.partial_sums;
        uint64_t needed = spec->mode == MODE_GRADIENT ? unpack(job, &s) : 0;
        if (uses_slots(spec) && needed > job->slot_capacity) {
            /* The parameters moved: the slice is made again with room for their sums. */
            if (!job_grow_slots(job, needed, err))
                return false;
            job->counts.partial_sums = counted;
            continue;
        }
        first += s.scenes;
        job->counts.split++;
    }
    if (spec->dispatch == DISPATCH_SINGLE || job->counts.split == 0)
        job->counts.split = 1;
    job->counts.pool_hits = pool->hits - hits;
    job->counts.pool_misses = pool->misses - misses;
    job->counts.pool_bytes = pool->bytes;
    job->counts.longest_submission_ns = job->longest_submission_ns;
    return true;
}

bool job_call(struct render_job *base, struct err *err)
{
    struct opencl_job *job = (struct opencl_job *)base;
    struct watch watch = {.queue = job->r->queue};

    return run_call(job, &watch, err);
}

bool job_call_phased(struct render_job *base, struct render_phases *out, struct err *err)
{
    struct opencl_job *job = (struct opencl_job *)base;
    const uint64_t start = clock_now_ns();
    struct watch watch = {.queue = job->r->queue, .phased = true, .mark_ns = start};

    if (!run_call(job, &watch, err))
        return false;
    *out = (struct render_phases){
        .pack_ns = watch.phase_ns[PHASE_PACK],
        .alloc_ns = watch.phase_ns[PHASE_ALLOC],
        .upload_ns = watch.phase_ns[PHASE_UPLOAD],
        .dispatch_ns = watch.phase_ns[PHASE_DISPATCH],
        .readback_ns = watch.phase_ns[PHASE_READBACK],
        .loss_ns = watch.phase_ns[PHASE_LOSS],
        .total_ns = clock_now_ns() - start,
    };
    return true;
}

bool job_call_profiled(struct render_job *base, struct render_profile *out, struct err *err)
{
    struct opencl_job *job = (struct opencl_job *)base;
    struct opencl_renderer *r = job->r;
    struct watch watch = {.profile = out};

    *out = (struct render_profile){.valid = true};
    if (!r->profiling_queue && !renderer_queue(r, CL_QUEUE_PROFILING_ENABLE, &r->profiling_queue, err))
        return false;
    watch.queue = r->profiling_queue;
    if (!run_call(job, &watch, err))
        return false;
    uint64_t kernels_ns = 0;
    for (uint32_t i = 0; i < out->kernels; i++)
        kernels_ns += out->kernel[i].device_ns;
    if (out->valid && out->kernels > 0 && kernels_ns == 0) {
        out->valid = false;
        snprintf(out->note, sizeof(out->note), "the driver's times of all kernels: no time at all");
    }
    out->device_ns = out->valid && watch.last_end > watch.first_start ? watch.last_end - watch.first_start : 0;
    return true;
}
