#include "report/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "bench/stats.h"

const char *judge_statistic_name(enum judge_statistic statistic)
{
    static const char *const names[] = {"median", "mean", "fastest"};
    return names[statistic];
}

static double mean(const uint64_t *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)values[i];
    return count > 0 ? sum / (double)count : 0;
}

static double standard_deviation(const uint64_t *values, size_t count)
{
    const double middle = mean(values, count);
    double squares = 0;

    for (size_t i = 0; i < count; i++)
        squares += ((double)values[i] - middle) * ((double)values[i] - middle);
    return count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

/* Of so many draws from the sorted values, with replacement: the i-th is the fastest of them with the probability that
 * none is faster, less that all are slower. */
static void fastest_of(struct judge_base *base, const uint64_t *sorted, size_t count, size_t draws)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        const double from = (double)(count - i) / (double)count, to = (double)(count - i - 1) / (double)count,
                     p = pow(from, (double)draws) - pow(to, (double)draws), ns = (double)sorted[i];
        sum += p * ns;
        squares += p * ns * ns;
    }
    base->fastest[draws].ns = sum;
    if (sum > 0)
        base->fastest[draws].spread = sqrt(fmax(squares - sum * sum, 0)) / sum;
}

static bool find_fastest(struct judge_base *base, const uint64_t *medians_ns, size_t count, struct err *err)
{
    uint64_t *sorted = mem_calloc(count, sizeof(*sorted), "medians", err);

    if (!sorted)
        return false;
    memcpy(sorted, medians_ns, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), order_u64);
    for (size_t draws = 1; draws <= JUDGE_MOST; draws++)
        fastest_of(base, sorted, count, draws);
    free(sorted);
    return true;
}

bool judge_base_init(struct judge_base *base, const uint64_t *medians_ns, size_t count, double within,
                     struct err *err)
{
    uint64_t median;

    *base = (struct judge_base){.processes = count, .within = within, .assumed = count < JUDGE_MIN_PROCESSES};
    if (!stats_median(medians_ns, count, &median, err) || !find_fastest(base, medians_ns, count, err))
        return false;
    base->median_ns = (double)median;
    base->mean_ns = mean(medians_ns, count);
    if (median > 0)
        base->between = standard_deviation(medians_ns, count) / base->median_ns;
    base->between = fmax(base->between, within);
    if (base->assumed)
        base->between = fmax(base->between, JUDGE_ASSUMED_SPREAD);
    judge_compare(base, 1);
    return true;
}

/* What one process against a baseline of the fewest is compared by. */
#define ONE (1 + 1.0 / JUDGE_MIN_PROCESSES)

/* Of the mean of `count` processes against that of a baseline of `processes`. */
static double mean_spread(const struct judge_base *base, size_t processes, size_t count)
{
    return base->between * sqrt((1 / (double)count + 1 / (double)processes) / ONE);
}

/* What the fastest of `count` is compared with is the fastest of so many of the baseline's: no more than these tell. Of
 * fewer than `count` it is slower, which excuses rather than accuses. */
static size_t draws_of(size_t processes, size_t count)
{
    const size_t most = processes / JUDGE_FASTEST_OF < JUDGE_MOST ? processes / JUDGE_FASTEST_OF : JUDGE_MOST;

    return count < most ? count : most;
}

/* Likewise of the fastest; no steadier than blocks within a process let it be. INFINITY: of too few. */
static double fastest_spread(const struct judge_base *base, size_t processes, size_t count)
{
    const size_t draws = draws_of(processes, count);
    const double spread = fmax(base->fastest[draws].spread, base->within / sqrt((double)count));

    return draws < JUDGE_FASTEST_LEAST ? INFINITY : spread * sqrt((1 + (double)draws / (double)processes) / ONE);
}

/* By so much the fastest must spread less than the mean, which is the better statistic of what is merely random. */
#define CLEARLY 0.9

static enum judge_statistic statistic_of(const struct judge_base *base, size_t processes, size_t count)
{
    if (count < 2 || processes < JUDGE_SEVERAL)
        return JUDGE_ONE;
    return fastest_spread(base, processes, count) < CLEARLY * mean_spread(base, processes, count) ? JUDGE_FASTEST
                                                                                                  : JUDGE_MEAN;
}

static double spread_of(const struct judge_base *base, size_t processes, size_t count)
{
    const enum judge_statistic statistic = statistic_of(base, processes, count);

    return fmin(base->between, statistic == JUDGE_FASTEST ? fastest_spread(base, processes, count)
                               : statistic == JUDGE_MEAN  ? mean_spread(base, processes, count)
                                                          : INFINITY);
}

