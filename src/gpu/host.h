/* Host arrays that a device can reach fast. */
#ifndef GPUBENCH_GPU_HOST_H
#define GPUBENCH_GPU_HOST_H

#include <CL/cl.h>
#include <stdint.h>

#include "gpu/renderer.h"

enum host_kind {
    HOST_PINNED,   /* page-locked by the driver: copies run at the bus' speed */
    HOST_ORDINARY, /* plain memory */
    HOST_SHARED,   /* the device works on it in place; mapped between calls */
};

struct host_array {
    enum host_kind kind;
    void *data;    /* valid on the host, for HOST_SHARED while mapped */
    cl_mem buffer; /* pinned or shared memory's; NULL for ordinary */
    bool lent;     /* HOST_SHARED: to the device */
    uint64_t bytes;
};

/* Zeroed memory of at least one byte. */
bool host_array_init(struct host_array *a, struct opencl_renderer *r, enum host_kind kind, uint64_t bytes,
                     struct err *err) GB_NODISCARD;
/* Accepts a zeroed array. */
void host_array_fini(struct host_array *a, struct opencl_renderer *r);

/* HOST_SHARED: hands the array to the device, and takes it back (waiting for the queue); nothing where it is
 * already there. */
bool host_array_lend(struct host_array *a, struct opencl_renderer *r, cl_command_queue queue, struct err *err)
    GB_NODISCARD;
bool host_array_reclaim(struct host_array *a, struct opencl_renderer *r, cl_command_queue queue, struct err *err)
    GB_NODISCARD;

#endif
