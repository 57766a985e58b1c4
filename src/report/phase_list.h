/* The phases of a call by number, in their order; the last is what the others miss of the synchronised call.
 */
#ifndef GPUBENCH_REPORT_PHASE_LIST_H
#define GPUBENCH_REPORT_PHASE_LIST_H

#include "bench/cell.h"

#define PHASES 7

/* "pack" ... "loss", "unaccounted". */
const char *phase_name(size_t phase);
uint64_t phase_ns(const struct render_phases *phases, size_t phase);
/* Part of the synchronised call, 0 to 1; NAN where that took no time. */
double phase_share(const struct cell *cell, size_t phase);
/* Nanoseconds by which a synchronised call is slower than a free-running one; NAN where one is not known. */
double phase_sync(const struct cell *cell);

#endif
