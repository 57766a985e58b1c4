#include "plan/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"

#define GRID_MAX_CELLS 1000000u /* beyond it an axis was mistyped */

struct builder {
    const struct config *config;
    const struct grid_devices *devices_of;
    struct grid *grid;
    size_t point_capacity, cell_capacity, note_capacity;
    struct err *err;
};

/* Axes that decide what is computed; along the others a point's cells differ. */
static bool is_point_key(const struct spec_key *key)
{
    return key->applies == SPEC_FOR_ALL;
}

/* Every combination of the axes for which want_point holds is a number below this. */
static size_t combinations(const struct config *config, bool want_point)
{
    size_t total = 1;

    for (size_t i = 0; i < config->axis_count; i++) {
        if (is_point_key(config->axes[i].key) != want_point)
            continue;
        if (config->axes[i].count > GRID_MAX_CELLS / total)
            return GRID_MAX_CELLS + 1;
        total *= config->axes[i].count;
    }
    return total;
}

/* Sets the values of combination `index`; the last axis turns fastest. */
static bool apply(const struct config *config, bool want_point, size_t index, struct render_spec *spec,
                  struct err *err)
{
    for (size_t i = config->axis_count; i-- > 0;) {
        const struct axis *axis = &config->axes[i];
        if (is_point_key(axis->key) != want_point)
            continue;
        if (!spec_set_text(spec, axis->key, axis->values[index % axis->count], err))
            return false;
        index /= axis->count;
    }
    return true;
}

static char *make_id(const struct config *config, const struct backend_config *backend,
                     const struct render_spec *spec, const char *selector, struct err *err)
{
    struct strbuf id = STRBUF_INIT;
    char text[SPEC_TEXT_MAX];
    char *copy = NULL;

    strbuf_addf(&id, "%s/%ux%u/t%u/b%u", backend->name, spec->width, spec->height, spec->triangles,
                spec->batch);
    for (size_t i = 0; i < config->axis_count; i++) {
        const struct spec_key *key = config->axes[i].key;
        if (key == spec_find("size") || key == spec_find("triangles") || key == spec_find("batch") ||
            !spec_matters(spec, key, backend->kind))
            continue;
        spec_text(spec, key, text);
        strbuf_addf(&id, "/%s=%s", key->name, text);
    }
    if (selector)
        strbuf_addf(&id, "/device=%s", selector);
    if (strbuf_ok(&id, err))
        copy = mem_strdup(strbuf_str(&id), err);
    strbuf_fini(&id);
    return copy;
}

/* true when the point, whose cells are the last ones, has a cell of this id: combinations that differ only in
 * what does not matter to the backend are one cell. */
static bool has_cell(const struct grid *grid, const struct grid_point *point, const char *id)
{
    for (size_t i = point->first_cell; i < grid->cell_count; i++)
        if (strcmp(grid->cells[i].id, id) == 0)
            return true;
    return false;
}

static bool add_cell(struct builder *b, size_t backend, size_t device, const struct render_spec *spec)
{
    const struct backend_config *config = &b->config->backends[backend];
    const struct grid_devices *devices = &b->devices_of[backend];
    struct grid *grid = b->grid;
    void *cells = grid->cells;
    struct err refusal = ERR_INIT;

    if (grid->cell_count == GRID_MAX_CELLS)
        return err_set(b->err, ERR_CONFIG, "%s: more than %u cells", b->config->path, GRID_MAX_CELLS);
    if (!mem_grow(&cells, &b->cell_capacity, grid->cell_count + 1, sizeof *grid->cells, "cells", b->err))
        return false;
    grid->cells = cells;
    char *id =
        make_id(b->config, config, spec, devices->count > 1 ? devices->selectors[device] : NULL, b->err);
    if (!id)
        return false;
    if (has_cell(grid, &grid->points[grid->point_count - 1], id)) {
        free(id);
        return true;
    }
    struct grid_cell *cell = &grid->cells[grid->cell_count++];
    *cell = (struct grid_cell){.point = grid->point_count - 1,
                               .backend = backend,
                               .device = devices->indices[device],
                               .spec = *spec,
                               .id = id};
    if (!spec_check(spec, config->kind, &refusal))
        cell->refuse = mem_strdup(refusal.text, b->err);
    err_fini(&refusal);
    return b->err->code == ERR_NONE;
}

/* The backend's own values at a point; what is the same for every backend is the config's. */
static bool backend_spec(const struct config *config, size_t backend, size_t point_index,
                         struct render_spec *out, struct err *err)
{
    const struct render_spec *base = &config->base;

    *out = config->backends[backend].options;
    out->mode = base->mode;
    out->width = base->width;
    out->height = base->height;
    out->triangles = base->triangles;
    out->batch = base->batch;
    out->sigma = base->sigma;
    out->source = base->source;
    return apply(config, true, point_index, out, err);
}

