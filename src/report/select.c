#include "report/select.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

key_set keys_named(const char *names)
{
    key_set set = 0;
    size_t count;
    const struct spec_key *keys = spec_keys(&count);

    for (; *names; names += strspn(names, " ")) {
        size_t len = strcspn(names, " ");
        for (size_t i = 0; i < count; i++)
            if (strlen(keys[i].name) == len && strncmp(keys[i].name, names, len) == 0)
                set |= (key_set)1 << i;
        names += len;
    }
    return set;
}

key_set keys_of_point(void)
{
    return keys_named("mode size triangles batch sigma source upstream");
}

key_set keys_of_reference(void)
{
    return keys_of_point() | keys_named("call");
}

bool cells_alike(const struct cell *a, const struct cell *b, key_set free)
{
    size_t count;
    const struct spec_key *keys = spec_keys(&count);

    if (a->device != b->device || strcmp(a->backend, b->backend) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        bool matters = spec_matters(&a->spec, &keys[i], a->kind) && spec_matters(&b->spec, &keys[i], b->kind);
        if (matters && !(free >> i & 1) && !spec_equal(&a->spec, &b->spec, &keys[i]))
            return false;
    }
    return true;
}

bool specs_equal(const struct render_spec *a, const struct render_spec *b, key_set set)
{
    size_t count;
    const struct spec_key *keys = spec_keys(&count);

    for (size_t i = 0; i < count; i++)
        if ((set >> i & 1) && !spec_equal(a, b, &keys[i]))
            return false;
    return true;
}

static bool in_modes(const struct cell *cell, unsigned modes)
{
    return modes >> cell->spec.mode & 1;
}

const struct cell *select_reference(const struct results *results, unsigned modes)
{
    const struct cell *first = NULL;

    for (size_t i = 0; i < results->cell_count; i++) {
        const struct cell *cell = &results->cells[i];
        if (!in_modes(cell, modes))
            continue;
        if (cell->kind == BACKEND_OPENMP)
            return cell;
        if (!first)
            first = cell;
    }
    return first;
}

bool select_lines(const struct results *results, unsigned modes, key_set free, const struct cell *except,
                  const struct cell ***out, size_t *count, struct err *err)
{
    *count = 0;
    *out = mem_calloc(results->cell_count, sizeof(**out), "a table's lines", err);
    if (!*out)
        return false;
    for (size_t i = 0; i < results->cell_count; i++) {
        const struct cell *cell = &results->cells[i];
        bool known = !in_modes(cell, modes) || (except && cells_alike(cell, except, keys_of_reference()));
        for (size_t j = 0; j < *count && !known; j++)
            known = cells_alike(cell, (*out)[j], free);
        if (!known)
            (*out)[(*count)++] = cell;
    }
    return true;
}

const struct cell *select_cell(const struct results *results, const struct cell *line, key_set free,
                               const struct render_spec *at)
{
    for (size_t i = 0; line && i < results->cell_count; i++) {
        const struct cell *cell = &results->cells[i];
        if (cells_alike(cell, line, free) && specs_equal(&cell->spec, at, free))
            return cell;
    }
    return NULL;
}

const struct cell *select_partner(const struct results *results, const struct cell *reference,
                                  const struct render_spec *at)
{
    const struct spec_key *call = spec_find("call");
    const struct cell *found = NULL;

    for (size_t i = 0; reference && i < results->cell_count; i++) {
        const struct cell *c = &results->cells[i];
        if (!cells_alike(c, reference, keys_of_reference()) ||
            !specs_equal(&c->spec, at, keys_of_point()))
            continue;
        if (!found || spec_equal(&c->spec, at, call))
            found = c;
    }
    return found;
}

key_set keys_varying(const struct cell *const *cells, size_t count)
{
    key_set varying = 0;
    size_t key_count;
    const struct spec_key *keys = spec_keys(&key_count);

    for (size_t k = 0; k < key_count; k++) {
        const struct cell *first = NULL;
        for (size_t i = 0; i < count; i++) {
            if (!spec_matters(&cells[i]->spec, &keys[k], cells[i]->kind))
                continue;
            if (!first)
                first = cells[i];
            else if (!spec_equal(&cells[i]->spec, &first->spec, &keys[k]))
                varying |= (key_set)1 << k;
        }
    }
    return varying;
}

static int by_size(const void *a, const void *b)
{
    const struct render_spec *x = a, *y = b;
    uint64_t p = (uint64_t)x->width * x->height, q = (uint64_t)y->width * y->height;

    if (p != q)
        return p < q ? -1 : 1;
    return (x->width > y->width) - (x->width < y->width);
}

static int by_triangles(const void *a, const void *b)
{
    const struct render_spec *x = a, *y = b;
    return (x->triangles > y->triangles) - (x->triangles < y->triangles);
}

/* Sorted, one of each. */
static void unique(struct render_spec *specs, size_t *count, int (*order)(const void *, const void *))
{
    size_t kept = 0;

    if (*count)
        qsort(specs, *count, sizeof(*specs), order);
    for (size_t i = 0; i < *count; i++)
        if (!kept || order(&specs[kept - 1], &specs[i]) != 0)
            specs[kept++] = specs[i];
    *count = kept;
}

bool plane_init(struct plane *plane, const struct results *results, const struct cell *line, key_set free,
                bool refined, struct err *err)
{
    *plane = (struct plane){0};
    plane->sizes = mem_calloc(results->cell_count, sizeof(*plane->sizes), "a table's axes", err);
    plane->triangles = mem_calloc(results->cell_count, sizeof(*plane->triangles), "a table's axes", err);
    if (!plane->sizes || !plane->triangles) {
        plane_fini(plane);
        return false;
    }
    for (size_t i = 0; i < results->cell_count; i++)
        if (cells_alike(&results->cells[i], line, free) &&
            (refined || !results_is_refined(results, results->cells[i].id))) {
            plane->sizes[plane->size_count++] = results->cells[i].spec;
            plane->triangles[plane->triangle_count++] = results->cells[i].spec;
        }
    unique(plane->sizes, &plane->size_count, by_size);
    unique(plane->triangles, &plane->triangle_count, by_triangles);
    return true;
}

void plane_fini(struct plane *plane)
{
    free(plane->sizes);
    free(plane->triangles);
    *plane = (struct plane){0};
}

struct render_spec plane_at(const struct plane *plane, const struct cell *line, size_t size, size_t triangles)
{
    struct render_spec at = line->spec;

    at.width = plane->sizes[size].width;
    at.height = plane->sizes[size].height;
    at.triangles = plane->triangles[triangles].triangles;
    return at;
}
