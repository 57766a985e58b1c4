#include "report/cost.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "report/ratio.h"
#include "report/surface.h"

double cost_ns(const struct cost *cost, double pairs)
{
    return cost->fixed_ns + cost->pair_ns * pairs;
}

static bool is_of(const struct cost *cost, const struct cell *cell)
{
    return cells_alike(cell, cost->line, surface_keys()) && ratio_can_win(cell) && cell->pairs > 0;
}

/* Least squares of relative errors; neither part is negative. */
static void solve(struct cost *cost, const struct results *results)
{
    double s11 = 0, s12 = 0, s22 = 0, b1 = 0, b2 = 0;

    for (size_t i = 0; i < results->cell_count; i++) {
        const struct cell *cell = &results->cells[i];
        if (!is_of(cost, cell))
            continue;
        const double fixed = 1 / (double)cell->median_ns, pairs = (double)cell->pairs * fixed;
        s11 += fixed * fixed;
        s12 += fixed * pairs;
        s22 += pairs * pairs;
        b1 += fixed;
        b2 += pairs;
        cost->cells++;
    }
    const double determinant = s11 * s22 - s12 * s12;
    if (cost->cells == 0)
        return;
    if (determinant > 1e-9 * s11 * s22) {
        cost->fixed_ns = (b1 * s22 - b2 * s12) / determinant;
        cost->pair_ns = (b2 * s11 - b1 * s12) / determinant;
    }
    if (cost->fixed_ns <= 0 || determinant <= 1e-9 * s11 * s22) {
        cost->fixed_ns = 0;
        cost->pair_ns = b2 / s22;
    } else if (cost->pair_ns < 0) {
        cost->fixed_ns = b1 / s11;
        cost->pair_ns = 0;
    }
}

static bool judge(struct cost *cost, const struct results *results, struct err *err)
{
    double *errors = mem_calloc(cost->cells + 1, sizeof *errors, "errors of an estimate", err);
    size_t count = 0;

    if (!errors)
        return false;
    for (size_t i = 0; i < results->cell_count; i++) {
        const struct cell *cell = &results->cells[i];
        if (is_of(cost, cell))
            errors[count++] = fabs(cost_ns(cost, (double)cell->pairs) / (double)cell->median_ns - 1);
    }
    qsort(errors, count, sizeof *errors, order_double);
    cost->error = errors[count / 2];
    free(errors);
    return true;
}

bool costs_of(const struct results *results, struct cost **out, size_t *count, struct err *err)
{
    const struct cell **lines;
    size_t line_count;

    *count = 0;
    if (!select_lines(results, 1u << MODE_GRADIENT, surface_keys(), NULL, &lines, &line_count, err))
        return false;
    *out = mem_calloc(line_count, sizeof **out, "costs", err);
    bool ok = *out != NULL;
    for (size_t i = 0; ok && i < line_count; i++) {
        struct cost *cost = &(*out)[*count];
        *cost = (struct cost){.line = lines[i]};
        if (lines[i]->spec.upstream)
            continue;
        solve(cost, results);
        if (cost->cells == 0)
            continue;
        ok = judge(cost, results, err);
        ++*count;
    }
    free(lines);
    return ok;
}
