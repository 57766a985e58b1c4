/* How steady the machine was while it measured, and how much it changed between two runs: by its canary,
 * fixed loops that run before, between and after the points (bench/canary.h; "environment" of a results
 * file). */
#ifndef GPUBENCH_REPORT_DRIFT_H
#define GPUBENCH_REPORT_DRIFT_H

#include "record/results.h"

#define DRIFT_TOLERATED 0.05 /* beyond it a drift is spoken of */

/* Of one run, for one of its devices; times in nanoseconds. */
struct canary_summary {
    size_t records; /* 0: the run has no canary for this device */
    /* Means, since a machine that is busy now and then makes a run slower by as much; NAN where there is
     * none. */
    double arithmetic_ns, memory_ns, launch_ns;
    double spread; /* relative standard deviation over the run, of arithmetic or memory, whichever is worse */
};
/* Device NULL: the CPU's threads. */
bool canary_summary_of(const struct results *results, const struct device_info *device,
                       struct canary_summary *out, struct err *err) GB_NODISCARD;

/* From one run to a later one. */
struct drift {
    bool known;
    double
        slower; /* 0.2: the machine is 20 % slower, by arithmetic or memory, whichever is worse; at least 0 */
    double faster; /* likewise the other way */
    double noise;  /* relative standard deviation of both runs together */
};
bool drift_between(const struct results *was, const struct device_info *was_device, const struct results *now,
                   const struct device_info *now_device, struct drift *out, struct err *err) GB_NODISCARD;

#endif
