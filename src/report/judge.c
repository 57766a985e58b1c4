#include "report/judge.h"

#include <math.h>

#include "bench/stats.h"

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

bool judge_base_init(struct judge_base *base, const uint64_t *medians_ns, size_t count, double within,
                     struct err *err)
{
    uint64_t median;

    *base = (struct judge_base){.processes = count, .assumed = count < JUDGE_MIN_PROCESSES};
    if (!stats_median(medians_ns, count, &median, err))
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

/* Of the mean of `count` processes against that of a baseline of `processes`. */
static double spread_of(double between, size_t processes, size_t count)
{
    const double one = 1 + 1.0 / JUDGE_MIN_PROCESSES;
    const double several = 1 / (double)count + 1 / (double)processes;

    return count < 2 || several > one ? between : between * sqrt(several / one);
}

void judge_compare(struct judge_base *base, size_t count)
{
    base->compared = count;
    base->typical_ns = count > 1 ? base->mean_ns : base->median_ns;
    base->spread = spread_of(base->between, base->processes, count);
}

size_t judge_needed(const struct judge_base *base, double threshold)
{
    for (size_t count = 1; count <= JUDGE_MOST && !base->assumed; count++)
        if (3 * spread_of(base->between, base->processes, count) <= threshold)
            return count;
    return 0;
}

/* A spread that few processes tell may well be a third less. */
#define HOPE 1.5

bool judge_wants_more(const struct judge_base *base, double threshold, size_t most)
{
    const size_t needed = judge_needed(base, threshold);
    const double best = spread_of(base->between, JUDGE_BASE_MOST, most);

    if (needed == 1 || base->processes >= JUDGE_BASE_MOST || 3 * best > HOPE * threshold)
        return false;
    return needed == 0 || base->processes < 3 * needed;
}

double judge_limit(const struct judge_base *base, double threshold, double drift)
{
    return (1 + fmax(threshold, 3 * base->spread)) * (1 + fmax(drift, 0)) - 1;
}

/* The first process and those that measure again must all be over the limit, or two means of several. How
 * many standard deviations
 * above it a change must be for that in 95 of 100 cases, the spread itself being an estimate from n
 * processes: 3.60 for n = 5, 3.08 for 7, 2.78 for 10, 2.50 for 20 (simulated, normal); this is a little
 * above. */
static double margin(size_t processes)
{
    return 2.2 + 8.0 / (double)(processes > JUDGE_MIN_PROCESSES ? processes : JUDGE_MIN_PROCESSES);
}

double judge_detectable(const struct judge_base *base, double threshold, double drift)
{
    const double below = margin(base->processes) * base->spread;

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

enum judge_verdict judge_again(const struct judge_base *base, double threshold, double drift,
                               const double *now_ns, size_t count)
{
    double lowest = judge_typical(base, now_ns, count);

    for (size_t i = 0; i < count && base->compared == 1; i++)
        lowest = fmin(lowest, now_ns[i]);
    return judge_first(base, threshold, drift, lowest) == JUDGE_SLOWER ? JUDGE_SLOWER : JUDGE_CANNOT_TELL;
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

double judge_typical(const struct judge_base *base, const double *values, size_t count)
{
    double sum = 0;

    if (count == 0)
        return NAN;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return base->compared > 1 ? sum / (double)count : median(values, count);
}
