/* Work that keeps a device busy while the host enqueues what is to be timed. */
#ifndef GPUBENCH_GPU_STALL_H
#define GPUBENCH_GPU_STALL_H

#include <CL/cl.h>

#include "base/err.h"

struct opencl_renderer;

struct stall {
    cl_kernel kernel; /* owned; NULL until the first use */
    cl_mem out;       /* owned */
};

/* Enqueues about 0.1 ms of it. What follows in the queue then starts at the device's pace: by the events of an idle
 * NVIDIA H200, each kernel takes 2 to 3 us longer and the next one starts up to 7 us later, for as long as the host
 * takes to enqueue it. (nvbench's blocking kernel serves the same end.) */
bool stall_enqueue(struct opencl_renderer *r, cl_command_queue queue, struct err *err) GB_NODISCARD;
void stall_fini(struct stall *stall); /* accepts a zeroed one */

#endif
