/* Gradient descent wholly on the device: parameters, moments and the best scene stay there, losses come back.
 */
#include "gpu/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu/error.h"
#include "gpu/slice.h"
#include "model/fit.h"
#include "model/scene.h"

/* kernels/adam.cl */
#define STATE_STALLED 1
#define STATE_NEEDED 2
#define STATE_ROW 3

struct fit {
    cl_kernel adam; /* owned, like these: */
    cl_mem params, out, moments, best, state, losses;
    uint32_t capacity; /* losses that there is room for */
    uint32_t turn;     /* the row of state that the next step reads */
};

void fit_close(struct fit *fit)
{
    if (!fit)
        return;
    const cl_mem buffers[] = {fit->params, fit->out, fit->moments, fit->best, fit->state, fit->losses};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        if (buffers[i])
            clReleaseMemObject(buffers[i]);
    if (fit->adam)
        clReleaseKernel(fit->adam);
    free(fit);
}

static bool buffer(const struct opencl_job *job, uint64_t floats, cl_mem *out, struct err *err)
{
    cl_int code;

    *out = clCreateBuffer(job->r->context, CL_MEM_READ_WRITE, (size_t)floats * sizeof(float), NULL, &code);
    return *out || opencl_fail(err, code, "clCreateBuffer", job->r->base.info.name);
}

static bool copy(const struct opencl_job *job, bool up, cl_mem buffer, void *data, uint64_t floats,
                 struct err *err)
{
    const size_t bytes = (size_t)floats * sizeof(float);
    cl_int code = up ? clEnqueueWriteBuffer(job->r->queue, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL)
                     : clEnqueueReadBuffer(job->r->queue, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL);

    return code == CL_SUCCESS || opencl_fail(err, code, up ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer",
                                             job->r->base.info.name);
}

static uint64_t values_of(const struct opencl_job *job)
{
    return (uint64_t)job->base.spec.triangles * SCENE_STRIDE;
}

static bool open(struct opencl_job *job, struct err *err)
{
    const uint64_t values = values_of(job);

    job->fit = mem_calloc(1, sizeof *job->fit, "a fit", err);
    if (!job->fit)
        return false;
    return job_kernel(job->r, "adam.cl", "adam", "", &job->fit->adam, err) &&
           buffer(job, values + 3, &job->fit->params, err) && buffer(job, values + 2, &job->fit->out, err) &&
           buffer(job, 2 * values + 1, &job->fit->moments, err) &&
           buffer(job, values + 1, &job->fit->best, err) && buffer(job, 2 * STATE_ROW, &job->fit->state, err);
}

/* The caller's parameters and background, no moments, no best scene. */
static bool start(struct opencl_job *job, struct err *err)
{
    const uint64_t values = values_of(job);
    const float none = INFINITY;
    cl_uint state[2 * STATE_ROW] = {0};

    if (!job->fit && !open(job, err))
        return false;
    float *zeros = mem_calloc(2 * values + 1, sizeof *zeros, "moments", err);
    if (!zeros)
        return false;
    memcpy(state, &none, sizeof none);
    job->fit->turn = 0;
    bool ok = copy(job, true, job->fit->moments, zeros, 2 * values, err) &&
              copy(job, true, job->fit->state, state, 2 * STATE_ROW, err) &&
              copy(job, true, job->fit->params, job->in.data, values + 3, err) &&
              copy(job, true, job->fit->best, job->in.data, values, err);
    free(zeros);
    return ok;
}

static bool reserve_losses(struct opencl_job *job, uint32_t count, struct err *err)
{
    struct fit *fit = job->fit;

    if (fit->capacity >= count)
        return true;
    if (fit->losses)
        clReleaseMemObject(fit->losses);
    fit->capacity = 0;
    if (!buffer(job, count, &fit->losses, err))
        return false;
    fit->capacity = count;
    return true;
}

