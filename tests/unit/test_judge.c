/* Verdicts on times whose distribution is known: false alarms, slowdowns found, and whether what a verdict
 * says it could have seen is true. A fake renderer's calls are drawn from distributions that real machines
 * have. */
#include "unit/check.h"

#include <math.h>
#include <stdlib.h>

#include "bench/stats.h"
#include "model/rng.h"
#include "report/judge.h"

#define CALLS 60
#define BLOCK 6
#define BASELINE 5
#define RUNS 200
/* The shape nearest to 1 alarm in 100 (half of it) needs more runs to be told from it. */
#define PLACED_RUNS 1000

/* PLACED: processes are in one of two modes as often as in the other. MODES: a third of them are in a slower one, and
 * differ a little else. HELD_UP: one process in four is disturbed throughout, some badly. */
enum shape { NORMAL, BIMODAL, DRIFTING, HEAVY, AUTOCORRELATED, PLACED, MODES, HELD_UP, SHAPES };

/* One call's time around 1 ms. level: of noise, relative; process: what all calls of a process have in
 * common. */
struct fake {
    enum shape shape;
    double level, process, previous;
    size_t call;
    struct rng *rng;
};

static double normal(struct rng *rng)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += (double)rng_uniform(rng);
    return sum;
}

static double fake_call(struct fake *f)
{
    const double n = normal(f->rng), u = (double)rng_uniform(f->rng);
    double x = 0;

    switch (f->shape) {
    case NORMAL:
    case PLACED:
    case MODES:
    case HELD_UP:
        x = n;
        break;
    case BIMODAL: /* two modes, the slower one a third of the calls */
        x = 0.3 * n + (u < 0.33 ? 4 : 0);
        break;
    case DRIFTING: /* warms up and slows down over the run */
        x = n + 3.0 * (double)f->call / CALLS;
        break;
    case HEAVY: /* one call in ten is disturbed, some badly */
        x = n + (u < 0.1 ? 0.5 / (u + 0.005) : 0);
        break;
    case AUTOCORRELATED:
        f->previous = 0.9 * f->previous + 0.436 * n;
        x = f->previous;
        break;
    case SHAPES:
        break;
    }
    f->call++;
    return 1e6 * (1 + f->process) * (1 + f->level * x);
}

/* The median of a process, slowed down by a factor. */
static double fake_process(enum shape shape, double level, double factor, struct rng *rng, double *within)
{
    struct fake f = {.shape = shape, .level = level, .rng = rng};
    uint64_t samples[CALLS], median, ci[2];
    size_t starts[CALLS / BLOCK];
    struct err err = ERR_INIT;
    bool valid;

    if (shape == PLACED)
        f.process = level * ((double)rng_uniform(rng) < 0.5 ? -1 : 1);
    if (shape == MODES)
        f.process = level * (0.2 * normal(rng) + ((double)rng_uniform(rng) < 0.33 ? 2 : 0));
    if (shape == HELD_UP) {
        const double u = (double)rng_uniform(rng);
        f.process = level * (0.2 * normal(rng) + (u < 0.25 ? 0.5 / (u + 0.05) : 0));
    }
    f.previous = normal(rng);
    for (size_t i = 0; i < CALLS; i++) {
        if (i % BLOCK == 0)
            starts[i / BLOCK] = i;
        samples[i] = (uint64_t)(factor * fake_call(&f));
    }
    const struct series s = {samples, CALLS, starts, CALLS / BLOCK};
    assert_true(stats_median(samples, CALLS, &median, &err));
    if (within) {
        assert_true(stats_median_ci(&s, ci, &valid, &err) && valid);
        *within = (double)(ci[1] - ci[0]) / 2 / 1.96 / (double)median;
    }
    return (double)median;
}

/* As many processes as the baseline itself asks for; then the base says what a check of as many as that needs
 * can see. */
