#include "model/scene_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "model/oracle.h"

static int compare_counts(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The smallest place of a sorted list that at least `share` of it is not beyond. */
static size_t rank(size_t count, double share)
{
    return count == 0 ? 0 : (size_t)fmax(ceil(share * (double)count), 1) - 1;
}

static bool count_areas(const struct scene *scene, double pixels, struct scene_stats *out, struct err *err)
{
    double *areas = mem_calloc((uint64_t)scene->triangles + 1, sizeof *areas, "areas", err);

    if (!areas)
        return false;
    for (uint32_t t = 0; t < scene->triangles; t++) {
        const float *p = scene->params + (size_t)t * SCENE_STRIDE;
        const double ax = (double)p[2] - (double)p[0], ay = (double)p[3] - (double)p[1];
        const double bx = (double)p[4] - (double)p[0], by = (double)p[5] - (double)p[1];
        areas[t] = fabs(ax * by - ay * bx) / 2 * pixels;
        out->small += areas[t] < 1;
        if (!verts_usable(p) && out->undrawn++ == 0)
            out->first_undrawn = t;
    }
    qsort(areas, scene->triangles, sizeof *areas, order_double);
    out->area_median = areas[rank(scene->triangles, 0.5)];
    out->area_p90 = areas[rank(scene->triangles, 0.9)];
    out->area_max = areas[rank(scene->triangles, 1)];
    free(areas);
    return true;
}

static void count_layers(const struct oracle_output *o, size_t pixels, struct scene_stats *out)
{
    uint64_t again = 0;
    size_t bare = 0;

    for (size_t i = 0; i < pixels; i++) {
        bare += o->covered[i] == 0;
        again += (uint64_t)o->listed[i] * (o->listed[i] + UINT64_C(1)) / 2;
    }
    qsort(o->covered, pixels, sizeof *o->covered, compare_counts);
    out->in_bounds = (double)o->in_bounds / (double)pixels;
    out->covered = (double)o->pairs / (double)pixels;
    out->layers_p99 = o->covered[rank(pixels, 0.99)];
    out->layers_max = o->covered[pixels - 1];
    out->bare = (double)bare / (double)pixels;
    out->opaque = o->pairs > 0 ? (double)o->opaque / (double)o->pairs : 0;
    /* Forward, then each triangle once more; recompute: once for each triangle above it, too. */
    out->evaluations[STRATEGY_FUSED] = out->evaluations[STRATEGY_TAPED] = 2 * out->in_bounds;
    out->evaluations[STRATEGY_RECOMPUTE] = out->in_bounds + (double)again / (double)pixels;
}

static uint64_t tiles_met(const struct bounds *b)
{
    if (b->left >= b->right || b->top >= b->bottom)
        return 0;
    return (uint64_t)((b->right - 1) / SCENE_TILE_W - b->left / SCENE_TILE_W + 1) *
           (uint64_t)((b->bottom - 1) / SCENE_TILE_H - b->top / SCENE_TILE_H + 1);
}

static void count_memory(const struct scene *scene, float sigma, uint32_t width, uint32_t height,
                         struct scene_stats *out)
{
    const uint64_t picture = 3 * sizeof(float) * (uint64_t)width * height,
                   params = (uint64_t)scene->triangles * SCENE_STRIDE * sizeof(float);

    for (uint32_t t = 0; t < scene->triangles; t++) {
        const struct bounds b = bounds_of(scene->params + (size_t)t * SCENE_STRIDE, sigma, width, height);
        out->partial_sums += tiles_met(&b);
    }
    /* The target; in two passes it comes twice, and the image goes out and comes back. Parameters and gradients. */
    out->memory_bytes[STRATEGY_FUSED] = picture + 2 * params;
    out->memory_bytes[STRATEGY_RECOMPUTE] = 4 * picture + 2 * params;
    out->memory_bytes[STRATEGY_TAPED] = 4 * picture + 2 * params + 2 * out->tape_touched_bytes;
    out->sums_bytes = 2 * out->partial_sums * SCENE_STRIDE * sizeof(float);
}

bool scene_stats_of(const struct scene *scene, float sigma, uint32_t width, uint32_t height,
                    struct scene_stats *out, struct err *err)
{
    const size_t pixels = (size_t)width * height;
    const struct oracle_input in = {.width = width,
                                    .height = height,
                                    .triangles = scene->triangles,
                                    .sigma = sigma,
                                    .params = scene->params,
                                    .background = scene->background};
    struct oracle_output o = {.covered = mem_calloc(pixels, sizeof *o.covered, "layers", err),
                              .listed = mem_calloc(pixels, sizeof *o.listed, "layers", err)};

    *out = (struct scene_stats){.triangles = scene->triangles};
    bool ok =
        o.covered && o.listed && count_areas(scene, (double)pixels, out, err) && oracle_render(&in, &o, err);
    if (ok)
        count_layers(&o, pixels, out);
    out->tape_touched_bytes =
        oracle_tape_touched_bytes(scene->params, scene->triangles, sigma, width, height);
    out->tape_dense_bytes = oracle_tape_dense_bytes(1, scene->triangles, width, height);
    count_memory(scene, sigma, width, height, out);
    free(o.covered);
    free(o.listed);
    return ok;
}
