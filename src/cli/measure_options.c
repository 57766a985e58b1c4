#include "cli/measure_options.h"

#include <errno.h>
#include <unistd.h>

#include "gpu/program.h"
#include "gpu/variant.h"

const char *const measure_isas[] = {"avx512", "avx2", "portable", NULL};
const char *const measure_paths[] = {"ptx", "subgroups", "local", "cpu", NULL};

bool measure_backend_options(const struct measure_options *options, struct backend_options *out,
                             struct err *err)
{
    if (options->kernel_dir && access(options->kernel_dir, R_OK | X_OK) != 0)
        return err_set_native(err, ERR_IO, errno, "--kernel-dir %s", options->kernel_dir);
    if (options->kernel_dir && !program_check_dir(options->kernel_dir, err))
        return err_wrap(err, "--kernel-dir");
    if (options->tile && !tile_parse(options->tile, &(struct tile_request){0}, err))
        return err_wrap(err, "--tile");
    *out = (struct backend_options){
        .threads = (uint32_t)options->threads.value,
        .kernel_dir = options->kernel_dir,
        .isa = options->isa,
        .path = options->path,
        .tile = options->tile,
        .tune = !options->dry_run,
        .memory_budget_bytes = options->memory_budget.value,
        .max_submit_ns = !options->max_submit.given  ? 0
                         : options->max_submit.value ? options->max_submit.value * UINT64_C(1000000)
                                                     : UINT64_MAX,
    };
    return true;
}
