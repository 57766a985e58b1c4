/* Devices of version 1.2 have no other way to open a queue. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "gpu/renderer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "gpu/ceilings.h"
#include "gpu/device.h"
#include "gpu/error.h"
#include "gpu/fit.h"
#include "gpu/job.h"
#include "gpu/limits.h"
#include "gpu/opencl.h"
#include "gpu/path.h"
#include "gpu/tuning.h"

/* Devices that share the host's memory leave more of it to the host, and control groups may allow less than the
 * driver tells. */
static uint64_t default_budget(const struct device_info *info)
{
    const uint64_t machine = mem_machine_bytes();

    if (!info->host_unified)
        return info->global_bytes / 10 * 8;
    return (info->global_bytes < machine ? info->global_bytes : machine) / 10 * 5;
}

bool renderer_program(struct opencl_renderer *r, const char *file, const char *defines, cl_program *out,
                      struct err *err)
{
    struct strbuf options = STRBUF_INIT;
    bool ok;

    strbuf_addf(&options, "%s%s", strbuf_str(&r->build_options), defines);
    ok = strbuf_ok(&options, err) && program_cache_get(&r->programs, r->context, r->device, r->base.info.name, file,
                                                       r->kernel_dir, strbuf_str(&options), out, err);
    strbuf_fini(&options);
    return ok;
}

bool renderer_shape(const struct opencl_renderer *r, const struct render_spec *spec, struct tile_shape *out,
                    struct err *err)
{
    return shape_choose(r->path, &r->base.info, r->lanes, &r->tile, spec, out, err);
}

bool renderer_queue(struct opencl_renderer *r, cl_command_queue_properties properties, cl_command_queue *out,
                    struct err *err)
{
    cl_int code;

    *out = clCreateCommandQueue(r->context, r->device, properties, &code);
    return *out || opencl_fail(err, code, "clCreateCommandQueue", r->base.info.name);
}

static cl_mem create_buffer(void *context, cl_mem_flags usage, size_t bytes, cl_int *code)
{
    struct opencl_renderer *r = context;

    return clCreateBuffer(r->context, usage, bytes, NULL, code);
}

static void release_buffer(void *context, cl_mem buffer)
{
    (void)context;
    clReleaseMemObject(buffer);
}

bool renderer_ask(struct opencl_renderer *r, cl_program program, const char *kernel_name, size_t lanes, void *out,
                  size_t bytes, struct err *err)
{
    char what[64];
    cl_mem buffer = NULL;
    cl_int code;
    cl_kernel kernel = clCreateKernel(program, kernel_name, &code);

    snprintf(what, sizeof(what), "running the %s kernel", kernel_name);

    if (kernel)
        buffer = clCreateBuffer(r->context, CL_MEM_WRITE_ONLY, bytes, NULL, &code);
    if (buffer)
        code = clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(r->queue, kernel, 1, NULL, &lanes, &lanes, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clEnqueueReadBuffer(r->queue, buffer, CL_TRUE, 0, bytes, out, 0, NULL, NULL);
    if (buffer)
        clReleaseMemObject(buffer);
    if (kernel)
        clReleaseKernel(kernel);
    return code == CL_SUCCESS || opencl_fail(err, code, what, r->base.info.name);
}

/* ---- opening and closing ---- */

static void destroy(struct renderer *base)
{
    struct opencl_renderer *r = (struct opencl_renderer *)base;

    if (!r)
        return;
    canary_fini(&r->canary);
    stall_fini(&r->stall);
    pool_fini(&r->pool);
    program_cache_fini(&r->programs);
    if (r->profiling_queue)
        clReleaseCommandQueue(r->profiling_queue);
    if (r->queue)
        clReleaseCommandQueue(r->queue);
    if (r->context)
        clReleaseContext(r->context);
    strbuf_fini(&r->build_options);
    free(r->kernel_dir);
    free(r);
}

/* Whether fma() is one instruction on this machine's processor: some CPU devices do not tell. */
static bool host_has_fma(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

/* Sub-groups and float atomics are not in OpenCL C 1.2, which compilers take programs for unless told. */
static const char *language_of(const struct device_info *info)
{
    if (!info->has_subgroups && !info->has_float_atomics)
        return "";
    return device_has_version(info, 3, 0) ? " -cl-std=CL3.0" : device_has_version(info, 2, 0) ? " -cl-std=CL2.0" : "";
}

static bool open_context(struct opencl_renderer *r, struct err *err)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)r->platform, 0};
    cl_device_fp_config fp = 0;
    cl_int code;

    r->context = clCreateContext(properties, 1, &r->device, NULL, NULL, &code);
    if (!r->context)
        return opencl_fail(err, code, "clCreateContext", r->base.info.name);
    if (!renderer_queue(r, 0, &r->queue, err))
        return false;
    if (clGetDeviceInfo(r->device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(fp), &fp, NULL) == CL_SUCCESS &&
        (fp & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT))
        strbuf_add(&r->build_options, "-cl-fp32-correctly-rounded-divide-sqrt");
    /* NVIDIA's compiler does not define FP_FAST_FMAF. */
    if (r->base.info.kind == DEVICE_CPU ? r->base.info.host_unified && host_has_fma() : (fp & CL_FP_FMA) != 0)
        strbuf_add(&r->build_options, " -DHAS_FMA");
    if (r->base.info.kind == DEVICE_CPU)
        strbuf_add(&r->build_options, " -DON_CPU");
    if (r->base.info.has_float_atomics)
        strbuf_add(&r->build_options, " -DFLOAT_ATOMICS");
    strbuf_add(&r->build_options, language_of(&r->base.info));
    return true;
}

