/* The ways to sum gradients over pixels, side by side: of the call and of the kernels alone. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "report/kinds.h"
#include "report/view.h"

/* Values that a covered pixel, or a tile's sum, adds to its triangle's gradients. */
#define VALUES 10u

enum { DIRECT, LOCAL, ORDERED, KINDS };
static const enum reduction reductions[KINDS] = {REDUCTION_DIRECT, REDUCTION_LOCAL, REDUCTION_ORDERED};

static void put_heading(struct table *t, const struct view *v)
{
    char point[LABEL_MAX];

    label_point(point, v->results, &v->line->spec, v->free);
    table_title(t, "Three ways to sum gradients    %s", point);
    view_note(v, t, false);
    table_note(
        t, "x: speedup over direct (above 1: faster than direct), of the call and of the device's own time");
    table_note(t,
               "adds: to global memory, derived from counts: direct %u a covered pixel and triangle, local "
               "(atomics) "
               "and ordered (each to a place of its own) %u a triangle and touched tile; these add as often "
               "as direct, "
               "but in registers and local memory",
               VALUES, VALUES);
    view_columns(t);
    table_column(t, ALIGN_RIGHT, 900, "direct\n%s", v->unit.name);
    table_column(t, ALIGN_RIGHT, 900, "local\n%s", v->unit.name);
    table_column(t, ALIGN_RIGHT, 900, "ordered\n%s", v->unit.name);
    table_column(t, ALIGN_RIGHT, 800, "local\nx call");
    table_column(t, ALIGN_RIGHT, 800, "ordered\nx call");
    table_column(t, ALIGN_RIGHT, 700, "local\nx dev");
    table_column(t, ALIGN_RIGHT, 700, "ordered\nx dev");
    table_column(t, ALIGN_RIGHT, 500, "direct\nadds");
    table_column(t, ALIGN_RIGHT, 490, "others\nadds");
}

/* Device time of one divided by the other's; NAN where one has none. */
static double device_ratio(const struct cell *a, const struct cell *b)
{
    bool both = a && b && a->status == CELL_OK && b->status == CELL_OK && a->has_device_time &&
                b->has_device_time && b->device_ns;
    return both ? (double)a->device_ns / (double)b->device_ns : NAN;
}

static void put_adds(struct table *t, uint64_t sums)
{
    char text[UNITS_MAX] = "-";

    if (sums)
        units_count(text, VALUES * sums);
    table_put(t, sums ? MARK_NONE : MARK_DIM, sums ? (double)(VALUES * sums) : NAN, "%s", text);
}

static bool put_row(struct table *t, const struct view *v, size_t s, size_t i,
                    const struct cell *const cells[KINDS], struct err *err)
{
    uint64_t pairs = 0, partial_sums = 0;

    table_row(t);
    view_put_place(v, t, s, i);
    for (size_t k = 0; k < KINDS; k++) {
        put_time(t, cells[k], v->unit);
        if (cells[k] && cells[k]->pairs)
            pairs = cells[k]->pairs;
        if (cells[k] && cells[k]->counts.partial_sums)
            partial_sums = cells[k]->counts.partial_sums;
    }
    for (size_t k = LOCAL; k < KINDS; k++) {
        struct ratio ratio;
        if (!ratio_of(cells[DIRECT], cells[k], &ratio, err))
            return false;
        put_factor(t, ratio.verdict == RATIO_SECOND ? MARK_WINNER : MARK_NONE, ratio.value);
    }
    for (size_t k = LOCAL; k < KINDS; k++)
        put_factor(t, MARK_NONE, device_ratio(cells[DIRECT], cells[k]));
    put_adds(t, pairs);
    put_adds(t, partial_sums);
    return true;
}

static bool fill(const struct view *v, struct table *t, struct err *err)
{
    size_t places = v->plane.size_count * v->plane.triangle_count, count = 0;
    const struct cell **all = mem_calloc(places, sizeof(*all) * KINDS, "a table's cells", err);
    bool ok = all != NULL;

    put_heading(t, v);
    for (size_t s = 0; s < v->plane.size_count; s++)
        for (size_t i = 0; ok && i < v->plane.triangle_count; i++) {
            bool any = false;
            for (size_t k = 0; k < KINDS; k++) {
                struct render_spec at = v->line->spec;
                at.reduction = reductions[k];
                all[count + k] = view_cell(v, s, i, &at);
                any |= all[count + k] != NULL;
            }
            if (!any)
                continue;
            ok = put_row(t, v, s, i, all + count, err);
            count += KINDS;
        }
    if (ok)
        foot_reasons(t, v->results, all, count);
    free(all);
    return ok;
}

bool reduction_make(const struct results *results, struct table **tables, size_t *count, struct err *err)
{
    return view_tables("reduction", results, 1u << MODE_GRADIENT, VIEW_OPENCL,
                       keys_named("size triangles reduction"), fill, tables, count, err);
}
