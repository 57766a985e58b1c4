/* The three ways to have the canvas below a triangle, side by side. */
#include <stdlib.h>

#include "base/mem.h"
#include "report/kinds.h"
#include "report/view.h"

static const enum strategy strategies[] = {STRATEGY_TAPED, STRATEGY_RECOMPUTE, STRATEGY_FUSED};
#define STRATEGIES (sizeof(strategies) / sizeof(strategies[0]))

/* The reference's cell at a place, then the line's for each strategy; false where the line has none there. */
static bool cells_at(const struct view *v, size_t size, size_t triangles,
                     const struct cell *out[STRATEGIES + 1])
{
    struct render_spec at = v->line->spec;
    bool any = false;

    out[0] = view_has_cpu(v) ? view_partner(v, size, triangles) : NULL;
    for (size_t i = 0; i < STRATEGIES; i++) {
        at.strategy = strategies[i];
        out[i + 1] = view_cell(v, size, triangles, &at);
        any |= out[i + 1] != NULL;
    }
    return any;
}

static void put_heading(struct table *t, const struct view *v)
{
    char point[LABEL_MAX];

    label_point(point, v->results, &v->line->spec, v->free);
    table_title(t, "Three strategies for the backward pass    %s", point);
    view_note(v, t, view_has_cpu(v));
    table_note(t, "speedup: CPU time / the fastest strategy's (above 1: device faster)    "
                  "gradient error: of all strategies the worst    "
                  "tape: of all pixels; touched: of the triangles' rectangles alone");
    view_columns(t);
    table_column(t, ALIGN_RIGHT, 800, "CPU\n%s", v->unit.name);
    table_column(t, ALIGN_RIGHT, 900, "taped\n%s", v->unit.name);
    table_column(t, ALIGN_RIGHT, 900, "recompute\n%s", v->unit.name);
    table_column(t, ALIGN_RIGHT, 900, "fused\n%s", v->unit.name);
    table_column(t, ALIGN_RIGHT, 700, "speedup");
    table_column(t, ALIGN_RIGHT, 650, "gradient\nerror");
    table_column(t, ALIGN_RIGHT, 600, "tape");
    table_column(t, ALIGN_RIGHT, 500, "touched");
}

static const struct cell *fastest(const struct cell *const cells[STRATEGIES])
{
    const struct cell *best = NULL;

    for (size_t i = 0; i < STRATEGIES; i++)
        if (cells[i] && cells[i]->status == CELL_OK && cells[i]->median_ns &&
            (!best || cells[i]->median_ns < best->median_ns))
            best = cells[i];
    return best;
}

static bool put_row(struct table *t, const struct view *v, size_t s, size_t i,
                    const struct cell *const cells[STRATEGIES + 1], struct err *err)
{
    uint64_t touched = 0;
    struct ratio ratio;

    if (!ratio_of(cells[0], fastest(cells + 1), &ratio, err))
        return false;
    table_row(t);
    view_put_place(v, t, s, i);
    for (size_t k = 0; k <= STRATEGIES; k++) {
        put_time(t, cells[k], v->unit);
        if (k && cells[k] && cells[k]->tape_touched_bytes)
            touched = cells[k]->tape_touched_bytes;
    }
    put_factor(t, MARK_NONE, ratio.value);
    put_gradient_error(t, cells + 1, STRATEGIES);
    put_bytes(t, cells[1] ? cells[1]->tape_bytes : 0);
    put_bytes(t, touched);
    return true;
}

static bool fill(const struct view *v, struct table *t, struct err *err)
{
    size_t places = v->plane.size_count * v->plane.triangle_count, count = 0;
    const struct cell **all = mem_calloc(places, sizeof(*all) * (STRATEGIES + 1), "a table's cells", err);
    bool ok = all != NULL;

    put_heading(t, v);
    for (size_t s = 0; s < v->plane.size_count; s++)
        for (size_t i = 0; ok && i < v->plane.triangle_count; i++)
            if (cells_at(v, s, i, all + count)) {
                ok = put_row(t, v, s, i, all + count, err);
                count += STRATEGIES + 1;
            }
    if (ok)
        foot_reasons(t, v->results, all, count);
    free(all);
    return ok;
}

bool gradient_make(const struct results *results, struct table **tables, size_t *count, struct err *err)
{
    return view_tables("gradient", results, 1u << MODE_GRADIENT, VIEW_OPENCL,
                       keys_named("size triangles strategy"), fill, tables, count, err);
}
