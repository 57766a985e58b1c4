/* Scenes from files beside random ones of as many triangles: who wins on each, and what makes them differ. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/kinds.h"
#include "report/view.h"

#define SOURCES 2

/* One of the two at a place of the plane. */
struct side {
    const struct cell *first, *second; /* the reference's cell, and the line's; or NULL */
    struct ratio ratio;
    double pairs; /* covered ones a pixel; NAN: not known */
};

struct pair_of_sides {
    const struct view *v;
    char first[LABEL_MAX], second[LABEL_MAX];
    struct time_unit unit;
    struct side at[SOURCES]; /* by enum scene_source */
};

static bool find_side(const struct view *v, size_t size, size_t triangles, enum scene_source source,
                      struct side *out, struct err *err)
{
    struct render_spec at = plane_at(&v->plane, v->line, size, triangles);

    at.source = source;
    *out = (struct side){.first = select_partner(v->results, v->reference, &at),
                         .second = view_cell(v, size, triangles, &at),
                         .pairs = NAN};
    if (out->second && out->second->pairs > 0)
        out->pairs = (double)out->second->pairs / ((double)at.width * at.height * at.batch);
    return ratio_of(out->first, out->second, &out->ratio, err);
}

static void put_heading(struct table *t, const struct pair_of_sides *p)
{
    char point[LABEL_MAX];

    label_point(point, p->v->results, &p->v->line->spec, p->v->free);
    if (view_has_cpu(p->v))
        table_title(t, "Scenes from files beside random ones    CPU time / device time (above 1: device faster)    %s",
                    point);
    else
        table_title(t, "Scenes from files beside random ones    %s time / %s time (above 1: %s faster)    %s", p->first,
                    p->second, p->second, point);
    view_note(p->v, t, true);
    table_note(t, "pairs: covering triangles a pixel, on average    layers: 99 %% of the pixels have at most so many; "
                  "the most");
}

static void put_columns(struct table *t, const struct pair_of_sides *p)
{
    view_columns(t);
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "source");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "ratio");
    table_column(t, ALIGN_RIGHT, 800, "%s\n%s", p->first, p->unit.name);
    table_column(t, ALIGN_RIGHT, 810, "%s\n%s", p->second, p->unit.name);
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "pairs\na pixel");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "layers\n99 %%");
    table_column(t, ALIGN_RIGHT, 500, "\nmost");
}

static void put_row(struct table *t, const struct pair_of_sides *p, size_t size, size_t triangles,
                    enum scene_source source)
{
    const struct side *side = &p->at[source];
    const struct cell *cell = side->second ? side->second : side->first;

    table_row(t);
    view_put_place(p->v, t, size, triangles);
    table_put(t, MARK_NONE, NAN, "%s", spec_find("source")->values[source]);
    put_ratio(t, &side->ratio, p->first, p->second);
    put_time(t, side->first, p->unit);
    put_time(t, side->second, p->unit);
    put_factor(t, MARK_NONE, side->pairs);
    if (cell && cell->layers_most > 0) {
        table_put(t, MARK_NONE, cell->layers_p99, "%u", (unsigned)cell->layers_p99);
        table_put(t, MARK_NONE, cell->layers_most, "%u", (unsigned)cell->layers_most);
    } else {
        table_put(t, MARK_DIM, NAN, "-");
        table_put(t, MARK_DIM, NAN, "-");
    }
}

/* ---- why they differ ---- */

/* An interval that spans a factor of more than this is of a disturbed run: no reason is drawn from it. */
#define TOO_WIDE 2

static bool is_wide(const struct ratio *r)
{
    return r->ci95[1] > TOO_WIDE * r->ci95[0];
}

/* Whether the two ratios are apart: intervals that do not meet; where there are none, another winner. */
static bool apart(const struct ratio *a, const struct ratio *b)
{
    if (!a->valid || !b->valid)
        return false;
    if (!a->has_ci || !b->has_ci)
        return a->verdict != b->verdict;
    return !is_wide(a) && !is_wide(b) && (a->ci95[0] > b->ci95[1] || b->ci95[0] > a->ci95[1]);
}

/* How uneven the depth is: layers of the deepest hundredth over the mean. */
static double unevenness(const struct side *side)
{
    return side->second->layers_p99 / side->pairs;
}

static double opaque_share(const struct side *side)
{
    return (double)side->second->pairs_opaque / (double)side->second->pairs;
}

/* From what factor on one thing is more than another. */
#define MORE 1.15

/* What makes a pair cost this cell, of one of the sides, more on a file's scene. */
static void add_dearer(struct strbuf *sb, const struct pair_of_sides *p, const struct cell *cell)
{
    const struct side *random = &p->at[SOURCE_RANDOM], *file = &p->at[SOURCE_FILE];
    /* docs/MODEL.md, The residual walk. */
    const bool again = cell->kind == BACKEND_OPENCL && cell->spec.mode == MODE_GRADIENT &&
                       cell->spec.strategy == STRATEGY_FUSED;

    if (again && opaque_share(file) > opaque_share(random) + 0.01)
        strbuf_addf(sb,
                    "%.2g %% of its pairs are opaque (%.2g %% of random ones), and what lies below those is "
                    "composited once more for the gradient of alpha",
                    100 * opaque_share(file), 100 * opaque_share(random));
    else if (unevenness(file) > MORE * unevenness(random))
        strbuf_addf(sb, "its deepest pixels have %.1f times the mean, those of random ones %.1f", unevenness(file),
                    unevenness(random));
    else
        strbuf_add(sb, "neither opaque layers nor depth explain it");
}

