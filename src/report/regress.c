#include "report/regress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "bench/stats.h"
#include "report/baseline.h"
#include "report/select.h"

#define Z_975 1.959964

void regress_fini(struct regression *r)
{
    if (!r)
        return;
    match_fini(&r->matches);
    free(r->cells);
    *r = (struct regression){0};
}

/* Relative standard error of a cell's median, by its interval; 0 where there is none. */
static double within_of(const struct cell *cell)
{
    if (!cell->has_ci || !cell->median_ns)
        return 0;
    return (double)(cell->ci95_ns[1] - cell->ci95_ns[0]) / 2 / Z_975 / (double)cell->median_ns;
}

/* ---- what is not about time ---- */

static bool has_failed(const struct cell *cell)
{
    return cell->status == CELL_FAILED || cell->status == CELL_TIMEOUT;
}

/* Where there are no two times. */
static enum check_verdict verdict_of_status(const struct cell *now)
{
    return now->status == CELL_OK      ? CHECK_NO_TIME
           : now->status == CELL_WRONG ? CHECK_WRONG
           : has_failed(now)           ? CHECK_FAILED
                                       : CHECK_SKIPPED;
}

/* false: the cell's verdict is settled by its status. */
static bool check_status(struct check_cell *c)
{
    const struct cell *was = c->match.was, *now = c->match.now;

    if (now->status == CELL_OK && was->status == CELL_OK)
        return true;
    c->verdict = verdict_of_status(now);
    snprintf(c->why, sizeof(c->why), "%s -> %s%s%.200s", cell_status_name(was->status),
             cell_status_name(now->status), now->reason ? ": " : "", now->reason ? now->reason : "");
    return false;
}

static bool same_counts(struct check_cell *c)
{
    c->cause_count = explain_counts(&c->match, c->causes);
    return !c->cause_count && match_same_work(&c->match, c->why);
}

/* ---- times ---- */

/* What the machine itself may have cost, by its canary, where that is worth speaking of: its slowest moment,
 * as a cell may have met just that. INFINITY: whatever it was. */
static double excuse(const struct drift *drift)
{
    if (!drift->known || drift->worst <= DRIFT_TOLERATED)
        return 0;
    return drift->worst > DRIFT_HOPELESS ? INFINITY : drift->worst;
}

static void add_time(struct check_times *times, double ns, double slower)
{
    times->ns[times->count] = ns;
    times->fair[times->count++] = ns / (1 + slower);
}

static bool measure_base(struct regression *r, struct check_cell *c, struct err *err)
{
    uint64_t *medians;
    size_t count;

    if (!baseline_medians(r->baseline, c->match.was, &medians, &count, err))
        return false;
    bool ok = judge_base_init(&c->base, medians, count, within_of(c->match.was), err);
    free(medians);
    c->now_ns = (double)c->match.now->median_ns;
    c->change = judge_change(&c->base, c->now_ns);
    ok = ok && drift_between(r->baseline, results_device(r->baseline, c->match.was->device), r->now,
                             results_device(r->now, c->match.now->device), &c->drift, err);
    add_time(&c->first, c->now_ns, excuse(&c->drift));
    return ok;
}

static enum check_verdict verdict_of(enum judge_verdict verdict)
{
    static const enum check_verdict verdicts[] = {CHECK_SAME, CHECK_FASTER, CHECK_SUSPECT, CHECK_CANNOT_TELL};
    return verdicts[verdict];
}

/* A machine that has become faster by as much explains a faster cell. */
static bool faster_by_itself(const struct regression *r, const struct check_cell *c)
{
    const double faster = c->drift.known && c->drift.faster > DRIFT_TOLERATED ? c->drift.faster : 0;

    return (1 + c->change) * (1 + judge_limit(&c->base, r->threshold, faster)) >= 1;
}

static void say_cannot_tell(const struct regression *r, struct check_cell *c)
{
    if (c->verdict == CHECK_FASTER)
        snprintf(c->why, sizeof(c->why),
                 "the machine itself is faster than for the baseline, by %.0f %% (canary)",
                 c->drift.faster * 100);
    else if (!judge_hidden(&c->base, r->threshold))
        snprintf(c->why, sizeof(c->why),
                 "the machine itself was slower than for the baseline, by up to %.0f %% (canary)",
                 c->drift.worst * 100);
}

