/* Any grid, a row a cell: both times, their ratio, and how well the result agreed. `forward` is the same for
 * forward cells alone: there the worst error is the image's, the only one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/kinds.h"
#include "report/put.h"
#include "report/view.h"

struct listing {
    const struct results *results;
    const struct cell *reference;
    const struct cell **rows;     /* owned; the cells that have a row each */
    const struct cell **partners; /* owned; the reference's at the same points */
    struct ratio *ratios;         /* owned; none is valid where `alone` */
    size_t row_count;
    key_set columns;                               /* keys that have one each */
    bool several_backends, several_devices, alone; /* alone: there is nothing but the reference */
    struct time_unit unit;
};

/* The cells of the reference, or all others. */
static void add_rows(struct listing *l, unsigned modes, bool of_reference)
{
    for (size_t i = 0; i < l->results->cell_count; i++) {
        const struct cell *cell = &l->results->cells[i];
        if ((modes >> cell->spec.mode & 1) &&
            cells_alike(cell, l->reference, keys_of_reference()) == of_reference)
            l->rows[l->row_count++] = cell;
    }
}

/* Of the keys that vary over the rows: those of the point, and options in which the rows of some line differ.
 * What a backend has throughout stands beside its name, above the table, and takes no figure's place. */
static key_set choose_columns(const struct listing *l)
{
    /* Names of lines say nothing of the call. */
    key_set columns = keys_varying(l->rows, l->row_count) & (keys_of_point() | keys_named("call"));

    for (size_t i = 0; i < l->row_count; i++)
        for (size_t j = 0; j < i; j++)
            if (cells_alike(l->rows[i], l->rows[j], ~(key_set)0)) {
                const struct cell *pair[] = {l->rows[i], l->rows[j]};
                columns |= keys_varying(pair, 2);
                break;
            }
    return columns;
}

static bool listing_init(struct listing *l, const struct results *results, unsigned modes, struct err *err)
{
    *l = (struct listing){.results = results, .reference = select_reference(results, modes)};
    l->rows = mem_calloc(results->cell_count, sizeof(*l->rows), "a table's rows", err);
    l->partners = mem_calloc(results->cell_count, sizeof(*l->partners), "a table's rows", err);
    l->ratios = mem_calloc(results->cell_count, sizeof(*l->ratios), "a table's rows", err);
    if (!l->rows || !l->partners || !l->ratios)
        return false;
    add_rows(l, modes, false);
    l->alone = !l->row_count;
    if (l->alone)
        add_rows(l, modes, true);
    for (size_t i = 0; i < l->row_count; i++) {
        l->partners[i] = select_partner(results, l->reference, &l->rows[i]->spec);
        if (!l->alone && !ratio_of(l->partners[i], l->rows[i], &l->ratios[i], err))
            return false;
        l->several_backends |= strcmp(l->rows[i]->backend, l->rows[0]->backend) != 0;
        l->several_devices |= l->rows[i]->device != l->rows[0]->device;
    }
    l->columns = choose_columns(l);
    l->unit = unit_of_cells(l->rows, l->row_count);
    return true;
}

static void listing_fini(struct listing *l)
{
    free(l->rows);
    free(l->partners);
    free(l->ratios);
}

/* What the reference's side is called in headings. */
static const char *reference_name(const struct listing *l)
{
    return l->reference->kind == BACKEND_OPENMP ? "CPU" : l->reference->backend;
}

