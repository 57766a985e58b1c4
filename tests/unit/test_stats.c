/* Medians, intervals and outliers of samples whose distribution is known. */
#include "unit/check.h"

#include <math.h>

#include "bench/stats.h"
#include "model/rng.h"

#define MAX 400

/* Sums of twelve uniform numbers: a normal distribution, near enough. */
static double normal(struct rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)rng_uniform(rng);
    return sum;
}

static uint64_t median_of(const uint64_t *samples, size_t count)
{
    struct err err = ERR_INIT;
    uint64_t median = 0;
    assert_true(stats_median(samples, count, &median, &err));
    return median;
}

static void test_median(void **state)
{
    (void)state;
    const uint64_t odd[] = {9, 1, 5}, even[] = {8, 1, 5, 2}, large[] = {UINT64_MAX, UINT64_MAX - 2};
    assert_int_equal(median_of(odd, 3), 5);
    assert_int_equal(median_of(even, 4), 3);
    assert_int_equal(odd[0], 9);
    assert_true(median_of(large, 2) == UINT64_MAX - 1);
    assert_int_equal(median_of(NULL, 0), 0);
}

static void test_no_interval_under_six_samples(void **state)
{
    (void)state;
    const uint64_t samples[] = {1, 2, 3, 4, 5, 6};
    struct err err = ERR_INIT;
    uint64_t ci[2] = {7, 7};
    double ratio[2];
    bool valid = true;
    struct series s = {samples, 5, NULL, 0};
    assert_true(stats_median_ci(&s, ci, &valid, &err));
    assert_false(valid);
    assert_int_equal(ci[0], 7);
    struct series six = {samples, 6, NULL, 0};
    assert_true(stats_ratio_ci(&six, &s, ratio, &valid, &err));
    assert_false(valid);
    assert_true(stats_median_ci(&six, ci, &valid, &err));
    assert_true(valid);
    assert_true(ci[0] >= 1 && ci[0] <= 3 && ci[1] <= 6 && ci[1] >= 4);
}

static void test_constant_samples_have_an_interval_of_one_point(void **state)
{
    (void)state;
    uint64_t samples[20];
    for (size_t i = 0; i < 20; i++)
        samples[i] = 1234567;
    struct err err = ERR_INIT;
    struct series s = {samples, 20, NULL, 0};
    uint64_t ci[2];
    double ratio[2];
    bool valid;
    assert_true(stats_median_ci(&s, ci, &valid, &err) && valid);
    assert_int_equal(ci[0], 1234567);
    assert_int_equal(ci[1], 1234567);
    assert_true(stats_ratio_ci(&s, &s, ratio, &valid, &err) && valid);
    assert_true(ratio[0] == 1.0 && ratio[1] == 1.0);
}

static void test_division_by_nothing_is_no_interval(void **state)
{
    (void)state;
    const uint64_t zeros[8] = {0}, ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct err err = ERR_INIT;
    struct series a = {ones, 8, NULL, 0}, b = {zeros, 8, NULL, 0};
    double ratio[2];
    bool valid = true;
    assert_true(stats_ratio_ci(&a, &b, ratio, &valid, &err));
    assert_false(valid);
}

/* Blocks with an offset of their own, as calls have that follow each other: `between` and `within` are
 * standard deviations. */
static size_t make_blocks(struct rng *rng, double between, double within, size_t blocks, size_t length,
                          uint64_t *samples, size_t *starts)
{
    size_t n = 0;
    for (size_t b = 0; b < blocks; b++) {
        double offset = between * normal(rng);
        starts[b] = n;
        for (size_t i = 0; i < length; i++)
            samples[n++] = (uint64_t)(100000 + offset + within * normal(rng));
    }
    return n;
}

/* How many of 300 intervals hold the true median. */
static unsigned coverage(double between, double within, size_t blocks, size_t length)
{
    uint64_t samples[MAX];
    size_t starts[MAX];
    struct err err = ERR_INIT;
    struct rng rng;
    unsigned hits = 0;
    rng_init(&rng, 5, blocks);
    for (int run = 0; run < 300; run++) {
        struct series s = {samples, make_blocks(&rng, between, within, blocks, length, samples, starts),
                           starts, blocks};
        uint64_t ci[2];
        bool valid;
        assert_true(stats_median_ci(&s, ci, &valid, &err) && valid);
        hits += ci[0] <= 100000 && 100000 <= ci[1];
    }
    return hits;
}