static void fake_baseline(enum shape shape, double level, struct rng *rng, struct judge_base *base)
{
    uint64_t medians[JUDGE_BASE_MOST];
    struct err err = ERR_INIT;
    double within = 0;
    size_t count = 0;

    do {
        medians[count] = (uint64_t)fake_process(shape, level, 1, rng, count == 0 ? &within : NULL);
        if (++count >= BASELINE)
            assert_true(judge_base_init(base, medians, count, within, &err));
    } while (count < BASELINE || judge_wants_more(base, JUDGE_THRESHOLD, JUDGE_MOST));
    const size_t needed = judge_needed(base, JUDGE_THRESHOLD);
    judge_compare(base, needed > 1 ? needed : 1);
}

/* A whole check of one cell: as many processes as are compared, and what looks slower again in as many others, at
 * least JUDGE_AGAIN. */
static enum judge_verdict check(enum shape shape, double level, double factor, struct rng *rng,
                                const struct judge_base *base, double threshold)
{
    double times[JUDGE_MOST];
    const size_t again = base->compared > JUDGE_AGAIN ? base->compared : JUDGE_AGAIN;

    for (size_t i = 0; i < base->compared; i++)
        times[i] = fake_process(shape, level, factor, rng, NULL);
    enum judge_verdict verdict = judge_first(base, threshold, 0, judge_typical(base, times, base->compared));
    if (verdict != JUDGE_SLOWER)
        return verdict;
    for (size_t i = 0; i < again; i++)
        times[i] = fake_process(shape, level, factor, rng, NULL);
    return judge_again(base, threshold, 0, times, again);
}

static const double levels[] = {0.003, 0.01, 0.03, 0.1};
#define LEVELS (sizeof(levels) / sizeof(levels[0]))

/* Alarms of so many checks of something that did not change. */
static unsigned false_alarms(enum shape shape, double level, unsigned runs)
{
    struct rng rng;
    unsigned alarms = 0;

    rng_init(&rng, 100 + (uint64_t)shape, (uint64_t)(level * 1000));
    for (unsigned run = 0; run < runs; run++) {
        struct judge_base base;
        fake_baseline(shape, level, &rng, &base);
        alarms += check(shape, level, 1, &rng, &base, JUDGE_THRESHOLD) == JUDGE_SLOWER;
    }
    return alarms;
}

static void test_false_alarms_are_rare(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++)
        for (size_t l = 0; l < LEVELS; l++) {
            const unsigned runs = s == PLACED ? PLACED_RUNS : RUNS;
            const unsigned alarms = false_alarms((enum shape)s, levels[l], runs);
            if (alarms * 100 > runs)
                fail_msg("shape %zu, level %g: %u false alarms in %u checks", s, levels[l], alarms, runs);
        }
}

/* Where a verdict says that it could see 10 %, a slowdown of 10 % is found. */
static void test_ten_percent_is_found_where_it_is_claimed(void **state)
{
    (void)state;
    unsigned all_claims = 0;
    for (size_t s = 0; s < SHAPES; s++) {
        unsigned claims = 0, found = 0;
        for (size_t l = 0; l < LEVELS; l++) {
            struct rng rng;
            rng_init(&rng, 200 + s, l);
            for (int run = 0; run < RUNS; run++) {
                struct judge_base base;
                fake_baseline((enum shape)s, levels[l], &rng, &base);
                if (judge_detectable(&base, JUDGE_THRESHOLD, 0) > 0.10)
                    continue;
                claims++;
                found += check((enum shape)s, levels[l], 1.10, &rng, &base, JUDGE_THRESHOLD) == JUDGE_SLOWER;
            }
        }
        if (found * 100 < claims * 95)
            fail_msg("shape %zu: %u of %u slowdowns found", s, found, claims);
        all_claims += claims;
    }
    assert_true(all_claims > SHAPES * RUNS); /* it does not claim nothing */
}