/* The cells of one backend at a point. */
static bool add_backend(struct builder *b, size_t backend, const struct render_spec *at_point)
{
    size_t variants = combinations(b->config, false);

    for (size_t device = 0; device < b->devices_of[backend].count; device++) {
        for (size_t i = 0; i < variants; i++) {
            struct render_spec spec = *at_point;
            if (!apply(b->config, false, i, &spec, b->err) || !add_cell(b, backend, device, &spec))
                return false;
        }
    }
    return true;
}

/* Backends with and without upstream gradients compute different things: a point each. */
static bool add_point(struct builder *b, size_t point_index, bool upstream)
{
    struct grid *grid = b->grid;
    void *points = grid->points;

    if (!mem_grow(&points, &b->point_capacity, grid->point_count + 1, sizeof *grid->points, "points", b->err))
        return false;
    grid->points = points;
    struct grid_point *point = &grid->points[grid->point_count++];
    *point = (struct grid_point){.spec = b->config->base, .first_cell = grid->cell_count};
    if (!apply(b->config, true, point_index, &point->spec, b->err))
        return false;
    point->spec.upstream = upstream;
    for (size_t k = 0; k < b->config->backend_count; k++) {
        struct render_spec spec;
        if (!backend_spec(b->config, k, point_index, &spec, b->err))
            return false;
        if (spec.upstream == upstream && !add_backend(b, k, &spec))
            return false;
    }
    /* The array may have moved. */
    point = &grid->points[grid->point_count - 1];
    point->cell_count = grid->cell_count - point->first_cell;
    if (point->cell_count == 0)
        grid->point_count--;
    return true;
}

static bool add_note(struct builder *b, const struct strbuf *text)
{
    void *notes = b->grid->notes;

    if (!mem_grow(&notes, &b->note_capacity, b->grid->note_count + 1, sizeof *b->grid->notes, "notes",
                  b->err))
        return false;
    b->grid->notes = notes;
    char *copy = strbuf_ok(text, b->err) ? mem_strdup(strbuf_str(text), b->err) : NULL;
    if (copy)
        b->grid->notes[b->grid->note_count++] = copy;
    return copy != NULL;
}

/* In how many of the backend's cells the key matters. */
static size_t count_matters(const struct grid *grid, size_t backend, enum backend_kind kind,
                            const struct spec_key *key)
{
    size_t count = 0;

    for (size_t i = 0; i < grid->cell_count; i++)
        count += grid->cells[i].backend == backend && spec_matters(&grid->cells[i].spec, key, kind);
    return count;
}

/* Names the axes that mean nothing to a backend, or not in every cell. */
static bool note_collapsed(struct builder *b, size_t backend)
{
    const struct config *config = b->config;
    struct strbuf note = STRBUF_INIT;
    size_t cells = 0, named = 0;

    for (size_t i = 0; i < b->grid->cell_count; i++)
        cells += b->grid->cells[i].backend == backend;
    size_t asked = combinations(config, true) * combinations(config, false) * b->devices_of[backend].count;
    if (cells == asked || b->devices_of[backend].count == 0)
        return true;
    strbuf_addf(&note, "%s: %zu combinations are %zu cell%s: no difference along",
                config->backends[backend].name, asked, cells, cells == 1 ? "" : "s");
    for (size_t i = 0; i < config->axis_count; i++) {
        const struct axis *axis = &config->axes[i];
        size_t matters = count_matters(b->grid, backend, config->backends[backend].kind, axis->key);
        if (matters < cells && axis->count > 1)
            strbuf_addf(&note, "%s %s%s", named++ ? "," : "", axis->key->name, matters ? " (in some)" : "");
    }
    bool ok = add_note(b, &note);
    strbuf_fini(&note);
    return ok;
}

static bool build(struct builder *b)
{
    size_t points = combinations(b->config, true);

    if (points > GRID_MAX_CELLS || combinations(b->config, false) > GRID_MAX_CELLS)
        return err_set(b->err, ERR_CONFIG, "%s: more than %u cells", b->config->path, GRID_MAX_CELLS);
    for (size_t i = 0; i < points; i++)
        if (!add_point(b, i, false) || !add_point(b, i, true))
            return false;
    for (size_t k = 0; k < b->config->backend_count; k++)
        if (!note_collapsed(b, k))
            return false;
    return true;
}

bool grid_build(const struct config *config, const struct grid_devices *devices_of, struct grid *out,
                struct err *err)
{
    struct builder b = {.config = config, .devices_of = devices_of, .grid = out, .err = err};

    memset(out, 0, sizeof *out);
    if (build(&b))
        return true;
    grid_fini(out);
    return false;
}

void grid_fini(struct grid *grid)
{
    if (!grid)
        return;
    for (size_t i = 0; i < grid->cell_count; i++) {
        free(grid->cells[i].id);
        free(grid->cells[i].refuse);
    }
    for (size_t i = 0; i < grid->note_count; i++)
        free(grid->notes[i]);
    free(grid->points);
    free(grid->cells);
    free(grid->notes);
    memset(grid, 0, sizeof *grid);
}