/* What is compared of them, less what the machine was slower by: the fastest by what it was in that process. */
static double fair_typical(const struct judge_base *base, const struct check_times *times)
{
    size_t fastest = 0;

    if (base->statistic != JUDGE_FASTEST)
        return judge_typical(base, times->fair, times->count);
    for (size_t i = 1; i < times->count; i++)
        if (times->ns[i] < times->ns[fastest])
            fastest = i;
    return times->fair[fastest];
}

/* Processes that a cell is judged by: where the fastest told early, not all of them were measured. */
static size_t judged_by(const struct check_cell *c)
{
    return !c->several ? 1 : c->first.count > c->wanted ? c->first.count : c->wanted;
}

/* By the processes measured first. */
static void judge_times(const struct regression *r, struct check_cell *c)
{
    judge_compare(&c->base, judged_by(c));
    c->now_ns = judge_typical(&c->base, c->first.ns, c->first.count);
    c->change = judge_change(&c->base, c->now_ns);
    const double slower = c->now_ns / fair_typical(&c->base, &c->first) - 1;
    c->limit = judge_limit(&c->base, r->threshold, slower);
    c->detectable = judge_detectable(&c->base, r->threshold, slower);
    c->verdict = verdict_of(judge_first(&c->base, r->threshold, slower, c->now_ns));
    if (!c->acquitted && !c->counts)
        *c->why = '\0';
    if (c->acquitted) {
        if (c->verdict == CHECK_SUSPECT)
            c->verdict = CHECK_CANNOT_TELL;
    } else if (c->verdict == CHECK_CANNOT_TELL || (c->verdict == CHECK_FASTER && faster_by_itself(r, c))) {
        say_cannot_tell(r, c);
        c->verdict = CHECK_CANNOT_TELL;
    }
    if (c->counts && c->verdict != CHECK_SUSPECT)
        c->verdict = CHECK_COUNTS;
}

/* The fastest of several is no slower than the fastest so far: where that one is not over the limit, none of those to
 * come changes it. Of a mean nothing is known before the end. */
static void judge_early(const struct regression *r, struct check_cell *c)
{
    if (!c->several || c->verdict != CHECK_CANNOT_TELL)
        return;
    judge_compare(&c->base, judged_by(c));
    if (c->base.statistic == JUDGE_FASTEST &&
        judge_first(&c->base, r->threshold, 0, judge_typical(&c->base, c->first.ns, c->first.count)) != JUDGE_SLOWER)
        judge_times(r, c);
    else
        judge_compare(&c->base, 1);
}

/* One process may not be enough: because of the baseline's spread, or of what the machine did meanwhile. */
static void want(const struct regression *r, struct check_cell *c)
{
    c->wanted = judge_needed(&c->base, r->threshold);
    c->several = c->wanted > 1;
    if (c->wanted == 1 && c->verdict == CHECK_CANNOT_TELL)
        c->wanted = JUDGE_AGAIN;
}

static bool check_cell(struct regression *r, struct check_cell *c, struct err *err)
{
    c->change = c->limit = c->detectable = NAN;
    if (!check_status(c))
        return true;
    r->compared++;
    c->counts = !same_counts(c);
    if (!measure_base(r, c, err))
        return false;
    if (!r->same_machine) {
        c->verdict = c->counts ? CHECK_COUNTS : CHECK_NOT_JUDGED;
        return true;
    }
    judge_times(r, c);
    want(r, c);
    judge_early(r, c);
    return true;
}

bool regress_init(struct regression *r, const struct results *baseline, const struct results *now,
                  double threshold, struct err *err)
{
    *r = (struct regression){
        .baseline = baseline,
        .now = now,
        .threshold = threshold,
        .processes = baseline_processes(baseline),
    };
    r->same_machine = match_same_machine(baseline, now, r->machine_why);
    bool ok = match_cells(baseline, now, &r->matches, err);
    r->cells = ok ? mem_calloc(r->matches.both, sizeof(*r->cells), "cells", err) : NULL;
    ok = ok && r->cells;
    for (size_t i = 0; ok && i < r->matches.count; i++) {
        const struct match *m = &r->matches.items[i];
        if (m->now && m->now->status == CELL_OK)
            r->measured++;
        if (!m->was || !m->now)
            continue;
        struct check_cell *c = &r->cells[r->cell_count++];
        c->match = *m;
        ok = check_cell(r, c, err);
    }
    if (!ok)
        regress_fini(r);
    return ok;
}

/* ---- measuring again ---- */

static bool waits(const struct check_cell *c)
{
    return c->verdict == CHECK_CANNOT_TELL && c->first.count < c->wanted;
}

static size_t again_wanted(const struct check_cell *c)
{
    return c->first.count > JUDGE_AGAIN ? c->first.count : JUDGE_AGAIN;
}

