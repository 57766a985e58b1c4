/* A comparison as a table and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/compare.h"
#include "report/label.h"
#include "report/put.h"

/* Names that a line of remarks lists before it counts the rest. */
#define NAMES 4
/* How near CPU times are when the CPU is taken out as a reason. */
#define CPU_AGREES 1.05

static enum table_mark mark_of(enum compare_verdict verdict)
{
    static const enum table_mark marks[] = {MARK_NONE, MARK_WINNER, MARK_LOSER, MARK_TIE, MARK_DIM, MARK_DIM};
    return marks[verdict];
}

static void put_cell(struct table *t, const struct compare_cell *cell)
{
    const struct cell *was = cell->match.was, *now = cell->match.now;
    const bool times = isfinite(cell->ratio);
    const struct time_unit unit = number_unit((double)(was->median_ns ? was->median_ns : now->median_ns));
    const struct ratio ratio = {
        .valid = times, .value = cell->ratio, .has_ci = cell->has_ci, .ci95 = {cell->ci95[0], cell->ci95[1]}};
    char change[NUMBER_MAX], sees[NUMBER_MAX], interval[NUMBER_MAX], a[NUMBER_MAX], b[NUMBER_MAX];

    table_row(t);
    table_put(t, mark_of(cell->verdict), NAN, "%s", compare_verdict_name(cell->verdict));
    number_percent(change, cell->ratio - 1, true);
    number_interval(interval, &ratio);
    number_percent(sees, cell->detectable, false);
    number_time(a, was->median_ns, unit);
    number_time(b, now->median_ns, unit);
    table_put(t, MARK_NONE, cell->ratio - 1, "%s", change);
    table_put(t, MARK_NONE, cell->ratio, "%s", interval);
    table_put(t, MARK_NONE, cell->detectable, "%s", sees);
    if (times)
        table_put(t, MARK_NONE, NAN, "%s / %s %s", a, b, unit.name);
    else
        table_put(t, MARK_DIM, NAN, "%s", "-");
    table_put(t, MARK_NONE, NAN, "%s", cell->match.was->id);
}

static void foot_causes(struct table *t, const struct compare_cell *cell)
{
    if (cell->verdict != COMPARE_SLOWER && cell->verdict != COMPARE_FASTER && !*cell->why)
        return;
    table_foot(t, "%s: %s%s%s", cell->match.was->id, compare_verdict_name(cell->verdict),
               *cell->why ? ": " : "", cell->why);
    if (cell->verdict != COMPARE_SLOWER && cell->verdict != COMPARE_FASTER)
        return;
    for (size_t i = 0; i < cell->cause_count; i++)
        table_foot(t, "  %s (%s)", cell->causes[i].text, cause_known_by(&cell->causes[i]));
    if (!cell->cause_count)
        table_foot(t, "  nothing that was recorded explains it");
}

/* "only in A: x, y, z, w and 3 more" */
static void foot_missing(struct table *t, const struct comparison *c, bool was, const char *which)
{
    struct strbuf names = STRBUF_INIT;
    size_t count = 0;

    for (size_t i = 0; i < c->matches.count; i++) {
        const struct match *m = &c->matches.items[i];
        const struct cell *only = was ? m->was : m->now;
        if ((m->was && m->now) || !only)
            continue;
        if (count++ < NAMES)
            strbuf_addf(&names, "%s%s", count > 1 ? ", " : "", only->id);
    }
    if (count > NAMES)
        strbuf_addf(&names, " and %zu more", count - NAMES);
    if (count)
        table_foot(t, "only in %s: %s", which, strbuf_str(&names));
    strbuf_fini(&names);
}

static void foot_mean(struct table *t, const char *name, double value, const double ci95[2], size_t cells)
{
    const struct ratio ratio = {
        .valid = true, .value = value, .has_ci = isfinite(ci95[0]), .ci95 = {ci95[0], ci95[1]}};
    char text[NUMBER_MAX];

    number_interval(text, &ratio);
    table_foot(t, "geometric mean, %s: %s (%zu cell%s)", name, text, cells, cells == 1 ? "" : "s");
}

