/* Whether one cell is faster than another, and how surely. */
#ifndef GPUBENCH_REPORT_RATIO_H
#define GPUBENCH_REPORT_RATIO_H

#include "base/err.h"
#include "bench/cell.h"

/* A ratio is a tie when its interval touches this range. */
#define RATIO_TIE_LOW 0.95
#define RATIO_TIE_HIGH 1.05

enum ratio_verdict { RATIO_NONE, RATIO_FIRST, RATIO_SECOND, RATIO_TIE };

/* The cell is ok and has the time of a call that does something: an empty batch is no contest. */
bool ratio_can_win(const struct cell *cell); /* accepts NULL */

/* Time of the first cell divided by the time of the second: above 1 the second is faster. */
struct ratio {
    bool valid;     /* both cells can win */
    double value;   /* of the medians; NAN unless valid */
    bool has_ci;    /* both have STATS_MIN_SAMPLES samples */
    double ci95[2]; /* by resampling blocks of both cells; NAN unless has_ci */
    double device;  /* first cell's time / second cell's own device time; NAN where there is none */
    enum ratio_verdict verdict; /* who is faster; without an interval by the value alone, as a guess */
};

/* Either cell may be NULL (not measured): then the ratio is not valid, and that is no error. */
bool ratio_of(const struct cell *first, const struct cell *second, struct ratio *out,
              struct err *err) GB_NODISCARD;

/* By the ends of a ratio's interval. */
enum ratio_verdict ratio_judge(double low, double high);

#endif
