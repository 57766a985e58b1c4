/* The crossover table: size by triangles, who wins and by how much, and where it crosses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "report/crossing.h"
#include "report/drift.h"
#include "report/kinds.h"
#include "report/view.h"
#include "report/warnings.h"

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
    if (v->line->kind == BACKEND_OPENCL)
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

/* An axis that tables do not have: each of its values has a table of its own. */
struct other_axis {
    const char *key;
    double (*value)(const struct render_spec *spec);
    void (*copy)(struct render_spec *to, const struct render_spec *from);
};

static double batch_of(const struct render_spec *spec)
{
    return fmax(spec->batch, 0.5);
}

static void copy_batch(struct render_spec *to, const struct render_spec *from)
{
    to->batch = from->batch;
}

static double sigma_of(const struct render_spec *spec)
{
    return (double)spec->sigma;
}

static void copy_sigma(struct render_spec *to, const struct render_spec *from)
{
    to->sigma = from->sigma;
}

static const struct other_axis other_axes[] = {{"batch", batch_of, copy_batch},
                                               {"sigma", sigma_of, copy_sigma}};

/* The line's values on the axis, ascending, one of each; those of the specs are meant. free() the array. */
static bool values_on(const struct view *v, const struct other_axis *axis, struct render_spec **out,
                      size_t *count, struct err *err)
{
    const key_set free_keys = v->free | keys_named(axis->key);
    struct render_spec *specs =
        mem_calloc(v->results->cell_count + 1, sizeof(*specs), "the values of an axis", err);

    *out = specs;
    *count = 0;
    for (size_t i = 0; specs && i < v->results->cell_count; i++) {
        const struct cell *cell = &v->results->cells[i];
        size_t at = 0;
        if (!cells_alike(cell, v->line, free_keys))
            continue;
        while (at < *count && axis->value(&specs[at]) < axis->value(&cell->spec))
            at++;
        if (at < *count && !(axis->value(&specs[at]) > axis->value(&cell->spec)))
            continue;
        memmove(&specs[at + 1], &specs[at], (*count - at) * sizeof(*specs));
        specs[at] = cell->spec;
        ++*count;
    }
    return specs != NULL;
}

/* At one place of the plane. */
static bool cross_along(const struct view *v, const struct other_axis *axis, const struct render_spec *place,
                        const struct render_spec *values, size_t count, struct crossing *out, struct err *err)
{
    double *x = mem_calloc(count, sizeof(*x), "a crossing", err);
    struct ratio *ratios = mem_calloc(count, sizeof(*ratios), "a crossing", err);
    bool ok = x && ratios;

    for (size_t i = 0; ok && i < count; i++) {
        struct render_spec at = *place;
        axis->copy(&at, &values[i]);
        x[i] = axis->value(&at);
        ok =
            ratio_of(select_partner(v->results, v->reference, &at),
                     select_cell(v->results, v->line, v->free | keys_named(axis->key), &at), &ratios[i], err);
    }
    if (ok)
        crossing_find(x, ratios, 1, count, out);
    free(x);
    free(ratios);
    return ok;
}

/* Below the table of the least value: "along batch    64² × 32: CPU below 7.1 [6.5,7.8], H200 above". */
static bool put_other_axis(struct table *t, const struct contest *c, const struct other_axis *axis,
                           struct err *err)
{
    const struct view *v = c->view;
    struct render_spec *values;
    struct strbuf sb = STRBUF_INIT;
    size_t count;
    bool ok = values_on(v, axis, &values, &count, err);
    const bool first = ok && count > 1 && !(axis->value(&v->line->spec) > axis->value(&values[0]));

    for (size_t s = 0; first && ok && s < v->plane.size_count; s++)
        for (size_t i = 0; ok && i < v->plane.triangle_count; i++) {
            const struct render_spec place = plane_at(&v->plane, v->line, s, i);
            struct crossing crossing = {0};
            char name[LABEL_MAX];
            ok = cross_along(v, axis, &place, values, count, &crossing, err);
            if (!ok || !crossing.changes)
                continue;
            label_place(name, &place);
            strbuf_addf(&sb, TABLE_PART "%s: ", name);
            if (crossing.changes > 1) {
                strbuf_add(&sb, "crosses more than once");
                continue;
            }
            const bool second = crossing.below == RATIO_SECOND;
            strbuf_addf(&sb, "%s below %.3g", second ? c->second : c->first, crossing.at);
            if (!isnan(crossing.ci95[0]))
                strbuf_addf(&sb, " [%.3g,%.3g]", crossing.ci95[0], crossing.ci95[1]);
            strbuf_addf(&sb, ", %s above", second ? c->first : c->second);
        }
    if (sb.len)
        table_foot(t, "along %s%s", axis->key, strbuf_str(&sb));
    t->failed |= sb.failed;
    strbuf_fini(&sb);
    free(values);
    return ok;
}

/* Intervals know nothing of a machine that is slower for a while: where it was so by more than somebody wins by. */
static void put_doubt(struct table *t, const struct contest *c)
{
    const double by = warnings_unsteadiness(c->view->results);
    double least = INFINITY;

    for (size_t i = 0; i < c->view->plane.size_count * c->view->plane.triangle_count; i++) {
        const struct ratio *r = &c->ratios[i];
        if (r->valid && r->verdict != RATIO_TIE)
            least = fmin(least, fmax(r->value, 1 / r->value) - 1);
    }
    if (by > DRIFT_TOLERATED && by > least)
        table_foot(t, "the machine varied by %.0f %% while this ran: who wins by less is not certain", by * 100);
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
    for (size_t i = 0; ok && i < sizeof(other_axes) / sizeof(other_axes[0]); i++)
        ok = put_other_axis(t, c, &other_axes[i], err);
    if (guesses)
        table_foot(t, FOOT_GUESS);
    put_doubt(t, c);
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