static void put_heading(struct table *t, const struct listing *l)
{
    char text[LABEL_MAX];

    label_point(text, l->results, &l->rows[0]->spec, l->columns);
    if (l->alone)
        table_title(t, "Times of %s alone: nothing else was measured to compare it with    %s",
                    reference_name(l), text);
    else if (l->reference->kind == BACKEND_OPENMP)
        table_title(t, "CPU time / device time (above 1: device faster)    %s", text);
    else
        table_title(t, "%s time / time of the row (above 1: the row is faster)    %s", reference_name(l),
                    text);
    /* No column has the reference's own options. */
    label_line(text, l->results, l->reference, l->alone ? l->columns : keys_of_point());
    table_note(t, "%s: %s", reference_name(l), text);
    for (size_t i = 0; !l->alone && i < l->row_count; i++) {
        bool known = false;
        for (size_t j = 0; j < i && !known; j++)
            known = cells_alike(l->rows[i], l->rows[j], ~(key_set)0);
        if (known)
            continue;
        label_line(text, l->results, l->rows[i], l->columns);
        table_note(t, "%s: %s", l->rows[i]->backend, text);
    }
}

static void put_columns(struct table *t, const struct listing *l)
{
    char name[LABEL_MAX] = "device";

    if (l->several_backends)
        table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "backend");
    if (l->several_devices)
        table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "on");
    key_columns(t, l->columns);
    table_column(t, ALIGN_RIGHT, 800, "%s %s", reference_name(l), l->unit.name);
    if (!l->alone) {
        if (!l->several_devices)
            label_device(name, l->results, l->rows[0]->device);
        table_column(t, ALIGN_RIGHT, KEEP_ALWAYS - 1, "%s %s", name, l->unit.name);
        table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "speedup");
        table_column(t, ALIGN_RIGHT, 500, "dev");
    }
    table_column(t, ALIGN_LEFT, 600, "worst error");
}

static void put_names(struct table *t, const struct listing *l, const struct cell *cell)
{
    char text[LABEL_MAX];

    if (l->several_backends)
        table_put(t, MARK_NONE, NAN, "%s", cell->backend);
    if (l->several_devices) {
        label_device(text, l->results, cell->device);
        table_put(t, MARK_NONE, NAN, "%s", text);
    }
    put_keys(t, l->columns, cell);
}

static void put_row(struct table *t, const struct listing *l, size_t i)
{
    char first[LABEL_MAX], second[LABEL_MAX];

    table_row(t);
    put_names(t, l, l->rows[i]);
    put_time(t, l->partners[i], l->unit);
    if (!l->alone) {
        put_time(t, l->rows[i], l->unit);
        label_sides(first, second, l->results, l->reference, l->rows[i]);
        put_ratio(t, &l->ratios[i], first, second);
        put_factor(t, MARK_NONE, l->ratios[i].device);
    }
    put_worst_error(t, l->rows[i]);
}

static bool fill(struct table *t, const struct listing *l, struct err *err)
{
    bool guesses = false;

    put_heading(t, l);
    put_columns(t, l);
    for (size_t i = 0; i < l->row_count; i++) {
        put_row(t, l, i);
        guesses |= l->ratios[i].valid && !l->ratios[i].has_ci;
    }
    if (!l->alone)
        table_foot(t, "dev: the same ratio for the device's own time, by its events");
    if (guesses)
        table_foot(t, FOOT_GUESS);
    foot_reasons(t, l->results, l->rows, l->row_count);
    if (!l->alone)
        foot_reasons(t, l->results, l->partners, l->row_count);
    return table_ok(t, err);
}

static bool make(const char *name, unsigned modes, const struct results *results, struct table **tables,
                 size_t *count, struct err *err)
{
    struct listing l;
    struct table *t = tables_append(tables, count, name, err);

    if (!t)
        return false;
    if (!select_reference(results, modes)) {
        view_nothing(t, results, modes);
        return table_ok(t, err);
    }
    bool ok = listing_init(&l, results, modes, err) && fill(t, &l, err);
    listing_fini(&l);
    return ok;
}

bool speedup_make(const struct results *results, struct table **tables, size_t *count, struct err *err)
{
    return make("speedup", 1u << MODE_FORWARD | 1u << MODE_GRADIENT, results, tables, count, err);
}

bool forward_make(const struct results *results, struct table **tables, size_t *count, struct err *err)
{
    return make("forward", 1u << MODE_FORWARD, results, tables, count, err);
}
