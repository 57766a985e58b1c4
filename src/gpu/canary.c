#include "gpu/canary.h"

#include <stdint.h>

#include "base/clock.h"
#include "gpu/error.h"
#include "gpu/job.h"

#define REPEATS 3
#define COPIES 8 /* in a row, where one would be lost in the launch */
/* About as many work-items as a compute unit holds at once, and enough to do for launches not to matter. */
#define GPU_ITEMS 2048u
#define CPU_ITEMS 64u
#define GPU_ROUNDS 65536u
#define CPU_ROUNDS 8192u
#define GPU_BYTES (UINT64_C(128) << 20)
#define CPU_BYTES (UINT64_C(16) << 20)

void canary_fini(struct canary *canary)
{
    for (size_t i = 0; i < CANARY_KERNELS; i++)
        if (canary->kernels[i])
            clReleaseKernel(canary->kernels[i]);
    if (canary->in)
        clReleaseMemObject(canary->in);
    if (canary->out)
        clReleaseMemObject(canary->out);
    *canary = (struct canary){0};
}

bool canary_buffer(struct renderer *renderer, size_t bytes, cl_mem *out, struct err *err)
{
    struct opencl_renderer *r = (struct opencl_renderer *)renderer;
    const float one = 1;
    cl_int code;

    *out = clCreateBuffer(r->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (!*out)
        return opencl_fail(err, code, "clCreateBuffer", r->base.info.name);
    code = clEnqueueFillBuffer(r->queue, *out, &one, sizeof(one), 0, bytes, 0, NULL, NULL);
    return code == CL_SUCCESS || opencl_fail(err, code, "clEnqueueFillBuffer", r->base.info.name);
}

static bool make(struct opencl_renderer *r, struct canary *c, struct err *err)
{
    static const char *const names[CANARY_KERNELS] = {"canary_arithmetic", "canary_memory", "canary_launch"};
    const struct device_info *info = &r->base.info;
    const bool cpu = info->kind == DEVICE_CPU;
    const cl_uint rounds = cpu ? CPU_ROUNDS : GPU_ROUNDS, never = 0;
    uint64_t bytes = cpu ? CPU_BYTES : GPU_BYTES;
    cl_int code;

    if (bytes > info->global_bytes / 64)
        bytes = info->global_bytes / 64;
    c->vectors = bytes / sizeof(cl_float4) / CANARY_GROUP * CANARY_GROUP;
    c->items = (size_t)(info->compute_units ? info->compute_units : 1) * (cpu ? CPU_ITEMS : GPU_ITEMS);
    if (c->items > c->vectors * 4)
        c->items = c->vectors * 4;
    if (!c->vectors)
        return err_set(err, ERR_LIMIT, "%s has no memory for a canary", info->name);
    if (!canary_buffer(&r->base, c->vectors * sizeof(cl_float4), &c->in, err) ||
        !canary_buffer(&r->base, c->vectors * sizeof(cl_float4), &c->out, err))
        return false;
    for (size_t i = 0; i < CANARY_KERNELS; i++)
        if (!job_kernel(r, "canary.cl", names[i], "", &c->kernels[i], err))
            return false;
    code = clSetKernelArg(c->kernels[0], 0, sizeof(cl_mem), &c->out);
    code = code ? code : clSetKernelArg(c->kernels[0], 1, sizeof(rounds), &rounds);
    code = code ? code : clSetKernelArg(c->kernels[1], 0, sizeof(cl_mem), &c->in);
    code = code ? code : clSetKernelArg(c->kernels[1], 1, sizeof(cl_mem), &c->out);
    code = code ? code : clSetKernelArg(c->kernels[2], 0, sizeof(cl_mem), &c->out);
    code = code ? code : clSetKernelArg(c->kernels[2], 1, sizeof(never), &never);
    return code == CL_SUCCESS || opencl_fail(err, code, "clSetKernelArg", info->name);
}

bool canary_time(struct renderer *renderer, cl_kernel kernel, size_t items, size_t group, uint32_t launches,
                 uint64_t *ns, struct err *err)
{
    struct opencl_renderer *r = (struct opencl_renderer *)renderer;
    const uint64_t start = clock_now_ns();
    cl_int code = CL_SUCCESS;

    for (uint32_t i = 0; i < launches && code == CL_SUCCESS; i++)
        code = clEnqueueNDRangeKernel(r->queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        return opencl_fail(err, code, "clEnqueueNDRangeKernel", r->base.info.name);
    code = clFinish(r->queue);
    *ns = clock_now_ns() - start;
    return code == CL_SUCCESS || opencl_fail(err, code, "clFinish", r->base.info.name);
}

/* The median of REPEATS; one before them warms up. */
static bool time_median(struct opencl_renderer *r, cl_kernel kernel, size_t items, uint32_t launches,
                        uint64_t *out, struct err *err)
{
    uint64_t sorted[REPEATS], ns;

    if (!canary_time(&r->base, kernel, items, CANARY_GROUP, launches, &ns, err))
        return false;
    for (size_t i = 0; i < REPEATS; i++) {
        size_t k = i;
        if (!canary_time(&r->base, kernel, items, CANARY_GROUP, launches, &ns, err))
            return false;
        for (; k > 0 && sorted[k - 1] > ns; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = ns;
    }
    *out = sorted[REPEATS / 2];
    return true;
}

bool canary_measure(struct renderer *renderer, struct render_canary *out, struct err *err)
{
    struct opencl_renderer *r = (struct opencl_renderer *)renderer;
    struct canary *c = &r->canary;

    *out = (struct render_canary){0};
    if (!c->kernels[CANARY_KERNELS - 1] && !make(r, c, err)) {
        canary_fini(c);
        return false;
    }
    return time_median(r, c->kernels[0], c->items, 1, &out->arithmetic_ns, err) &&
           time_median(r, c->kernels[1], c->vectors, COPIES, &out->memory_ns, err) &&
           time_median(r, c->kernels[2], CANARY_GROUP, 1, &out->launch_ns, err);
}
