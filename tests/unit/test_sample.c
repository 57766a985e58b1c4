/* The sampling rules, with a clock that only calls move and calls that take what a test says. */
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

#include "bench/sample.h"
#include "model/rng.h"

#define MS UINT64_C(1000000)

struct fake {
    uint64_t now_ns;
    uint64_t slept_ns;
    uint64_t stop_at_ns; /* 0: never */
    char order[4096];    /* the sides in the order of their blocks */
    size_t blocks;
};

struct side {
    struct fake *fake;
    char name;
    struct rng rng;
    uint64_t call_ns;
    uint64_t first_calls; /* slow ones at the start of each block */
    uint64_t slow_ns;
    uint64_t since_block;  /* calls in this block */
    uint64_t unsteady_ns;  /* from each block's start calls take all kinds of times for so long */
    uint64_t block_ns;     /* when the block began */
    double noise;          /* share of call_ns */
    size_t calls, fail_at; /* 0: never */
    size_t prepared, after;
};

static uint64_t fake_now(void *context)
{
    return ((struct fake *)context)->now_ns;
}

static void fake_sleep(void *context, uint64_t ns)
{
    struct fake *fake = context;
    fake->now_ns += ns;
    fake->slept_ns += ns;
}

static bool fake_stop(void *context)
{
    const struct fake *fake = context;
    return fake->stop_at_ns != 0 && fake->now_ns >= fake->stop_at_ns;
}

static bool call(void *context, struct err *err)
{
    struct side *s = context;
    double factor = 1 + s->noise * ((double)rng_uniform(&s->rng) - 0.5);
    if (s->fake->now_ns < s->block_ns + s->unsteady_ns)
        factor *= 5 + 10 * (double)rng_uniform(&s->rng);
    s->fake->now_ns +=
        s->since_block++ < s->first_calls ? s->slow_ns : (uint64_t)((double)s->call_ns * factor);
    return ++s->calls != s->fail_at || err_set(err, ERR_OPENCL, "the call failed");
}

static bool before_block(void *context, struct err *err)
{
    struct side *s = context;
    (void)err;
    s->since_block = 0;
    s->block_ns = s->fake->now_ns;
    s->prepared++;
    s->fake->order[s->fake->blocks++] = s->name;
    return true;
}

static bool after_call(void *context, struct err *err)
{
    (void)err;
    ((struct side *)context)->after++;
    return true;
}

static struct sample_side make(struct side *s)
{
    rng_init(&s->rng, 1, (uint64_t)s->name);
    return (struct sample_side){
        .context = s, .call = call, .before_block = before_block, .after_call = after_call};
}

static const struct measure_config usual = {.warmup = 2,
                                            .min_samples = 10,
                                            .max_samples = 200,
                                            .target_ci = 0.02,
                                            .max_seconds = 2,
                                            .timeout_seconds = 60};

static void run(struct fake *fake, struct sample_side *sides, size_t count,
                const struct measure_config *rules)
{
    const struct sample_clock clock = {fake, fake_now, fake_sleep, fake_stop};
    struct err err = ERR_INIT;
    assert_true(sample_run(sides, count, rules, &clock, &err));
    assert_int_equal(err.code, ERR_NONE);
}

static void test_max_samples(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct side s = {.fake = &fake, .name = 'a', .call_ns = MS, .noise = 0.9};
    struct sample_side side = make(&s);
    struct measure_config rules = usual;
    rules.target_ci = 0;
    run(&fake, &side, 1, &rules);
    assert_int_equal(side.ended_by, END_MAX_SAMPLES);
    assert_int_equal(side.sample_count, 200);
    assert_int_equal(side.block_count, 10);
    assert_int_equal(side.block_starts[1], 20);
    assert_int_equal(s.prepared, 10);
    assert_int_equal(s.after, 200);
    assert_int_equal(side.spent_ns, fake.now_ns);
    sample_side_fini(&side);
}

static void test_target_ci(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct side s = {.fake = &fake, .name = 'a', .call_ns = MS, .noise = 0.01};
    struct sample_side side = make(&s);
    run(&fake, &side, 1, &usual);
    assert_int_equal(side.ended_by, END_TARGET_CI);
    /* Not before five blocks, however alike the samples of the first are. */
    assert_int_equal(side.block_count, 5);
    sample_side_fini(&side);
}