static void test_intervals_cover_the_true_median(void **state)
{
    (void)state;
    /* 95 % of 300 is 285; three standard errors of a share are 11. */
    assert_in_range(coverage(0, 1000, 10, 20), 274, 300);
    assert_in_range(coverage(1000, 1000, 10, 20), 270, 300);
    assert_in_range(coverage(2000, 200, 10, 10), 270, 300);
    assert_in_range(coverage(0, 1000, 5, 2), 270, 300);
}

static void test_blocks_matter(void **state)
{
    (void)state;
    uint64_t samples[MAX], blocked[2], single[2];
    size_t starts[MAX];
    struct err err = ERR_INIT;
    struct rng rng;
    bool valid;
    rng_init(&rng, 3, 0);
    struct series s = {samples, make_blocks(&rng, 3000, 100, 10, 20, samples, starts), starts, 10};
    assert_true(stats_median_ci(&s, blocked, &valid, &err) && valid);
    s.block_count = 0;
    assert_true(stats_median_ci(&s, single, &valid, &err) && valid);
    /* Samples that follow each other taken for independent ones look twice as precise as they are, at least.
     */
    assert_true(blocked[1] - blocked[0] > 2 * (single[1] - single[0]));
}

static void test_ratio_covers_the_true_ratio(void **state)
{
    (void)state;
    uint64_t a[MAX], b[MAX];
    size_t starts_a[MAX], starts_b[MAX];
    struct err err = ERR_INIT;
    struct rng rng;
    unsigned hits = 0;
    rng_init(&rng, 8, 0);
    for (int run = 0; run < 200; run++) {
        struct series over = {a, make_blocks(&rng, 500, 500, 10, 10, a, starts_a), starts_a, 10};
        struct series under = {b, make_blocks(&rng, 500, 500, 10, 10, b, starts_b), starts_b, 10};
        double ci[2];
        bool valid;
        for (size_t i = 0; i < over.count; i++)
            a[i] *= 3;
        assert_true(stats_ratio_ci(&over, &under, ci, &valid, &err) && valid);
        hits += ci[0] <= 3.0 && 3.0 <= ci[1];
    }
    assert_in_range(hits, 181, 200);
}

static void test_the_same_samples_give_the_same_bits(void **state)
{
    (void)state;
    uint64_t samples[MAX], first[2], second[2];
    size_t starts[MAX];
    struct err err = ERR_INIT;
    struct rng rng;
    bool valid;
    rng_init(&rng, 4, 0);
    struct series s = {samples, make_blocks(&rng, 500, 1000, 10, 20, samples, starts), starts, 10};
    assert_true(stats_median_ci(&s, first, &valid, &err));
    assert_true(stats_median_ci(&s, second, &valid, &err));
    assert_memory_equal(first, second, sizeof first);
}

static uint32_t outliers_of(const uint64_t *samples, size_t count)
{
    struct err err = ERR_INIT;
    uint32_t outliers = 99;
    assert_true(stats_outliers(samples, count, &outliers, &err));
    return outliers;
}

static void test_outliers(void **state)
{
    (void)state;
    const uint64_t one[] = {100, 101, 99, 100, 102, 98, 500}, none[] = {100, 101, 99, 100, 102, 98, 103};
    const uint64_t same[] = {100, 100, 100, 100};
    /* More than half equal: the median deviation is 0. */
    const uint64_t spike[] = {100, 100, 100, 100, 100, 100, 100, 900};
    assert_int_equal(outliers_of(one, 7), 1);
    assert_int_equal(outliers_of(none, 7), 0);
    assert_int_equal(outliers_of(same, 4), 0);
    assert_int_equal(outliers_of(spike, 8), 1);
    assert_int_equal(outliers_of(NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_no_interval_under_six_samples),
        cmocka_unit_test(test_constant_samples_have_an_interval_of_one_point),
        cmocka_unit_test(test_division_by_nothing_is_no_interval),
        cmocka_unit_test(test_intervals_cover_the_true_median),
        cmocka_unit_test(test_blocks_matter),
        cmocka_unit_test(test_ratio_covers_the_true_ratio),
        cmocka_unit_test(test_the_same_samples_give_the_same_bits),
        cmocka_unit_test(test_outliers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
