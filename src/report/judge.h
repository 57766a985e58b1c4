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
/* Processes at most that are compared where one alone differs too much from the next. */
#define JUDGE_MOST 25
/* The same of a baseline. */
#define JUDGE_BASE_MOST 75
/* Spread that is taken for a baseline of fewer processes, which cannot tell its own. */
#define JUDGE_ASSUMED_SPREAD 0.15

/* Of fewer processes a baseline does not tell how several differ: it may not have met the slow ones. */
#define JUDGE_SEVERAL 15
/* The fastest is compared of so many at least, and of a baseline that has this many for each of them. */
#define JUDGE_FASTEST_LEAST 5
#define JUDGE_FASTEST_OF 3

/* What is compared: the median of one process; of several their mean or the fastest. */
enum judge_statistic { JUDGE_ONE, JUDGE_MEAN, JUDGE_FASTEST };
const char *judge_statistic_name(enum judge_statistic statistic); /* "median", "mean", "fastest" */

/* What a baseline says of a cell's time. */
struct judge_base {
    double median_ns, mean_ns; /* of the processes' medians */
    struct {
        double ns, spread;
    } fastest[JUDGE_MOST + 1]; /* of so many processes, as their medians have it: expected, standard deviation */
    double typical_ns;         /* what is compared with */
    double between; /* of one process from another: their standard deviation, and at least what blocks differ
                       by within one */
    double within;  /* what blocks differ by within one; 0: unknown */
    double spread;  /* of what is compared: `between` of one process, less of several */
    size_t processes;
    size_t compared; /* processes; 1 at first */
    enum judge_statistic statistic;
    bool assumed; /* too few processes: spread is at least JUDGE_ASSUMED_SPREAD */
};

/* medians_ns: one a process. within: relative standard error of one process's median, by its blocks; 0:
 * unknown. */
bool judge_base_init(struct judge_base *base, const uint64_t *medians_ns, size_t count, double within,
                     struct err *err) GB_NODISCARD;

/* From here on `count` processes are compared with the baseline's: by their mean, which averages what is random, or,
 * where that spreads clearly less, by the fastest, which passes over processes that were held up, or were in the
 * slower of two modes (Chen and Revels, "Robust benchmarking in noisy environments", 2016). Not by the median of
 * several, which does not settle down where processes have two modes. Of several the spread is
 *     of the mean       between * sqrt((1/count + 1/processes) / (1 + 1/5))
 *     of the fastest    that of the fastest of so many drawn from the baseline's processes, times
 *                       sqrt((1 + count/processes) / (1 + 1/5))
 * so that three times it means the same as for one process and a baseline of five; at most `between`. */
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
/* Of a suspect measured again: slower when every process is over the limit; where several are compared, when what is
 * compared of them is, and their median is over half of it, as a few that were held up raise the mean alone. Else
 * cannot tell. */
enum judge_verdict judge_again(const struct judge_base *base, double threshold, double drift,
                               const double *now_ns, size_t count);
/* What is compared of these processes: the mean or the fastest, of one the median (of an even count the mean of the
 * middle two); NAN of none. count: at most 2 * JUDGE_MOST. */
double judge_typical(const struct judge_base *base, const double *values, size_t count);

#endif
