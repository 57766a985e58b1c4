#include "gpu/ceilings.h"

#include <stdint.h>

#include "base/clock.h"
#include "gpu/canary.h"
#include "gpu/error.h"
#include "gpu/job.h"

#define REPEATS 30
/* As much as a lane of kernels/ceilings.cl does a round. */
#define FMA_A_ROUND (12 * 8)
#define EXP_A_ROUND 4
/* Work-items a compute unit: eight times what a GPU's holds at once. A kernel takes about a millisecond. */
#define GPU_ITEMS 16384u
#define GPU_FMA_ROUNDS 1024u
#define GPU_EXP_ROUNDS 2048u
/* PoCL hands out groups by 32 and more: enough for all threads to get their share. */
#define CPU_ITEMS (64 * CANARY_GROUP)
#define CPU_FMA_ROUNDS 32u
#define CPU_EXP_ROUNDS 32u
/* More than caches hold. */
#define GPU_COPY_BYTES (UINT64_C(512) << 20)
#define CPU_COPY_BYTES (UINT64_C(128) << 20)
#define GPU_COPIES 4u /* waited for together */
/* Smaller groups keep a device busy with starting them: 3.35 TB/s with 64, 4.25 with 256 on an NVIDIA H200. */
#define GPU_COPY_GROUP 256u
#define TRANSFER_BYTES (UINT64_C(64) << 20)

static void keep_best(uint64_t ns, uint64_t *best)
{
    if (ns < *best)
        *best = ns;
}

static double rate(double amount, uint64_t ns)
{
    return amount * 1e9 / (double)(ns ? ns : 1);
}

/* The shortest of REPEATS; one before them warms up. */
static bool time_best(struct opencl_renderer *r, cl_kernel kernel, size_t items, size_t group, uint32_t launches,
                      uint64_t *out, struct err *err)
{
    uint64_t ns;

    if (!canary_time(&r->base, kernel, items, group, 1, &ns, err))
        return false;
    *out = UINT64_MAX;
    for (int i = 0; i < REPEATS; i++) {
        if (!canary_time(&r->base, kernel, items, group, launches, &ns, err))
            return false;
        keep_best(ns, out);
    }
    return true;
}

/* ---- arithmetic ---- */

/* Rounds of single lanes a second. width: floats a lane holds. */
static bool measure_lanes(struct opencl_renderer *r, const char *defines, size_t width, const char *name,
                          cl_uint rounds, double *out, struct err *err)
{
    const bool cpu = r->base.info.kind == DEVICE_CPU;
    const size_t units = r->base.info.compute_units;
    const size_t items = (units ? units : 1) * (cpu ? CPU_ITEMS : GPU_ITEMS);
    cl_kernel kernel;
    cl_mem sink = NULL;
    uint64_t ns;

    if (!job_kernel(r, "ceilings.cl", name, defines, &kernel, err))
        return false;
    bool ok = canary_buffer(&r->base, items * width * sizeof(cl_float), &sink, err);
    if (ok) {
        cl_int code = clSetKernelArg(kernel, 0, sizeof(sink), &sink);
        code = code ? code : clSetKernelArg(kernel, 1, sizeof(rounds), &rounds);
        ok = code == CL_SUCCESS || opencl_fail(err, code, "clSetKernelArg", r->base.info.name);
    }
    ok = ok && time_best(r, kernel, items, CANARY_GROUP, 1, &ns, err);
    if (ok)
        *out = rate((double)(items * width) * rounds, ns);
    if (sink)
        clReleaseMemObject(sink);
    clReleaseKernel(kernel);
    return ok;
}

static bool measure_arithmetic(struct opencl_renderer *r, struct render_ceilings *out, struct err *err)
{
    const bool cpu = r->base.info.kind == DEVICE_CPU;
    struct strbuf defines = STRBUF_INIT;
    double fma_lanes = 0, exp_lanes = 0;
    struct render_spec spec;
    struct tile_shape shape;

    spec_init(&spec);
    if (!renderer_shape(r, &spec, &shape, err))
        return false;
    const size_t width = r->path == PATH_CPU ? (size_t)shape.block_w * shape.block_h : 1;
    shape_defines(r->path, &shape, &defines);
    bool ok = strbuf_ok(&defines, err) &&
              measure_lanes(r, strbuf_str(&defines), width, "ceiling_fma", cpu ? CPU_FMA_ROUNDS : GPU_FMA_ROUNDS,
                            &fma_lanes, err) &&
              measure_lanes(r, strbuf_str(&defines), width, "ceiling_exp", cpu ? CPU_EXP_ROUNDS : GPU_EXP_ROUNDS,
                            &exp_lanes, err);
    out->flop = 2 * FMA_A_ROUND * fma_lanes;
    out->exp = EXP_A_ROUND * exp_lanes;
    strbuf_fini(&defines);
    return ok;
}

/* ---- memory ---- */

