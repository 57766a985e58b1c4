/* One call of a spec on scenes so small that anything gets through, against the reference: for what is to be
 * run once, not timed. */
#ifndef GPUBENCH_BENCH_TINY_H
#define GPUBENCH_BENCH_TINY_H

#include <stdint.h>

#include "base/err.h"
#include "model/agreement.h"
#include "model/renderer.h"

/* Sides that no tile divides; triangles that overlap, one of them far outside. */
#define TINY_WIDTH 21u
#define TINY_HEIGHT 10u
#define TINY_TRIANGLES 5u
#define TINY_BATCH 2u
/* For specs of SPEC_MANY_TRIANGLES: as many, few of which are seen, in one scene with room for several bins
 * of tiles. */
#define TINY_MANY_WIDTH 70u

struct tiny_result {
    uint64_t first_ns, second_ns; /* host clock, of two equal calls: a driver may compile in the first; many
                                   * triangles: 0 for the second */
    struct agreement errors;      /* the worst of the scenes */
};

/* Takes mode, whether there are many triangles, and the backend's keys from spec. Outputs are poisoned before
 * both calls. ERR_WRONG, with what is how far off, when a scene is over its tolerance; other errors are the
 * renderer's. */
bool tiny_run(struct renderer *renderer, const struct render_spec *spec, struct tiny_result *out,
              struct err *err) GB_NODISCARD;

#endif
