/* What a cell computes and moves, for those that hold it against a device's ceilings. */
#ifndef GPUBENCH_REPORT_ROOFLINE_H
#define GPUBENCH_REPORT_ROOFLINE_H

#include "bench/cell.h"
#include "record/results.h"

struct roofline_work {
    double flop;  /* of the call: derived from its pairs, at most */
    double bytes; /* that cannot but cross memory once */
    double ns;    /* of the kernels where the device tells, else of the call; NAN: not known */
};

struct roofline_work roofline_work_of(const struct results *results, const struct cell *cell);

#endif
