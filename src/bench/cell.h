/* A cell's result: what was measured for one point on one backend and device, and its JSON form, which the
 * worker sends, the journal keeps and a results file holds. */
#ifndef GPUBENCH_BENCH_CELL_H
#define GPUBENCH_BENCH_CELL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "model/agreement.h"
#include "model/renderer.h"
#include "plan/grid.h"

enum cell_status { CELL_OK, CELL_WRONG, CELL_SKIPPED, CELL_TIMEOUT, CELL_FAILED, CELL_INTERRUPTED };
enum cell_end { END_NONE, END_TARGET_CI, END_MAX_SAMPLES, END_MAX_SECONDS, END_TIMEOUT, END_INTERRUPTED };

struct cell {
    char *id;                /* owned */
    char backend[64];        /* the config's name for it */
    enum backend_kind kind;
    size_t device;           /* index into the results' devices */
    enum cell_status status;
    char *reason;            /* owned; NULL where status is CELL_OK */
    struct render_spec spec; /* written as "params" */
    struct agreement agreement;
    uint64_t *samples_ns;    /* owned; every sample in the order taken; none where the result was wrong */
    size_t sample_count;
    size_t *block_starts;    /* owned; index of the first sample of each block (bench/sample.h) */
    size_t block_count;
    uint64_t median_ns;
    bool has_ci;             /* false under 6 samples */
    uint64_t ci95_ns[2];     /* of the median, by resampling blocks */
    enum cell_end ended_by;
    uint32_t outliers;
    bool has_device_time;
    uint64_t device_ns;      /* first kernel's start to last one's end; of the median profiled call */
    struct kernel_time *kernels; /* owned; of the profiled call that device_ns is of */
    size_t kernel_count;
    bool has_phases;
    struct render_phases phases; /* of the median synchronised call */
    struct render_counts counts;
    uint64_t pairs;          /* covered pairs of the whole call, by the reference */
    uint64_t pairs_in_bounds;
    uint64_t pairs_opaque;   /* of the covered ones, those that let less than a hundredth through */
    bool pairs_estimated;    /* too many to count: pairs is scaled up from those of the checked part */
    uint32_t layers_p99, layers_most; /* covering triangles: of 99 % of the checked pixels at most; the most */
    uint32_t checked_scenes; /* of the batch, compared with the reference; others: looked at for NaN */
    uint64_t checked_pixels; /* of each picture; not all where one scene is too large to check */
    uint64_t tape_bytes;     /* dense, where the strategy has a tape; else 0 */
    uint64_t tape_touched_bytes; /* of the touched rectangles, always worked out */
    uint64_t build_ns;       /* opening the job: kernels built, memory allocated; outside all samples */
};

/* A cell of the grid before anything is known of it but what it is; status CELL_FAILED without a reason. */
bool cell_init(struct cell *cell, const struct grid_cell *from, const struct backend_config *backend,
               struct err *err) GB_NODISCARD;
void cell_fini(struct cell *cell); /* accepts NULL and a zeroed cell */
const char *cell_status_name(enum cell_status status);
bool cell_to_json(const struct cell *cell, struct json *object, struct err *err) GB_NODISCARD;
bool cell_from_json(struct cell *cell, const struct json *object, struct err *err) GB_NODISCARD;

#endif