/* A slowdown of exactly what each verdict says it would have found is found. */
static void test_the_smallest_detectable_change_is_true(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++) {
        unsigned claims = 0, found = 0;
        for (size_t l = 0; l < LEVELS; l++) {
            struct rng rng;
            rng_init(&rng, 300 + s, l);
            for (int run = 0; run < RUNS; run++) {
                struct judge_base base;
                fake_baseline((enum shape)s, levels[l], &rng, &base);
                const double sees = judge_detectable(&base, JUDGE_THRESHOLD, 0);
                if (!isfinite(sees))
                    continue;
                claims++;
                found +=
                    check((enum shape)s, levels[l], 1 + sees, &rng, &base, JUDGE_THRESHOLD) == JUDGE_SLOWER;
            }
        }
        if (found * 100 < claims * 95)
            fail_msg("shape %zu: %u of %u found", s, found, claims);
        assert_true(claims > RUNS);
    }
}

static bool near(double got, double want)
{
    return fabs(got - want) < 1e-6;
}

static void base_of(struct judge_base *base, const uint64_t *medians, size_t count)
{
    struct err err = ERR_INIT;
    assert_true(judge_base_init(base, medians, count, 0, &err));
}

static void test_limits(void **state)
{
    (void)state;
    const uint64_t still[] = {1000, 1000, 1000, 1000, 1000}, wide[] = {900, 950, 1000, 1050, 1100};
    struct judge_base base;

    base_of(&base, still, 5);
    assert_true(near(judge_limit(&base, 0.05, 0), 0.05));
    assert_true(near(judge_limit(&base, 1, 0), 1));
    assert_true(near(judge_detectable(&base, 0.05, 0), 0.05));
    assert_int_equal(judge_first(&base, 0.05, 0, 1049), JUDGE_SAME);
    assert_int_equal(judge_first(&base, 0.05, 0, 1051), JUDGE_SLOWER);
    assert_int_equal(judge_first(&base, 0.05, 0, 951), JUDGE_FASTER);
    assert_int_equal(judge_first(&base, 0.05, 0, 953), JUDGE_SAME);

    base_of(&base, wide, 5);
    assert_true(near(base.spread, 0.0790569));
    assert_true(near(judge_limit(&base, 0.05, 0), 3 * 0.0790569));
    assert_true(judge_hidden(&base, 0.05));
    assert_false(judge_hidden(&base, 1));
    assert_int_equal(judge_first(&base, 0.05, 0, 1200), JUDGE_CANNOT_TELL);
    assert_int_equal(judge_first(&base, 0.05, 0, 1300), JUDGE_SLOWER);
}

static void test_few_processes_have_a_spread_that_is_assumed(void **state)
{
    (void)state;
    const uint64_t one[] = {1000};
    struct judge_base base;

    base_of(&base, one, 1);
    assert_true(base.assumed);
    assert_true(near(base.spread, JUDGE_ASSUMED_SPREAD));
    assert_int_equal(judge_first(&base, 0.05, 0, 1300), JUDGE_CANNOT_TELL);
    assert_int_equal(judge_first(&base, 0.05, 0, 2000), JUDGE_SLOWER);
}

/* The whole machine being 20 % slower is no regression; twice as slow on it still is one. */
static void test_a_slower_machine_is_an_excuse(void **state)
{
    (void)state;
    const uint64_t still[] = {1000, 1000, 1000, 1000, 1000};
    struct judge_base base;

    base_of(&base, still, 5);
    assert_int_equal(judge_first(&base, 0.05, 0.2, 1200), JUDGE_CANNOT_TELL);
    assert_int_equal(judge_first(&base, 0.05, 0.2, 1020), JUDGE_SAME);
    assert_int_equal(judge_first(&base, 0.05, 0.2, 2000), JUDGE_SLOWER);
}

static void test_every_process_must_confirm(void **state)
{
    (void)state;
    const uint64_t still[] = {1000, 1000, 1000, 1000, 1000};
    const double all[] = {1200, 1100, 1300}, some[] = {1200, 1000, 1300};
    struct judge_base base;

    base_of(&base, still, 5);
    assert_int_equal(judge_again(&base, 0.05, 0, all, 3), JUDGE_SLOWER);
    assert_int_equal(judge_again(&base, 0.05, 0, some, 3), JUDGE_CANNOT_TELL);
    assert_int_equal(judge_again(&base, 0.05, 0, all, 0), JUDGE_CANNOT_TELL);
}

