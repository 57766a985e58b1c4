/* What each OpenCL device guarantees against what a config needs: devices --limits. */
#ifndef GPUBENCH_CLI_LIMITS_H
#define GPUBENCH_CLI_LIMITS_H

#include "cli/measure_options.h"

/* Prints a table a device. Returns an exit code: EXIT_FAILED when some cell needs more than a device has. */
int limits_print(const char *config, const struct measure_options *options);

#endif
