#include "bench/sample.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/stats.h"

/* A side's samples are spread over about this many blocks, so that drift meets every side alike and the
 * blocks say how much they differ. */
#define BLOCKS 10
#define MIN_BLOCKS 5
/* libgomp's threads look for work 300,000 times before they sleep: about 15 ms, where a pause takes 140 cycles. */
#define PAUSE_NS 20000000u
#define UNSTEADY_NS UINT64_C(100000000)
/* Calls in each of the two windows that must agree before a warm-up counts as steady, and how well. */
#define STEADY_CALLS 3
#define STEADY_SHARE 0.02

static uint64_t host_now(void *context)
{
    (void)context;
    return clock_now_ns();
}

static void host_sleep(void *context, uint64_t ns)
{
    (void)context;
    clock_sleep_ns(ns);
}

const struct sample_clock sample_host_clock = {NULL, host_now, host_sleep, NULL};

void sample_side_fini(struct sample_side *side)
{
    if (side == NULL)
        return;
    free(side->samples_ns);
    free(side->block_starts);
    err_fini(&side->err);
    *side = (struct sample_side){0};
}

struct block {
    struct sample_side *side;
    const struct measure_config *rules;
    const struct sample_clock *clock;
    uint64_t start_ns;
    uint64_t limit_ns; /* rules->max_seconds */
    uint64_t timeout_ns;
    uint64_t call_ns; /* what the latest call took; 0: not known yet */
};

static uint64_t seconds_ns(double seconds)
{
    double ns = seconds * 1e9;
    return ns >= 1.8e19 ? UINT64_MAX : (uint64_t)ns;
}

static bool wants_stop(const struct sample_clock *clock)
{
    return clock->stop != NULL && clock->stop(clock->context);
}

static uint64_t now(const struct block *b)
{
    return b->clock->now_ns(b->clock->context);
}

static uint64_t in_block(const struct block *b)
{
    return now(b) - b->start_ns;
}

static void finish(struct sample_side *side, enum cell_end why)
{
    side->done = true;
    side->ended_by = why;
}

/* One call; false when the side is done because of it. */
static bool one_call(struct block *b)
{
    struct sample_side *side = b->side;
    if (wants_stop(b->clock)) {
        finish(side, END_INTERRUPTED);
        return false;
    }
    uint64_t before = now(b);
    if (!side->call(side->context, &side->err)) {
        finish(side, END_NONE);
        return false;
    }
    b->call_ns = now(b) - before;
    return true;
}

/* Also where another call would end behind the limit: whoever waits for it would take this process for hung. */
static bool over_time(struct block *b)
{
    const uint64_t spent = b->side->spent_ns + in_block(b);
    if (spent < b->timeout_ns && b->call_ns <= b->timeout_ns - spent)
        return false;
    finish(b->side, END_TIMEOUT);
    return true;
}

static bool steady(const uint64_t last[2 * STEADY_CALLS], size_t calls)
{
    if (calls < 2 * STEADY_CALLS)
        return false;
    double older = 0, newer = 0;
    for (size_t i = 0; i < STEADY_CALLS; i++) {
        older += (double)last[(calls + i) % (2 * STEADY_CALLS)];
        newer += (double)last[(calls + STEADY_CALLS + i) % (2 * STEADY_CALLS)];
    }
    double change = newer > older ? newer - older : older - newer;
    return change <= STEADY_SHARE * older;
}

/* How long a later block's warm-up may take where calls do not become steady: a machine whose CPUs have slept
 * needs some time to spread threads over them anew (a host of virtual machines above all). */
static uint64_t unsteady_ns(uint64_t limit_ns)
{
    const uint64_t share = limit_ns / 5 < UNSTEADY_NS ? limit_ns / 5 : UNSTEADY_NS;
    return share > limit_ns / 20 ? share : limit_ns / 20;
}

static uint64_t first_warm_up(const struct measure_config *rules)
{
    return rules->warmup > 1 ? rules->warmup : 1;
}

/* Calls until the clocks have risen and the caches are full: at least one, more until two windows of calls
 * agree, within shares of the time that the cell may take. The first block's warm-up is longer. */
static bool warm_up(struct block *b)
{
    bool first = b->side->block_count == 0;
    uint64_t least_calls = first ? first_warm_up(b->rules) : 1;
    uint64_t least_ns = b->limit_ns / (first ? 20 : 100), most_ns = first ? b->limit_ns / 4 : unsteady_ns(b->limit_ns);
    uint64_t last[2 * STEADY_CALLS] = {0};
    for (size_t calls = 0;; calls++) {
        uint64_t elapsed = in_block(b);
        if (calls >= least_calls && (elapsed >= most_ns || (elapsed >= least_ns && steady(last, calls))))
            return true;
        if (over_time(b) || !one_call(b))
            return false;
        last[calls % (2 * STEADY_CALLS)] = b->call_ns;
    }
}

