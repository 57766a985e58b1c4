#include "cli/refine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "report/refine.h"

struct refinement {
    const struct refine_place *places;
    size_t count;
    const struct measurement *run, *before;
};

/* The extra grid is the product of all extra sizes and triangles; only some of its places are wanted, and an
 * interrupted run may have been there. */
static bool unwanted(const void *context, const char *id)
{
    const struct refinement *r = context;
    const struct grid *grid = runner_grid(r->run->runner);

    for (size_t i = 0; i < grid->cell_count; i++) {
        const struct render_spec *spec = &grid->cells[i].spec;
        if (strcmp(grid->cells[i].id, id) != 0 || results_find(&r->before->results, id))
            continue;
        for (size_t j = 0; j < r->count; j++)
            if (r->places[j].width == spec->width && r->places[j].height == spec->height &&
                r->places[j].triangles == spec->triangles)
                return false;
    }
    return true;
}

/* "size=64x64,80x80" or "triangles=32,70", each value once. */
static bool add_axis(struct config *config, const struct refinement *r, bool sizes, struct err *err)
{
    struct strbuf text = STRBUF_INIT;

    strbuf_add(&text, sizes ? "size=" : "triangles=");
    for (size_t i = 0; i < r->count; i++) {
        const struct refine_place *p = &r->places[i];
        bool known = false;
        for (size_t j = 0; j < i; j++)
            known |= sizes ? r->places[j].width == p->width && r->places[j].height == p->height
                           : r->places[j].triangles == p->triangles;
        if (known)
            continue;
        strbuf_add(&text, i ? "," : "");
        if (sizes)
            strbuf_addf(&text, "%" PRIu32 "x%" PRIu32, p->width, p->height);
        else
            strbuf_addf(&text, "%" PRIu32, p->triangles);
    }
    bool ok = strbuf_ok(&text, err) && config_override_axis(config, strbuf_str(&text), err);
    strbuf_fini(&text);
    return ok;
}

static size_t wanted(const struct refinement *r)
{
    const struct grid *grid = runner_grid(r->run->runner);
    size_t count = 0;

    for (size_t i = 0; i < grid->cell_count; i++)
        count += !unwanted(r, grid->cells[i].id);
    return count;
}

/* The journal takes what is added, too. */
static bool measure(struct measurement *m, const struct refinement *r, struct measurement *extra, int argc,
                    char **argv, struct err *err)
{
    extra->again = true;
    extra->have = unwanted;
    extra->have_context = r;
    if (!config_from_json(m->config.json, m->config.path, &extra->config, err) ||
        !add_axis(&extra->config, r, true, err) || !add_axis(&extra->config, r, false, err) ||
        !measurement_start(extra, err))
        return false;
    m->cell_count = m->results.cell_count + wanted(r);
    extra->journal = m->journal;
    bool ok = measurement_run(extra, argc, argv, err);
    extra->journal = NULL;
    return results_add_refined(&m->results, &extra->results, err) && ok;
}

/* Whether no gradient cell before this one has its size, or its triangles. */
static bool is_new(const struct grid *grid, size_t index, bool sizes)
{
    const struct render_spec *spec = &grid->cells[index].spec;

    for (size_t i = 0; i < index; i++) {
        const struct render_spec *other = &grid->cells[i].spec;
        if (other->mode == MODE_GRADIENT &&
            (sizes ? other->width == spec->width && other->height == spec->height
                   : other->triangles == spec->triangles))
            return false;
    }
    return true;
}

void refine_print_plan(const struct grid *grid)
{
    size_t sizes = 0, triangles = 0, cells = 0;

    for (size_t i = 0; i < grid->cell_count; i++) {
        if (grid->cells[i].spec.mode != MODE_GRADIENT)
            continue;
        cells++;
        sizes += is_new(grid, i, true);
        triangles += is_new(grid, i, false);
    }
    /* Each row and column of each contender's crossover with the first one. */
    const size_t point = cells ? (cells + sizes * triangles - 1) / (sizes * triangles) : 0;
    const size_t lines = (triangles > 1 ? sizes : 0) + (sizes > 1 ? triangles : 0);
    const size_t most = point > 1 ? REFINE_POINTS * lines * (point - 1) : 0;
    printf("Refining: then up to %zu more cells, at %zu points near where the winner changes.\n",
           most * point, most);
}

bool refine_measure(struct measurement *m, int argc, char **argv, struct err *err)
{
    struct refine_place *places;
    struct refinement r = {0};
    struct measurement extra;

    if (m->summary.interrupted)
        return true;
    if (!refine_places(&m->results, &places, &r.count, err))
        return false;
    if (r.count == 0) {
        say(&m->options->base, "nothing to refine: no row or column crosses exactly once with room between "
                               "its points");
        free(places);
        return true;
    }
    say(&m->options->base, "refining: %zu place%s near crossings", r.count, r.count == 1 ? "" : "s");
    r.places = places;
    r.run = &extra;
    r.before = m;
    measurement_init(&extra, m->options);
    bool ok = measure(m, &r, &extra, argc, argv, err);
    m->summary.interrupted |= ok && extra.summary.interrupted;
    m->summary.by_status[CELL_INTERRUPTED] += extra.summary.by_status[CELL_INTERRUPTED];
    m->results.partial |= m->summary.interrupted;
    measurement_fini(&extra);
    free(places);
    return ok;
}
