/* A regression check as a table, as JSON, and as annotations of a CI run. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/put.h"
#include "report/regress.h"

/* Names that a line of remarks lists before it counts the rest. */
#define NAMES 8

const char *check_verdict_name(enum check_verdict verdict)
{
    static const char *const names[CHECK_VERDICTS] = {"same",        "faster",     "slower", "suspect",
                                                      "cannot tell", "not judged", "counts", "wrong",
                                                      "failed",      "skipped",    "new"};
    return names[verdict];
}

static enum table_mark mark_of(enum check_verdict verdict)
{
    static const enum table_mark marks[CHECK_VERDICTS] = {
        [CHECK_SAME] = MARK_NONE,     [CHECK_FASTER] = MARK_WINNER,   [CHECK_SLOWER] = MARK_BAD,
        [CHECK_SUSPECT] = MARK_LOSER, [CHECK_CANNOT_TELL] = MARK_TIE, [CHECK_NOT_JUDGED] = MARK_DIM,
        [CHECK_COUNTS] = MARK_BAD,    [CHECK_WRONG] = MARK_BAD,       [CHECK_FAILED] = MARK_BAD,
        [CHECK_SKIPPED] = MARK_DIM,   [CHECK_NO_TIME] = MARK_DIM};
    return marks[verdict];
}

static bool fails(const struct check_cell *c)
{
    return c->verdict == CHECK_SLOWER || c->verdict == CHECK_COUNTS || c->verdict == CHECK_WRONG ||
           c->verdict == CHECK_FAILED;
}

/* ---- table ---- */

static void put_cell(struct table *t, const struct check_cell *c)
{
    const struct time_unit unit = number_unit(c->base.typical_ns);
    char text[NUMBER_MAX], then[NUMBER_MAX];

    table_row(t);
    table_put(t, mark_of(c->verdict), NAN, "%s", check_verdict_name(c->verdict));
    number_percent(text, c->change, true);
    table_put(t, MARK_NONE, c->change, "%s", text);
    number_percent(text, c->limit, false);
    table_put(t, MARK_NONE, isinf(c->limit) ? NAN : c->limit, "%s", isinf(c->limit) ? "none" : text);
    number_percent(text, c->detectable, false);
    table_put(t, MARK_NONE, isinf(c->detectable) ? NAN : c->detectable, "%s",
              isinf(c->detectable) ? "none" : text);
    if (isfinite(c->change)) {
        number_time(text, (uint64_t)c->base.typical_ns, unit);
        number_time(then, (uint64_t)c->now_ns, unit);
        table_put(t, MARK_NONE, NAN, "%s / %s %s", text, then, unit.name);
    } else
        table_put(t, MARK_DIM, NAN, "-");
    table_put(t, MARK_NONE, NAN, "%s", c->match.now->id);
}

static void foot_cell(struct table *t, const struct check_cell *c)
{
    if (!fails(c) && c->verdict != CHECK_FASTER && !*c->why)
        return;
    table_foot(t, "%s: %s%s%s", c->match.now->id, check_verdict_name(c->verdict), *c->why ? ": " : "",
               c->why);
    for (size_t i = 0; i < c->cause_count; i++)
        table_foot(t, "  %s (%s)", c->causes[i].text, cause_known_by(&c->causes[i]));
    if (c->verdict == CHECK_SLOWER && !c->cause_count)
        table_foot(t, "  nothing that was recorded explains it");
}

/* The cells of the baseline that are not in the run, or of the run that are not in the baseline; returns how many. */
static size_t name_missing(const struct regression *r, bool baseline, struct strbuf *names)
{
    size_t count = 0;

    for (size_t i = 0; i < r->matches.count; i++) {
        const struct match *m = &r->matches.items[i];
        const struct cell *only = baseline ? m->was : m->now;
        if ((m->was && m->now) || !only)
            continue;
        if (count++ < NAMES)
            strbuf_addf(names, "%s%s%s", count > 1 ? ", " : "", only->id,
                        only->status == CELL_OK ? "" : " (not ok)");
    }
    if (count > NAMES)
        strbuf_addf(names, " and %zu more", count - NAMES);
    return count;
}

#define NOT_IN_RUN "in the baseline, not in the run"

static void foot_missing(struct table *t, const struct regression *r, bool baseline, const char *words)
{
    struct strbuf names = STRBUF_INIT;

    if (name_missing(r, baseline, &names))
        table_foot(t, "%s: %s", words, strbuf_str(&names));
    strbuf_fini(&names);
}

