#include "report/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const struct cell *view_cell(const struct view *v, size_t size, size_t triangles,
                             const struct render_spec *at)
{
    struct render_spec place = plane_at(&v->plane, v->line, size, triangles);
    struct render_spec spec = at ? *at : v->line->spec;

    spec.width = place.width;
    spec.height = place.height;
    spec.triangles = place.triangles;
    return select_cell(v->results, v->line, v->free, &spec);
}

const struct cell *view_partner(const struct view *v, size_t size, size_t triangles)
{
    struct render_spec at = plane_at(&v->plane, v->line, size, triangles);
    return select_partner(v->results, v->reference, &at);
}

void view_note(const struct view *v, struct table *t, bool reference)
{
    char first[LABEL_MAX], second[LABEL_MAX], call[SPEC_TEXT_MAX] = "",
                                              names[2][LABEL_MAX] = {"CPU", "device"};
    const struct spec_key *key = spec_find("call");

    label_line(first, v->results, v->reference, v->free);
    label_line(second, v->results, v->line, v->free);
    if (reference && v->reference->kind != BACKEND_OPENMP)
        label_sides(names[0], names[1], v->results, v->reference, v->line);
    if (spec_matters(&v->line->spec, key, v->line->kind))
        spec_text(&v->line->spec, key, call);
    const char *joint = *call ? ", " : "";
    if (reference)
        table_note(t, "%s: %s    %s: %s    call: %s%s1 in flight", names[0], first, names[1], second, call,
                   joint);
    else
        table_note(t, "%s: %s    call: %s%s1 in flight", names[v->line->kind != BACKEND_OPENMP], second, call,
                   joint);
}

void view_heading(const struct view *v, char out[LABEL_MAX])
{
    const struct spec_key *key = spec_find("call");
    char call[SPEC_TEXT_MAX];

    label_line(out, v->results, v->line, v->free);
    if (!spec_matters(&v->line->spec, key, v->line->kind))
        return;
    spec_text(&v->line->spec, key, call);
    size_t len = strlen(out);
    snprintf(out + len, LABEL_MAX - len, ", call: %s", call);
}

bool view_has_cpu(const struct view *v)
{
    return v->reference->kind == BACKEND_OPENMP;
}

void view_columns(struct table *t)
{
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "size");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "triangles");
}

void view_put_place(const struct view *v, struct table *t, size_t size, size_t triangles)
{
    struct render_spec at = plane_at(&v->plane, v->line, size, triangles);
    char text[NUMBER_MAX];

    number_size(text, at.width, at.height);
    table_put(t, MARK_NONE, NAN, "%s", text);
    table_put(t, MARK_NONE, at.triangles, "%u", (unsigned)at.triangles);
}

struct render_spec view_along(const struct view *v, const struct plane *along, bool over_sizes, size_t index,
                              size_t point)
{
    const struct render_spec *size = over_sizes ? &along->sizes[point] : &v->plane.sizes[index];
    struct render_spec at = v->line->spec;

    at.width = size->width;
    at.height = size->height;
    at.triangles = over_sizes ? v->plane.triangles[index].triangles : along->triangles[point].triangles;
    return at;
}

/* Along the one place that the other axis keeps. */
bool view_crossing(const struct view *v, bool over_sizes, size_t index, bool refined,
                   struct view_crossing *out, struct err *err)
{
    struct plane all;

    *out = (struct view_crossing){0};
    if (!plane_init(&all, v->results, v->line, v->free, refined, err))
        return false;
    const size_t count = over_sizes ? all.size_count : all.triangle_count;
    struct ratio *ratios = mem_calloc(count + 1, sizeof(*ratios), "a crossing", err);
    out->x = mem_calloc(count + 1, sizeof(*out->x), "a crossing", err);
    bool ok = ratios && out->x;
    for (size_t i = 0; ok && i < count; i++) {
        const struct render_spec at = view_along(v, &all, over_sizes, index, i);
        out->x[i] = over_sizes ? sqrt((double)at.width * at.height) : fmax(at.triangles, 0.5);
        ok = ratio_of(select_partner(v->results, v->reference, &at),
                      select_cell(v->results, v->line, v->free, &at), &ratios[i], err);
    }
    if (ok)
        crossing_find(out->x, ratios, 1, count, &out->crossing);
    free(ratios);
    plane_fini(&all);
    return ok;
}

void view_crossing_fini(struct view_crossing *crossing)
{
    free(crossing->x);
}

static bool visit(struct view *v, view_visit *call, void *context, struct err *err)
{
    if (!plane_init(&v->plane, v->results, v->line, v->free, false, err))
        return false;
    v->unit = unit_of_line(v->results, v->line, v->free);
    bool ok = call(context, v, err);
    plane_fini(&v->plane);
    return ok;
}

bool view_each(const struct results *results, unsigned modes, enum view_lines lines, key_set free_keys,
               view_visit *call, void *context, struct err *err)
{
    const struct cell **found;
    size_t line_count;
    struct view v = {.results = results, .reference = select_reference(results, modes), .free = free_keys};
    bool cpu_last = lines == VIEW_ALL && v.reference && view_has_cpu(&v);

    if (!select_lines(results, modes, free_keys, lines == VIEW_OTHERS || cpu_last ? v.reference : NULL,
                      &found, &line_count, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < line_count + cpu_last; i++) {
        v.line = i < line_count ? found[i] : v.reference;
        if (lines != VIEW_OPENCL || v.line->kind == BACKEND_OPENCL)
            ok = visit(&v, call, context, err);
    }
    free(found);
    return ok;
}

struct maker {
    const char *name;
    view_fill *fill;
    struct table **tables;
    size_t *count;
};

static bool make_one(void *context, const struct view *v, struct err *err)
{
    const struct maker *m = context;
    struct table *t = tables_append(m->tables, m->count, m->name, err);

    return t && m->fill(v, t, err) && table_ok(t, err);
}

void view_nothing(struct table *t, const struct results *results, unsigned modes)
{
    if (results->cell_count && !select_reference(results, modes))
        table_title(t, "%s: nothing to show: all cells of this run are %s ones", t->name,
                    modes == 1u << MODE_GRADIENT ? "forward" : "gradient");
    else
        table_title(t, "%s: nothing to compare: this run has no cells for it", t->name);
}

bool view_tables(const char *name, const struct results *results, unsigned modes, enum view_lines lines,
                 key_set free_keys, view_fill *fill, struct table **tables, size_t *count, struct err *err)
{
    size_t before = *count;
    struct maker maker = {name, fill, tables, count};

    if (!view_each(results, modes, lines, free_keys, make_one, &maker, err))
        return false;
    if (*count > before)
        return true;
    struct table *t = tables_append(tables, count, name, err);
    if (t)
        view_nothing(t, results, modes);
    return t && table_ok(t, err);
}
