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

const char *check_verdict_name(enum check_verdict verdict)
{
    static const char *const names[CHECK_VERDICTS] = {"same",        "faster",     "slower", "suspect",
                                                      "cannot tell", "not judged", "counts", "wrong",
                                                      "failed",      "skipped",    "new"};
    return names[verdict];
}

void regress_fini(struct regression *r)
{
    if (!r)
        return;
    match_fini(&r->matches);
    free(r->cells);
    *r = (struct regression){0};
}

static const struct device_info *device_at(const struct results *results, size_t device)
{
    return device < results->device_count ? &results->devices[device] : NULL;
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

/* false: the cell's verdict is settled by its status. */
static bool check_status(struct check_cell *c)
{
    const struct cell *was = c->match.was, *now = c->match.now;

    if (now->status == CELL_OK && was->status == CELL_OK)
        return true;
    if (now->status == CELL_OK)
        c->verdict = CHECK_NO_TIME;
    else if (now->status == CELL_WRONG)
        c->verdict = CHECK_WRONG;
    else
        c->verdict = has_failed(now) ? CHECK_FAILED : CHECK_SKIPPED;
    snprintf(c->why, sizeof(c->why), "%s -> %s%s%.200s", cell_status_name(was->status),
             cell_status_name(now->status), now->reason ? ": " : "", now->reason ? now->reason : "");
    return false;
}

static bool check_counts(struct check_cell *c)
{
    c->cause_count = explain_counts(&c->match, c->causes);
    if (!c->cause_count && match_same_work(&c->match, c->why))
        return true;
    c->verdict = CHECK_COUNTS;
    return false;
}

/* ---- times ---- */

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
    return ok && drift_between(r->baseline, device_at(r->baseline, c->match.was->device), r->now,
                               device_at(r->now, c->match.now->device), &c->drift, err);
}

/* What the machine itself may have cost, by its canary, where that is worth speaking of: its slowest moment,
 * as a cell may have met just that. */
static double excuse(const struct drift *drift)
{
    return drift->known && drift->worst > DRIFT_TOLERATED ? drift->worst : 0;
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

static bool check_cell(struct regression *r, struct check_cell *c, struct err *err)
{
    c->change = c->limit = c->detectable = NAN;
    if (!check_status(c))
        return true;
    r->compared++;
    const bool counts = check_counts(c);
    if (!measure_base(r, c, err))
        return false;
    if (!counts)
        return true;
    if (!r->same_machine) {
        c->verdict = CHECK_NOT_JUDGED;
        return true;
    }
    c->limit = judge_limit(&c->base, r->threshold, excuse(&c->drift));
    c->detectable = judge_detectable(&c->base, r->threshold, excuse(&c->drift));
    c->verdict = verdict_of(judge_first(&c->base, r->threshold, excuse(&c->drift), c->now_ns));
    if (c->verdict == CHECK_CANNOT_TELL || (c->verdict == CHECK_FASTER && faster_by_itself(r, c))) {
        say_cannot_tell(r, c);
        c->verdict = CHECK_CANNOT_TELL;
    }
    return true;
}

bool regress_init(struct regression *r, const struct results *baseline, const struct results *now,
                  double threshold, struct err *err)
{
    *r = (struct regression){
        .baseline = baseline, .now = now, .threshold = threshold, .processes = baseline_processes(baseline)};
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

size_t regress_suspects(const struct regression *r)
{
    size_t count = 0;

    for (size_t i = 0; i < r->cell_count; i++)
        count += r->cells[i].verdict == CHECK_SUSPECT;
    return count;
}

bool regress_wants_again(const struct regression *r, const char *id)
{
    const struct cell *cell = results_find(r->now, id);

    for (size_t i = 0; cell && i < r->cell_count; i++)
        if (r->cells[i].verdict == CHECK_SUSPECT &&
            specs_equal(&r->cells[i].match.now->spec, &cell->spec, keys_of_point()))
            return true;
    return false;
}

static double median_again(const struct check_cell *c)
{
    double sorted[JUDGE_AGAIN];

    for (size_t i = 0; i < c->again_count; i++) {
        size_t k = i;
        for (; k > 0 && sorted[k - 1] > c->again_ns[i]; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = c->again_ns[i];
    }
    return sorted[(c->again_count - 1) / 2];
}

/* What a fresh process says against a suspicion. */
static void acquit(const struct regression *r, struct check_cell *c, double fresh_ns,
                   const struct drift *drift)
{
    char first[UNITS_MAX], then[UNITS_MAX];

    units_time(first, c->match.now->median_ns);
    units_time(then, (uint64_t)fresh_ns);
    c->verdict = CHECK_CANNOT_TELL;
    if (judge_first(&c->base, r->threshold, 0, fresh_ns) == JUDGE_SLOWER)
        snprintf(c->why, sizeof(c->why),
                 "slower in a fresh process too (%s), but so was the machine itself, by %.0f %% (canary)",
                 then, drift->worst * 100);
    else
        snprintf(c->why, sizeof(c->why), "slower at first (%s), not in a fresh process (%s)", first, then);
}

static bool add_again(struct regression *r, struct check_cell *c, const struct results *run,
                      const struct cell *fresh, struct err *err)
{
    struct drift drift;

    if (fresh->status != CELL_OK) {
        c->verdict = fresh->status == CELL_WRONG ? CHECK_WRONG
                     : has_failed(fresh)         ? CHECK_FAILED
                                                 : CHECK_SKIPPED;
        snprintf(c->why, sizeof(c->why), "when measured again: %s: %.200s", cell_status_name(fresh->status),
                 fresh->reason ? fresh->reason : "");
        return true;
    }
    if (c->again_count == JUDGE_AGAIN)
        return true;
    if (!drift_between(r->baseline, device_at(r->baseline, c->match.was->device), run,
                       device_at(run, fresh->device), &drift, err))
        return false;
    const double ns = (double)fresh->median_ns;
    c->again_ns[c->again_count++] = ns;
    c->now_ns = median_again(c);
    c->change = judge_change(&c->base, c->now_ns);
    if (judge_first(&c->base, r->threshold, excuse(&drift), ns) != JUDGE_SLOWER)
        acquit(r, c, ns, &drift);
    return true;
}

bool regress_again(struct regression *r, const struct results *fresh, struct err *err)
{
    for (size_t i = 0; i < r->cell_count; i++) {
        const struct cell *cell = results_find(fresh, r->cells[i].match.now->id);
        if (r->cells[i].verdict == CHECK_SUSPECT && cell && !add_again(r, &r->cells[i], fresh, cell, err))
            return false;
    }
    return true;
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
    bool confirmed = c->again_count == JUDGE_AGAIN;

    if (c->again_count == 0 && !file_confirms(r, c, &confirmed, err))
        return false;
    c->verdict = confirmed ? CHECK_SLOWER : CHECK_CANNOT_TELL;
    if (c->again_count == 0)
        snprintf(c->why, sizeof(c->why),
                 confirmed ? "from a file: not measured again"
                           : "its interval reaches below the limit; not measured again");
    else if (!confirmed)
        snprintf(c->why, sizeof(c->why), "slower, but measured again only %zu times of %d", c->again_count,
                 JUDGE_AGAIN);
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
        if (m->was)
            continue;
        r->by_verdict[CHECK_WRONG] += m->now->status == CELL_WRONG;
        r->by_verdict[CHECK_FAILED] += has_failed(m->now);
    }
    return true;
}
