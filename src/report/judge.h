/* When a time is slower than a baseline's, and what could have been seen: arithmetic alone (SPEC, Regression
 * check).
 *
 * Changes and spreads are relative: 0.05 is 5 %.
 */
#ifndef GPUBENCH_REPORT_JUDGE_H
#define GPUBENCH_REPORT_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define JUDGE_THRESHOLD 0.05
#define JUDGE_MIN_PROCESSES 5 /* that a baseline holds the medians of */
/* Processes that measure a suspect again. All of them must say so before it is called slower: a mode that
 * some processes happen to be in (placement in memory, a clock) is not a change of the program. */
#define JUDGE_AGAIN 3
/* Spread that is taken for a baseline of fewer processes, which cannot tell its own. */
#define JUDGE_ASSUMED_SPREAD 0.15

/* What a baseline says of a cell's time. */
struct judge_base {
    double median_ns; /* of the processes' medians */
    double spread; /* between processes: their standard deviation, and at least what blocks differ by within
                      one */
    size_t processes;
    bool assumed; /* too few processes: spread is at least JUDGE_ASSUMED_SPREAD */
};

/* medians_ns: one a process. within: relative standard error of one process's median, by its blocks; 0:
 * unknown. */
bool judge_base_init(struct judge_base *base, const uint64_t *medians_ns, size_t count, double within,
                     struct err *err) GB_NODISCARD;

/* How much slower is called slower: the larger of threshold and three times the spread. drift: how much
 * slower the machine itself has become (its canary), 0 where it has not; it excuses as much. */
double judge_limit(const struct judge_base *base, double threshold, double drift);
/* A slowdown of this much is found 95 times of 100. */
double judge_detectable(const struct judge_base *base, double threshold, double drift);
/* Three times the spread is more than the threshold: a change of the threshold's size cannot be told. */
bool judge_hidden(const struct judge_base *base, double threshold);
/* now / base - 1 */
double judge_change(const struct judge_base *base, double now_ns);

enum judge_verdict { JUDGE_SAME, JUDGE_FASTER, JUDGE_SLOWER, JUDGE_CANNOT_TELL };

/* Of one process. JUDGE_SLOWER is a suspicion, to be measured again. */
enum judge_verdict judge_first(const struct judge_base *base, double threshold, double drift, double now_ns);
/* Of a suspect measured again: slower when every process is over the limit, else cannot tell. */
enum judge_verdict judge_again(const struct judge_base *base, double threshold, double drift,
                               const double *now_ns, size_t count);

#endif
