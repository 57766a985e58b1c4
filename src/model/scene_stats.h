/* What a scene is like on a picture of some size: how large its triangles are, how deep they lie, what that
 * costs. */
#ifndef GPUBENCH_MODEL_SCENE_STATS_H
#define GPUBENCH_MODEL_SCENE_STATS_H

#include "model/scene.h"
#include "model/spec.h"

/* Pixels that share a triangle's sums on large GPUs. */
#define SCENE_TILE_W 16
#define SCENE_TILE_H 8

struct scene_stats {
    uint32_t triangles;
    double area_median, area_p90, area_max; /* of triangles, in pixels, wherever they lie */
    uint32_t small;                         /* triangles of less than a pixel */
    uint32_t undrawn, first_undrawn;        /* triangles with a coordinate that counts as not finite; the first of them */
    double in_bounds, covered; /* pairs a pixel: in padded bounds; of a weight above the model's cut */
    double layers_p99;         /* of the pixels' covered pairs */
    uint32_t layers_max;
    double bare;   /* share of the pixels that no triangle covers */
    double opaque; /* share of the covered pairs of weight >= ORACLE_OPAQUE */
    uint64_t tape_touched_bytes, tape_dense_bytes;
    /* Partial sums of gradients: triangles and tiles of SCENE_TILE_W x SCENE_TILE_H that their bounds touch. */
    uint64_t partial_sums;
    /* Global memory that a gradient call reads and writes, each array once a pass: by enum strategy, with sums
     * that need none; and what ordered sums add. */
    uint64_t memory_bytes[STRATEGY_TAPED + 1], sums_bytes;
    /* Evaluations of a triangle at a pixel, of an exponential each, forward and backward, a pixel (docs/MODEL.md, Ways to have D_i):
     * indexed by enum strategy. They count pairs in bounds, of which a renderer may skip some. */
    double evaluations[STRATEGY_TAPED + 1];
};

/* By the double-precision reference. */
bool scene_stats_of(const struct scene *scene, float sigma, uint32_t width, uint32_t height,
                    struct scene_stats *out, struct err *err) GB_NODISCARD;

#endif
