/* Where two devices change places along an axis. */
#ifndef GPUBENCH_REPORT_CROSSING_H
#define GPUBENCH_REPORT_CROSSING_H

#include <stddef.h>

#include "report/ratio.h"

struct crossing {
    size_t changes; /* of the winner from point to point; ties and missing points passed over */
    /* With exactly one change: who wins below it, and where the ratio is 1 by interpolation in log-log space
     * between the last point won below and the first one won above; the interval is where the ends of the
     * ratios' intervals are 1; NAN where some ratio there has no interval. */
    enum ratio_verdict below;
    double at;
    double ci95[2];
    size_t from, to; /* indices of those two points */
};

/* x[count] ascending and above 0; ratios[i * stride] belongs to x[i]. */
void crossing_find(const double *x, const struct ratio *ratios, size_t stride, size_t count,
                   struct crossing *out);

#endif
