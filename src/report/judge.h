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
/* Processes at most whose mean is compared where one alone differs too much from the next. */
#define JUDGE_MOST 25
/* The same of a baseline. */
#define JUDGE_BASE_MOST 50
/* Spread that is taken for a baseline of fewer processes, which cannot tell its own. */
#define JUDGE_ASSUMED_SPREAD 0.15

/* What a baseline says of a cell's time. */
struct judge_base {
    double median_ns, mean_ns; /* of the processes' medians */
    double typical_ns;         /* of the two, the one that is compared with */
    double between; /* of one process from another: their standard deviation, and at least what blocks differ
                       by within one */
    double spread; /* of what is compared: `between` of one process, less of the mean of several */
    size_t processes;
    size_t compared; /* processes whose mean is compared; 1 at first */
    bool assumed; /* too few processes: spread is at least JUDGE_ASSUMED_SPREAD */
};

/* medians_ns: one a process. within: relative standard error of one process's median, by its blocks; 0:
 * unknown. */
bool judge_base_init(struct judge_base *base, const uint64_t *medians_ns, size_t count, double within,
                     struct err *err) GB_NODISCARD;

/* From here on the mean of `count` processes' medians is compared with the baseline's mean, or one process with
 * the baseline's median. The mean's spread is `between` times sqrt((1/count + 1/processes) / (1 + 1/5)), at
 * most `between`: so that three times it means the same as for one process and a baseline of five. Not the
 * median of several, which does not settle down where processes have two modes. */
void judge_compare(struct judge_base *base, size_t count);
/* How many processes it takes until three times the spread is no more than the threshold: 1 to JUDGE_MOST;
 * 0 when not even JUDGE_MOST are enough, or the spread is not known. */
size_t judge_needed(const struct judge_base *base, double threshold);
/* Whether a baseline of more processes would let checks of up to `most` processes tell, or need clearly fewer
 * of them for it. */
bool judge_wants_more(const struct judge_base *base, double threshold, size_t most);

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

/* Of what was measured first. JUDGE_SLOWER is a suspicion, to be measured again. */
enum judge_verdict judge_first(const struct judge_base *base, double threshold, double drift, double now_ns);
/* Of a suspect measured again: slower when every process is over the limit, or, where means of several are
 * compared, their mean; else cannot tell. */
enum judge_verdict judge_again(const struct judge_base *base, double threshold, double drift,
                               const double *now_ns, size_t count);
/* The mean where means are compared, else the median (of an even count the mean of the middle two); NAN of
 * none. count: at most 2 * JUDGE_MOST. */
double judge_typical(const struct judge_base *base, const double *values, size_t count);

#endif
