#include "cli/measure_options.h"

struct backend_options measure_backend_options(const struct measure_options *options)
{
    return (struct backend_options){
        .threads = (uint32_t)options->threads.value,
        .kernel_dir = options->kernel_dir,
        .isa = options->isa,
        .path = options->path,
        .memory_budget_bytes = options->memory_budget.value,
    };
}