/* work, first, second: the file's pairs and times over the random scene's. A time that falls less than the pairs
 * has parts that do not depend on them; one that rises more has dearer pairs. */
static void add_cause(struct strbuf *sb, const struct pair_of_sides *p, double work, double first, double second)
{
    const bool second_more = second > first;
    const double most = fmax(first, second);

    if (most > MORE * fmax(work, 1)) {
        strbuf_addf(sb, "a pair costs %s %.2g times as much: ", second_more ? p->second : p->first, most / work);
        add_dearer(sb, p, second_more ? p->at[SOURCE_FILE].second : p->at[SOURCE_FILE].first);
    } else {
        const bool second_lags = fabs(log(second)) < fabs(log(first));
        strbuf_addf(sb, "less of what %s does depends on pairs", second_lags ? p->second : p->first);
    }
}

static void put_reason(struct table *t, const struct pair_of_sides *p)
{
    const struct side *random = &p->at[SOURCE_RANDOM], *file = &p->at[SOURCE_FILE];
    struct strbuf sb = STRBUF_INIT;
    char place[LABEL_MAX], on_random[NUMBER_MAX], on_file[NUMBER_MAX], pairs[NUMBER_MAX], times[2][NUMBER_MAX];

    if (!apart(&random->ratio, &file->ratio) || isnan(random->pairs) || isnan(file->pairs))
        return;
    const double work = file->pairs / random->pairs,
                 first = (double)file->first->median_ns / (double)random->first->median_ns,
                 second = (double)file->second->median_ns / (double)random->second->median_ns;
    label_place(place, &random->second->spec);
    number_ratio(on_random, random->ratio.value);
    number_ratio(on_file, file->ratio.value);
    number_sig2(pairs, work);
    number_sig2(times[0], first);
    number_sig2(times[1], second);
    strbuf_addf(&sb,
                "%s: %s on random scenes, %s on files': %s times the pairs, %u layers for %u. %s takes %s times as "
                "long, %s %s times: ",
                place, on_random, on_file, pairs, (unsigned)file->second->layers_p99,
                (unsigned)random->second->layers_p99, p->first, times[0], p->second, times[1]);
    add_cause(&sb, p, work, first, second);
    table_foot(t, "%s", strbuf_str(&sb));
    t->failed |= sb.failed;
    strbuf_fini(&sb);
}

static bool put_places(struct table *t, struct pair_of_sides *p, bool reasons, struct err *err)
{
    for (size_t s = 0; s < p->v->plane.size_count; s++)
        for (size_t n = 0; n < p->v->plane.triangle_count; n++) {
            for (int source = 0; source < SOURCES; source++)
                if (!find_side(p->v, s, n, (enum scene_source)source, &p->at[source], err))
                    return false;
            for (int source = 0; source < SOURCES && !reasons; source++)
                if (p->at[source].first || p->at[source].second)
                    put_row(t, p, s, n, (enum scene_source)source);
            if (reasons)
                put_reason(t, p);
        }
    return true;
}

static bool put_reasons(struct table *t, struct pair_of_sides *p, struct err *err)
{
    const struct plane *plane = &p->v->plane;
    size_t count = 0;
    const struct cell **cells =
        mem_calloc(2 * SOURCES * plane->size_count * plane->triangle_count, sizeof(*cells), "a table's cells", err);
    bool ok = cells != NULL;

    for (size_t s = 0; ok && s < plane->size_count; s++)
        for (size_t n = 0; ok && n < plane->triangle_count; n++)
            for (int source = 0; ok && source < SOURCES; source++) {
                struct side *side = &p->at[source];
                ok = find_side(p->v, s, n, (enum scene_source)source, side, err);
                cells[count++] = side->first;
                cells[count++] = side->second;
            }
    if (ok)
        foot_reasons(t, p->v->results, cells, count);
    free(cells);
    return ok;
}

static bool has_both(const struct results *results)
{
    bool has[SOURCES] = {false};

    for (size_t i = 0; i < results->cell_count; i++)
        has[results->cells[i].spec.source] = true;
    return has[SOURCE_RANDOM] && has[SOURCE_FILE];
}

static bool fill(const struct view *v, struct table *t, struct err *err)
{
    struct pair_of_sides p = {.v = v, .unit = v->unit};

    if (!has_both(v->results)) {
        table_title(t, "scenes: nothing to compare: an axis \"source\" has random scenes and files side by side");
        return true;
    }
    label_sides(p.first, p.second, v->results, v->reference, v->line);
    put_heading(t, &p);
    put_columns(t, &p);
    if (!put_places(t, &p, false, err) || !put_places(t, &p, true, err))
        return false;
    table_foot(t, "Times and pairs are measured and counted; what makes them differ is concluded from them");
    return put_reasons(t, &p, err);
}

bool scenes_make(const struct results *results, struct table **tables, size_t *count, struct err *err)
{
    return view_tables("scenes", results, 1u << MODE_FORWARD | 1u << MODE_GRADIENT, VIEW_OTHERS,
                       keys_named("size triangles source"), fill, tables, count, err);
}
