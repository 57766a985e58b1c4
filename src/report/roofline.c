/* What was reached beside what the device can do at most. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "bench/ceilings.h"
#include "report/kinds.h"
#include "report/roofline.h"
#include "report/view.h"

#define MODES (1u << MODE_FORWARD | 1u << MODE_GRADIENT)

/* Floating-point operations a covered pair, counted in the source: a fused multiply-add is two; a minimum,
 * root, reciprocal or exponential one; comparisons and selections none. Geometry of which nothing is kept for
 * the way back, kernels/team_*.h: 3 edges of 11, 2 for the nearest, 3 to the exponential, twice; forward 3 to the
 * weight and 9 for the channels, backward 57. Tiles that are walked by one edge take less: 54 both ways, or 79 where
 * pixels lie beyond its ends. src/cpu/tile_*.inc, and kernels/cpu_*.h alike: 3 edges of 11, 14 to the weight, 9; 3 more
 * for the tape, 37 backward. What else a strategy does again is no work that counts. */
static unsigned flop_a_pair(const struct results *results, const struct cell *cell)
{
    const struct device_info *device = results_device(results, cell->device);
    const bool gradient = cell->spec.mode == MODE_GRADIENT;

    if (cell->kind == BACKEND_OPENMP || (device && device->kind == DEVICE_CPU))
        return gradient ? 96 : 56;
    return gradient ? 145 : 50;
}

static double flop_of(const struct results *results, const struct cell *cell)
{
    return (double)cell->pairs * flop_a_pair(results, cell);
}

/* What cannot but cross memory once: the call's arrays, and a tape there and back. */
static double bytes_of(const struct cell *cell)
{
    const struct render_spec *s = &cell->spec;
    const bool gradient = s->mode == MODE_GRADIENT;
    const double params = (double)s->triangles * SCENE_STRIDE * sizeof(float);
    const double image = (double)s->width * s->height * 3 * sizeof(float);
    double scene = params + 3 * sizeof(float);

    if (gradient)
        scene += image + params + (s->upstream ? 0 : sizeof(double));
    if (!gradient || s->keep_images)
        scene += image;
    return scene * s->batch + (cell->tape_bytes ? 2 * (double)cell->tape_touched_bytes : 0);
}

/* Nanoseconds; NAN: not known. */
static double time_of(const struct cell *cell)
{
    const uint64_t ns = cell->has_device_time && cell->device_ns ? cell->device_ns : cell->median_ns;
    return cell->status == CELL_OK && ns ? (double)ns : NAN;
}

struct roofline_work roofline_work_of(const struct results *results, const struct cell *cell)
{
    return (struct roofline_work){flop_of(results, cell), bytes_of(cell), time_of(cell)};
}

/* The longest of several times, and what takes it. */
struct bound {
    double ns; /* 0: no ceiling is known */
    const char *by;
};

static void longer(struct bound *b, double ns, const char *by)
{
    if (isfinite(ns) && ns > b->ns)
        *b = (struct bound){ns, by};
}

static double ns_at(double amount, double rate)
{
    return rate > 0 ? amount * 1e9 / rate : NAN;
}

static struct bound kernel_bound(const struct results *results, const struct cell *cell,
                                 const struct render_ceilings *top)
{
    struct bound b = {0, "-"};

    longer(&b, ns_at(flop_of(results, cell), top->flop), "FLOP");
    longer(&b, ns_at((double)cell->pairs, top->exp), "exp"); /* one a pair, at least */
    longer(&b, ns_at(bytes_of(cell), top->copy_bytes), "bytes");
    if (cell->kind == BACKEND_OPENMP)
        longer(&b, top->launch_ns, "launch"); /* device times begin behind it */
    return b;
}

/* Up and down at the rate of the memory that the call's arrays are in. */
static double up_ns(const struct cell *cell, const struct render_ceilings *top)
{
    const bool pageable = cell->spec.call == CALL_PAGEABLE;
    return ns_at((double)cell->counts.bytes_up, pageable ? top->up_pageable_bytes : top->up_pinned_bytes);
}

static double down_ns(const struct cell *cell, const struct render_ceilings *top)
{
    const bool pageable = cell->spec.call == CALL_PAGEABLE;
    return ns_at((double)cell->counts.bytes_down,
                 pageable ? top->down_pageable_bytes : top->down_pinned_bytes);
}

