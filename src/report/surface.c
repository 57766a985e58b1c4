#include "report/surface.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "report/ratio.h"

key_set surface_keys(void)
{
    return keys_named("size triangles batch sigma");
}

double surface_value(const struct render_spec *spec, enum surface_axis axis)
{
    switch (axis) {
    case SURFACE_SIZE:
        return sqrt((double)spec->width * spec->height);
    case SURFACE_TRIANGLES:
        return fmax(spec->triangles, 0.5);
    case SURFACE_BATCH:
        return spec->batch;
    case SURFACE_SIGMA:
    case SURFACE_AXES:
        break;
    }
    return (double)spec->sigma;
}

void surface_fini(struct surface *s)
{
    free(s->cells);
    free(s->others);
    for (size_t a = 0; a < SURFACE_AXES; a++)
        free(s->values[a]);
}

static bool surface_axes(struct surface *s, struct err *err)
{
    for (enum surface_axis a = 0; a < SURFACE_AXES; a++) {
        size_t kept = 0;
        double *values = s->values[a] = mem_calloc(s->count + 1, sizeof(*values), "a line's axes", err);
        if (!values)
            return false;
        for (size_t i = 0; i < s->count; i++)
            values[i] = surface_value(&s->cells[i]->spec, a);
        qsort(values, s->count, sizeof(*values), order_double);
        for (size_t i = 0; i < s->count; i++)
            if (!kept || values[i] > values[kept - 1])
                values[kept++] = values[i];
        s->value_count[a] = kept;
    }
    return true;
}

bool surface_init(struct surface *s, const struct results *results, const struct cell *line,
                  const struct cell *other, struct err *err)
{
    *s = (struct surface){0};
    s->cells = mem_calloc(results->cell_count, sizeof(struct cell *), "a line's points", err);
    s->others = mem_calloc(results->cell_count, sizeof(struct cell *), "a line's points", err);
    for (size_t i = 0; s->cells && s->others && i < results->cell_count; i++) {
        const struct cell *cell = &results->cells[i];
        if (!ratio_can_win(cell) || !cells_alike(cell, line, surface_keys()))
            continue;
        const struct cell *match = other ? select_cell(results, other, surface_keys(), &cell->spec) : NULL;
        if (other && !ratio_can_win(match))
            continue;
        s->cells[s->count] = cell;
        s->others[s->count++] = match;
    }
    if (s->cells && s->others && surface_axes(s, err))
        return true;
    surface_fini(s);
    return false;
}

static bool surface_find(const struct surface *s, const double at[SURFACE_AXES], size_t *index)
{
    for (*index = 0; *index < s->count; ++*index) {
        bool here = true;
        for (enum surface_axis a = 0; a < SURFACE_AXES; a++)
            here &= !(fabs(surface_value(&s->cells[*index]->spec, a) - at[a]) > 0);
        if (here)
            return true;
    }
    return false;
}

/* ---- boxes ---- */

/* Pairs of values around the question on one axis, the same one twice where it is the question itself. */
struct bracket {
    double low, high;
};

static size_t brackets_of(const struct surface *s, enum surface_axis a, double value, struct bracket *out)
{
    size_t count = 0;

    for (size_t i = 0; i < s->value_count[a]; i++)
        for (size_t j = i; j < s->value_count[a]; j++) {
            const double low = s->values[a][i], high = s->values[a][j];
            if (low <= value && value <= high && (i != j || low >= value))
                out[count++] = (struct bracket){low, high};
        }
    return count;
}

static bool box_of(const struct surface *s, const struct bracket *const at[SURFACE_AXES],
                   const double question[SURFACE_AXES], struct surface_box *box)
{
    for (unsigned corner = 0; corner < SURFACE_CORNERS; corner++) {
        double place[SURFACE_AXES];
        box->weight[corner] = 1;
        for (enum surface_axis a = 0; a < SURFACE_AXES; a++) {
            const bool high = corner >> a & 1;
            const double span = log(at[a]->high / at[a]->low);
            const double part = span > 0 ? log(question[a] / at[a]->low) / span : 0;
            place[a] = high ? at[a]->high : at[a]->low;
            box->weight[corner] *= high ? part : 1 - part;
        }
        if (!surface_find(s, place, &box->corners[corner]))
            return false;
    }
    return true;
}

static double extent_of(const struct bracket *const at[SURFACE_AXES])
{
    double extent = 0;

    for (size_t a = 0; a < SURFACE_AXES; a++)
        extent += log(at[a]->high / at[a]->low);
    return extent;
}

/* All combinations are tried, because of gaps. */
bool surface_box(const struct surface *s, const double question[SURFACE_AXES], struct surface_box *box,
                 bool *found, struct err *err)
{
    struct bracket *brackets[SURFACE_AXES] = {0};
    size_t counts[SURFACE_AXES] = {0}, total = 1;
    bool ok = true;

    *found = false;
    box->extent = INFINITY;
    for (enum surface_axis a = 0; ok && a < SURFACE_AXES; a++) {
        const size_t n = s->value_count[a];
        brackets[a] = mem_calloc(n * n + 1, sizeof(**brackets), "brackets", err);
        ok = brackets[a] != NULL;
        counts[a] = ok ? brackets_of(s, a, question[a], brackets[a]) : 0;
        total *= counts[a];
    }
    for (size_t i = 0; ok && i < total; i++) {
        const struct bracket *at[SURFACE_AXES];
        size_t rest = i;
        for (size_t a = 0; a < SURFACE_AXES; rest /= counts[a], a++)
            at[a] = &brackets[a][rest % counts[a]];
        struct surface_box candidate = {.extent = extent_of(at)};
        if (candidate.extent < box->extent && box_of(s, at, question, &candidate)) {
            *box = candidate;
            *found = true;
        }
    }
    for (size_t a = 0; a < SURFACE_AXES; a++)
        free(brackets[a]);
    return ok;
}

double surface_interpolate(const struct surface *s, const struct surface_box *box,
                           double (*figure)(const struct cell *cell))
{
    double sum = 0;

    for (size_t i = 0; i < SURFACE_CORNERS; i++)
        sum += box->weight[i] * log(figure(s->cells[box->corners[i]]));
    return exp(sum);
}
