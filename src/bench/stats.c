#include "bench/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "model/rng.h"

#define RESAMPLES 2000
#define RESAMPLE_SEED 0x67707562656e6368u
/* Fewer blocks than this say little about how blocks differ: they are halved until there are as many. */
#define MIN_UNITS 8

static uint64_t *sorted_copy(const uint64_t *samples, size_t count, struct err *err)
{
    uint64_t *copy = mem_calloc(count, sizeof *copy, "samples", err);
    if (copy != NULL && count > 0) {
        memcpy(copy, samples, count * sizeof *copy);
        qsort(copy, count, sizeof *copy, order_u64);
    }
    return copy;
}

static uint64_t midpoint(uint64_t low, uint64_t high)
{
    return low + (high - low) / 2;
}

static uint64_t median_of_sorted(const uint64_t *sorted, size_t count)
{
    return count == 0 ? 0 : midpoint(sorted[(count - 1) / 2], sorted[count / 2]);
}

bool stats_median(const uint64_t *samples, size_t count, uint64_t *out, struct err *err)
{
    uint64_t *sorted = sorted_copy(samples, count, err);
    if (sorted == NULL)
        return false;
    *out = median_of_sorted(sorted, count);
    free(sorted);
    return true;
}

/* ---- resampling ---- */

struct ranked {
    uint64_t value;
    size_t unit;
};

/* What is drawn from: samples in ascending order, each with the block it belongs to, so that the median of a
 * draw is found by walking up weights instead of sorting again. */
struct pool {
    struct ranked *ranked;
    size_t count;
    size_t *starts; /* [units + 1] */
    size_t units;
    uint32_t *weights; /* [units] how often each was drawn */
};

static int compare_ranked(const void *a, const void *b)
{
    return order_u64(&((const struct ranked *)a)->value, &((const struct ranked *)b)->value);
}

static void pool_fini(struct pool *pool)
{
    free(pool->ranked);
    free(pool->starts);
    free(pool->weights);
}

static void pool_halve_units(struct pool *pool)
{
    size_t halved = 0, longer = 0;
    for (size_t u = 0; u < pool->units; u++)
        longer += pool->starts[u + 1] - pool->starts[u] > 1;
    size_t write = pool->units + longer;
    pool->starts[write] = pool->count;
    for (size_t u = pool->units, end = pool->count; u-- > 0;) {
        size_t start = pool->starts[u];
        if (end - start > 1) {
            pool->starts[--write] = start + (end - start) / 2;
            halved++;
        }
        pool->starts[--write] = start;
        end = start;
    }
    pool->units += halved;
}

static bool pool_init(struct pool *pool, const struct series *s, struct err *err)
{
    memset(pool, 0, sizeof *pool);
    pool->count = s->count;
    pool->ranked = mem_calloc(s->count, sizeof *pool->ranked, "samples", err);
    pool->starts = mem_calloc(s->count + 1, sizeof *pool->starts, "blocks", err);
    pool->weights = mem_calloc(s->count + 1, sizeof *pool->weights, "blocks", err);
    if (pool->ranked == NULL || pool->starts == NULL || pool->weights == NULL)
        return false;
    if (s->block_count > 0) {
        for (size_t b = 0; b < s->block_count; b++)
            if (s->block_starts[b] < s->count && (b == 0 || s->block_starts[b] > s->block_starts[b - 1]))
                pool->starts[pool->units++] = s->block_starts[b];
        pool->starts[0] = 0;
    } else {
        for (size_t i = 0; i < s->count; i++)
            pool->starts[i] = i;
        pool->units = s->count;
    }
    pool->starts[pool->units] = s->count;
    while (pool->units < MIN_UNITS && pool->units < s->count)
        pool_halve_units(pool);
    for (size_t u = 0; u < pool->units; u++)
        for (size_t i = pool->starts[u]; i < pool->starts[u + 1]; i++)
            pool->ranked[i] = (struct ranked){s->samples_ns[i], u};
    qsort(pool->ranked, pool->count, sizeof *pool->ranked, compare_ranked);
    return true;
}