/* Options that are not what they were, each with how many cells have it. */
struct changes {
    struct {
        char text[sizeof((struct cause *)0)->text];
        size_t cells;
    } items[NAMES];
    size_t count;
};

static void find_changes(const struct regression *r, struct changes *out)
{
    struct cause causes[EXPLAIN_MAX];

    *out = (struct changes){0};
    for (size_t i = 0; i < r->cell_count; i++) {
        const size_t count = explain_options(r->baseline, r->now, &r->cells[i].match, causes);
        for (size_t k = 0; k < count; k++) {
            size_t at = 0;
            while (at < out->count && strcmp(out->items[at].text, causes[k].text) != 0)
                at++;
            if (at == NAMES)
                continue;
            out->count += at == out->count;
            strcpy(out->items[at].text, causes[k].text);
            out->items[at].cells++;
        }
    }
}

static void foot_changes(struct table *t, const struct regression *r)
{
    struct changes changes;

    find_changes(r, &changes);
    for (size_t i = 0; i < changes.count; i++)
        table_foot(t, "changed since the baseline, in %zu of %zu cells: %s", changes.items[i].cells, r->cell_count,
                   changes.items[i].text);
}

/* Where the machine was so slow at some time that it may explain anything. */
static void foot_unlimited(struct table *t, const struct regression *r)
{
    for (size_t i = 0; i < r->cell_count; i++)
        if (isinf(r->cells[i].limit)) {
            table_foot(t, "limit none: at some time the machine itself was over twice as slow as for the baseline "
                          "(canary), and no cell is called slower; same: within what would be its limit");
            return;
        }
}

/* What was compared where it was not one process. */
static void foot_several(struct table *t, const struct regression *r, enum judge_statistic statistic)
{
    size_t cells = 0, least = SIZE_MAX, most = 0;
    char range[64];

    for (size_t i = 0; i < r->cell_count; i++) {
        const struct check_cell *c = &r->cells[i];
        if (!c->base.processes || c->base.statistic != statistic)
            continue;
        cells++;
        least = c->base.compared < least ? c->base.compared : least;
        most = c->base.compared > most ? c->base.compared : most;
    }
    if (!cells)
        return;
    if (least < most && statistic != JUDGE_FASTEST)
        snprintf(range, sizeof(range), "%zu to %zu", least, most);
    else
        snprintf(range, sizeof(range), "%zu", most);
    table_foot(t, "%zu cell%s: compared by the %s of %s%s processes", cells, cells == 1 ? "" : "s",
               judge_statistic_name(statistic), statistic == JUDGE_FASTEST ? "up to " : "", range);
}

/* Cells of which the baseline itself leaves too little certain. */
static void foot_hidden(struct table *t, const struct regression *r)
{
    char threshold[NUMBER_MAX];
    size_t hidden = 0, waiting = 0, wanted = 0;
    double enough = 0;

    for (size_t i = 0; i < r->cell_count; i++) {
        const struct check_cell *c = &r->cells[i];
        if (c->verdict != CHECK_CANNOT_TELL || !judge_hidden(&c->base, r->threshold))
            continue;
        const bool waits = c->first.count < c->wanted;
        waiting += waits;
        hidden += !waits;
        enough = waits ? enough : fmax(enough, 3 * c->base.spread);
        wanted = waits && c->wanted > wanted ? c->wanted : wanted;
    }
    number_percent(threshold, r->threshold, false);
    if (waiting)
        table_foot(t, "%zu cell%s cannot be told by one process: a check that measures takes up to %zu", waiting,
                   waiting == 1 ? "" : "s", wanted);
    if (hidden && r->processes < JUDGE_MIN_PROCESSES)
        table_foot(
            t,
            "cannot tell %s: the baseline holds %zu process%s, and %d are needed to know how much they "
            "differ; %.0f %% is assumed",
            threshold, r->processes, r->processes == 1 ? "" : "es", JUDGE_MIN_PROCESSES,
            JUDGE_ASSUMED_SPREAD * 100);
    else if (hidden)
        table_foot(
            t,
            "cannot tell %s in %zu cell%s: the baseline's own processes differ too much; measure on an idle "
            "machine, or allow more (--threshold %.0f%%)",
            threshold, hidden, hidden == 1 ? "" : "s", ceil(enough * 100));
}

