/* A spec made ready on a device, and the calls it makes. */
#ifndef GPUBENCH_GPU_JOB_H
#define GPUBENCH_GPU_JOB_H

#include "gpu/cut.h"
#include "gpu/host.h"
#include "gpu/memory.h"
#include "gpu/renderer.h"

struct fit;

struct opencl_job {
    struct render_job base;
    struct opencl_renderer *r;
    struct tile_shape shape;
    uint32_t tiles_x, tiles_y;
    struct pass passes[MAX_PASSES];
    size_t pass_count;
    cl_kernel setup, bin, gather, pass_kernels[MAX_PASSES]; /* owned; bin: NULL without bins */
    struct host_array in;    /* [B][T][10] parameters, [B][3] backgrounds */
    struct host_array goal;  /* [B][H][W][3] targets or dL/dC */
    struct host_array image; /* [B][H][W][3] */
    struct host_array out;   /* [B][T][10] gradients, [B] losses, [B] slots needed */
    cl_mem resident_goal;    /* from the pool, kept while the job is open; NULL unless CALL_RESIDENT */
    cl_mem group_counts;     /* [slice_scenes][SHARED_COUNT_STRIDE], with shape.whole: owned; all 0 between calls */
    uint32_t slot_capacity;  /* a scene */
    struct fit *fit;         /* owned; NULL until gpu/fit.c takes a step */
    struct memory_plan plan;
    struct {
        struct cut setup, bin, passes[MAX_PASSES], gather;
    } cuts; /* where the device has max_submit_ns */
    uint64_t longest_submission_ns; /* likewise; of all calls */
    struct render_counts counts;
};

bool job_open(struct renderer *renderer, const struct render_spec *spec, struct render_job **out,
              struct err *err);
void job_close(struct render_job *job);
bool job_inputs_changed(struct render_job *job, struct err *err);
bool job_poison(struct render_job *job, struct err *err);

/* *out is released by clReleaseKernel. */
bool job_kernel(struct opencl_renderer *r, const char *file, const char *name, const char *defines, cl_kernel *out,
                struct err *err) GB_NODISCARD;

/* Makes room for partial sums: at least `slots` a scene. ERR_LIMIT when the budget does not allow it. */
bool job_reserve_slots(struct opencl_job *job, uint64_t slots, struct err *err) GB_NODISCARD;

/* The same where the device says that a scene needs so many, and there is too little room. ERR_WRONG when no scene
 * can. */
bool job_grow_slots(struct opencl_job *job, uint64_t needed, struct err *err) GB_NODISCARD;

bool job_call(struct render_job *job, struct err *err);
bool job_call_phased(struct render_job *job, struct render_phases *out, struct err *err);
bool job_call_profiled(struct render_job *job, struct render_profile *out, struct err *err);

#endif
