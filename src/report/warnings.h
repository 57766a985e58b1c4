/* What makes a run's times less trustworthy than they look, and what to do about it. */
#ifndef GPUBENCH_REPORT_WARNINGS_H
#define GPUBENCH_REPORT_WARNINGS_H

#include "record/results.h"

/* Tells each warning as one line: load, governor, quota, code paths that did not work, the canary's drift and
 * unsteadiness, throttled or shared GPUs, few samples, outliers, slow first samples, long submissions. */
void warnings_tell(const struct results *results, void (*tell)(void *context, const char *text),
                   void *context);

/* How unsteady the machine was for much of the run, by the canary that varied most: its upper quartile over its lower
 * one, less 1. 0 where there was none. */
double warnings_unsteadiness(const struct results *results);

/* Tells where the longest submission of something came within a factor of two of what watchdogs usually allow. */
void warnings_submission(uint64_t longest_ns, const char *of, void (*tell)(void *context, const char *text),
                         void *context);

#endif
