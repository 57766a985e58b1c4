#include "report/refine.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/view.h"

struct places {
    struct refine_place *items;
    size_t count, capacity;
};

static bool add(struct places *places, const struct refine_place *place, struct err *err)
{
    void *items = places->items;

    for (size_t i = 0; i < places->count; i++) {
        const struct refine_place *p = &places->items[i];
        if (p->width == place->width && p->height == place->height && p->triangles == place->triangles)
            return true;
    }
    if (!mem_grow(&items, &places->capacity, places->count + 1, sizeof(*places->items), "places", err))
        return false;
    places->items = items;
    places->items[places->count++] = *place;
    return true;
}

static bool is_side(const struct view *v, double x)
{
    for (size_t i = 0; i < v->plane.size_count; i++) {
        const struct render_spec *size = &v->plane.sizes[i];
        if (size->width == size->height && fabs((double)size->width - x) < 0.5)
            return true;
    }
    return false;
}

static bool add_around(struct places *places, const struct view *v, bool over_sizes, size_t index,
                       const struct view_crossing *found, struct err *err)
{
    const double from = found->x[found->crossing.from], to = found->x[found->crossing.to],
                 at = found->crossing.at;
    const double wanted[REFINE_POINTS] = {sqrt(from * at), at, sqrt(at * to)};

    if (isnan(at) || (over_sizes && !(is_side(v, from) && is_side(v, to))))
        return true;
    for (size_t i = 0; i < REFINE_POINTS; i++) {
        const double x = round(wanted[i]);
        struct refine_place place;
        bool known = false;
        for (size_t j = found->crossing.from; j <= found->crossing.to; j++)
            known |= fabs(found->x[j] - x) < 0.5;
        if (known || x <= from || x >= to)
            continue;
        if (over_sizes) {
            place = (struct refine_place){(uint32_t)x, (uint32_t)x, v->plane.triangles[index].triangles};
        } else {
            const struct render_spec *size = &v->plane.sizes[index];
            place = (struct refine_place){size->width, size->height, (uint32_t)x};
        }
        if (!add(places, &place, err))
            return false;
    }
    return true;
}

static bool visit(void *context, const struct view *v, struct err *err)
{
    const size_t rows = v->plane.size_count, columns = v->plane.triangle_count;

    for (size_t i = 0; i < rows + columns; i++) {
        const bool over_sizes = i >= rows;
        const size_t index = over_sizes ? i - rows : i;
        struct view_crossing found;
        /* By the grid alone: a run that goes on finds the places of its beginning. */
        bool ok = view_crossing(v, over_sizes, index, false, &found, err);
        if (ok && found.crossing.changes == 1)
            ok = add_around(context, v, over_sizes, index, &found, err);
        view_crossing_fini(&found);
        if (!ok)
            return false;
    }
    return true;
}

bool refine_places(const struct results *results, struct refine_place **out, size_t *count, struct err *err)
{
    struct places places = {0};
    bool ok = view_each(results, 1u << MODE_GRADIENT, VIEW_OTHERS, keys_named("size triangles"), visit,
                        &places, err);

    *out = ok ? places.items : NULL;
    *count = ok ? places.count : 0;
    if (!ok)
        free(places.items);
    return ok;
}
