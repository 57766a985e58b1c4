/* What a large cell would take, measured on a small part of it, before anything of its size is allocated:
 * fewer scenes, then a smaller picture, then fewer triangles. Work grows with each of them. Knows no backend.
 */
#ifndef GPUBENCH_BENCH_ESTIMATE_H
#define GPUBENCH_BENCH_ESTIMATE_H

#include "base/err.h"
#include "bench/inputs.h"
#include "bench/sample.h"

struct estimate {
    double call_ns;
    double
        prepare_ns; /* all that comes before samples: allocating and filling arrays, calls that are checked */
};

/* The inputs of a part, with nothing of its own to release, and how many times as much the whole is; 1 where
 * the whole is small enough to be simply run. pairs: in bounds, of the whole. */
double estimate_part(const struct inputs *whole, uint64_t pairs, struct inputs *part);

/* Calls the part on the renderer and scales up. */
bool estimate_measure(struct renderer *renderer, const struct render_spec *spec, const struct inputs *part,
                      double times, const struct sample_clock *clock, struct estimate *out,
                      struct err *err) GB_NODISCARD;

/* false, ERR_LIMIT, with the figures, where the samples that a cell has at least would not end within its
 * time. */
bool estimate_fits(const struct estimate *estimate, const struct measure_config *rules,
                   struct err *err) GB_NODISCARD;

#endif
