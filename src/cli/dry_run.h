/* --dry-run: what would run, with memory and time, on standard output. */
#ifndef GPUBENCH_CLI_DRY_RUN_H
#define GPUBENCH_CLI_DRY_RUN_H

#include "bench/runner.h"
#include "cli/measure_options.h"

/* ERR_USAGE: a plan has no other format than text. */
bool dry_run_check(const struct measure_options *options, struct err *err) GB_NODISCARD;

bool dry_run_print(struct runner *runner, const struct config *config, struct err *err) GB_NODISCARD;

#endif
