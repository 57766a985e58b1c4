/* The model in double precision, one pixel and one triangle at a time: the reference that every backend
 * is compared with, written for reading. Independent of cpu/ and gpu/. Bounds and cross products are
 * rounded to float32 as the model says (docs/MODEL.md, Forward 1 and 2), and so is the pixel's position,
 * which enters both; everything else is double. Safe to call from several threads at once.
 */
#ifndef GPUBENCH_MODEL_ORACLE_H
#define GPUBENCH_MODEL_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Whether no coordinate is beyond SCENE_MAX_COORD, or NaN: where one is, the triangle touches nothing. */
bool verts_usable(const float verts[6]);

/* Pixels that a triangle may touch: left <= x < right, top <= y < bottom. */
struct bounds {
    int32_t left, right, top, bottom;
};

/* docs/MODEL.md, Forward 1; every operation rounded to float32. Empty (left >= right) where a vertex is not
 * finite or beyond SCENE_MAX_COORD. verts: x0 y0 x1 y1 x2 y2. */
struct bounds bounds_of(const float verts[6], float sigma, uint32_t width, uint32_t height);

struct oracle_input {
    uint32_t width, height, triangles;
    float sigma;
    const float *params;     /* [T][10] */
    const float *background; /* [3] */
    const float *target;     /* [H][W][3], or NULL (forward only, or upstream) */
    const float *upstream;   /* [H][W][3] dL/dC, or NULL */
};

/* Through a layer of this weight, what lies below hardly shows. */
#define ORACLE_OPAQUE 0.99

struct oracle_output {
    double *image;     /* [H][W][3], or NULL when not wanted */
    double *grads;     /* [T][10], or NULL when not wanted */
    double loss;       /* mean of (C - target)^2; 0 without a target */
    uint64_t pairs;    /* covered: weight > 1e-6 */
    uint64_t in_bounds; /* pixel-triangle pairs inside padded bounds */
    uint32_t *covered;  /* [H][W] triangles that cover each pixel, or NULL when not wanted */
    uint32_t *listed;   /* [H][W] triangles whose padded bounds hold it, or NULL; oracle_render alone */
    uint64_t opaque;    /* of the covered pairs: weight >= ORACLE_OPAQUE */
};

/* One scene. Work arrays are allocated inside; false when they cannot be had. */
bool oracle_render(const struct oracle_input *in, struct oracle_output *out, struct err *err) GB_NODISCARD;

/* Some pixels alone, each with all its triangles: for scenes too large to be checked whole. pixels[count]
 * are y * width + x; out->image is [count][3] and out->covered [count], in their order; loss and grads are those
 * pixels' share. */
bool oracle_pixels(const struct oracle_input *in, const uint64_t *pixels, size_t count,
                   struct oracle_output *out, struct err *err) GB_NODISCARD;

/* Pairs inside padded bounds, without rendering: what the size of a check is decided by. */
uint64_t oracle_pairs_in_bounds(const float *params, uint32_t triangles, float sigma, uint32_t width,
                                uint32_t height);

/* Bytes that a tape takes: one float3 for each pixel in the padded bounds of each triangle that is not wholly
 * transparent (touched), and for all pixels (dense, saturating at UINT64_MAX). */
uint64_t oracle_tape_touched_bytes(const float *params, uint32_t triangles, float sigma, uint32_t width,
                                   uint32_t height);
uint64_t oracle_tape_dense_bytes(uint32_t batch, uint32_t triangles, uint32_t width, uint32_t height);

#endif
