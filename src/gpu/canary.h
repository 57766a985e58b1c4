/* The device's canary: kernels of fixed work (kernels/canary.cl). */
#ifndef GPUBENCH_GPU_CANARY_H
#define GPUBENCH_GPU_CANARY_H

#include <CL/cl.h>

#include "base/err.h"
#include "model/renderer.h"

#define CANARY_KERNELS 3

struct canary {
    cl_kernel
        kernels[CANARY_KERNELS]; /* owned; arithmetic, memory, launch; NULL until the first measurement */
    cl_mem in, out;              /* owned */
    size_t items, vectors;       /* work-items of the arithmetic; float4 that are copied */
};

/* renderer_ops.canary */
bool canary_measure(struct renderer *renderer, struct render_canary *out, struct err *err);
#define CANARY_GROUP 64
/* Host time of `launches` of a kernel in a row, in groups of `group` work-items, until all are done. */
bool canary_time(struct renderer *renderer, cl_kernel kernel, size_t items, size_t group, uint32_t launches,
                 uint64_t *ns, struct err *err) GB_NODISCARD;
/* A buffer full of ones. */
bool canary_buffer(struct renderer *renderer, size_t bytes, cl_mem *out, struct err *err) GB_NODISCARD;
void canary_fini(struct canary *canary); /* accepts a zeroed one */

#endif
