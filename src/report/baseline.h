/* A baseline: a results file whose head also has "baseline": the medians of several processes for each cell,
 * which tell how much processes differ that do the same. */
#ifndef GPUBENCH_REPORT_BASELINE_H
#define GPUBENCH_REPORT_BASELINE_H

#include "record/results.h"

/* Of `count` runs of one config in as many processes makes one file: head, devices and grid are the first
 * one's; of each cell the process in the middle. The first `whole` hold all cells, later ones may leave out
 * some. Cells that are not ok in all of them are an error (ERR_WRONG, ERR_UNSUPPORTED) that names the first,
 * except where all skipped it. */
bool baseline_make(const struct results *runs, size_t whole, size_t count, struct results *out,
                   struct err *err) GB_NODISCARD;

/* How many processes measured every cell of this file: 1 for one that is no baseline. */
size_t baseline_processes(const struct results *results);

/* The medians of a cell, one a process: its own alone where the file is no baseline. free() *out. */
bool baseline_medians(const struct results *results, const struct cell *cell, uint64_t **out, size_t *count,
                      struct err *err) GB_NODISCARD;

#endif
