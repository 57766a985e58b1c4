/* Statistics of samples that are neither normal nor independent: medians, and intervals by resampling blocks.
 * Pure: the same samples give the same bits. Times in nanoseconds.
 *
 * Intervals: whole blocks of consecutive samples are drawn with replacement (Kuensch, "The jackknife and the
 * bootstrap for general stationary observations", 1989), 2000 times with a fixed seed; the percentiles are
 * widened for the number of blocks as in Hesterberg, "What teachers should know about the bootstrap",
 * 2015, 4.2 (expanded percentile interval), since few blocks make plain percentiles too narrow.
 */
#ifndef GPUBENCH_BENCH_STATS_H
#define GPUBENCH_BENCH_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define STATS_MIN_SAMPLES 6 /* below it there is no interval */

/* Samples in the order taken; block_starts[0] is 0 and each is the index of a block's first sample.
 * Without blocks (block_count 0) every sample is one. */
struct series {
    const uint64_t *samples_ns;
    size_t count;
    const size_t *block_starts;
    size_t block_count;
};

/* Of an even count the mean of the middle two, rounded down; 0 of none. Leaves the samples as they are. */
bool stats_median(const uint64_t *samples, size_t count, uint64_t *out, struct err *err) GB_NODISCARD;

/* 95 % interval of the median. *valid false (and out untouched) under STATS_MIN_SAMPLES. */
bool stats_median_ci(const struct series *s, uint64_t out[2], bool *valid, struct err *err) GB_NODISCARD;

/* 95 % interval of median(a)/median(b), both resampled by blocks, independently. *valid false when either has
 * under STATS_MIN_SAMPLES or b's median is 0. */
bool stats_ratio_ci(const struct series *a, const struct series *b, double out[2], bool *valid,
                    struct err *err) GB_NODISCARD;

/* Samples whose modified z-score (Iglewicz and Hoaglin, 1993: 0.6745 |x - median| / MAD) exceeds 3.5. Where
 * more than half of the samples are equal, so that the MAD is 0, the mean absolute deviation takes its place
 * (1.253314 of it); where that is 0 too, there is none. */
bool stats_outliers(const uint64_t *samples, size_t count, uint32_t *out, struct err *err) GB_NODISCARD;

#endif
