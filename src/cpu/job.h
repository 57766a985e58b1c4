/* What the parts of the CPU renderer share: the renderer, a job, and one scene of it. */
#ifndef GPUBENCH_CPU_JOB_H
#define GPUBENCH_CPU_JOB_H

#include <stdint.h>

#include "cpu/isa.h"
#include "cpu/topology.h"
#include "model/renderer.h"

struct cpu_renderer {
    struct renderer base;
    struct topology topology;
    const struct isa *isa;
    uint32_t threads;
};

struct cpu_job;

/* One way to render a job's scenes. */
struct cpu_variant_ops {
    uint64_t (*work_bytes)(const struct render_spec *spec, uint32_t threads); /* an estimate, saturating */
    bool (*open)(struct cpu_job *job, struct err *err);                       /* makes job->work */
    bool (*call)(struct cpu_job *job, struct render_phases *phases, struct err *err);
    void (*close)(struct cpu_job *job); /* accepts a work of NULL */
};
extern const struct cpu_variant_ops cpu_scalar_ops, cpu_fast_ops;

struct cpu_job {
    struct render_job base;
    const struct cpu_renderer *cpu;
    const struct cpu_variant_ops *ops;
    uint32_t threads;     /* the most that a call may use */
    uint64_t regions;     /* parallel regions of the last call */
    uint64_t allocations; /* work arrays that had to grow in the last call; 0 when it repeats another */
    void *work;           /* the variant's own */
};

/* renderer_ops.ceilings */
bool cpu_ceilings(struct renderer *renderer, struct render_ceilings *out, struct err *err) GB_NODISCARD;

/* One scene of a job's arrays. */
struct cpu_scene {
    uint32_t width, height, triangles;
    float sigma;
    const float *params, *background;
    const float *target, *upstream; /* at most one of them; neither in forward mode */
    float *image;                   /* or NULL */
    double *loss;                   /* or NULL */
    float *grads;                   /* or NULL */
};
struct cpu_scene cpu_scene_of(const struct cpu_job *job, uint32_t index);

#endif
