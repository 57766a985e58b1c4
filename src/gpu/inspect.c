#include "gpu/inspect.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gpu/arguments.h"
#include "gpu/device.h"
#include "gpu/error.h"
#include "gpu/renderer.h"

/* NVIDIA's compiler prints registers and spills on request. */
static void add_options(const struct opencl_renderer *r, const struct program_variant *variant, uint64_t salt,
                        struct strbuf *out)
{
    strbuf_addf(out, "%s%s -cl-kernel-arg-info -DINSPECTION=%" PRIu64 "u", strbuf_str(&r->build_options),
                variant->defines,
                salt);
    if (device_has_extension(&r->base.info, "cl_nv_compiler_options"))
        strbuf_add(out, " -cl-nv-verbose");
}

static bool build(struct opencl_renderer *r, const struct program_variant *variant, const char *options,
                  uint64_t *elapsed_ns, cl_program *out, struct err *err)
{
    uint64_t start = clock_now_ns();
    bool ok = program_build(r->context, r->device, r->base.info.name, variant->file, r->kernel_dir, options,
                            out, err);

    *elapsed_ns = clock_now_ns() - start;
    return ok;
}

/* ---- facts ---- */

static uint64_t group_info(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what)
{
    uint64_t value = 0;
    size_t size = 0;

    if (clGetKernelWorkGroupInfo(kernel, device, what, 0, NULL, &size) != CL_SUCCESS ||
        size > sizeof(value) ||
        clGetKernelWorkGroupInfo(kernel, device, what, size, &value, NULL) != CL_SUCCESS)
        return UINT64_MAX;
    return value;
}