static void foot_means(struct table *t, const struct comparison *c)
{
    char name[LABEL_MAX];

    for (size_t i = 0; i < c->device_count; i++) {
        const struct compare_device *d = &c->devices[i];
        label_device(name, c->now, d->device);
        foot_mean(t, name, d->ratio, d->ci95, d->cells);
    }
    if (c->device_count > 1)
        foot_mean(t, "all", c->ratio, c->ci95, c->compared);
}

static void foot_steadiness(struct table *t, const struct comparison *c)
{
    char name[LABEL_MAX];

    for (size_t i = 0; i < c->device_count; i++) {
        const struct drift *drift = &c->devices[i].drift;
        label_device(name, c->now, c->devices[i].device);
        if (!drift->known)
            table_foot(t, "%s: no canary in both files: how steady the machine was is not known", name);
        else if (drift->slower > DRIFT_TOLERATED || drift->faster > DRIFT_TOLERATED)
            table_foot(t, "%s: the machine itself became %.0f %% %s between the runs (canary)", name,
                       100 * fmax(drift->slower, drift->faster),
                       drift->slower > drift->faster ? "slower" : "faster");
        if (drift->known && drift->noise > DRIFT_TOLERATED)
            table_foot(
                t, "%s: the machine was unsteady by %.0f %% during the runs (canary); measure on an idle one",
                name, 100 * drift->noise);
    }
}

static const struct device_info *device_of(const struct comparison *c, size_t i)
{
    return &c->now->devices[c->devices[i].device];
}

/* Two machines whose CPUs take the same time leave the device as what differs. */
static void foot_culprit(struct table *t, const struct comparison *c)
{
    const struct compare_device *cpu = NULL;
    char name[LABEL_MAX];

    for (size_t i = 0; i < c->device_count; i++)
        if (device_of(c, i)->backend == BACKEND_OPENMP)
            cpu = &c->devices[i];
    if (!cpu || fabs(log(cpu->ratio)) > log(CPU_AGREES))
        return;
    for (size_t i = 0; i < c->device_count; i++) {
        if (device_of(c, i)->backend == BACKEND_OPENMP || fabs(log(c->devices[i].ratio)) <= log(CPU_AGREES))
            continue;
        label_device(name, c->now, c->devices[i].device);
        table_foot(t, "the CPU's times agree within 5 %%, those of %s do not: the device is what differs",
                   name);
    }
}

static void note_run(struct table *t, const char *which, const struct results *r)
{
    const struct json *tool = json_get(r->head, "tool");
    const struct json *cpu = json_get(json_get(r->head, "machine"), "cpu");
    const char *model = json_string(json_get(cpu, "model"));
    struct strbuf opencl = STRBUF_INIT;

    for (size_t i = 0; i < r->device_count; i++) {
        const struct device_info *d = &r->devices[i];
        if (d->backend != BACKEND_OPENCL)
            continue;
        strbuf_addf(&opencl, TABLE_PART "%s ", *d->short_name ? d->short_name : d->name);
        label_opencl(&opencl, d);
    }
    table_note(t, "%s: %s    %s    gpubench %s    %s%s", which, r->path ? r->path : "-",
               json_string(json_get(r->head, "created")), json_string(json_get(tool, "revision")),
               *model ? model : "CPU unknown", strbuf_str(&opencl));
    strbuf_fini(&opencl);
}

bool comparison_table(const struct comparison *c, struct table **tables, size_t *count, struct err *err)
{
    struct table *t = tables_append(tables, count, "compare", err);

    if (!t)
        return false;
    table_title(t, "B / A: time of each cell (above 1: B is slower)");
    note_run(t, "A", c->was);
    note_run(t, "B", c->now);
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "B is");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "change");
    table_column(t, ALIGN_LEFT, 3, "B / A");
    table_column(t, ALIGN_RIGHT, 2, "sees");
    table_column(t, ALIGN_LEFT, 1, "A / B");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "cell");
    for (size_t i = 0; i < c->cell_count; i++)
        put_cell(t, &c->cells[i]);
    if (!c->cell_count)
        table_foot(t, "no cell is in both");
    if (c->itself)
        table_foot(t, "A and B are one run, and the same by definition; the intervals are those that another run would "
                      "be judged by");
    foot_means(t, c);
    foot_steadiness(t, c);
    if (!c->same_machine)
        table_foot(t, "two machines: %s", c->machine_why);
    foot_culprit(t, c);
    for (size_t i = 0; i < c->cell_count; i++)
        foot_causes(t, &c->cells[i]);
    foot_missing(t, c, true, "A");
    foot_missing(t, c, false, "B");
    table_foot(t, "same: within 5 %%; sees: the smallest change that would have been told");
    return table_ok(t, err);
}

