/* What a backend is. cpu/ and gpu/ implement this; bench/ times any renderer through it and knows neither.
 *
 *   renderer   a device, opened once: context, compiled kernels, buffer pool, threads
 *   job        one render_spec made ready on it: inputs in the renderer's memory, kernels built
 *   call       scenes in host memory in, losses and gradients in host memory out: the thing that is timed
 *
 * Not thread-safe: one thread drives a renderer and its jobs. Several jobs may be open on one renderer;
 * their calls do not overlap.
 */
#ifndef GPUBENCH_MODEL_RENDERER_H
#define GPUBENCH_MODEL_RENDERER_H

#include <stdint.h>

#include "base/err.h"
#include "model/device.h"
#include "model/fit.h"
#include "model/scene.h"
#include "model/spec.h"

/* A job's arrays, all in host memory and owned by the job (pinned, near the device, first touched by the
 * renderer's own threads). The caller fills the inputs after open and may change them between calls:
 * every call reads params and backgrounds anew; targets too, unless spec.call is CALL_RESIDENT, where
 * job_inputs_changed must be told. Sizes for B scenes of T triangles, W x H pixels. */
struct render_io {
    float *params;     /* in   [B][T][10], scene order: index 0 furthest back */
    float *background; /* in   [B][3] */
    float *target;     /* in   [B][H][W][3]; NULL in forward mode and where upstream is given */
    float *upstream;   /* in   [B][H][W][3] dL/dC; NULL unless spec.upstream */
    float *image;      /* out  [B][H][W][3]; NULL in gradient mode unless spec.keep_images */
    double *loss;      /* out  [B]; NULL in forward mode and where upstream is given */
    float *grads;      /* out  [B][T][10]; NULL in forward mode */
};

/* Host nanoseconds of one synchronised call. Their sum misses `total_ns` by what no phase covers. */
struct render_phases {
    uint64_t pack_ns;     /* scenes to the device's layout */
    uint64_t alloc_ns;    /* buffers from the pool */
    uint64_t upload_ns;   /* host to device */
    uint64_t dispatch_ns; /* kernels (openmp: the parallel regions) */
    uint64_t readback_ns; /* device to host */
    uint64_t loss_ns;     /* the host's part of the loss; 0 where the device does it */
    uint64_t total_ns;    /* the whole synchronised call */
};

#define PROFILE_MAX_KERNELS 32
struct kernel_time {
    char name[64];
    uint32_t launches;
    uint64_t device_ns; /* sum of the launches, by the device's events */
    uint64_t bytes;     /* of the device arrays that they are given, each once a launch */
};

/* One call on a profiling queue. Durations only: the device's clock has another zero point. */
struct render_profile {
    uint64_t device_ns; /* first kernel's start to last kernel's end; 0 where there are no events */
    bool valid;         /* false: the driver's timestamps made no sense (why is in note) */
    char note[160];
    uint32_t kernels;
    struct kernel_time kernel[PROFILE_MAX_KERNELS];
};

/* What one call does, exactly the same every time after warm-up. Counted, not timed. */
struct render_counts {
    uint64_t dispatches;  /* of kernels */
    uint64_t submissions; /* that they were cut into (device_info.max_submit_ns) */
    uint64_t longest_submission_ns; /* of all calls so far; 0 where they are not timed */
    uint64_t bytes_up, bytes_down;       /* copied between host and device; 0 where memory is shared */
    uint64_t pool_hits, pool_misses;     /* of the last call */
    uint64_t pool_bytes;                 /* held by the pool */
    uint32_t split;                      /* dispatches a batch was split into; 1: none */
    uint64_t partial_sums; /* OpenCL gradients: (triangle, tile) pairs where the bounds touch the tile; local and
                            * ordered sums add or write ten values to global memory for each */
};

/* What a job needs, worked out in 64 bits before anything is allocated. */
struct render_footprint {
    uint64_t device_bytes;        /* all buffers on the device */
    uint64_t largest_alloc_bytes; /* of them the largest */
    uint64_t host_bytes;          /* io arrays and staging */
    uint64_t tape_bytes;          /* of that, the tape; 0 without one */
    uint64_t budget_bytes;        /* what all jobs of the renderer may take on the device; 0: no limit of its own */
    uint32_t split;               /* dispatches it takes to fit; 0: it cannot */
};