static void test_max_seconds(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct side s = {.fake = &fake, .name = 'a', .call_ns = 40 * MS, .noise = 0.9};
    struct sample_side side = make(&s);
    struct measure_config rules = usual;
    rules.target_ci = 0;
    run(&fake, &side, 1, &rules);
    assert_int_equal(side.ended_by, END_MAX_SECONDS);
    assert_in_range(side.block_ns, 2000 * MS, 2100 * MS);
    assert_in_range(side.sample_count, 20, 50);
    sample_side_fini(&side);
}

static void test_min_samples_outranks_max_seconds(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct side s = {.fake = &fake, .name = 'a', .call_ns = 1000 * MS, .noise = 0.9};
    struct sample_side side = make(&s);
    run(&fake, &side, 1, &usual);
    assert_int_equal(side.ended_by, END_MAX_SECONDS);
    assert_int_equal(side.sample_count, 10);
    assert_int_equal(side.block_count, 5);
    sample_side_fini(&side);
}

static void test_timeout_outranks_min_samples(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct side s = {.fake = &fake, .name = 'a', .call_ns = 9000 * MS};
    struct sample_side side = make(&s);
    side.spent_ns = 20000 * MS;
    run(&fake, &side, 1, &usual);
    assert_int_equal(side.ended_by, END_TIMEOUT);
    assert_true(side.sample_count < 10);
    /* The time that went before counts, and no call starts that would end behind the limit. */
    assert_in_range(fake.now_ns, 27000 * MS, 40000 * MS);
    sample_side_fini(&side);
}

/* The last sample that is wanted: whether one more would end in time is nobody's concern. */
static void test_the_last_sample_just_in_time(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct side s = {.fake = &fake, .name = 'a', .call_ns = 3700 * MS};
    struct sample_side side = make(&s);
    run(&fake, &side, 1, &usual);
    assert_int_equal(side.ended_by, END_MAX_SECONDS);
    assert_int_equal(side.sample_count, 10);
    assert_in_range(fake.now_ns, 59000 * MS, 60000 * MS);
    sample_side_fini(&side);
}

/* What slow cells are estimated by is what they are called. */
static void test_least_calls(void **state)
{
    static const uint32_t counts[] = {1, 2, 5, 6, 10, 12};
    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        for (uint32_t warmup = 0; warmup < 5; warmup++) {
            struct fake fake = {0};
            struct side s = {.fake = &fake, .name = 'a', .call_ns = 2000 * MS};
            struct sample_side side = make(&s);
            struct measure_config rules = usual;
            rules.warmup = warmup;
            rules.min_samples = counts[i];
            run(&fake, &side, 1, &rules);
            assert_int_equal(side.sample_count, counts[i]);
            assert_int_equal(fake.now_ns, sample_least_calls(&rules) * s.call_ns);
            sample_side_fini(&side);
        }
}

static void test_one_sample(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct side s = {.fake = &fake, .name = 'a', .call_ns = MS};
    struct sample_side side = make(&s);
    struct measure_config rules = usual;
    rules.warmup = 0;
    rules.min_samples = rules.max_samples = 1;
    run(&fake, &side, 1, &rules);
    assert_int_equal(side.sample_count, 1);
    assert_int_equal(side.block_count, 1);
    assert_int_equal(side.ended_by, END_MAX_SAMPLES);
    sample_side_fini(&side);
}

/* Nobody waits behind a side whose threads sleep at once. */
static void test_blocks_alternate_with_a_pause(void **state)
{
    (void)state;
    uint64_t slept[2];
    for (int lingers = 0; lingers < 2; lingers++) {
        struct fake fake = {0};
        struct side a = {.fake = &fake, .name = 'a', .call_ns = MS, .noise = 0.9};
        struct side b = {.fake = &fake, .name = 'b', .call_ns = 5 * MS, .noise = 0.9};
        struct sample_side sides[2] = {make(&a), make(&b)};
        struct measure_config rules = usual;
        rules.target_ci = 0;
        sides[0].lingers = lingers;
        run(&fake, sides, 2, &rules);
        assert_int_equal(strncmp(fake.order, "abababababababababab", 20), 0);
        assert_int_equal(sides[0].block_count, 10);
        slept[lingers] = fake.slept_ns;
        sample_side_fini(&sides[0]);
        sample_side_fini(&sides[1]);
    }
    assert_true(slept[1] - slept[0] >= 9 * 15 * MS);
    assert_true(slept[0] < 30 * MS);
}