void judge_compare(struct judge_base *base, size_t count)
{
    base->statistic = statistic_of(base, base->processes, count);
    base->compared = base->statistic == JUDGE_ONE ? 1 : count;
    base->spread = spread_of(base, base->processes, count);
    base->typical_ns = base->statistic == JUDGE_FASTEST ? base->fastest[draws_of(base->processes, count)].ns
                       : base->statistic == JUDGE_MEAN  ? base->mean_ns
                                                        : base->median_ns;
}

size_t judge_needed(const struct judge_base *base, double threshold)
{
    for (size_t count = 1; count <= JUDGE_MOST && !base->assumed; count++)
        if (3 * spread_of(base, base->processes, count) <= threshold)
            return count;
    return 0;
}

/* A spread that few processes tell may well be a third less. */
#define HOPE 1.5

bool judge_wants_more(const struct judge_base *base, double threshold, size_t most)
{
    const size_t needed = judge_needed(base, threshold);
    double best = base->between;

    for (size_t count = 1; count <= most; count++)
        best = fmin(best, spread_of(base, JUDGE_BASE_MOST, count));
    if (needed == 1 || base->processes >= JUDGE_BASE_MOST || 3 * best > HOPE * threshold)
        return false;
    return needed == 0 || base->processes < 3 * needed || base->processes < JUDGE_SEVERAL;
}

double judge_limit(const struct judge_base *base, double threshold, double drift)
{
    return (1 + fmax(threshold, 3 * base->spread)) * (1 + fmax(drift, 0)) - 1;
}

/* The first process and those that measure again must all be over the limit, or twice what several are compared by.
 * How many standard deviations above it a change must be for that in 95 of 100 cases, the spread itself being an
 * estimate from n processes: 3.60 for n = 5, 3.08 for 7, 2.78 for 10, 2.50 for 20 (simulated, normal); this is a
 * little above. How the fastest spread, fewer of the processes tell. */
static double margin(const struct judge_base *base)
{
    const size_t known = base->statistic == JUDGE_FASTEST ? base->processes / JUDGE_FASTEST_OF : base->processes;

    return 2.4 + 8.0 / (double)(known > JUDGE_MIN_PROCESSES ? known : JUDGE_MIN_PROCESSES);
}

double judge_detectable(const struct judge_base *base, double threshold, double drift)
{
    const double below = margin(base) * base->spread;

    /* Spreads are relative to the slower time. From here on no slowdown is sure to be seen. */
    return below < 1 ? (1 + judge_limit(base, threshold, drift)) / (1 - below) - 1 : INFINITY;
}

bool judge_hidden(const struct judge_base *base, double threshold)
{
    return 3 * base->spread > threshold;
}

double judge_change(const struct judge_base *base, double now_ns)
{
    return base->typical_ns > 0 ? now_ns / base->typical_ns - 1 : NAN;
}

enum judge_verdict judge_first(const struct judge_base *base, double threshold, double drift, double now_ns)
{
    const double ratio = 1 + judge_change(base, now_ns);

    if (!isfinite(ratio))
        return JUDGE_CANNOT_TELL;
    if (ratio > 1 + judge_limit(base, threshold, drift))
        return JUDGE_SLOWER;
    if (ratio * (1 + judge_limit(base, threshold, 0)) < 1)
        return JUDGE_FASTER;
    /* Over the plain limit, but no more than the machine has become slower by. */
    if (judge_hidden(base, threshold) || ratio > 1 + judge_limit(base, threshold, 0))
        return JUDGE_CANNOT_TELL;
    return JUDGE_SAME;
}

static double median(const double *values, size_t count)
{
    double sorted[2 * JUDGE_MOST];

    for (size_t i = 0; i < count; i++) {
        size_t k = i;
        for (; k > 0 && sorted[k - 1] > values[i]; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = values[i];
    }
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

enum judge_verdict judge_again(const struct judge_base *base, double threshold, double drift,
                               const double *now_ns, size_t count)
{
    double lowest = judge_typical(base, now_ns, count);

    for (size_t i = 0; i < count && base->compared == 1; i++)
        lowest = fmin(lowest, now_ns[i]);
    if (judge_first(base, threshold, drift, lowest) != JUDGE_SLOWER)
        return JUDGE_CANNOT_TELL;
    if (base->statistic == JUDGE_MEAN &&
        median(now_ns, count) < base->median_ns * (1 + judge_limit(base, threshold, drift) / 2))
        return JUDGE_CANNOT_TELL;
    return JUDGE_SLOWER;
}

double judge_typical(const struct judge_base *base, const double *values, size_t count)
{
    double sum = 0, fastest = INFINITY;

    if (count == 0)
        return NAN;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        fastest = fmin(fastest, values[i]);
    }
    switch (base->statistic) {
    case JUDGE_MEAN:
        return sum / (double)count;
    case JUDGE_FASTEST:
        return fastest;
    case JUDGE_ONE:
        break;
    }
    return median(values, count);
}