static void foot_verdict(struct table *t, const struct regression *r)
{
    struct strbuf line = STRBUF_INIT;
    size_t cells = 0;

    for (size_t i = 0; i < CHECK_VERDICTS; i++) {
        if (r->by_verdict[i])
            strbuf_addf(&line, "%s%zu %s", line.len ? ", " : "", r->by_verdict[i],
                        check_verdict_name((enum check_verdict)i));
        cells += r->by_verdict[i];
    }
    foot_changes(t, r);
    foot_several(t, r, JUDGE_MEAN);
    foot_several(t, r, JUDGE_FASTEST);
    foot_unlimited(t, r);
    foot_hidden(t, r);
    table_foot(t, "%zu cell%s: %s", cells, cells == 1 ? "" : "s", cells ? strbuf_str(&line) : "none measured");
    strbuf_fini(&line);
    if (!r->same_machine)
        table_foot(t, "another machine (%s): times are shown and not judged", r->machine_why);
    if (r->by_verdict[CHECK_COUNTS])
        table_foot(
            t, "what a call does has changed; if that is meant, make a new baseline: gpubench check --save");
}

bool regress_table(const struct regression *r, struct table **tables, size_t *count, struct err *err)
{
    struct table *t = tables_append(tables, count, "check", err);
    char threshold[NUMBER_MAX], range[64];

    if (!t)
        return false;
    number_percent(threshold, r->threshold, false);
    size_t most = r->processes;
    for (size_t i = 0; i < r->cell_count; i++)
        if (r->cells[i].base.processes > most)
            most = r->cells[i].base.processes;
    if (most > r->processes)
        snprintf(range, sizeof(range), "%zu to %zu", r->processes, most);
    else
        snprintf(range, sizeof(range), "%zu", most);
    table_title(t, "Against %s: %s process%s of %s", r->baseline->path ? r->baseline->path : "the baseline",
                range, most == 1 ? "" : "es", json_string(json_get(r->baseline->head, "created")));
    table_note(t, "slower: over the limit, the larger of %s and 3x the spread between processes", threshold);
    table_note(t, "sees: the smallest slowdown that would have been found");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "verdict");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "change");
    table_column(t, ALIGN_RIGHT, 3, "limit");
    table_column(t, ALIGN_RIGHT, 2, "sees");
    table_column(t, ALIGN_LEFT, 1, "baseline / now");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "cell");
    for (size_t i = 0; i < r->cell_count; i++)
        put_cell(t, &r->cells[i]);
    for (size_t i = 0; i < r->cell_count; i++)
        foot_cell(t, &r->cells[i]);
    foot_missing(t, r, true, NOT_IN_RUN);
    foot_missing(t, r, false, "in the run, not in the baseline");
    foot_verdict(t, r);
    return table_ok(t, err);
}

/* ---- JSON ---- */

static void add_causes(struct json *object, const struct check_cell *c)
{
    struct json *causes = json_set_array(object, "causes");

    for (size_t i = 0; i < c->cause_count; i++) {
        struct json *cause = json_add_object(causes);
        json_set_string(cause, "kind", cause_kind_name(c->causes[i].kind));
        json_set_string(cause, "known_by", cause_known_by(&c->causes[i]));
        json_set_string(cause, "text", c->causes[i].text);
    }
}

static void add_cell(struct json *array, const struct check_cell *c)
{
    struct json *object = json_add_object(array);

    json_set_string(object, "id", c->match.now->id);
    json_set_string(object, "verdict", check_verdict_name(c->verdict));
    json_set_bool(object, "fails", fails(c));
    json_set_number(object, "baseline_ns", c->base.typical_ns > 0 ? c->base.typical_ns : NAN);
    json_set_number(object, "now_ns", c->now_ns > 0 ? c->now_ns : NAN);
    json_set_number(object, "change", c->change);
    json_set_number(object, "limit", c->limit);
    json_set_number(object, "detectable", c->detectable);
    json_set_number(object, "spread", c->base.processes ? c->base.spread : NAN);
    json_set_string(object, "spread_known_by",
                    !c->base.processes ? NULL
                    : c->base.assumed  ? "assumed"
                                       : "measured");
    json_set_u64(object, "baseline_processes", c->base.processes);
    json_set_u64(object, "now_processes", c->first.count);
    json_set_string(object, "statistic", c->base.processes ? judge_statistic_name(c->base.statistic) : NULL);
    json_set_number(object, "canary_slower", c->drift.known ? c->drift.worst : NAN);
    struct json *again = json_set_array(object, "again_ns");
    for (size_t i = 0; i < c->again.count; i++)
        json_add_number(again, c->again.ns[i]);
    json_set_string(object, "reason", *c->why ? c->why : NULL);
    add_causes(object, c);
}

