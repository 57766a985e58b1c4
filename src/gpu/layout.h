/* The structures that host and kernels share, as each side's compiler lays them out. */
#ifndef GPUBENCH_GPU_LAYOUT_H
#define GPUBENCH_GPU_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "model/renderer.h"
#include "model/struct_rules.h"

struct layout_place {
    uint32_t offset, size, align; /* bytes */
};

/* One field, or, with field NULL, the whole structure (offset 0; type is not set). */
struct layout_row {
    const char *structure, *field;
    enum rule_type type;
    uint32_t count; /* of an array; 0: no array */
    struct layout_place host, device;
};

#define LAYOUT_ROWS 31

bool layout_differs(const struct layout_row *row);

/* Asks the compiler of an OpenCL renderer's device. ERR_WRONG, naming the first, when any row differs; rows are
 * filled all the same. Other errors leave them alone. */
bool layout_compare(struct renderer *renderer, struct layout_row rows[LAYOUT_ROWS], struct err *err) GB_NODISCARD;

#endif
