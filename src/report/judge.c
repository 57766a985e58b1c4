#include "report/judge.h"

#include <math.h>

#include "bench/stats.h"

static double standard_deviation(const uint64_t *values, size_t count)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)values[i];
    const double mean = count > 0 ? sum / (double)count : 0;
    for (size_t i = 0; i < count; i++)
        squares += ((double)values[i] - mean) * ((double)values[i] - mean);
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
    if (median > 0)
        base->spread = standard_deviation(medians_ns, count) / base->median_ns;
    base->spread = fmax(base->spread, within);
    if (base->assumed)
        base->spread = fmax(base->spread, JUDGE_ASSUMED_SPREAD);
    return true;
}

double judge_limit(const struct judge_base *base, double threshold, double drift)
{
    return (1 + fmax(threshold, 3 * base->spread)) * (1 + fmax(drift, 0)) - 1;
}

/* The first process and those that measure again must all be over the limit. How many standard deviations
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
    return base->median_ns > 0 ? now_ns / base->median_ns - 1 : NAN;
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
    for (size_t i = 0; i < count; i++)
        if (judge_first(base, threshold, drift, now_ns[i]) != JUDGE_SLOWER)
            return JUDGE_CANNOT_TELL;
    return count > 0 ? JUDGE_SLOWER : JUDGE_CANNOT_TELL;
}