static void add_missing(struct json *root, const struct regression *r)
{
    struct json *gone = json_set_array(root, "only_baseline"), *new = json_set_array(root, "only_run");

    for (size_t i = 0; i < r->matches.count; i++) {
        const struct match *m = &r->matches.items[i];
        if (!m->now)
            json_add_string(gone, m->was->id);
        else if (!m->was)
            json_add_string(new, m->now->id);
    }
}

bool regress_json(const struct regression *r, int exit_code, struct strbuf *out, struct err *err)
{
    struct json *root = json_new_object();

    json_set_string(root, "schema", "gpubench-check");
    json_set_u64(root, "version", 1);
    json_set_bool(root, "passed", exit_code == 0);
    json_set_number(root, "exit_code", exit_code);
    json_set_string(root, "baseline", r->baseline->path);
    json_set_u64(root, "baseline_processes", r->processes);
    json_set_number(root, "threshold", r->threshold);
    json_set_bool(root, "same_machine", r->same_machine);
    json_set_string(root, "other_machine", r->same_machine ? NULL : r->machine_why);
    json_set_u64(root, "measured", r->measured);
    json_set_u64(root, "compared", r->compared);
    struct json *cells = json_set_array(root, "cells");
    for (size_t i = 0; i < r->cell_count; i++)
        add_cell(cells, &r->cells[i]);
    add_missing(root, r);
    struct changes changes;
    find_changes(r, &changes);
    struct json *changed = json_set_array(root, "changed_options");
    for (size_t i = 0; i < changes.count; i++)
        json_add_string(changed, changes.items[i].text);
    bool ok = json_print(root, true, out, err);
    strbuf_addc(out, '\n');
    json_free(root);
    return ok && strbuf_ok(out, err);
}

/* ---- annotations ---- */

/* What has a meaning in a workflow command. */
static void add_escaped(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '%' || *text == '\r' || *text == '\n')
            strbuf_addf(out, "%%%02X", (unsigned)*text);
        else
            strbuf_addc(out, *text);
    }
}

static void annotate(const struct check_cell *c, struct strbuf *out)
{
    struct strbuf text = STRBUF_INIT;
    char change[NUMBER_MAX], limit[NUMBER_MAX];

    strbuf_addf(&text, "%s: %s", c->match.now->id, check_verdict_name(c->verdict));
    if (c->verdict == CHECK_SLOWER) {
        number_percent(change, c->change, true);
        number_percent(limit, c->limit, false);
        strbuf_addf(&text, ", %s (limit %s)", change, limit);
    }
    if (*c->why)
        strbuf_addf(&text, "; %s", c->why);
    for (size_t i = 0; i < c->cause_count; i++)
        strbuf_addf(&text, "; %s (%s)", c->causes[i].text, cause_known_by(&c->causes[i]));
    strbuf_addf(out, "::error title=gpubench %s::", check_verdict_name(c->verdict));
    add_escaped(out, strbuf_str(&text));
    strbuf_addc(out, '\n');
    strbuf_fini(&text);
}

void regress_annotations(const struct regression *r, struct strbuf *out)
{
    struct strbuf missing = STRBUF_INIT;

    for (size_t i = 0; i < r->cell_count; i++)
        if (fails(&r->cells[i]))
            annotate(&r->cells[i], out);
    if (!r->same_machine) {
        strbuf_add(out, "::warning title=gpubench::times were not judged: another machine (");
        add_escaped(out, r->machine_why);
        strbuf_add(out, ")\n");
    }
    if (name_missing(r, true, &missing)) { /* a device that is gone, say */
        strbuf_add(out, "::warning title=gpubench::" NOT_IN_RUN ": ");
        add_escaped(out, strbuf_str(&missing));
        strbuf_addc(out, '\n');
    }
    strbuf_fini(&missing);
    if (r->by_verdict[CHECK_CANNOT_TELL])
        strbuf_addf(out,
                    "::notice title=gpubench::%zu of %zu cells: cannot tell whether they became slower\n",
                    r->by_verdict[CHECK_CANNOT_TELL], r->compared);
}