static uint64_t number_before(const char *text, const char *unit, const char *end)
{
    const char *at = strstr(text, unit);

    if (!at || at >= end)
        return UINT64_MAX;
    while (at > text && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return strtoull(at, NULL, 10);
}

/* ptxas: "Compiling entry function 'NAME' ... 0 bytes spill stores, 0 bytes spill loads ... Used 40
 * registers". */
static void read_log(const char *log, struct kernel_facts *kernel)
{
    char quoted[64];

    kernel->registers = kernel->spill_bytes = UINT64_MAX;
    snprintf(quoted, sizeof(quoted), "entry function '%s'", kernel->name);
    const char *at = log ? strstr(log, quoted) : NULL;
    if (!at)
        return;
    const char *next = strstr(at + strlen(quoted), "entry function '"), *end = next ? next : at + strlen(at);
    kernel->registers = number_before(at, " registers", end);
    uint64_t stores = number_before(at, " bytes spill stores", end),
             loads = number_before(at, " bytes spill loads", end);
    if (stores != UINT64_MAX && loads != UINT64_MAX)
        kernel->spill_bytes = stores + loads;
}

static bool look_at(struct opencl_renderer *r, cl_kernel kernel, const char *log, const char *source,
                    struct kernel_facts *out, struct err *err)
{
    struct kernel_argument arguments[ARGUMENTS_MAX];
    size_t count, length = 0;

    out->private_bytes = group_info(kernel, r->device, CL_KERNEL_PRIVATE_MEM_SIZE);
    out->local_bytes = group_info(kernel, r->device, CL_KERNEL_LOCAL_MEM_SIZE);
    out->multiple = group_info(kernel, r->device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
    out->max_group = group_info(kernel, r->device, CL_KERNEL_WORK_GROUP_SIZE);
    read_log(log, out);
    if (!arguments_of(kernel, arguments, &count, err))
        return err_wrap(err, "%s", out->name);
    for (size_t i = 0; i < count && length < sizeof(out->arguments); i++) {
        int added = snprintf(out->arguments + length, sizeof(out->arguments) - length, "%s%s: %s %s",
                             i ? "; " : "", arguments[i].name, arguments[i].space, arguments[i].type);
        length += added > 0 ? (size_t)added : 0;
    }
    return arguments_check(out->name, arguments, count, source, err);
}

static bool look_at_all(struct opencl_renderer *r, cl_program program, const char *source,
                        struct program_facts *out, struct err *err)
{
    cl_kernel kernels[INSPECT_KERNELS];
    cl_uint count = 0;
    uint64_t start = clock_now_ns();
    cl_int code = clCreateKernelsInProgram(program, INSPECT_KERNELS, kernels, &count);
    char *log = NULL;
    bool ok = true;

    out->create_ns = clock_now_ns() - start;
    if (code != CL_SUCCESS)
        return opencl_fail(err, code, "clCreateKernelsInProgram", r->base.info.name);
    if (count > INSPECT_KERNELS)
        return err_set(err, ERR_OPENCL, "clCreateKernelsInProgram on %s: %u kernels, where there is room for %d",
                       r->base.info.name, (unsigned)count, INSPECT_KERNELS);
    log = program_log(program, r->device);
    out->kernel_count = count;
    for (cl_uint i = 0; i < count; i++) {
        struct kernel_facts *facts = &out->kernels[i];
        code = clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof(facts->name) - 1, facts->name, NULL);
        ok = (code == CL_SUCCESS ? look_at(r, kernels[i], log, source, facts, err)
                                 : opencl_fail(err, code, "clGetKernelInfo(CL_KERNEL_FUNCTION_NAME)",
                                               r->base.info.name)) &&
             ok;
        clReleaseKernel(kernels[i]);
    }
    free(log);
    return ok && (count > 0 || err_set(err, ERR_BUILD, "the program has no kernel"));
}

bool inspect_program(struct renderer *renderer, const struct program_variant *variant, uint64_t salt,
                     struct program_facts *out, struct err *err)
{
    struct opencl_renderer *r = (struct opencl_renderer *)renderer;
    struct strbuf options = STRBUF_INIT, source = STRBUF_INIT;
    cl_program cold = NULL, cached = NULL;
    bool ok = false;

    *out = (struct program_facts){0};
    add_options(r, variant, salt, &options);
    if (!strbuf_ok(&options, err) || !program_source(variant->file, r->kernel_dir, &source, err) ||
        !build(r, variant, strbuf_str(&options), &out->cold_ns, &cold, err) ||
        !build(r, variant, strbuf_str(&options), &out->cached_ns, &cached, err))
        goto out;
    ok = look_at_all(r, cold, strbuf_str(&source), out, err);
out:
    if (cold)
        clReleaseProgram(cold);
    if (cached)
        clReleaseProgram(cached);
    strbuf_fini(&options);
    strbuf_fini(&source);
    return ok;
}

/* ---- at once ---- */

struct builder {
    pthread_t thread;
    struct opencl_renderer *r;
    const struct program_variant *variant;
    uint64_t salt;
    struct err err;
};

static void *build_one(void *context)
{
    struct builder *b = context;
    struct strbuf options = STRBUF_INIT;
    cl_program program = NULL;
    uint64_t elapsed;

    add_options(b->r, b->variant, b->salt, &options);
    if (strbuf_ok(&options, &b->err) &&
        build(b->r, b->variant, strbuf_str(&options), &elapsed, &program, &b->err))
        clReleaseProgram(program);
    strbuf_fini(&options);
    return NULL;
}

bool inspect_at_once(struct renderer *renderer, const struct program_variant *variants, size_t count,
                     uint64_t salt, uint64_t *wall_ns, struct err *err)
{
    struct builder *builders = mem_calloc(count, sizeof(*builders), "builds", err);
    uint64_t start = clock_now_ns();
    size_t started = 0;
    bool ok = builders != NULL;

    for (; ok && started < count; started++) {
        struct builder *b = &builders[started];
        *b = (struct builder){
            .r = (struct opencl_renderer *)renderer, .variant = &variants[started], .salt = salt};
        int code = pthread_create(&b->thread, NULL, build_one, b);
        if (code) {
            ok = err_set_native(err, ERR_IO, code, "a thread for building");
            break;
        }
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(builders[i].thread, NULL);
        if (builders[i].err.code && ok) {
            ok = err_set(err, builders[i].err.code, "%s", builders[i].err.text);
            err->log = builders[i].err.log;
            builders[i].err.log = NULL;
        }
        err_fini(&builders[i].err);
    }
    *wall_ns = clock_now_ns() - start;
    free(builders);
    return ok;
}
