/* A slice of a call: the scenes that one dispatch takes, from upload to readback. */
#ifndef GPUBENCH_GPU_SLICE_H
#define GPUBENCH_GPU_SLICE_H

#include "gpu/job.h"
#include "shared.h"

enum phase { PHASE_PACK, PHASE_ALLOC, PHASE_UPLOAD, PHASE_DISPATCH, PHASE_READBACK, PHASE_LOSS, PHASES };

#define MAX_LAUNCHES 8 /* of one slice: setup, bin, two passes, gather */

/* How a call is watched: not at all, phase by phase, or by device events. */
struct watch {
    cl_command_queue queue;
    bool phased;
    uint64_t mark_ns, phase_ns[PHASES];
    struct render_profile *profile; /* NULL unless profiling */
    struct {
        cl_event event;
        const char *name;
        uint64_t bytes; /* of the arrays that it is given */
    } launches[MAX_LAUNCHES];
    size_t launch_count;
    uint64_t first_start, last_end; /* the device's clock */
};

#define SLICE_BUFFERS 10
struct slice_buffers {
    cl_mem in, goal, image, out;                 /* the caller's arrays themselves where memory is shared */
    cl_mem triangles, bounds, bins, slots, tape, loss; /* the device's own; NULL where the spec has none */
    cl_mem taken[SLICE_BUFFERS];                 /* those that go back to the pool */
    size_t taken_count;
};

struct slice {
    struct slice_buffers buffers;
    struct shared_view view;
    uint32_t first, scenes; /* of the batch */
};

/* Room for the most scenes that a slice of the job has, so that the last one, which may have fewer, finds buffers of its
 * size in the pool: the budget has no room for two sizes. */
bool slice_take(struct opencl_job *job, struct slice_buffers *out, struct err *err) GB_NODISCARD;
void slice_give(struct opencl_job *job, struct slice_buffers *b);

/* The kernels' parameters for slice->first and ->scenes. */
void slice_view(const struct opencl_job *job, struct slice *s);

/* Enqueues the copies that the call makes, or lends the arrays. */
bool slice_upload(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err) GB_NODISCARD;
/* Where memory is shared: hands the arrays to the device. */
bool slice_lend(struct opencl_job *job, struct watch *watch, struct err *err) GB_NODISCARD;
bool slice_read_image(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err)
    GB_NODISCARD;
bool slice_read_back(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err)
    GB_NODISCARD;
/* Waits for the queue; where memory is shared, takes the arrays back. */
bool slice_wait(struct opencl_job *job, struct watch *watch, struct err *err) GB_NODISCARD;

/* Enqueues setup, and bin where the shape has bins; one of the job's passes; the second pass of sums and losses, if the job has one. */
bool launch_setup(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err) GB_NODISCARD;
bool launch_pass(struct opencl_job *job, struct watch *watch, const struct slice *s, size_t pass, struct err *err)
    GB_NODISCARD;
bool launch_gather(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err) GB_NODISCARD;

/* Adds the finished launches' times to the watch's profile and releases their events. */
void watch_collect(struct watch *watch);

#endif
