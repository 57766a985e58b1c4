/* Samples of one cell from several passes over a grid. */
#ifndef GPUBENCH_BENCH_MERGE_H
#define GPUBENCH_BENCH_MERGE_H

#include "base/err.h"
#include "bench/cell.h"

/* Adds the samples and blocks of `more`, a later pass of the same cell, behind those of `into`, and works out
 * median, interval and outliers of all; errors are the worst of both. A cell that is not ok in the later pass
 * makes the whole what that pass is: wrong ones lose their samples. What is measured beside the samples stays
 * that of `into`. */
bool cell_merge(struct cell *into, const struct cell *more, struct err *err) GB_NODISCARD;

#endif
