/* The crossover table: size by triangles, who wins and by how much, and where it crosses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "report/crossing.h"
#include "report/kinds.h"
#include "report/view.h"

/* One table being made: the reference against one line. */
struct contest {
    const struct view *view;
    struct ratio *ratios;                     /* [size_count][triangle_count] */
    char first[LABEL_MAX], second[LABEL_MAX]; /* names of winners */
};

static struct ratio *ratio_at(const struct contest *c, size_t size, size_t triangles)
{
    return &c->ratios[size * c->view->plane.triangle_count + triangles];
}

static bool contest_init(struct contest *c, const struct view *v, struct err *err)
{
    const struct plane *plane = &v->plane;

    *c = (struct contest){.view = v};
    label_sides(c->first, c->second, v->results, v->reference, v->line);
    c->ratios = mem_calloc(plane->size_count * plane->triangle_count, sizeof(*c->ratios), "the ratios", err);
    bool ok = c->ratios != NULL;
    for (size_t s = 0; ok && s < plane->size_count; s++)
        for (size_t i = 0; ok && i < plane->triangle_count; i++)
            ok = ratio_of(view_partner(v, s, i), view_cell(v, s, i, NULL), ratio_at(c, s, i), err);
    return ok;
}

static void put_heading(struct table *t, const struct contest *c)
{
    const struct view *v = c->view;
    char point[LABEL_MAX];

    label_point(point, v->results, &v->line->spec, v->free);
    if (v->reference->kind == BACKEND_OPENMP)
        table_title(t, "CPU time / device time (above 1: device faster)    %s", point);
    else
        table_title(t, "%s time / %s time (above 1: %s faster)    %s", c->first, c->second, c->second, point);
    view_note(v, t, true);
    table_note(t, "dev: the same ratio for the device's own time, by its events");
}

/* Of the inner columns every second, fourth, ... is worth more than its neighbours; the ends most. */
static int keep_of(size_t i, size_t count)
{
    int keep = 100;

    if (i == 0 || i + 1 == count)
        return 900;
    for (; i % 2 == 0; i /= 2)
        keep += 10;
    return keep;
}

static void put_columns(struct table *t, const struct contest *c)
{
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "%s", "");
    for (size_t i = 0; i < c->view->plane.triangle_count; i++) {
        unsigned triangles = c->view->plane.triangles[i].triangles;
        table_column(t, ALIGN_LEFT, keep_of(i, c->view->plane.triangle_count), "%u%s", triangles,
                     i                ? ""
                     : triangles == 1 ? " triangle"
                                      : " triangles");
    }
}

static void put_verdict(struct table *t, const struct contest *c, size_t s, size_t i)
{
    const struct ratio *ratio = ratio_at(c, s, i);
    const struct cell *first = view_partner(c->view, s, i), *second = view_cell(c->view, s, i, NULL);

    if (!ratio->valid && second && second->status != CELL_OK)
        table_put(t, mark_status(second), NAN, "- (%s %s)", c->second, label_status(second));
    else if (!ratio->valid && first && first->status != CELL_OK)
        table_put(t, mark_status(first), NAN, "- (%s %s)", c->first, label_status(first));
    else
        put_ratio(t, ratio, c->first, c->second);
}

static void add_time(struct strbuf *sb, const struct cell *cell, bool unit_too)
{
    char text[NUMBER_MAX];

    if (!cell || cell->status != CELL_OK) {
        strbuf_add(sb, label_status(cell));
        return;
    }
    struct time_unit unit = number_unit((double)cell->median_ns);
    number_time(text, cell->median_ns, unit);
    strbuf_addf(sb, "%s%s%s", text, unit_too ? " " : "", unit_too ? unit.name : "");
    if (cell->counts.split > 1)
        strbuf_addf(sb, "÷%u", (unsigned)cell->counts.split);
}

/* "240 / 71 us  dev 9.6": two significant digits, in the unit of their geometric mean. */
static void put_times(struct table *t, const struct contest *c, size_t s, size_t i)
{
    const struct ratio *ratio = ratio_at(c, s, i);
    const struct cell *first = view_partner(c->view, s, i), *second = view_cell(c->view, s, i, NULL);
    struct strbuf sb = STRBUF_INIT;

    if (ratio->valid) {
        char a[NUMBER_MAX], b[NUMBER_MAX], device[NUMBER_MAX];
        struct time_unit unit = number_unit(sqrt((double)first->median_ns * (double)second->median_ns));
        number_sig2(a, (double)first->median_ns / unit.ns);
        number_sig2(b, (double)second->median_ns / unit.ns);
        strbuf_addf(&sb, "%s / %s", a, b);
        if (second->counts.split > 1)
            strbuf_addf(&sb, "÷%u", (unsigned)second->counts.split);
        strbuf_addf(&sb, " %s", unit.name);
        number_ratio(device, ratio->device);
        if (!isnan(ratio->device))
            strbuf_addf(&sb, "  dev %s", device);
    } else if (first || second) {
        add_time(&sb, first, true);
        strbuf_add(&sb, " / ");
        add_time(&sb, second, true);
    }
    if (sb.failed)
        t->failed = true;
    table_put(t, MARK_DIM, ratio->device, "%s", strbuf_str(&sb));
    strbuf_fini(&sb);
}