/* Standard deviation 2 %, of all of them 1.85 %: three times it is over 5 %. */
static void make_wide(uint64_t medians[15])
{
    static const uint64_t five[] = {9800, 9800, 10000, 10200, 10200};

    for (size_t i = 0; i < 15; i++)
        medians[i] = five[i % 5];
}

/* Means of several processes are told apart more finely than single ones. */
static void test_several_processes(void **state)
{
    (void)state;
    uint64_t medians[15];
    const double three[] = {10600, 10700, 10300}, mixed[] = {10600, 10300, 10300};
    struct judge_base base;

    make_wide(medians);
    /* Five do not tell how much several differ. */
    base_of(&base, medians, 5);
    assert_true(near(base.spread, 0.02));
    assert_true(judge_hidden(&base, 0.05));
    assert_int_equal(judge_needed(&base, 0.05), 0);
    assert_int_equal(judge_needed(&base, 0.06), 1);
    assert_true(judge_wants_more(&base, 0.05, JUDGE_MOST));
    assert_false(judge_wants_more(&base, 0.06, JUDGE_MOST));
    judge_compare(&base, 3);
    assert_int_equal(base.statistic, JUDGE_ONE);
    assert_true(near(base.spread, 0.02));

    base_of(&base, medians, 15);
    assert_int_equal(judge_needed(&base, 0.05), 2);
    assert_false(judge_wants_more(&base, 0.05, JUDGE_MOST));
    judge_compare(&base, 3);
    assert_int_equal(base.statistic, JUDGE_MEAN);
    assert_true(near(base.between, 0.02 * sqrt(12.0 / 14)));
    assert_true(near(base.spread, base.between * sqrt((1 / 3.0 + 1 / 15.0) / 1.2)));
    assert_false(judge_hidden(&base, 0.05));
    assert_int_equal(judge_again(&base, 0.05, 0, three, 3), JUDGE_SLOWER);
    assert_int_equal(judge_again(&base, 0.05, 0, mixed, 3), JUDGE_CANNOT_TELL);
}

/* One that was held up raises the mean over the limit, and accuses nobody. */
static void test_one_of_several_that_was_held_up(void **state)
{
    (void)state;
    uint64_t medians[15];
    const double held_up[] = {12000, 10100, 10000}, slower[] = {11000, 10900, 10800};
    struct judge_base base;

    make_wide(medians);
    base_of(&base, medians, 15);
    judge_compare(&base, 3);
    assert_int_equal(judge_first(&base, 0.05, 0, judge_typical(&base, held_up, 3)), JUDGE_SLOWER);
    assert_int_equal(judge_again(&base, 0.05, 0, held_up, 3), JUDGE_CANNOT_TELL);
    assert_int_equal(judge_again(&base, 0.05, 0, slower, 3), JUDGE_SLOWER);
}