/* Calls that come and go between two levels for 80 ms are not taken for steady ones. */
static void test_an_unsteady_start_is_waited_for(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct side a = {.fake = &fake, .name = 'a', .call_ns = MS, .unsteady_ns = 80 * MS};
    struct sample_side side = make(&a);
    struct measure_config rules = usual;
    rules.max_seconds = 0.5;
    rules.target_ci = 0;
    run(&fake, &side, 1, &rules);
    assert_true(side.block_count >= 3);
    for (size_t i = 0; i < side.sample_count; i++)
        assert_int_equal(side.samples_ns[i], MS);
    sample_side_fini(&side);
}

static void test_each_block_warms_up(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct side a = {.fake = &fake, .name = 'a', .call_ns = MS, .first_calls = 4, .slow_ns = 9 * MS};
    struct side b = a;
    b.name = 'b';
    struct sample_side sides[2] = {make(&a), make(&b)};
    run(&fake, sides, 2, &usual);
    for (size_t i = 0; i < sides[0].sample_count; i++)
        assert_int_equal(sides[0].samples_ns[i], MS);
    assert_true(sides[0].block_count >= 5);
    sample_side_fini(&sides[0]);
    sample_side_fini(&sides[1]);
}

static void test_a_side_that_fails_leaves_the_others_alone(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct side a = {.fake = &fake, .name = 'a', .call_ns = MS, .fail_at = 150};
    struct side b = {.fake = &fake, .name = 'b', .call_ns = MS};
    struct sample_side sides[2] = {make(&a), make(&b)};
    run(&fake, sides, 2, &usual);
    assert_int_equal(sides[0].err.code, ERR_OPENCL);
    assert_int_equal(sides[0].ended_by, END_NONE);
    assert_int_equal(sides[1].ended_by, END_TARGET_CI);
    assert_int_equal(sides[1].err.code, ERR_NONE);
    sample_side_fini(&sides[0]);
    sample_side_fini(&sides[1]);
}

static void test_stop(void **state)
{
    (void)state;
    struct fake fake = {.stop_at_ns = 300 * MS};
    struct side a = {.fake = &fake, .name = 'a', .call_ns = 10 * MS};
    struct side b = {.fake = &fake, .name = 'b', .call_ns = 10 * MS};
    struct sample_side sides[2] = {make(&a), make(&b)};
    run(&fake, sides, 2, &usual);
    assert_int_equal(sides[0].ended_by, END_INTERRUPTED);
    assert_int_equal(sides[1].ended_by, END_INTERRUPTED);
    assert_in_range(fake.now_ns, 300 * MS, 330 * MS);
    sample_side_fini(&sides[0]);
    sample_side_fini(&sides[1]);
}

static void test_calls_that_take_no_time(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct side s = {.fake = &fake, .name = 'a', .call_ns = 0};
    struct sample_side side = make(&s);
    struct measure_config rules = usual;
    rules.max_seconds = 1e-9;
    run(&fake, &side, 1, &rules);
    assert_true(side.sample_count >= 10);
    sample_side_fini(&side);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_max_samples),
        cmocka_unit_test(test_target_ci),
        cmocka_unit_test(test_max_seconds),
        cmocka_unit_test(test_min_samples_outranks_max_seconds),
        cmocka_unit_test(test_timeout_outranks_min_samples),
        cmocka_unit_test(test_the_last_sample_just_in_time),
        cmocka_unit_test(test_least_calls),
        cmocka_unit_test(test_one_sample),
        cmocka_unit_test(test_blocks_alternate_with_a_pause),
        cmocka_unit_test(test_an_unsteady_start_is_waited_for),
        cmocka_unit_test(test_each_block_warms_up),
        cmocka_unit_test(test_a_side_that_fails_leaves_the_others_alone),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_calls_that_take_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