/* ---- fields ---- */

static void put_figure(struct table *t, double value)
{
    char text[NUMBER_MAX];

    number_sig2(text, value);
    table_put(t, isfinite(value) ? MARK_NONE : MARK_DIM, isfinite(value) ? value : NAN, "%s", text);
}

static void put_ns(struct table *t, double ns, struct time_unit unit)
{
    char text[UNITS_MAX] = "-";
    const bool known = ns > 0;

    if (known)
        units_sig3(text, ns / unit.ns);
    table_put(t, known ? MARK_NONE : MARK_DIM, known ? ns : NAN, "%s", text);
}

static void put_percent(struct table *t, double part, double whole)
{
    put_figure(t, part > 0 && whole > 0 ? 100 * part / whole : NAN);
}

static void put_bound(struct table *t, struct bound bound, double ns, struct time_unit unit)
{
    put_ns(t, bound.ns, unit);
    table_put(t, bound.ns > 0 ? MARK_NONE : MARK_DIM, NAN, "%s", bound.by);
    put_percent(t, bound.ns, ns);
}

/* ---- the tables ---- */

static const struct device_info *device_of(const struct view *v)
{
    return &v->results->devices[v->line->device];
}

static bool ceilings_of(const struct results *results, const struct device_info *device,
                        struct render_ceilings *out, const char **trouble)
{
    return ceilings_find(json_get(results->head, "environment"), device, out, trouble);
}

/* Fills one row, behind the place; the unit suits the line's times. */
typedef void put_row(struct table *t, const struct results *results, const struct cell *cell,
                     const struct render_ceilings *top, struct time_unit unit);

static struct time_unit unit_of(const struct view *v, double (*time)(const struct cell *))
{
    double first = NAN;

    for (size_t s = 0; s < v->plane.size_count; s++)
        for (size_t i = 0; i < v->plane.triangle_count; i++) {
            const struct cell *cell = view_cell(v, s, i, NULL);
            if (cell && isnan(first))
                first = time(cell);
        }
    return number_unit(isnan(first) ? 0 : first);
}

static bool fill_rows(const struct view *v, struct table *t, struct time_unit unit, put_row *put,
                      struct err *err)
{
    const struct plane *p = &v->plane;
    const struct cell **all =
        mem_calloc(p->size_count * p->triangle_count, sizeof(*all), "a table's cells", err);
    struct render_ceilings top;
    const char *trouble;
    size_t count = 0;
    bool estimated = false;

    if (!all)
        return false;
    if (!ceilings_of(v->results, device_of(v), &top, &trouble))
        table_foot(t, "no ceilings: they are measured where the config's tables name roofline");
    for (size_t s = 0; s < p->size_count; s++)
        for (size_t i = 0; i < p->triangle_count; i++) {
            const struct cell *cell = view_cell(v, s, i, NULL);
            if (!cell)
                continue;
            all[count++] = cell;
            table_row(t);
            view_put_place(v, t, s, i);
            if (cell->status == CELL_OK)
                put(t, v->results, cell, &top, unit);
            else
                table_put(t, mark_status(cell), NAN, "%s", label_status(cell));
            estimated |= cell->status == CELL_OK && cell->pairs_estimated;
        }
    if (estimated)
        table_foot(t, "pairs are estimated, from those of the part that was checked");
    foot_reasons(t, v->results, all, count);
    free(all);
    return true;
}

static void put_work(struct table *t, const struct results *results, const struct cell *cell,
                     const struct render_ceilings *top, struct time_unit unit)
{
    const double ns = time_of(cell), flop = flop_of(results, cell), bytes = bytes_of(cell);

    put_ns(t, ns, unit);
    put_figure(t, cell->pairs ? (double)cell->pairs / ns : NAN);
    put_figure(t, cell->pairs ? flop / ns : NAN);
    put_percent(t, ns_at(flop, top->flop), ns);
    put_figure(t, bytes / ns);
    put_percent(t, ns_at(bytes, top->copy_bytes), ns);
    put_bound(t, kernel_bound(results, cell, top), ns, unit);
}

