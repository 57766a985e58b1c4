/* The canary: fixed pieces of work, timed before, between and after the points of a run. When they take
 * another time than before, it is the machine that has changed, not what is measured.
 *
 * Three calls of a renderer, so that every device has them: arithmetic (a few scenes of many triangles),
 * memory (large targets, no triangle: they are moved, read once, and that is all), launch (one pixel, no
 * triangle).
 */
#ifndef GPUBENCH_BENCH_CANARY_H
#define GPUBENCH_BENCH_CANARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "bench/sample.h"
#include "model/renderer.h"

enum canary_kind { CANARY_ARITHMETIC, CANARY_MEMORY, CANARY_LAUNCH, CANARY_KINDS };
const char *canary_name(enum canary_kind kind);

#define CANARY_DRIFT 0.05 /* a run says so above it */

struct canary {
    size_t device;             /* of the run */
    uint64_t at_ns;            /* since the run's start */
    uint64_t ns[CANARY_KINDS]; /* medians */
};

/* Times the three on a renderer; fills ns alone. Jobs are opened and closed inside, outside the timings. */
bool canary_run(struct renderer *renderer, const struct sample_clock *clock, struct canary *out,
                struct err *err) GB_NODISCARD;

/* How far apart a device's canaries of one kind are: slowest / fastest - 1; 0 for fewer than two. *fastest
 * and *slowest (ns) are filled when there is one. */
double canary_drift(const struct canary *list, size_t count, size_t device, enum canary_kind kind,
                    uint64_t *fastest, uint64_t *slowest);

void canary_to_json(const struct canary *canary, struct json *object);

#endif
