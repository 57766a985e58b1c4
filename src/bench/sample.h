/* How samples are taken: blocks of calls that alternate between the sides of a comparison, each block warmed
 * up until steady, until a rule says that it is enough (SPEC, Measuring).
 *
 * Knows neither renderers nor the real clock: both come in as functions, so that tests replace them.
 */
#ifndef GPUBENCH_BENCH_SAMPLE_H
#define GPUBENCH_BENCH_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "bench/cell.h"
#include "plan/config.h"

/* The host's time. */
struct sample_clock {
    void *context;
    uint64_t (*now_ns)(void *context);
    void (*sleep_ns)(void *context, uint64_t ns);
    bool (*stop)(void *context); /* true: somebody wants the run to end; asked between calls. May be NULL */
};

extern const struct sample_clock sample_host_clock;

/* One side: a call to time, and what came of it. Zero it, set the first members, release with
 * sample_side_fini. */
struct sample_side {
    void *context;
    bool (*call)(void *context, struct err *err); /* what is timed */
    bool (*before_block)(void *context,
                         struct err *err); /* not timed, before the block's warm-up; may be NULL */
    bool (*after_call)(void *context, struct err *err); /* not timed, behind each sample; may be NULL */
    bool lingers; /* its threads look for work for a while after a call: others wait until they sleep */
    uint64_t spent_ns; /* in: of the cell's time limit used up before; out: with the blocks */

    uint64_t *samples_ns; /* out, owned; in the order taken */
    size_t sample_count, sample_capacity;
    size_t *block_starts; /* out, owned */
    size_t block_count, block_capacity;
    uint64_t block_ns;      /* out: host time of all blocks, warm-up included: what max_seconds limits */
    enum cell_end ended_by; /* out */
    struct err err;         /* out: filled when a function failed; samples so far are kept */
    bool done;
};

void sample_side_fini(struct sample_side *side); /* accepts NULL and a zeroed one */

/* How often a side is called that takes so long that nothing is done but what must be, warm-ups included. */
uint64_t sample_least_calls(const struct measure_config *rules);

/* Takes blocks from each side in turn until all are done, with a pause behind those of a side that lingers. A side that fails is done, and the others go on.
 * false only when memory for samples cannot be had. */
bool sample_run(struct sample_side *sides, size_t count, const struct measure_config *rules,
                const struct sample_clock *clock, struct err *err) GB_NODISCARD;

#endif