static bool suspected(const struct check_cell *c)
{
    return c->verdict == CHECK_SUSPECT && c->again.count < again_wanted(c);
}

static bool pending(const struct check_cell *c)
{
    return suspected(c) || waits(c);
}

size_t regress_pending(const struct regression *r, size_t *suspects)
{
    size_t count = 0, slower = 0;

    for (size_t i = 0; i < r->cell_count; i++) {
        slower += suspected(&r->cells[i]);
        count += pending(&r->cells[i]);
    }
    if (suspects)
        *suspects = slower;
    return count;
}

static bool same_point(const struct check_cell *a, const struct cell *b)
{
    return specs_equal(&a->match.now->spec, &b->spec, keys_of_point());
}

/* Cells of a point follow each other. */
size_t regress_points(const struct regression *r, bool only_pending)
{
    const struct check_cell *last = NULL;
    size_t count = 0;

    for (size_t i = 0; i < r->cell_count; i++) {
        const struct check_cell *c = &r->cells[i];
        if (only_pending && !pending(c))
            continue;
        count += !last || !same_point(last, c->match.now);
        last = c;
    }
    return count;
}

bool regress_wants_again(const struct regression *r, const char *id)
{
    const struct cell *cell = results_find(r->now, id);

    for (size_t i = 0; cell && i < r->cell_count; i++)
        if (pending(&r->cells[i]) && same_point(&r->cells[i], cell))
            return true;
    return false;
}

bool regress_unsure(const struct regression *r, size_t most, const char *id)
{
    const struct cell *cell = results_find(r->now, id);

    for (size_t i = 0; cell && i < r->cell_count; i++) {
        const struct check_cell *c = &r->cells[i];
        if (c->base.processes && judge_wants_more(&c->base, r->threshold, most) && same_point(c, cell))
            return true;
    }
    return false;
}

/* Fresh processes spoke against a suspicion: all that were measured so far count alike from now on. */
static void acquit(const struct regression *r, struct check_cell *c, const struct drift *drift)
{
    const double fresh_ns = c->again.ns[c->again.count - 1];
    char first[UNITS_MAX], then[UNITS_MAX];

    units_time(first, (uint64_t)judge_typical(&c->base, c->first.ns, c->first.count));
    units_time(then, (uint64_t)fresh_ns);
    if (judge_first(&c->base, r->threshold, 0, fresh_ns) == JUDGE_SLOWER)
        snprintf(c->why, sizeof(c->why),
                 "slower in a fresh process too (%s), but so was the machine itself, by %.0f %% (canary)",
                 then, drift->worst * 100);
    else
        snprintf(c->why, sizeof(c->why), "slower at first (%s), not in a fresh process (%s)", first, then);
    for (size_t i = 0; i < c->again.count; i++) {
        c->first.fair[c->first.count] = c->again.fair[i];
        c->first.ns[c->first.count++] = c->again.ns[i];
    }
    c->again.count = 0;
    c->acquitted = true;
    c->verdict = CHECK_CANNOT_TELL;
    if (c->wanted < JUDGE_AGAIN)
        c->wanted = JUDGE_AGAIN;
}

static void judge_suspect(const struct regression *r, struct check_cell *c, const struct drift *drift)
{
    c->now_ns = judge_typical(&c->base, c->again.ns, c->again.count);
    c->change = judge_change(&c->base, c->now_ns);
    const double fair = fair_typical(&c->base, &c->again);
    const bool fastest = c->base.statistic == JUDGE_FASTEST;
    if ((c->base.compared == 1 || fastest || c->again.count == again_wanted(c)) &&
        judge_again(&c->base, r->threshold, 0, fastest ? &fair : c->again.fair, fastest ? 1 : c->again.count) !=
            JUDGE_SLOWER)
        acquit(r, c, drift);
}

static bool add_again(struct regression *r, struct check_cell *c, const struct results *run,
                      const struct cell *fresh, struct err *err)
{
    const bool suspect = suspected(c);
    struct drift drift;

    if (!pending(c))
        return true;
    if (fresh->status != CELL_OK) {
        c->verdict = verdict_of_status(fresh);
        snprintf(c->why, sizeof(c->why), "when measured again: %s: %.200s", cell_status_name(fresh->status),
                 fresh->reason ? fresh->reason : "");
        return true;
    }
    if (!drift_between(r->baseline, results_device(r->baseline, c->match.was->device), run,
                       results_device(run, fresh->device), &drift, err))
        return false;
    add_time(suspect ? &c->again : &c->first, (double)fresh->median_ns, excuse(&drift));
    if (suspect)
        judge_suspect(r, c, &drift);
    if (c->verdict == CHECK_SUSPECT)
        return true;
    if (waits(c))
        judge_early(r, c);
    else
        judge_times(r, c);
    return true;
}

