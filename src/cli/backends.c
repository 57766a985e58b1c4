#include "cli/backends.h"

#include "base/mem.h"
#include "cli/signals.h"
#include "cpu/openmp.h"
#include "gpu/opencl.h"

static bool list_openmp(const struct backend_options *options, struct device_info **out, size_t *count,
                        struct err *err)
{
    struct device_info *info = mem_calloc(1, sizeof *info, "devices", err);

    if (!info)
        return false;
    openmp_info(options->threads, options->isa, info);
    *out = info;
    *count = 1;
    return true;
}

static bool create_openmp(const char *selector, const struct backend_options *options, struct renderer **out,
                          struct err *err)
{
    (void)selector;
    return openmp_create(options->threads, options->isa, out, err);
}

static bool list_opencl(const struct backend_options *options, struct device_info **out, size_t *count,
                        struct err *err)
{
    signals_driver_begin();
    const bool ok = opencl_list(options->path, out, count, err);
    signals_driver_end();
    return ok;
}

static bool create_opencl(const char *selector, const struct backend_options *options, struct renderer **out,
                          struct err *err)
{
    const struct opencl_options how = {.kernel_dir = options->kernel_dir,
                                       .path = options->path,
                                       .tile = options->tile,
                                       .memory_budget_bytes = options->memory_budget_bytes,
                                       .max_submit_ns = options->max_submit_ns,
                                       .compiling = signals_work_begin};

    signals_driver_begin();
    const bool ok = opencl_create(selector, &how, out, err);
    signals_driver_end();
    return ok;
}

const struct backend_factory backend_factories[BACKEND_COUNT] = {
    [BACKEND_OPENMP] = {BACKEND_OPENMP, list_openmp, create_openmp},
    [BACKEND_OPENCL] = {BACKEND_OPENCL, list_opencl, create_opencl},
};