/* Fixed work, always the same on a device: what it takes tells how steady the machine is. Host nanoseconds, the median
 * of a few; 0 where it was not measured. */
struct render_canary {
    uint64_t arithmetic_ns, memory_ns, launch_ns;
};

/* Steps of gradient descent that a renderer takes by itself. */
struct fit_block {
    const struct fit_step *steps; /* [count] */
    uint32_t count;
    bool start;   /* from io.params, without moments; else from where the last block ended */
    double *loss; /* out [count]: of each step, before its update */
    float *best;  /* out [T][10]: the scene of the least loss since the start; NULL: not wanted */
};

/* What a device can do at most, as small loops measure it: rates a second, the best of several; 0: not
 * measured, or nothing is copied because memory is shared. */
struct render_ceilings {
    double flop;       /* float32, a multiply-add counted as two */
    double exp;        /* exponentials, as the renderer computes them */
    double copy_bytes; /* from one array to another on the device: read and written */
    double launch_ns;  /* not a rate: an empty kernel (openmp: parallel region) started and waited for */
    double up_pinned_bytes, up_pageable_bytes; /* host to device */
    double down_pinned_bytes, down_pageable_bytes;
};

struct renderer;
struct render_job;

struct renderer_ops {
    /* Works out what the spec needs on this renderer; false (ERR_LIMIT with both figures, or
     * ERR_UNSUPPORTED) when it cannot run; *out is filled either way where it can be computed. */
    bool (*footprint)(struct renderer *r, const struct render_spec *spec, struct render_footprint *out,
                      struct err *err);
    /* Builds kernels, allocates the io arrays. Compilation happens here, outside all timings. */
    bool (*open)(struct renderer *r, const struct render_spec *spec, struct render_job **out,
                 struct err *err);
    /* Must be called after the caller changed target or upstream (CALL_RESIDENT uploads them here);
     * cheap otherwise. Must be called once before the first call. */
    bool (*inputs_changed)(struct render_job *job, struct err *err);
    /* One call, blocking until the last gradient is written. */
    bool (*call)(struct render_job *job, struct err *err);
    /* The same call, synchronised after each phase. */
    bool (*call_phased)(struct render_job *job, struct render_phases *out, struct err *err);
    /* The same call with device events. */
    bool (*call_profiled)(struct render_job *job, struct render_profile *out, struct err *err);
    /* Fills every output, on the host and on the device, with NaN, so that an element nobody writes shows. */
    bool (*poison)(struct render_job *job, struct err *err);
    /* Counters of the last call. */
    void (*counts)(const struct render_job *job, struct render_counts *out);
    void (*close)(struct render_job *job); /* accepts NULL */
    void (*destroy)(struct renderer *r);   /* accepts NULL; jobs must be closed before */
    /* Measures the canary; builds what it takes the first time. May be NULL: there is none. */
    bool (*canary)(struct renderer *r, struct render_canary *out, struct err *err);
    /* Takes steps on a gradient job of one scene with a target: parameters and moments stay on the device. It leaves
     * spec.sigma and io as it likes. May be NULL: whoever trains makes a call a step, and updates io.params. */
    bool (*fit)(struct render_job *job, const struct fit_block *block, struct err *err);
    /* Finds out what suits the device, where neither an option nor an earlier run says; takes a second or two then, and
     * else no time. note: what there is to tell, "" for nothing. May be NULL: there is nothing to find out. Before the
     * first job is opened. */
    bool (*tune)(struct renderer *r, char *note, size_t size, struct err *err);
    /* Measures the ceilings; takes a second or so. May be NULL: there are none. */
    bool (*ceilings)(struct renderer *r, struct render_ceilings *out, struct err *err);
};

/* The first member of every backend's own struct. */
struct renderer {
    const struct renderer_ops *ops;
    struct device_info info;
};

/* Likewise. */
struct render_job {
    struct renderer *renderer;
    struct render_spec spec;
    struct render_io io;
};

#endif
