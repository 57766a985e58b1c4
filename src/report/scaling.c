/* What four times the pixels and four times the triangles cost, a phase; and what a triangle and a pair cost.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "report/kinds.h"
#include "report/phase_list.h"
#include "report/view.h"

#define MODES (1u << MODE_FORWARD | 1u << MODE_GRADIENT)

/* What scales: the call, the kernels' own time, then the phases. */
enum { CALL, DEVICE, FIRST_PHASE };
#define QUANTITIES (FIRST_PHASE + PHASES)

static const char *quantity_name(size_t q)
{
    return q == CALL ? "call" : q == DEVICE ? "device" : phase_name(q - FIRST_PHASE);
}

/* Nanoseconds, or NAN where they are not known. */
static double quantity(const struct cell *cell, size_t q)
{
    if (!cell || cell->status != CELL_OK)
        return NAN;
    if (q == CALL)
        return (double)cell->median_ns;
    if (q == DEVICE)
        return cell->has_device_time ? (double)cell->device_ns : NAN;
    return cell->has_phases ? (double)phase_ns(&cell->phases, q - FIRST_PHASE) : NAN;
}

/* A row or a column of the plane: how many points, where they are and what they cost. */
struct walk {
    const struct view *v;
    size_t quantity;
    bool sizes; /* along sizes, at triangle count `at`; else along triangles, at size `at` */
    size_t at;
};

static size_t walk_count(const struct walk *w)
{
    return w->sizes ? w->v->plane.size_count : w->v->plane.triangle_count;
}

static double walk_x(const struct walk *w, size_t i)
{
    const struct plane *p = &w->v->plane;
    return w->sizes ? (double)p->sizes[i].width * p->sizes[i].height : (double)p->triangles[i].triangles;
}

static double walk_y(const struct walk *w, size_t i)
{
    const struct cell *cell = w->sizes ? view_cell(w->v, i, w->at, NULL) : view_cell(w->v, w->at, i, NULL);
    return quantity(cell, w->quantity);
}

/* From the first to the last point that is known, as if in steps of four: (y1/y0)^(ln 4 / ln(x1/x0)). */
static double cost_of_four(const struct walk *w)
{
    double x0 = NAN, y0 = NAN, x1 = NAN, y1 = NAN;

    for (size_t i = 0; i < walk_count(w); i++) {
        double x = walk_x(w, i), y = walk_y(w, i);
        if (!(x > 0) || !(y > 0))
            continue;
        if (isnan(x0)) {
            x0 = x;
            y0 = y;
        }
        x1 = x;
        y1 = y;
    }
    return x1 > x0 ? pow(y1 / y0, log(4) / log(x1 / x0)) : NAN;
}

enum direction { MIXED, RISES, FALLS, UNKNOWN };

static enum direction direction(const struct walk *w)
{
    double last = NAN;
    bool rises = true, falls = true, any = false;

    for (size_t i = 0; i < walk_count(w); i++) {
        double y = walk_y(w, i);
        if (isnan(y))
            continue;
        if (!isnan(last)) {
            any = true;
            rises &= y > last;
            falls &= y < last;
        }
        last = y;
    }
    return !any ? UNKNOWN : rises ? RISES : falls ? FALLS : MIXED;
}

static void name_place(char out[NUMBER_MAX], const struct walk *w)
{
    const struct plane *p = &w->v->plane;

    if (w->sizes)
        units_items(out, p->triangles[w->at].triangles, "triangle");
    else
        number_size(out, p->sizes[w->at].width, p->sizes[w->at].height);
}

/* "call rises with pixels throughout", or where it does not. */
static void add_directions(struct strbuf *sb, const struct view *v, size_t q, bool sizes)
{
    static const char *const words[] = {[MIXED] = "rises and falls", [RISES] = "rises", [FALLS] = "falls"};
    struct walk w = {v, q, sizes, 0};
    size_t lines = sizes ? v->plane.triangle_count : v->plane.size_count, seen[UNKNOWN + 1] = {0};

    for (w.at = 0; w.at < lines; w.at++)
        seen[direction(&w)]++;
    for (size_t d = MIXED; d <= FALLS; d++) {
        if (!seen[d])
            continue;
        strbuf_addf(sb, "%s%s %s with %s", sb->len ? "    " : "", quantity_name(q), words[d],
                    sizes ? "pixels" : "triangles");
        if (seen[d] + seen[UNKNOWN] == lines) {
            strbuf_add(sb, " throughout");
            return;
        }
        const char *joint = " at ";
        for (w.at = 0; w.at < lines; w.at++)
            if (direction(&w) == (enum direction)d) {
                char place[NUMBER_MAX];
                name_place(place, &w);
                strbuf_addf(sb, "%s%s", joint, place);
                joint = ", ";
            }
    }
}

