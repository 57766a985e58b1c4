/* What a batch is worth: one scene after the other against all at once. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/kinds.h"
#include "report/view.h"

/* Of a row: the CPU, one scene a dispatch, all in one. */
enum { ROW_CPU, ROW_SINGLE, ROW_BATCHED, ROW_CELLS };

static void put_heading(struct table *t, const struct view *v)
{
    char point[LABEL_MAX];

    label_point(point, v->results, &v->line->spec, v->free & ~keys_named("size triangles"));
    table_title(t, "One scene a dispatch (single) against all in one (batched)    %s", point);
    view_note(v, t, view_has_cpu(v));
    table_note(t, "gain: single / batched    speedup: CPU time / batched time (above 1: device faster)");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "mode");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "batch");
    table_column(t, ALIGN_RIGHT, 900, "CPU\n%s", v->unit.name);
    table_column(t, ALIGN_RIGHT, 900, "single\n%s", v->unit.name);
    table_column(t, ALIGN_RIGHT, 900, "batched\n%s", v->unit.name);
    table_column(t, ALIGN_LEFT, 950, "gain");
    table_column(t, ALIGN_LEFT, 800, "speedup");
}

static bool put_row(struct table *t, const struct view *v, const struct cell *const cells[ROW_CELLS],
                    const struct render_spec *at, struct err *err)
{
    char mode[SPEC_TEXT_MAX], first[LABEL_MAX], second[LABEL_MAX];
    struct ratio gain, speedup;

    if (!ratio_of(cells[ROW_SINGLE], cells[ROW_BATCHED], &gain, err) ||
        !ratio_of(cells[ROW_CPU], cells[ROW_BATCHED], &speedup, err))
        return false;
    spec_text(at, spec_find("mode"), mode);
    label_sides(first, second, v->results, v->reference, v->line);
    table_row(t);
    table_put(t, MARK_NONE, NAN, "%s", mode);
    table_put(t, MARK_NONE, at->batch, "%u", (unsigned)at->batch);
    for (size_t i = 0; i < ROW_CELLS; i++)
        put_time(t, cells[i], v->unit);
    put_interval(t, &gain);
    put_ratio(t, &speedup, first, second);
    return true;
}

/* The places of a line over mode and batch, in the order of the file. */
static bool is_first(const struct view *v, size_t index)
{
    const struct cell *cell = &v->results->cells[index];

    if (!cells_alike(cell, v->line, v->free))
        return false;
    for (size_t i = 0; i < index; i++)
        if (cells_alike(&v->results->cells[i], v->line, v->free) &&
            specs_equal(&v->results->cells[i].spec, &cell->spec, keys_named("mode batch")))
            return false;
    return true;
}

static bool fill(const struct view *v, struct table *t, struct err *err)
{
    const struct cell **all =
        mem_calloc(v->results->cell_count, sizeof(*all) * ROW_CELLS, "a table's cells", err);
    size_t count = 0;
    bool ok = all != NULL;

    put_heading(t, v);
    for (size_t i = 0; ok && i < v->results->cell_count; i++) {
        const struct cell **row = all + count;
        if (!is_first(v, i))
            continue;
        struct render_spec at = v->results->cells[i].spec;
        row[ROW_CPU] = view_has_cpu(v) ? select_partner(v->results, v->reference, &at) : NULL;
        at.dispatch = DISPATCH_SINGLE;
        row[ROW_SINGLE] = select_cell(v->results, v->line, v->free, &at);
        at.dispatch = DISPATCH_BATCHED;
        row[ROW_BATCHED] = select_cell(v->results, v->line, v->free, &at);
        ok = put_row(t, v, row, &at, err);
        count += ROW_CELLS;
    }
    if (ok)
        foot_reasons(t, v->results, all, count);
    free(all);
    return ok;
}

bool batch_make(const struct results *results, struct table **tables, size_t *count, struct err *err)
{
    return view_tables("batch", results, 1u << MODE_FORWARD | 1u << MODE_GRADIENT, VIEW_OPENCL,
                       keys_named("mode batch dispatch"), fill, tables, count, err);
}
