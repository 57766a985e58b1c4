/* The kernels' sources inside the executable, in a table that the build writes (scripts/embed.sh). */
#ifndef GPUBENCH_GPU_EMBEDDED_H
#define GPUBENCH_GPU_EMBEDDED_H

#include <stddef.h>

struct embedded_kernel {
    const char *name;   /* "kernels/fused.cl": the path in the repository; headers are in the table, too */
    const char *text;   /* NUL-terminated */
    size_t length;      /* without the NUL */
};

extern const struct embedded_kernel embedded_kernels[];
extern const size_t embedded_kernels_count;

#endif