static bool launch_adam(struct opencl_job *job, const struct fit_step *step, uint32_t index, struct err *err)
{
    struct fit *fit = job->fit;
    const cl_uint values = (cl_uint)values_of(job);
    const cl_uint room = uses_slots(&job->base.spec) ? job->slot_capacity : UINT32_MAX;
    const size_t group = 64, global = (values + group) / group * group; /* at least one */
    const struct {
        size_t size;
        const void *value;
    } arguments[] = {
        {sizeof values, &values},
        {sizeof room, &room},
        {sizeof index, &index},
        {sizeof fit->turn, &fit->turn},
        {sizeof(float), &step->rate_position},
        {sizeof(float), &step->rate_colour},
        {sizeof(float), &step->rate_alpha},
        {sizeof(float), &step->correction1},
        {sizeof(float), &step->correction2},
        {sizeof(cl_mem), &fit->params},
        {sizeof(cl_mem), &fit->out},
        {sizeof(cl_mem), &fit->moments},
        {sizeof(cl_mem), &fit->best},
        {sizeof(cl_mem), &fit->state},
        {sizeof(cl_mem), &fit->losses},
    };
    cl_int code = CL_SUCCESS;

    for (cl_uint i = 0; i < sizeof arguments / sizeof arguments[0] && code == CL_SUCCESS; i++)
        code = clSetKernelArg(fit->adam, i, arguments[i].size, arguments[i].value);
    if (code != CL_SUCCESS)
        return opencl_fail(err, code, "clSetKernelArg", job->r->base.info.name) ||
               err_wrap(err, "kernel adam");
    code = clEnqueueNDRangeKernel(job->r->queue, fit->adam, 1, NULL, &global, &group, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        return opencl_fail(err, code, "clEnqueueNDRangeKernel", job->r->base.info.name) ||
               err_wrap(err, "kernel adam");
    fit->turn = 1 - fit->turn;
    return true;
}

static bool take_step(struct opencl_job *job, struct watch *watch, struct slice *s,
                      const struct fit_step *step, uint32_t index, struct err *err)
{
    job->base.spec.sigma = step->sigma;
    slice_view(job, s);
    if (!launch_setup(job, watch, s, err))
        return false;
    for (size_t pass = 0; pass < job->pass_count; pass++)
        if (!launch_pass(job, watch, s, pass, err))
            return false;
    return launch_gather(job, watch, s, err) && launch_adam(job, step, index, err);
}

/* Enqueues the steps and waits for them; the caller's arrays are lent where they are the device's own. */
static bool run_steps(struct opencl_job *job, const struct fit_step *steps, uint32_t count, struct err *err)
{
    struct watch watch = {.queue = job->r->queue};
    struct slice s = {.scenes = 1};

    if (!slice_take(job, &s.buffers, err))
        return false;
    s.buffers.in = job->fit->params;
    s.buffers.out = job->fit->out;
    bool lent = job->in.kind == HOST_SHARED, ok = !lent || slice_lend(job, &watch, err);
    for (uint32_t i = 0; ok && i < count; i++)
        ok = take_step(job, &watch, &s, &steps[i], i, err);
    struct err late = ERR_INIT;
    if (!slice_wait(job, &watch, ok ? err : &late))
        ok = false;
    err_fini(&late);
    slice_give(job, &s.buffers);
    return ok;
}

/* How many of the steps were taken; where that is not all, makes room for the next one's partial sums. */
static bool steps_taken(struct opencl_job *job, uint32_t count, uint32_t *taken, struct err *err)
{
    cl_uint state[2 * STATE_ROW];
    cl_uint *row = state + job->fit->turn * STATE_ROW;

    if (!copy(job, false, job->fit->state, state, 2 * STATE_ROW, err))
        return false;
    *taken = row[STATE_STALLED] ? row[STATE_STALLED] - 1 : count;
    if (*taken > count)
        return err_set(err, ERR_WRONG, "%s took %u steps of %u", job->r->base.info.name, (unsigned)*taken,
                       (unsigned)count);
    if (*taken == count)
        return true;
    const uint64_t needed = row[STATE_NEEDED];
    row[STATE_STALLED] = row[STATE_NEEDED] = 0;
    return job_grow_slots(job, needed, err) &&
           copy(job, true, job->fit->state, state, 2 * STATE_ROW, err);
}

bool job_fit(struct render_job *base, const struct fit_block *block, struct err *err)
{
    struct opencl_job *job = (struct opencl_job *)base;
    float *losses = mem_calloc((uint64_t)block->count + 1, sizeof *losses, "losses", err);
    bool ok = losses && (!block->start || start(job, err)) && reserve_losses(job, block->count, err);

    for (uint32_t done = 0, taken; ok && done < block->count; done += taken) {
        const uint32_t left = block->count - done;
        ok = run_steps(job, block->steps + done, left, err) && steps_taken(job, left, &taken, err) &&
             copy(job, false, job->fit->losses, losses, left, err);
        for (uint32_t i = 0; ok && i < taken; i++)
            block->loss[done + i] = (double)losses[i];
        if (!ok)
            break;
    }
    job->counts.longest_submission_ns = job->longest_submission_ns;
    ok = ok && (!block->best || copy(job, false, job->fit->best, block->best, values_of(job), err));
    free(losses);
    return ok;
}
