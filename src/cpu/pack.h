/* Triangles made ready for the tiles: edges, bounds and what the loops need to know, once a call. */
#ifndef GPUBENCH_CPU_PACK_H
#define GPUBENCH_CPU_PACK_H

#include "cpu/tile.h"

/* What the triangles of a job share. */
struct pack_geometry {
    uint32_t width, height;
    float sigma;
};

/* Bounds arrays to fill, one scene's. */
struct pack_bounds {
    float *left, *right, *top, *bottom;
};

/* Fills out[i] and bounds for triangles first <= i < end of a scene's params[T][10]. Bounds are empty where
 * the triangle touches nothing. Returns how many tiles the bounds overlap, summed. */
uint64_t pack_triangles(const struct pack_geometry *g, const float *params, uint32_t first, uint32_t end,
                        struct tile_triangle *out, const struct pack_bounds *bounds);

#endif