static bool fill_work(const struct view *v, struct table *t, struct err *err)
{
    const struct time_unit unit = unit_of(v, time_of);
    const bool device = v->line->has_device_time;
    char point[LABEL_MAX];

    label_point(point, v->results, &v->line->spec, v->free);
    table_title(t, "Reached, beside the ceilings    %s", point);
    view_note(v, t, false);
    table_note(t, "time: measured, of the %s    pairs: covered ones, counted by the reference",
               device ? "kernels, by the device's events" : "whole call");
    table_note(t, "FLOP: derived, %u a pair, counted in the source%s", flop_a_pair(v->results, v->line),
               device_of(v)->kind == DEVICE_CPU ? ""
               : v->line->spec.mode == MODE_GRADIENT
                   ? ", where all three edges are worked out; from 54 on where one is known to be the nearest"
                   : "");
    table_note(t, "bytes: derived, the call's arrays%s, each once, as from memory",
               v->line->tape_bytes ? " and its tape" : "");
    table_note(t,
               "bound: the longest of FLOP, exponentials (1 a pair)%s and bytes at their ceilings    %%: of "
               "the ceiling; of the bound",
               v->line->kind == BACKEND_OPENMP ? ", a launch" : "");
    view_columns(t);
    table_column(t, ALIGN_RIGHT, 950, "time\n%s", unit.name);
    table_column(t, ALIGN_RIGHT, 900, "Gpairs\n/s");
    table_column(t, ALIGN_RIGHT, 850, "GFLOP\n/s");
    table_column(t, ALIGN_RIGHT, 840, "\n%%");
    table_column(t, ALIGN_RIGHT, 700, "GB\n/s");
    table_column(t, ALIGN_RIGHT, 690, "\n%%");
    table_column(t, ALIGN_RIGHT, 920, "bound\n%s", unit.name);
    table_column(t, ALIGN_LEFT, 910, "\nby");
    table_column(t, ALIGN_RIGHT, 940, "\n%%");
    return fill_rows(v, t, unit, put_work, err);
}

static double call_ns(const struct cell *cell)
{
    return cell->status == CELL_OK && cell->median_ns ? (double)cell->median_ns : NAN;
}

static void put_call(struct table *t, const struct results *results, const struct cell *cell,
                     const struct render_ceilings *top, struct time_unit unit)
{
    struct bound kernels = kernel_bound(results, cell, top), bound = kernels;

    longer(&bound, top->launch_ns, "launch");
    longer(&bound, up_ns(cell, top), "up");
    longer(&bound, down_ns(cell, top), "down");
    put_ns(t, call_ns(cell), unit);
    put_ns(t, kernels.ns, unit);
    put_ns(t, top->launch_ns, unit);
    put_bytes(t, cell->counts.bytes_up);
    put_ns(t, up_ns(cell, top), unit);
    put_bytes(t, cell->counts.bytes_down);
    put_ns(t, down_ns(cell, top), unit);
    put_bound(t, bound, call_ns(cell), unit);
}

static bool fill_calls(const struct view *v, struct table *t, struct err *err)
{
    const struct time_unit unit = unit_of(v, call_ns);
    char point[LABEL_MAX];

    label_point(point, v->results, &v->line->spec, v->free);
    table_title(t, "Calls, beside the ceilings    %s", point);
    view_note(v, t, false);
    table_note(
        t, "call: measured, host to host    up, down: bytes counted, and what they take at the ceiling of a "
           "large copy (derived)    kernels: their bound");
    table_note(t, "bound: the longest of them, as if all else went on beside it");
    view_columns(t);
    table_column(t, ALIGN_RIGHT, 950, "call\n%s", unit.name);
    table_column(t, ALIGN_RIGHT, 800, "kernels\n%s", unit.name);
    table_column(t, ALIGN_RIGHT, 790, "launch\n%s", unit.name);
    table_column(t, ALIGN_RIGHT, 600, "up");
    table_column(t, ALIGN_RIGHT, 780, "\n%s", unit.name);
    table_column(t, ALIGN_RIGHT, 590, "down");
    table_column(t, ALIGN_RIGHT, 770, "\n%s", unit.name);
    table_column(t, ALIGN_RIGHT, 920, "bound\n%s", unit.name);
    table_column(t, ALIGN_LEFT, 910, "\nby");
    table_column(t, ALIGN_RIGHT, 940, "\n%%");
    return fill_rows(v, t, unit, put_call, err);
}

/* ---- the ceilings themselves ---- */

