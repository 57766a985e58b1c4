/* The standard configs inside the executable, in a table that the build writes (scripts/embed.sh). */
#ifndef GPUBENCH_CLI_EMBEDDED_CONFIGS_H
#define GPUBENCH_CLI_EMBEDDED_CONFIGS_H

#include <stddef.h>

struct embedded_config {
    const char *name; /* "configs/crossover.json" */
    const char *text; /* NUL-terminated */
    size_t length;    /* without the NUL */
};

extern const struct embedded_config embedded_configs[];
extern const size_t embedded_configs_count;

#endif
