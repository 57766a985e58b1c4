/* How steady the machine was while it measured, and how much it changed between two runs: by its canary,
 * fixed loops that run before, between and after the points (bench/canary.h; "environment" of a results
 * file). */
#ifndef GPUBENCH_REPORT_DRIFT_H
#define GPUBENCH_REPORT_DRIFT_H

#include "record/results.h"

#define DRIFT_TOLERATED 0.05 /* beyond it a drift is spoken of */
/* Beyond it a machine says nothing of a program: threads that wait for each other then suffer many times as
 * much as the canary. */
#define DRIFT_HOPELESS 1.0

/* From one run to a later one. */
struct drift {
    bool known;
    double
        slower; /* 0.2: the machine is 20 % slower, by arithmetic or memory, whichever is worse; at least 0 */
    double faster; /* likewise the other way */
    double worst;  /* 0.5: at some time of the later run the machine was 50 % slower than the earlier one's
                      mean */
    double noise;  /* relative standard deviation of both runs together */
};
/* Devices NULL: the CPU's threads alone. An OpenCL device that is a CPU shares those. */
bool drift_between(const struct results *was, const struct device_info *was_device, const struct results *now,
                   const struct device_info *now_device, struct drift *out, struct err *err) GB_NODISCARD;

#endif