/* "63.5 TFLOP/s", "12.5 us"; "-" where it is not known. */
static void put_ceiling(struct table *t, double value, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    char text[UNITS_MAX];
    size_t p = 0;

    if (!(value > 0)) {
        table_put(t, MARK_DIM, NAN, "-");
        return;
    }
    if (!unit) {
        units_time(text, (uint64_t)value);
        table_put(t, MARK_NONE, value, "%s", text);
        return;
    }
    double shown = value;
    for (; shown >= 1000 && p + 1 < sizeof(prefixes) / sizeof(prefixes[0]); p++)
        shown /= 1000;
    units_sig3(text, shown);
    table_put(t, MARK_NONE, value, "%s %s%s", text, prefixes[p], unit);
}

static const struct {
    const char *name, *unit; /* NULL: a time */
    size_t offset;
} ceilings[] = {
    {"multiply-add, float32", "FLOP/s", offsetof(struct render_ceilings, flop)},
    {"exponential", "/s", offsetof(struct render_ceilings, exp)},
    {"copy in its memory", "B/s", offsetof(struct render_ceilings, copy_bytes)},
    {"launch and wait", NULL, offsetof(struct render_ceilings, launch_ns)},
    {"up, pinned", "B/s", offsetof(struct render_ceilings, up_pinned_bytes)},
    {"up, pageable", "B/s", offsetof(struct render_ceilings, up_pageable_bytes)},
    {"down, pinned", "B/s", offsetof(struct render_ceilings, down_pinned_bytes)},
    {"down, pageable", "B/s", offsetof(struct render_ceilings, down_pageable_bytes)},
};

static bool make_ceilings(const struct results *results, struct table **tables, size_t *count,
                          struct err *err)
{
    struct table *t = tables_append(tables, count, "roofline", err);
    char name[LABEL_MAX];
    const char *trouble;

    if (!t)
        return false;
    table_title(t, "Ceilings, as small loops measured them before the first point");
    table_note(
        t, "the best of several; a multiply-add counts as two; exponentials as the renderer computes them; a "
           "copy reads and writes");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "%s", "");
    for (size_t d = 0; d < results->device_count; d++) {
        const struct device_info *info = &results->devices[d];
        struct render_ceilings top;
        label_device(name, results, d);
        if (!ceilings_of(results, info, &top, &trouble))
            table_foot(t, "%s: not measured", name);
        else if (trouble)
            table_foot(t, "%s: %s", name, trouble);
        else if (info->backend == BACKEND_OPENCL && info->host_unified)
            table_foot(t, "%s: works in the host's memory, nothing goes up or down", name);
        else if (info->backend == BACKEND_OPENMP)
            table_foot(t, "%s: %u threads, %s", name, (unsigned)info->threads, info->path);
        table_column(t, ALIGN_RIGHT, 500, "%s", name);
    }
    for (size_t i = 0; i < sizeof(ceilings) / sizeof(ceilings[0]); i++) {
        table_row(t);
        table_put(t, MARK_NONE, NAN, "%s", ceilings[i].name);
        for (size_t d = 0; d < results->device_count; d++) {
            struct render_ceilings top;
            ceilings_of(results, &results->devices[d], &top, &trouble);
            put_ceiling(t, *(const double *)(const void *)((const char *)&top + ceilings[i].offset),
                        ceilings[i].unit);
        }
    }
    return table_ok(t, err);
}

static bool make_nothing(struct table **tables, size_t *count, struct err *err)
{
    struct table *t = tables_append(tables, count, "roofline", err);

    if (t)
        table_title(t, "roofline: nothing to show: no ceilings, as the config's tables lack roofline");
    return t && table_ok(t, err);
}

bool roofline_make(const struct results *results, struct table **tables, size_t *count, struct err *err)
{
    const key_set free_keys = keys_named("size triangles");
    bool opencl = false, known = false;

    for (size_t i = 0; i < results->device_count; i++) {
        struct render_ceilings top;
        const char *trouble;
        known |= ceilings_of(results, &results->devices[i], &top, &trouble);
    }
    if (!known)
        return make_nothing(tables, count, err);
    for (size_t i = 0; i < results->cell_count; i++)
        opencl |= results->cells[i].kind == BACKEND_OPENCL;
    return make_ceilings(results, tables, count, err) &&
           view_tables("roofline", results, MODES, VIEW_ALL, free_keys, fill_work, tables, count, err) &&
           (!opencl ||
            view_tables("roofline", results, MODES, VIEW_OPENCL, free_keys, fill_calls, tables, count, err));
}