static void put_rows(struct table *t, const struct contest *c)
{
    for (size_t s = 0; s < c->view->plane.size_count; s++) {
        char size[NUMBER_MAX];
        number_size(size, c->view->plane.sizes[s].width, c->view->plane.sizes[s].height);
        table_row(t);
        table_put(t, MARK_NONE, NAN, "%s", size);
        for (size_t i = 0; i < c->view->plane.triangle_count; i++)
            put_verdict(t, c, s, i);
        table_row(t);
        table_put(t, MARK_NONE, NAN, "%s", "");
        for (size_t i = 0; i < c->view->plane.triangle_count; i++)
            put_times(t, c, s, i);
    }
}

/* "CPU below 70 [61,80] triangles, H200 above"; along sizes the figures are sides of squares: "91²". */
static void add_crossing(struct strbuf *sb, const struct contest *c, const struct crossing *crossing,
                         bool sizes)
{
    bool second = crossing->below == RATIO_SECOND;
    const char *square = sizes ? "²" : "";

    strbuf_addf(sb, "%s below %.0f%s", second ? c->second : c->first, crossing->at, square);
    if (!isnan(crossing->ci95[0]))
        strbuf_addf(sb, " [%.0f,%.0f]", crossing->ci95[0], crossing->ci95[1]);
    strbuf_addf(sb, "%s, %s above", sizes ? "" : " triangles", second ? c->first : c->second);
}

/* What happens along the rows, or down the columns; `any` tells whether something does. */
static bool put_crossings(struct table *t, const struct contest *c, bool sizes, struct err *err)
{
    const struct plane *p = &c->view->plane;
    size_t lines = sizes ? p->triangle_count : p->size_count;
    struct strbuf sb = STRBUF_INIT;
    bool ok = true;

    for (size_t i = 0; ok && i < lines; i++) {
        struct view_crossing found;
        ok = view_crossing(c->view, sizes, i, true, &found, err);
        const struct crossing crossing = found.crossing;
        view_crossing_fini(&found);
        if (!ok || !crossing.changes)
            continue;
        char name[NUMBER_MAX];
        if (sizes)
            units_items(name, p->triangles[i].triangles, "triangle");
        else
            number_size(name, p->sizes[i].width, p->sizes[i].height);
        strbuf_addf(&sb, "%s%s: ", sb.len ? "    " : "", name);
        if (crossing.changes == 1)
            add_crossing(&sb, c, &crossing, sizes);
        else
            strbuf_addf(&sb, "crosses more than once along %s", sizes ? "size" : "triangles");
    }
    if (sb.len)
        table_foot(t, "%s", strbuf_str(&sb));
    t->failed |= sb.failed;
    strbuf_fini(&sb);
    return ok;
}

static bool put_summary(struct table *t, const struct contest *c, struct err *err)
{
    size_t seen[RATIO_TIE + 1] = {0}, guesses = 0;

    for (size_t i = 0; i < c->view->plane.size_count * c->view->plane.triangle_count; i++) {
        seen[c->ratios[i].verdict]++;
        guesses += c->ratios[i].valid && !c->ratios[i].has_ci;
    }
    size_t first = seen[RATIO_FIRST], second = seen[RATIO_SECOND], tie = seen[RATIO_TIE];
    bool ok = true;
    if (first + second + tie == 0)
        table_foot(t, "nothing to compare");
    else if (first + second == 0)
        table_foot(t, "a tie everywhere measured");
    else if (first == 0 || second == 0)
        table_foot(t, "%s wins%s everywhere measured", second ? c->second : c->first, tie ? " or ties" : "");
    else
        ok = put_crossings(t, c, false, err) && put_crossings(t, c, true, err);
    if (guesses)
        table_foot(t, FOOT_GUESS);
    return ok;
}

static bool put_reasons(struct table *t, const struct contest *c, struct err *err)
{
    size_t count = 0;
    const struct cell **cells = mem_calloc(2 * c->view->plane.size_count * c->view->plane.triangle_count,
                                           sizeof(*cells), "a table's cells", err);

    if (!cells)
        return false;
    for (size_t s = 0; s < c->view->plane.size_count; s++)
        for (size_t i = 0; i < c->view->plane.triangle_count; i++) {
            cells[count++] = view_partner(c->view, s, i);
            cells[count++] = view_cell(c->view, s, i, NULL);
        }
    foot_reasons(t, c->view->results, cells, count);
    free(cells);
    return true;
}

static bool fill(const struct view *v, struct table *t, struct err *err)
{
    struct contest c;
    bool ok = contest_init(&c, v, err);

    if (ok) {
        put_heading(t, &c);
        put_columns(t, &c);
        put_rows(t, &c);
        ok = put_summary(t, &c, err) && put_reasons(t, &c, err);
    }
    free(c.ratios);
    return ok;
}

bool crossover_make(const struct results *results, struct table **tables, size_t *count, struct err *err)
{
    const unsigned modes = 1u << MODE_GRADIENT;
    const key_set plane = keys_named("size triangles");
    const struct cell *reference = select_reference(results, modes), **others;
    size_t other_count;

    if (!select_lines(results, modes, plane, reference, &others, &other_count, err))
        return false;
    free(others);
    /* One device alone: its times, at least. */
    if (reference && other_count == 0)
        return speedup_make(results, tables, count, err);
    return view_tables("crossover", results, modes, VIEW_OTHERS, plane, fill, tables, count, err);
}