bool regress_again(struct regression *r, const struct results *fresh, struct err *err)
{
    for (size_t i = 0; i < r->cell_count; i++) {
        struct check_cell *c = &r->cells[i];
        const struct cell *cell = results_find(fresh, c->match.now->id);
        if (!cell && pending(c)) {
            c->verdict = CHECK_CANNOT_TELL;
            c->wanted = c->first.count;
            snprintf(c->why, sizeof(c->why), "it was not measured again");
        } else if (cell && !add_again(r, c, fresh, cell, err))
            return false;
    }
    return true;
}

/* What the processes take that are still to come, in points. *neediest: the cell that needs most of them. */
static double to_come(struct regression *r, struct check_cell **neediest)
{
    const struct check_cell *last = NULL;
    size_t points = 0, of_point = 0, processes = 0;

    *neediest = NULL;
    for (size_t i = 0; i < r->cell_count; i++) {
        struct check_cell *c = &r->cells[i];
        if (!waits(c))
            continue;
        const size_t needs = c->wanted - c->first.count;
        if (!last || !same_point(last, c->match.now)) {
            points += of_point;
            of_point = 0;
        }
        last = c;
        of_point = needs > of_point ? needs : of_point;
        if (needs > processes) {
            processes = needs;
            *neediest = c;
        }
    }
    return (double)(processes + points + of_point);
}

void regress_limit(struct regression *r, double points)
{
    struct check_cell *c;

    while (to_come(r, &c) > points) {
        c->wanted = c->first.count;
        if (c->first.count > 1)
            judge_times(r, c);
    }
}

/* ---- verdicts ---- */

/* Whether all that a results file says of a suspect is over the limit: the medians of its processes where it
 * has several, else the interval of its median. */
static bool file_confirms(const struct regression *r, const struct check_cell *c, bool *confirmed,
                          struct err *err)
{
    const struct cell *now = c->match.now;
    uint64_t *medians;
    size_t count;

    if (!baseline_medians(r->now, now, &medians, &count, err))
        return false;
    double lowest = (double)now->median_ns;
    for (size_t i = 0; i < count; i++)
        lowest = fmin(lowest, (double)medians[i]);
    free(medians);
    if (count == 1) {
        const struct series s = {now->samples_ns, now->sample_count, now->block_starts, now->block_count};
        uint64_t ci[2];
        bool valid;
        if (!stats_median_ci(&s, ci, &valid, err))
            return false;
        if (valid)
            lowest = fmin(lowest, (double)ci[0]);
    }
    *confirmed = judge_first(&c->base, r->threshold, excuse(&c->drift), lowest) == JUDGE_SLOWER;
    return true;
}

static bool settle(const struct regression *r, struct check_cell *c, struct err *err)
{
    bool confirmed = !suspected(c);

    if (c->again.count == 0 && !file_confirms(r, c, &confirmed, err))
        return false;
    c->verdict = confirmed ? CHECK_SLOWER : c->counts ? CHECK_COUNTS : CHECK_CANNOT_TELL;
    if (c->again.count == 0)
        snprintf(c->why, sizeof(c->why),
                 confirmed ? "from a file: not measured again"
                           : "its interval reaches below the limit; not measured again");
    else if (!confirmed)
        snprintf(c->why, sizeof(c->why), "slower, but measured again only %zu times of %zu", c->again.count,
                 again_wanted(c));
    return true;
}

bool regress_finish(struct regression *r, struct err *err)
{
    memset(r->by_verdict, 0, sizeof(r->by_verdict));
    for (size_t i = 0; i < r->cell_count; i++) {
        struct check_cell *c = &r->cells[i];
        if (c->verdict == CHECK_SUSPECT && !settle(r, c, err))
            return false;
        if (c->verdict == CHECK_SLOWER || c->verdict == CHECK_FASTER || c->verdict == CHECK_COUNTS)
            c->cause_count = explain_change(r->baseline, r->now, &c->match, &c->drift, c->causes);
        r->by_verdict[c->verdict]++;
    }
    for (size_t i = 0; i < r->matches.count; i++) {
        const struct match *m = &r->matches.items[i];
        if (!m->was)
            r->by_verdict[verdict_of_status(m->now)]++;
    }
    return true;
}
