/* A whole point: inputs and reference once, every cell verified, then timed in blocks that alternate. */
#ifndef GPUBENCH_BENCH_MEASURE_H
#define GPUBENCH_BENCH_MEASURE_H

#include <stddef.h>

#include "base/err.h"
#include "bench/trial.h"

struct measure_request {
    const struct config *config;
    const struct input_files *files;
    const struct grid *grid;
    size_t point;
    const size_t *cells; /* of the grid, all of this point */
    size_t cell_count;
    struct renderer *const *renderers; /* by device; NULL: could not be opened */
    const struct device_info *devices; /* by device; trouble says why not */
    const struct sample_clock *clock;
};

/* Each cell reaches the sink once, those that cannot run first. false when the sink failed, or with
 * ERR_INTERRUPTED when clock->stop asked to end; what is not finished then does not reach the sink. */
bool measure_point(const struct measure_request *request, const struct measure_sink *sink,
                   struct err *err) GB_NODISCARD;

#endif