/* The canary's kernels on arrays of another size. */
static bool measure_memory(struct opencl_renderer *r, struct render_ceilings *out, struct err *err)
{
    const struct device_info *info = &r->base.info;
    const bool cpu = info->kind == DEVICE_CPU;
    const cl_uint copies = cpu ? 1 : GPU_COPIES;
    const size_t group = cpu || info->max_work_group_size < GPU_COPY_GROUP ? CANARY_GROUP : GPU_COPY_GROUP;
    uint64_t bytes = cpu ? CPU_COPY_BYTES : GPU_COPY_BYTES, ns;
    const cl_uint never = 0;
    cl_mem in = NULL, to = NULL;
    cl_kernel copy = NULL, empty = NULL;
    cl_int code;

    if (bytes > info->global_bytes / 16)
        bytes = info->global_bytes / 16;
    if (bytes > info->max_alloc_bytes)
        bytes = info->max_alloc_bytes;
    const size_t vectors = bytes / sizeof(cl_float4) / group * group;
    if (!vectors)
        return err_set(err, ERR_LIMIT, "%s has no memory for a copy", info->name);
    bool ok = canary_buffer(&r->base, vectors * sizeof(cl_float4), &in, err) &&
              canary_buffer(&r->base, vectors * sizeof(cl_float4), &to, err) &&
              job_kernel(r, "canary.cl", "canary_memory", "", &copy, err) &&
              job_kernel(r, "canary.cl", "canary_launch", "", &empty, err);
    if (!ok)
        goto out;
    code = clSetKernelArg(copy, 0, sizeof(in), &in);
    code = code ? code : clSetKernelArg(copy, 1, sizeof(to), &to);
    code = code ? code : clSetKernelArg(empty, 0, sizeof(to), &to);
    code = code ? code : clSetKernelArg(empty, 1, sizeof(never), &never);
    ok = (code == CL_SUCCESS || opencl_fail(err, code, "clSetKernelArg", info->name)) &&
         time_best(r, copy, vectors, group, copies, &ns, err);
    if (!ok)
        goto out;
    out->copy_bytes = rate(2.0 * copies * (double)(vectors * sizeof(cl_float4)), ns);
    ok = time_best(r, empty, CANARY_GROUP, CANARY_GROUP, 1, &ns, err);
    out->launch_ns = ok ? (double)ns : 0;
out:
    if (empty)
        clReleaseKernel(empty);
    if (copy)
        clReleaseKernel(copy);
    if (to)
        clReleaseMemObject(to);
    if (in)
        clReleaseMemObject(in);
    return ok;
}

/* ---- across the bus ---- */

static bool transfer(struct opencl_renderer *r, cl_mem buffer, struct host_array *host, bool up, double *out,
                     struct err *err)
{
    const size_t bytes = (size_t)host->bytes;
    uint64_t best = UINT64_MAX;

    for (int i = 0; i <= REPEATS; i++) {
        const uint64_t start = clock_now_ns();
        cl_int code =
            up ? clEnqueueWriteBuffer(r->queue, buffer, CL_TRUE, 0, bytes, host->data, 0, NULL, NULL)
               : clEnqueueReadBuffer(r->queue, buffer, CL_TRUE, 0, bytes, host->data, 0, NULL, NULL);
        if (code != CL_SUCCESS)
            return opencl_fail(err, code, up ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer",
                               r->base.info.name);
        if (i > 0) /* one warms up */
            keep_best(clock_now_ns() - start, &best);
    }
    *out = rate((double)bytes, best);
    return true;
}

static bool transfers(struct opencl_renderer *r, enum host_kind kind, double *up, double *down,
                      struct err *err)
{
    uint64_t bytes = TRANSFER_BYTES;
    struct host_array host = {0};
    cl_mem buffer = NULL;

    if (bytes > r->base.info.max_alloc_bytes / 2)
        bytes = r->base.info.max_alloc_bytes / 2;
    bool ok = host_array_init(&host, r, kind, bytes, err) &&
              canary_buffer(&r->base, (size_t)host.bytes, &buffer, err) &&
              transfer(r, buffer, &host, true, up, err) && transfer(r, buffer, &host, false, down, err);
    if (buffer)
        clReleaseMemObject(buffer);
    host_array_fini(&host, r);
    return ok;
}

bool ceilings_measure(struct renderer *renderer, struct render_ceilings *out, struct err *err)
{
    struct opencl_renderer *r = (struct opencl_renderer *)renderer;

    *out = (struct render_ceilings){0};
    if (!measure_arithmetic(r, out, err) || !measure_memory(r, out, err))
        return false;
    return r->base.info.host_unified ||
           (transfers(r, HOST_PINNED, &out->up_pinned_bytes, &out->down_pinned_bytes, err) &&
            transfers(r, HOST_ORDINARY, &out->up_pageable_bytes, &out->down_pageable_bytes, err));
}