/* Samples of a block, however long they take. */
static uint64_t least_length(const struct measure_config *rules)
{
    const uint64_t least = ((uint64_t)rules->min_samples + MIN_BLOCKS - 1) / MIN_BLOCKS;
    return least > 0 ? least : 1;
}

uint64_t sample_least_calls(const struct measure_config *rules)
{
    const uint64_t length = least_length(rules), blocks = (rules->min_samples + length - 1) / length;
    return first_warm_up(rules) + (blocks > 1 ? blocks - 1 : 0) + rules->min_samples;
}

static size_t block_length(const struct block *b)
{
    const struct measure_config *rules = b->rules;
    uint64_t by_count = ((uint64_t)rules->max_samples + BLOCKS - 1) / BLOCKS;
    uint64_t by_time = b->limit_ns / BLOCKS / (b->call_ns > 0 ? b->call_ns : 1);
    uint64_t least = least_length(rules);
    uint64_t length = by_time < by_count ? by_time : by_count;
    return (size_t)(length > least ? length : least);
}

/* The rules that may end a side after any sample. That the next call would end too late is no matter where there is
 * none. */
static void end_where_enough(struct block *b)
{
    struct sample_side *side = b->side;
    if (side->sample_count >= b->rules->max_samples)
        finish(side, END_MAX_SAMPLES);
    else if (side->sample_count >= b->rules->min_samples && side->block_ns + in_block(b) >= b->limit_ns)
        finish(side, END_MAX_SECONDS);
}

static bool add_sample(struct sample_side *side, uint64_t ns, struct err *err)
{
    void *array = side->samples_ns;
    if (!mem_grow(&array, &side->sample_capacity, side->sample_count + 1, sizeof ns, "samples", err))
        return false;
    side->samples_ns = array;
    side->samples_ns[side->sample_count++] = ns;
    return true;
}

static bool add_block(struct sample_side *side, struct err *err)
{
    void *array = side->block_starts;
    if (!mem_grow(&array, &side->block_capacity, side->block_count + 1, sizeof *side->block_starts, "blocks",
                  err))
        return false;
    side->block_starts = array;
    side->block_starts[side->block_count++] = side->sample_count;
    return true;
}

static bool take_samples(struct block *b, struct err *err)
{
    struct sample_side *side = b->side;
    size_t length = block_length(b);
    if (!add_block(side, err))
        return false;
    for (size_t i = 0; i < length && !side->done; i++) {
        if (over_time(b) || !one_call(b))
            break;
        if (!add_sample(side, b->call_ns, err))
            return false;
        if (side->after_call != NULL && !side->after_call(side->context, &side->err))
            finish(side, END_NONE);
        else
            end_where_enough(b);
    }
    if (side->block_starts[side->block_count - 1] == side->sample_count)
        side->block_count--;
    return true;
}

/* The rule on precision, asked behind a block. */
static bool precise_enough(struct sample_side *side, const struct measure_config *rules, struct err *err)
{
    if (side->done || side->sample_count < rules->min_samples || side->block_count < MIN_BLOCKS)
        return true;
    struct series s = {side->samples_ns, side->sample_count, side->block_starts, side->block_count};
    uint64_t ci[2], median;
    bool valid;
    if (!stats_median_ci(&s, ci, &valid, err) || !stats_median(s.samples_ns, s.count, &median, err))
        return false;
    if (valid && (double)(ci[1] - ci[0]) / 2 <= rules->target_ci * (double)median)
        finish(side, END_TARGET_CI);
    return true;
}

static bool run_block(struct sample_side *side, const struct measure_config *rules,
                      const struct sample_clock *clock, struct err *err)
{
    struct block b = {.side = side,
                      .rules = rules,
                      .clock = clock,
                      .limit_ns = seconds_ns(rules->max_seconds),
                      .timeout_ns = seconds_ns(rules->timeout_seconds),
                      .call_ns = side->sample_count > 0 ? side->samples_ns[side->sample_count - 1] : 0};
    if (side->before_block != NULL && !side->before_block(side->context, &side->err)) {
        finish(side, END_NONE);
        return true;
    }
    b.start_ns = now(&b);
    bool ok = !warm_up(&b) || take_samples(&b, err);
    uint64_t elapsed = in_block(&b);
    side->block_ns += elapsed;
    side->spent_ns += elapsed;
    return ok && precise_enough(side, rules, err);
}

bool sample_run(struct sample_side *sides, size_t count, const struct measure_config *rules,
                const struct sample_clock *clock, struct err *err)
{
    bool lingering = count > 1; /* the threads that made references */

    for (size_t left = count; left > 0;) {
        left = 0;
        for (size_t i = 0; i < count; i++) {
            if (sides[i].done)
                continue;
            if (lingering)
                clock->sleep_ns(clock->context, PAUSE_NS);
            lingering = count > 1 && sides[i].lingers;
            if (!run_block(&sides[i], rules, clock, err))
                return false;
            left += !sides[i].done;
        }
    }
    return true;
}
