/* The structures that host and kernels share, as each side lays them out. */
#ifndef GPUBENCH_GPU_LAYOUT_H
#define GPUBENCH_GPU_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/renderer.h"

/* One field, or, with field NULL, the whole structure (offset: its size). */
struct layout_row {
    const char *structure, *field;
    uint32_t offset_host, size_host; /* bytes */
    uint32_t offset_device;
};

#define LAYOUT_ROWS 29

/* Asks the device's compiler. ERR_INTERNAL when any row differs; rows are filled all the same. */
bool layout_compare(struct opencl_renderer *r, struct layout_row rows[LAYOUT_ROWS], struct err *err) GB_NODISCARD;

#endif
