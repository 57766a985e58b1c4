#include "report/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/stats.h"
#include "report/ratio.h"

/* What "the same" is: within 5 % either way. */
#define SAME 1.05
#define Z_975 1.959964

const char *compare_verdict_name(enum compare_verdict verdict)
{
    static const char *const names[] = {"same", "faster", "slower", "cannot tell", "no time", "other work"};
    return names[verdict];
}

enum compare_verdict compare_judge(const double ci95[2])
{
    if (ci95[0] > SAME)
        return COMPARE_SLOWER;
    if (ci95[1] < 1 / SAME)
        return COMPARE_FASTER;
    return ci95[0] >= 1 / SAME && ci95[1] <= SAME ? COMPARE_SAME : COMPARE_CANNOT_TELL;
}

/* The interval's near end must be over the limit, and the estimate is off itself: by 1.64 of 1.96 half widths
 * in 5 of 100 cases, and the width is an estimate too. Together twice half the width. */
double compare_detectable(const double ci95[2])
{
    const double half = (log(ci95[1]) - log(ci95[0])) / 2;
    return exp(log(SAME) + 2 * half) - 1;
}

void comparison_fini(struct comparison *c)
{
    if (!c)
        return;
    match_fini(&c->matches);
    free(c->cells);
    free(c->devices);
    *c = (struct comparison){0};
}

static bool drift_of(const struct comparison *c, const struct match *m, struct drift *out, struct err *err)
{
    return drift_between(c->was, results_device(c->was, m->was->device), c->now,
                         results_device(c->now, m->now->device), out, err);
}

/* Unsteadiness adds to the interval's width on both sides; a drift that the canary shows explains as much of
 * the change. */
static void widen(double value, const struct drift *drift, double ci95[2])
{
    const double noise = Z_975 * drift->noise;
    const double below = hypot(log(value / ci95[0]), noise), above = hypot(log(ci95[1] / value), noise);

    ci95[0] = value * exp(-below);
    ci95[1] = value * exp(above);
    if (drift->slower > DRIFT_TOLERATED)
        ci95[0] /= 1 + drift->slower;
    if (drift->faster > DRIFT_TOLERATED)
        ci95[1] *= 1 + drift->faster;
}

/* Neither is a time: "wrong -> ok". */
static bool check_status(struct compare_cell *cell)
{
    const struct cell *was = cell->match.was, *now = cell->match.now;

    if (was->status == CELL_OK && now->status == CELL_OK && was->median_ns && now->median_ns)
        return true;
    cell->verdict = COMPARE_STATUS;
    snprintf(cell->why, sizeof(cell->why), "%s -> %s%s%.100s", cell_status_name(was->status),
             cell_status_name(now->status), now->reason || was->reason ? ": " : "",
             now->reason   ? now->reason
             : was->reason ? was->reason
                           : "");
    return false;
}

static bool judge(const struct comparison *c, struct compare_cell *cell, struct err *err)
{
    struct ratio ratio;
    struct drift drift;

    cell->ratio = cell->ci95[0] = cell->ci95[1] = cell->detectable = NAN;
    if (!check_status(cell))
        return true;
    if (!match_same_work(&cell->match, cell->why)) {
        cell->verdict = COMPARE_OTHER_WORK;
        return true;
    }
    if (!ratio_of(cell->match.now, cell->match.was, &ratio, err) || !drift_of(c, &cell->match, &drift, err))
        return false;
    cell->ratio = ratio.value;
    cell->has_ci = ratio.has_ci && ratio.ci95[0] > 0;
    cell->verdict = COMPARE_CANNOT_TELL;
    if (cell->has_ci) {
        memcpy(cell->ci95, ratio.ci95, sizeof(cell->ci95));
        /* A median may lie outside of what resampling gave where there are few blocks. */
        cell->ci95[0] = fmin(cell->ci95[0], ratio.value);
        cell->ci95[1] = fmax(cell->ci95[1], ratio.value);
        widen(ratio.value, &drift, cell->ci95);
        cell->verdict = compare_judge(cell->ci95);
        cell->detectable = compare_detectable(cell->ci95);
    } else if (!c->itself)
        snprintf(cell->why, sizeof(cell->why), "under %d samples", STATS_MIN_SAMPLES);
    if (c->itself)
        cell->verdict = COMPARE_SAME;
    if (fabs(log(ratio.value)) > log(SAME))
        cell->cause_count = explain_change(c->was, c->now, &cell->match, &drift, cell->causes);
    return true;
}