/* ---- JSON ---- */

static void set_interval(struct json *object, const double ci95[2])
{
    if (!isfinite(ci95[0])) {
        json_set_null(object, "ci95");
        return;
    }
    struct json *array = json_set_array(object, "ci95");
    json_add_number(array, ci95[0]);
    json_add_number(array, ci95[1]);
}

static void add_cell(struct json *array, const struct compare_cell *cell)
{
    struct json *object = json_add_object(array);

    json_set_string(object, "id", cell->match.was->id);
    json_set_string(object, "id_b", cell->match.now->id);
    json_set_string(object, "verdict", compare_verdict_name(cell->verdict));
    json_set_number(object, "ratio", cell->ratio);
    set_interval(object, cell->ci95);
    json_set_number(object, "detectable", cell->detectable);
    json_set_u64(object, "a_ns", cell->match.was->median_ns);
    json_set_u64(object, "b_ns", cell->match.now->median_ns);
    json_set_string(object, "reason", *cell->why ? cell->why : NULL);
    struct json *causes = json_set_array(object, "causes");
    for (size_t i = 0; i < cell->cause_count; i++) {
        struct json *cause = json_add_object(causes);
        json_set_string(cause, "kind", cause_kind_name(cell->causes[i].kind));
        json_set_string(cause, "known_by", cause_known_by(&cell->causes[i]));
        json_set_string(cause, "text", cell->causes[i].text);
    }
}

static void add_run(struct json *root, const char *key, const struct results *r)
{
    struct json *object = json_set_object(root, key);
    const struct json *tool = json_get(r->head, "tool");

    json_set_string(object, "path", r->path);
    json_set_string(object, "created", json_string(json_get(r->head, "created")));
    json_set_string(object, "revision", json_string(json_get(tool, "revision")));
}

static void add_missing(struct json *root, const struct comparison *c)
{
    struct json *only_a = json_set_array(root, "only_a"), *only_b = json_set_array(root, "only_b");

    for (size_t i = 0; i < c->matches.count; i++) {
        const struct match *m = &c->matches.items[i];
        if (!m->now)
            json_add_string(only_a, m->was->id);
        else if (!m->was)
            json_add_string(only_b, m->now->id);
    }
}

bool comparison_json(const struct comparison *c, struct strbuf *out, struct err *err)
{
    struct json *root = json_new_object();

    json_set_string(root, "schema", "gpubench-compare");
    json_set_u64(root, "version", 1);
    add_run(root, "a", c->was);
    add_run(root, "b", c->now);
    json_set_bool(root, "same_run", c->itself);
    json_set_bool(root, "same_machine", c->same_machine);
    json_set_number(root, "geometric_mean", c->ratio);
    struct json *devices = json_set_array(root, "devices");
    for (size_t i = 0; i < c->device_count; i++) {
        const struct compare_device *d = &c->devices[i];
        struct json *object = json_add_object(devices);
        json_set_string(object, "selector", device_of(c, i)->selector);
        json_set_string(object, "name", device_of(c, i)->name);
        json_set_u64(object, "cells", d->cells);
        json_set_number(object, "geometric_mean", d->ratio);
        set_interval(object, d->ci95);
        json_set_number(object, "canary_slower", d->drift.known ? d->drift.slower : NAN);
        json_set_number(object, "canary_noise", d->drift.known ? d->drift.noise : NAN);
    }
    struct json *cells = json_set_array(root, "cells");
    for (size_t i = 0; i < c->cell_count; i++)
        add_cell(cells, &c->cells[i]);
    add_missing(root, c);
    bool ok = json_print(root, true, out, err);
    strbuf_addc(out, '\n');
    json_free(root);
    return ok && strbuf_ok(out, err);
}