static double pool_draw_median(struct pool *pool, struct rng *rng)
{
    memset(pool->weights, 0, pool->units * sizeof *pool->weights);
    uint64_t total = 0;
    for (size_t d = 0; d < pool->units; d++) {
        size_t u = (size_t)(((rng_next(rng) >> 32) * (uint64_t)pool->units) >> 32);
        pool->weights[u]++;
        total += pool->starts[u + 1] - pool->starts[u];
    }
    uint64_t low_rank = (total - 1) / 2, high_rank = total / 2, seen = 0;
    uint64_t low = 0;
    bool have_low = false;
    for (size_t i = 0; i < pool->count; i++) {
        seen += pool->weights[pool->ranked[i].unit];
        if (!have_low && seen > low_rank) {
            low = pool->ranked[i].value;
            have_low = true;
        }
        if (seen > high_rank)
            return 0.5 * ((double)low + (double)pool->ranked[i].value);
    }
    return (double)low;
}

/* Student's t, upper 2.5 %, by the expansion of Abramowitz and Stegun 26.7.5; good to 0.2 % from 5 degrees
 * on. */
static double t_975(double degrees)
{
    const double z = 1.959963984540054, z2 = z * z;
    double g1 = z * (z2 + 1) / 4;
    double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
    double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    return z + g1 / degrees + g2 / (degrees * degrees) + g3 / (degrees * degrees * degrees);
}

/* The share of draws that lies below the interval's lower end. */
static double tail_share(size_t units)
{
    double n = (double)units;
    double x = sqrt(n / (n - 1)) * t_975(n - 1);
    return 0.5 * erfc(x / sqrt(2.0));
}

static void percentiles(double *draws, size_t units, double out[2])
{
    qsort(draws, RESAMPLES, sizeof *draws, order_double);
    size_t below = (size_t)(tail_share(units) * RESAMPLES);
    out[0] = draws[below];
    out[1] = draws[RESAMPLES - 1 - below];
}

bool stats_median_ci(const struct series *s, uint64_t out[2], bool *valid, struct err *err)
{
    *valid = false;
    if (s->count < STATS_MIN_SAMPLES)
        return true;
    bool ok = false;
    struct pool pool;
    double *draws = mem_calloc(RESAMPLES, sizeof *draws, "resampled medians", err);
    if (!pool_init(&pool, s, err) || draws == NULL)
        goto out;
    struct rng rng;
    rng_init(&rng, RESAMPLE_SEED, 0);
    for (size_t i = 0; i < RESAMPLES; i++)
        draws[i] = pool_draw_median(&pool, &rng);
    double ends[2];
    percentiles(draws, pool.units, ends);
    out[0] = (uint64_t)floor(ends[0]);
    out[1] = (uint64_t)ceil(ends[1]);
    *valid = true;
    ok = true;
out:
    free(draws);
    pool_fini(&pool);
    return ok;
}

bool stats_ratio_ci(const struct series *a, const struct series *b, double out[2], bool *valid,
                    struct err *err)
{
    *valid = false;
    if (a->count < STATS_MIN_SAMPLES || b->count < STATS_MIN_SAMPLES)
        return true;
    bool ok = false;
    struct pool over = {0}, under = {0};
    double *draws = mem_calloc(RESAMPLES, sizeof *draws, "resampled ratios", err);
    if (draws == NULL || !pool_init(&over, a, err) || !pool_init(&under, b, err))
        goto out;
    struct rng rng_a, rng_b;
    rng_init(&rng_a, RESAMPLE_SEED, 0);
    rng_init(&rng_b, RESAMPLE_SEED, 1);
    for (size_t i = 0; i < RESAMPLES; i++) {
        double denominator = pool_draw_median(&under, &rng_b);
        if (denominator <= 0) {
            ok = true;
            goto out;
        }
        draws[i] = pool_draw_median(&over, &rng_a) / denominator;
    }
    percentiles(draws, over.units < under.units ? over.units : under.units, out);
    *valid = true;
    ok = true;
out:
    free(draws);
    pool_fini(&over);
    pool_fini(&under);
    return ok;
}

/* ---- outliers ---- */

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

bool stats_outliers(const uint64_t *samples, size_t count, uint32_t *out, struct err *err)
{
    *out = 0;
    uint64_t median;
    if (!stats_median(samples, count, &median, err))
        return false;
    uint64_t *deviations = mem_calloc(count, sizeof *deviations, "deviations", err);
    if (deviations == NULL)
        return false;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        deviations[i] = distance(samples[i], median);
        sum += (double)deviations[i];
    }
    qsort(deviations, count, sizeof *deviations, order_u64);
    double scale = (double)median_of_sorted(deviations, count) / 0.6745;
    if (scale <= 0 && count > 0)
        scale = 1.253314 * sum / (double)count;
    for (size_t i = 0; i < count && scale > 0; i++)
        *out += (double)deviations[i] / scale > 3.5;
    free(deviations);
    return true;
}
