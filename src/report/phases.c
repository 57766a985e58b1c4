/* Where a call's time goes: a synchronised run, phase by phase, beside the free-running call. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "report/kinds.h"
#include "report/phase_list.h"
#include "report/view.h"

static void put_heading(struct table *t, const struct view *v, bool triangles)
{
    char point[LABEL_MAX];
    key_set shown = triangles ? v->free : v->free & ~keys_named("triangles");

    label_point(point, v->results, &v->line->spec, shown);
    table_title(t, "Phases of a call    %s", point);
    view_note(v, t, false);
    table_note(
        t, "sum: of a synchronised call, from which the phases are    call: the free-running one, median    "
           "sync: what synchronising costs    gain: the most a call could gain if the phase were free");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "size");
    if (triangles)
        table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "tri.");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "%s", "");
    for (size_t i = 0; i < PHASES; i++)
        table_column(t, ALIGN_RIGHT, 900 - (int)i, "%s", i + 1 < PHASES ? phase_name(i) : "unac-\ncounted");
    table_column(t, ALIGN_RIGHT, 950, "sum");
    table_column(t, ALIGN_RIGHT, 960, "call");
    table_column(t, ALIGN_RIGHT, 940, "sync");
}

static void put_place(struct table *t, const struct cell *cell, bool triangles, const char *what)
{
    char size[NUMBER_MAX] = "";

    if (cell)
        number_size(size, cell->spec.width, cell->spec.height);
    table_row(t);
    table_put(t, MARK_NONE, NAN, "%s", size);
    if (triangles && cell)
        table_put(t, MARK_NONE, cell->spec.triangles, "%" PRIu32, cell->spec.triangles);
    else if (triangles)
        table_put(t, MARK_NONE, NAN, "%s", "");
    table_put(t, MARK_DIM, NAN, "%s", what);
}

/* Shorter than three digits everywhere, since there are many columns: 0.25 12.5 340. */
static void put_ns(struct table *t, bool known, double ns, struct time_unit unit)
{
    double value = fabs(ns) / unit.ns;
    int decimals = value >= 99.95 || ns == 0 ? 0 : value >= 9.995 ? 1 : 2;

    if (known && isfinite(value))
        table_put(t, MARK_NONE, ns, "%s%.*f", ns < 0 ? "-" : "", decimals, value);
    else
        table_put(t, MARK_DIM, NAN, "-");
}

/* A row in a unit of its own, so that small sizes can be read beside large ones. */
static void put_times(struct table *t, const struct cell *cell, bool triangles)
{
    struct time_unit unit = number_unit((double)cell->phases.total_ns / 10);
    bool known = cell->status == CELL_OK && cell->has_phases;

    put_place(t, cell, triangles, unit.name);
    for (size_t i = 0; i < PHASES; i++)
        put_ns(t, known, (double)phase_ns(&cell->phases, i), unit);
    put_ns(t, known, (double)cell->phases.total_ns, unit);
    if (cell->status == CELL_OK)
        put_ns(t, true, (double)cell->median_ns, unit);
    else
        put_time(t, cell, unit);
    put_ns(t, known, phase_sync(cell), unit);
}

static void put_shares(struct table *t, const struct cell *cell, bool triangles)
{
    put_place(t, NULL, triangles, "%");
    for (size_t i = 0; i <= PHASES; i++) {
        double share = i < PHASES ? phase_share(cell, i) : 1;
        table_put(t, MARK_NONE, share, "%.*f", share < 0.0995 ? 1 : 0, 100 * share);
    }
    table_put(t, MARK_NONE, NAN, "%s", "");
    double sync = phase_sync(cell) / (double)cell->median_ns;
    if (isfinite(sync))
        table_put(t, MARK_NONE, sync, "%+.*f", fabs(sync) < 0.0995 ? 1 : 0, 100 * sync);
}

/* The whole of a call that one phase fills could go: there is no such factor. */
static void put_gains(struct table *t, const struct cell *cell, bool triangles)
{
    put_place(t, NULL, triangles, "gain");
    for (size_t i = 0; i < PHASES; i++) {
        double rest = 1 - phase_share(cell, i);
        if (rest > 0.001)
            table_put(t, MARK_NONE, 1 / rest, "%.2f", 1 / rest);
        else
            table_put(t, MARK_NONE, NAN, "all");
    }
}

static void foot_pool(struct table *t, const struct cell *cell, bool triangles)
{
    char place[LABEL_MAX], size[NUMBER_MAX], bytes[UNITS_MAX];

    label_place(place, &cell->spec);
    number_size(size, cell->spec.width, cell->spec.height);
    units_bytes(bytes, cell->counts.pool_bytes);
    table_foot(t, "pool, a call at %s: %" PRIu64 " hits, %" PRIu64 " misses, %s held",
               triangles ? place : size, cell->counts.pool_hits, cell->counts.pool_misses, bytes);
}

static void foot_submissions(struct table *t, const struct cell *cell, bool triangles)
{
    char place[LABEL_MAX], size[NUMBER_MAX], longest[UNITS_MAX];

    if (!cell->counts.longest_submission_ns)
        return;
    label_place(place, &cell->spec);
    number_size(size, cell->spec.width, cell->spec.height);
    units_time(longest, cell->counts.longest_submission_ns);
    table_foot(t, "kernels of a call at %s: %" PRIu64 " submissions, the longest %s", triangles ? place : size,
               cell->counts.submissions, longest);
}

static bool fill(const struct view *v, struct table *t, struct err *err)
{
    size_t places = v->plane.size_count * v->plane.triangle_count, count = 0;
    const struct cell **all = mem_calloc(places, sizeof(*all), "a table's cells", err);
    bool triangles = v->plane.triangle_count > 1;

    if (!all)
        return false;
    put_heading(t, v, triangles);
    for (size_t s = 0; s < v->plane.size_count; s++)
        for (size_t i = 0; i < v->plane.triangle_count; i++) {
            const struct cell *cell = view_cell(v, s, i, NULL);
            if (!cell)
                continue;
            all[count++] = cell;
            put_times(t, cell, triangles);
            if (cell->status != CELL_OK || !cell->has_phases || !cell->phases.total_ns)
                continue;
            put_shares(t, cell, triangles);
            put_gains(t, cell, triangles);
        }
    for (size_t i = 0; i < count; i++)
        if (all[i]->status == CELL_OK && all[i]->kind == BACKEND_OPENCL) {
            foot_pool(t, all[i], triangles);
            foot_submissions(t, all[i], triangles);
        }
    foot_reasons(t, v->results, all, count);
    free(all);
    return true;
}

bool phases_make(const struct results *results, struct table **tables, size_t *count, struct err *err)
{
    return view_tables("phases", results, 1u << MODE_FORWARD | 1u << MODE_GRADIENT, VIEW_ALL,
                       keys_named("size triangles"), fill, tables, count, err);
}