/* Half of the processes are in a mode that is 20 % slower: of six, all are once in 64 times. */
static void test_the_fastest_of_several(void **state)
{
    (void)state;
    uint64_t medians[30];
    const double fast[] = {12000, 12000, 10100, 12000, 12000, 12000},
                 slow[] = {12000, 12000, 12000, 12000, 12000, 12000},
                 slower[] = {13200, 13000, 11200, 13200, 13100, 13000};
    const double p = 1 / 64.0;
    struct judge_base base;

    for (size_t i = 0; i < 30; i++)
        medians[i] = i % 2 ? 10000 : 12000;
    base_of(&base, medians, 30);
    assert_true(near(base.fastest[6].ns, 10000 + p * 2000));
    assert_true(near(base.fastest[6].spread, 2000 * sqrt(p * (1 - p)) / base.fastest[6].ns));
    judge_compare(&base, 6);
    assert_int_equal(base.statistic, JUDGE_FASTEST);
    assert_true(near(base.typical_ns, base.fastest[6].ns));
    assert_true(near(base.spread, base.fastest[6].spread));
    const double limit = judge_limit(&base, 0.05, 0);
    assert_true(limit > 0.07 && limit < 0.08);
    assert_int_equal(judge_first(&base, 0.05, 0, judge_typical(&base, fast, 6)), JUDGE_CANNOT_TELL);
    assert_int_equal(judge_again(&base, 0.05, 0, slow, 6), JUDGE_SLOWER);
    assert_int_equal(judge_again(&base, 0.05, 0, slower, 6), JUDGE_SLOWER);
    assert_int_equal(judge_again(&base, 0.05, 0, fast, 6), JUDGE_CANNOT_TELL);

    /* Of eight, all are slow once in 256 times, and 5 % can be told. */
    assert_int_equal(judge_needed(&base, 0.05), 8);
    judge_compare(&base, 8);
    assert_false(judge_hidden(&base, 0.05));
    assert_int_equal(judge_first(&base, 0.05, 0, 10300), JUDGE_SAME);
    /* Of more than a third of the baseline's: by what a third tells. */
    judge_compare(&base, 16);
    assert_true(near(base.typical_ns, base.fastest[10].ns));

    /* Of four, and in a small baseline, it is not compared. */
    judge_compare(&base, 4);
    assert_int_equal(base.statistic, JUDGE_MEAN);
    base_of(&base, medians, 14);
    judge_compare(&base, 8);
    assert_int_equal(base.statistic, JUDGE_ONE);
}

/* Processes that differ this much are not measured again and again: it would not help. */
static void test_a_hopeless_spread(void **state)
{
    (void)state;
    uint64_t wide[50], narrower[] = {900, 900, 1000, 1100, 1100};
    struct judge_base base;

    for (size_t i = 0; i < 50; i++)
        wide[i] = 700 + 10 * (i % 10) * (i % 10);
    base_of(&base, wide, 20);
    assert_int_equal(judge_needed(&base, 0.05), 0);
    assert_false(judge_wants_more(&base, 0.05, 8));
    assert_int_equal(judge_needed(&base, 2), 1);
    base_of(&base, wide, 50);
    assert_false(judge_wants_more(&base, 0.05, JUDGE_MOST));
    /* There may be time for it, or not. */
    base_of(&base, narrower, 5);
    assert_true(judge_wants_more(&base, 0.05, JUDGE_MOST));
    assert_false(judge_wants_more(&base, 0.05, 3));
}

static void test_what_is_typical(void **state)
{
    (void)state;
    const double values[] = {5, 1, 4, 2};
    struct judge_base base = {.statistic = JUDGE_ONE};

    assert_true(isnan(judge_typical(&base, values, 0)));
    assert_true(near(judge_typical(&base, values, 1), 5));
    assert_true(near(judge_typical(&base, values, 3), 4));
    assert_true(near(judge_typical(&base, values + 1, 3), 2));
    base.statistic = JUDGE_MEAN;
    assert_true(near(judge_typical(&base, values, 4), 3));
    assert_true(near(judge_typical(&base, values + 1, 3), 7 / 3.0));
    base.statistic = JUDGE_FASTEST;
    assert_true(near(judge_typical(&base, values, 4), 1));
}

static void test_a_baseline_of_nothing(void **state)
{
    (void)state;
    const uint64_t zeros[5] = {0};
    struct judge_base base;

    base_of(&base, zeros, 5);
    assert_int_equal(judge_first(&base, 0.05, 0, 100), JUDGE_CANNOT_TELL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_few_processes_have_a_spread_that_is_assumed),
        cmocka_unit_test(test_a_slower_machine_is_an_excuse),
        cmocka_unit_test(test_every_process_must_confirm),
        cmocka_unit_test(test_several_processes),
        cmocka_unit_test(test_one_of_several_that_was_held_up),
        cmocka_unit_test(test_the_fastest_of_several),
        cmocka_unit_test(test_a_hopeless_spread),
        cmocka_unit_test(test_what_is_typical),
        cmocka_unit_test(test_a_baseline_of_nothing),
        cmocka_unit_test(test_false_alarms_are_rare),
        cmocka_unit_test(test_ten_percent_is_found_where_it_is_claimed),
        cmocka_unit_test(test_the_smallest_detectable_change_is_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
