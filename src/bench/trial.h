/* One cell on its way from a spec to a result: open, verify, be sampled, phases. Knows no backend. */
#ifndef GPUBENCH_BENCH_TRIAL_H
#define GPUBENCH_BENCH_TRIAL_H

#include "base/err.h"
#include "bench/cell.h"
#include "bench/inputs.h"
#include "bench/reference.h"
#include "bench/sample.h"
#include "plan/grid.h"

/* Stages as progress, time limits and reasons name them. */
#define STAGE_INPUTS "making inputs"
#define STAGE_REFERENCE "working out the reference"
#define STAGE_ESTIMATING "estimating"
#define STAGE_BUILDING "building"
#define STAGE_VERIFYING "verifying"
#define STAGE_SAMPLING "sampling"
#define STAGE_PROFILING "profiling"

struct measure_sink {
    void *context;
    /* Called before anything that may take long or crash; cell SIZE_MAX: the point as a whole. */
    void (*stage)(void *context, size_t cell, const char *stage);
    bool (*cell)(void *context, size_t cell, const struct cell *result, struct err *err);
    void (*note)(void *context, const char *text);
};

struct trial {
    size_t index;                       /* of the grid's cell */
    struct renderer *renderer;          /* borrowed; NULL: could not be opened */
    const struct measure_config *rules; /* borrowed */
    const struct sample_clock *clock;   /* borrowed */
    const struct measure_sink *sink;    /* borrowed */
    const struct reference *reference;  /* borrowed, or &own; what calls are checked against */
    struct reference own;
    struct render_footprint footprint;
    struct render_job *job; /* owned; what is timed */
    struct sample_side side;
    uint64_t sampled_ns; /* when samples were complete */
    struct cell result;
    bool live; /* still to be measured; false: result is final */
};

/* Bytes of the host's memory that a job takes, the device's with them where the two share it; saturating. */
uint64_t trial_host_bytes(const struct renderer *renderer, const struct render_footprint *footprint);
/* What the cell needs; false (ERR_LIMIT, ERR_UNSUPPORTED) when it cannot run here: the renderer says so, or its
 * arrays, with the pictures that verifying keeps, are more than a share of the host's memory or than is free. */
bool trial_footprint(struct renderer *renderer, const struct render_spec *spec, struct render_footprint *out,
                     struct err *err);

/* Fills the result's description and asks for the footprint: a cell that cannot run is final at once.
 * trouble: why there is no renderer. */
bool trial_init(struct trial *t, const struct config *config, const struct grid *grid, size_t index,
                struct renderer *renderer, const char *trouble, struct err *err) GB_NODISCARD;
void trial_fini(struct trial *t); /* accepts a zeroed one */

/* Makes the result final with a reason. */
void trial_end(struct trial *t, enum cell_status status, const char *reason);

/* Refuses a cell that would not end in its time, by an estimate: part and times are estimate_part's. */
void trial_check_time(struct trial *t, const struct inputs *part, double times);

/* Opens the job and checks its images, losses and gradients; sets t->side up for sampling. */
void trial_prepare(struct trial *t, const struct inputs *in, const struct reference *ref);
/* Takes what sampling left in t->side, checks the last output, measures phases and device time. */
void trial_finish(struct trial *t);

#endif