static void foot_directions(struct table *t, const struct view *v, size_t q)
{
    struct strbuf sb = STRBUF_INIT;

    add_directions(&sb, v, q, true);
    add_directions(&sb, v, q, false);
    if (sb.len)
        table_foot(t, "%s", strbuf_str(&sb));
    t->failed |= sb.failed;
    strbuf_fini(&sb);
}

static void put_heading(struct table *t, const struct view *v, const char *title)
{
    char point[LABEL_MAX];

    label_point(point, v->results, &v->line->spec, v->free);
    table_title(t, "%s    %s", title, point);
    view_note(v, t, false);
}

/* Whether some cell has it, and it is not 0 everywhere. */
static bool is_known(const struct view *v, size_t q)
{
    for (size_t s = 0; s < v->plane.size_count; s++)
        for (size_t i = 0; i < v->plane.triangle_count; i++)
            if (quantity(view_cell(v, s, i, NULL), q) > 0)
                return true;
    return false;
}

/* A row a quantity: the cost of four times, along each column and row of the plane. */
static bool fill_steps(const struct view *v, struct table *t, struct err *err)
{
    const struct plane *p = &v->plane;
    (void)err;

    put_heading(t, v, "Cost of four times the pixels, and of four times the triangles");
    table_note(
        t, "from the smallest to the largest measured, as if in steps of four: 4 is proportional, 1 is free");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "%s", "");
    for (size_t i = 0; p->size_count > 1 && i < p->triangle_count; i++)
        table_column(t, ALIGN_RIGHT, 500, "4x pixels\n%u tri.", (unsigned)p->triangles[i].triangles);
    for (size_t s = 0; p->triangle_count > 1 && s < p->size_count; s++) {
        char size[NUMBER_MAX];
        number_size(size, p->sizes[s].width, p->sizes[s].height);
        table_column(t, ALIGN_RIGHT, 500, "4x tri.\n%s", size);
    }
    for (size_t q = 0; q < QUANTITIES; q++) {
        struct walk w = {v, q, true, 0};
        if (!is_known(v, q))
            continue;
        table_row(t);
        table_put(t, MARK_NONE, NAN, "%s", quantity_name(q));
        for (w.at = 0; p->size_count > 1 && w.at < p->triangle_count; w.at++)
            put_factor(t, MARK_NONE, cost_of_four(&w));
        w.sizes = false;
        for (w.at = 0; p->triangle_count > 1 && w.at < p->size_count; w.at++)
            put_factor(t, MARK_NONE, cost_of_four(&w));
    }
    foot_directions(t, v, CALL);
    foot_directions(t, v, DEVICE);
    return true;
}

static void put_per(struct table *t, const struct cell *cell, double time_ns, double count)
{
    char text[NUMBER_MAX];

    if (cell->status != CELL_OK) {
        table_put(t, mark_status(cell), NAN, "%s", label_status(cell));
        return;
    }
    number_sig2(text, time_ns / count);
    bool known = isfinite(time_ns / count);
    table_put(t, known ? MARK_NONE : MARK_DIM, known ? time_ns / count : NAN, "%s", text);
}

/* A row a cell: what a triangle of a scene and a covered pair cost. */
static bool fill_units(const struct view *v, struct table *t, struct err *err)
{
    const struct plane *p = &v->plane;
    size_t count = 0;
    const struct cell **all =
        mem_calloc(p->size_count * p->triangle_count, sizeof(*all), "a table's cells", err);

    if (!all)
        return false;
    put_heading(t, v, "Cost of a triangle and of a covered pixel-triangle pair");
    view_columns(t);
    table_column(t, ALIGN_RIGHT, 900, "call\n%s", v->unit.name);
    table_column(t, ALIGN_RIGHT, 800, "call\nns a triangle");
    table_column(t, ALIGN_RIGHT, 800, "call\nns a pair");
    if (v->line->kind == BACKEND_OPENCL)
        table_column(t, ALIGN_RIGHT, 700, "device\nns a pair");
    for (size_t s = 0; s < p->size_count; s++)
        for (size_t i = 0; i < p->triangle_count; i++) {
            const struct cell *cell = view_cell(v, s, i, NULL);
            if (!cell)
                continue;
            all[count++] = cell;
            table_row(t);
            view_put_place(v, t, s, i);
            put_time(t, cell, v->unit);
            put_per(t, cell, (double)cell->median_ns, (double)cell->spec.triangles * cell->spec.batch);
            put_per(t, cell, (double)cell->median_ns, (double)cell->pairs);
            if (v->line->kind == BACKEND_OPENCL)
                put_per(t, cell, quantity(cell, DEVICE), (double)cell->pairs);
        }
    foot_reasons(t, v->results, all, count);
    free(all);
    return true;
}

bool scaling_make(const struct results *results, struct table **tables, size_t *count, struct err *err)
{
    key_set free_keys = keys_named("size triangles");

    return view_tables("scaling", results, MODES, VIEW_ALL, free_keys, fill_steps, tables, count, err) &&
           view_tables("scaling", results, MODES, VIEW_ALL, free_keys, fill_units, tables, count, err);
}