/* ---- means ---- */

struct mean {
    double log_sum, square_sum; /* of ratios, and of their intervals' half widths */
    size_t count;
    bool open; /* some have no interval */
};

static void mean_add(struct mean *mean, const struct compare_cell *cell)
{
    if (!isfinite(cell->ratio))
        return;
    const double half = (log(cell->ci95[1]) - log(cell->ci95[0])) / 2;
    mean->log_sum += log(cell->ratio);
    mean->square_sum += half * half;
    mean->open |= !cell->has_ci;
    mean->count++;
}

/* Samples of different cells are independent; what the canary says is common to all, and does not average
 * out. */
static void mean_end(const struct mean *mean, const struct drift *drift, double *ratio, double ci95[2])
{
    const double n = (double)mean->count;

    *ratio = mean->count ? exp(mean->log_sum / n) : NAN;
    ci95[0] = ci95[1] = NAN;
    if (!mean->count || mean->open)
        return;
    const double half = sqrt(mean->square_sum) / n;
    ci95[0] = *ratio * exp(-half);
    ci95[1] = *ratio * exp(half);
    if (drift)
        widen(*ratio, drift, ci95);
}

static bool summarise_device(struct comparison *c, size_t device, struct err *err)
{
    struct compare_device *out = &c->devices[c->device_count];
    struct mean mean = {0};
    const struct match *any = NULL;

    for (size_t i = 0; i < c->cell_count; i++)
        if (c->cells[i].match.now->device == device && isfinite(c->cells[i].ratio)) {
            mean_add(&mean, &c->cells[i]);
            any = &c->cells[i].match;
        }
    if (!any)
        return true;
    *out = (struct compare_device){.device = device, .cells = mean.count};
    if (!drift_of(c, any, &out->drift, err))
        return false;
    mean_end(&mean, &out->drift, &out->ratio, out->ci95);
    c->device_count++;
    return true;
}

static bool summarise(struct comparison *c, struct err *err)
{
    struct mean mean = {0};

    for (size_t i = 0; i < c->now->device_count; i++)
        if (!summarise_device(c, i, err))
            return false;
    for (size_t i = 0; i < c->cell_count; i++)
        mean_add(&mean, &c->cells[i]);
    c->compared = mean.count;
    mean_end(&mean, NULL, &c->ratio, c->ci95);
    return true;
}

static bool same_samples(const struct cell *a, const struct cell *b)
{
    return strcmp(a->id, b->id) == 0 && a->sample_count == b->sample_count &&
           (a->sample_count == 0 ||
            memcmp(a->samples_ns, b->samples_ns, a->sample_count * sizeof(*a->samples_ns)) == 0);
}

/* Whether both are one run: begun at one moment, with the same samples throughout. */
static bool is_itself(const struct results *was, const struct results *now)
{
    const char *begun = json_string(json_get(was->head, "created"));

    if (!*begun || strcmp(begun, json_string(json_get(now->head, "created"))) != 0 ||
        was->cell_count != now->cell_count)
        return false;
    for (size_t i = 0; i < was->cell_count; i++)
        if (!same_samples(&was->cells[i], &now->cells[i]))
            return false;
    return true;
}

bool compare_runs(const struct results *was, const struct results *now, struct comparison *out,
                  struct err *err)
{
    *out = (struct comparison){.was = was, .now = now, .itself = is_itself(was, now)};
    bool ok = match_cells(was, now, &out->matches, err);
    if (ok) {
        out->cells = mem_calloc(out->matches.both, sizeof(*out->cells), "cells", err);
        out->devices = mem_calloc(now->device_count, sizeof(*out->devices), "devices", err);
        ok = out->cells && out->devices;
    }
    for (size_t i = 0; ok && i < out->matches.count; i++) {
        if (!out->matches.items[i].was || !out->matches.items[i].now)
            continue;
        struct compare_cell *cell = &out->cells[out->cell_count++];
        cell->match = out->matches.items[i];
        ok = judge(out, cell, err);
    }
    out->same_machine = match_same_machine(was, now, out->machine_why);
    ok = ok && summarise(out, err);
    if (!ok)
        comparison_fini(out);
    return ok;
}