bool opencl_create(const char *selector, const struct opencl_options *options, struct renderer **out,
                   struct err *err)
{
    struct opencl_renderer *r = mem_calloc(1, sizeof(*r), "a renderer", err);
    struct device_info *info;

    *out = NULL;
    if (!r)
        return false;
    info = &r->base.info;
    r->base.ops = &opencl_ops;
    r->compiling = options->compiling;
    if (!device_open(selector, &r->platform, &r->device, info, err) || !open_context(r, err))
        goto fail;
    if (options->kernel_dir && !(r->kernel_dir = mem_strdup(options->kernel_dir, err)))
        goto fail;
    if (options->build_options)
        strbuf_addf(&r->build_options, " %s", options->build_options);
    if (!strbuf_ok(&r->build_options, err) || (options->tile && !tile_parse(options->tile, &r->tile, err)))
        goto fail;
    r->budget_bytes = options->memory_budget_bytes > 0 ? options->memory_budget_bytes : default_budget(info);
    info->max_submit_ns = options->max_submit_ns;
    if (options->max_submit_ns == 0 && (info->has_watchdog || info->drives_display))
        info->max_submit_ns = OPENCL_SUBMIT_NS;
    if (options->max_submit_ns == UINT64_MAX)
        info->max_submit_ns = 0;
    pool_init(&r->pool, &(struct pool_source){create_buffer, release_buffer, r}, info->name, r->budget_bytes);
    if (!path_choose(r, options->path, err))
        goto fail;
    tuning_recall(r);
    *out = &r->base;
    return true;
fail:
    destroy(&r->base);
    return false;
}

/* ---- operations ---- */

/* Which part of the canvas a triangle's bounds are taken to cover before the scenes are known. What partial sums take
 * is then a guess on the safe side, and calls make as much room as their scenes need. Nothing is refused by that guess
 * alone: many triangles are small ones. */
#define ASSUMED_COVER 4
#define LEAST_COVER 16

static uint64_t assumed_slots(const struct render_spec *spec, const struct tile_shape *shape, uint64_t cover)
{
    return shape->whole ? whole_slots(spec, shape)
                        : spec->triangles * (tile_count(shape, spec->width, spec->height) / cover + 1);
}

static bool footprint(struct renderer *base, const struct render_spec *spec, struct render_footprint *out,
                      struct err *err)
{
    struct opencl_renderer *r = (struct opencl_renderer *)base;
    const struct memory_limits limits = {.budget_bytes = r->budget_bytes,
                                         .max_alloc_bytes = r->base.info.max_alloc_bytes,
                                         .shared = r->base.info.host_unified};
    struct tile_shape shape;
    struct err refused = ERR_INIT;
    struct memory_plan plan, least;
    bool ok;

    *out = (struct render_footprint){0};
    if (!spec_check(spec, BACKEND_OPENCL, err) ||
        !renderer_shape(r, spec, &shape, err) || !limits_allow(base, spec, &shape, err))
        return false;
    ok = memory_plan(spec, &shape, assumed_slots(spec, &shape, ASSUMED_COVER), &limits, &plan, err);
    if (!ok && memory_plan(spec, &shape, assumed_slots(spec, &shape, LEAST_COVER), &limits, &least, &refused)) {
        err_fini(err);
        plan = least;
        ok = true;
    }
    err_fini(&refused);
    *out = plan.footprint;
    return ok;
}

static void counts(const struct render_job *base, struct render_counts *out)
{
    *out = ((const struct opencl_job *)base)->counts;
}

const struct renderer_ops opencl_ops = {
    .footprint = footprint,
    .open = job_open,
    .inputs_changed = job_inputs_changed,
    .call = job_call,
    .call_phased = job_call_phased,
    .call_profiled = job_call_profiled,
    .poison = job_poison,
    .counts = counts,
    .canary = canary_measure,
    .fit = job_fit,
    .tune = tuning_probe,
    .ceilings = ceilings_measure,
    .close = job_close,
    .destroy = destroy,
};
