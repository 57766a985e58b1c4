/* The model's arithmetic for one triangle and one `real` of pixels (MODEL.md, Forward 1 to 3). */
#ifndef GPUBENCH_KERNELS_GEOMETRY_H
#define GPUBENCH_KERNELS_GEOMETRY_H

#include "lanes.h"
#include "native.h"

#define BLOCKS (BLOCKS_X * BLOCKS_Y)
#define BLOCK_H (LANES / BLOCK_W)

/* Cross products and bounds are rounded step by step; where a fused multiply-add is wanted, it says so. */
#pragma OPENCL FP_CONTRACT OFF

#define MIN(a, b) fmin(a, b)
#define MAX(a, b) fmax(a, b)

/* a / size, rounded to nearest. */
static inline float part_of(float a, uint size)
{
    const float whole = (float)size;
#ifdef PATH_PTX
    /* What compilers make of a division for values of such sizes, without the branch that sees whether they are. */
    const float estimate = RECIPROCAL(whole), inverse = fma(estimate, fma(-whole, estimate, 1.0f), estimate);
    const float quotient = a * inverse;
    return fma(inverse, fma(-whole, quotient, a), quotient);
#else
    return a / whole;
#endif
}

/* The centres of pixel columns (or rows) on a canvas of `size` pixels. */
static inline real centre(mask px, uint size)
{
    return part_of((float)px + 0.5f, size);
}

static inline float centre_row(int py, uint size)
{
    return part_of((float)py + 0.5f, size);
}

/* A team's tile. Distances are worked out from its corner: inside a tile they are small, so that nothing is
 * lost where vertices and pixels nearly meet. */
struct tile {
    int x, y;           /* pixel column and row of the corner */
    uint column, row;   /* of the tile */
    float left, top;    /* x / W, y / H */
    float unit;         /* of lengths inside the tile, for one normalised */
    mask px;            /* a lane's pixels in the first block; in block j, BLOCK_W (BLOCK_H) further each */
    int py;
    real x_at[BLOCKS_X]; /* pixel centres from the corner */
    float y_at[BLOCKS_Y];
};

#define COLUMN_OF(tile, j) ((tile)->px + (int)((j) % BLOCKS_X * BLOCK_W))
#define ROW_OF(tile, j) ((tile)->py + (int)((j) / BLOCKS_X * BLOCK_H))

/* A triangle as the walks hold it. With p a pixel from the tile's corner and t an edge's unit tangent, p is
 * at normal = (-ty, tx).p + z off the edge's line, positive inside, and at along = t.p + w along it: two
 * multiply-adds each. An odd number of 16 bytes keeps lanes that each write one out of the same banks. */
struct aimed {
    float4 line[3]; /* x, y: tangent; z, w: offsets of normal and along */
    float4 length;  /* of the edges; w: opacity */
    float4 inverse; /* 1/length; w: where the partial sums go, see SLOT */
    float4 colour;  /* w: see MARKS */
    uint4 place;    /* columns, rows; index in the scene; reach, as float */
};

#define SLOT(t) as_uint((t).inverse.w)
/* Bits of the tile's blocks that the triangle may touch, and of what the walks must heed. */
#define MARKS(t) as_uint((t).colour.w)
#define ALL_BLOCKS ((1u << BLOCKS) - 1u)
#define MARK_CROSSED (1u << 16)   /* inside is decided by cross products */
#define MARK_CUT (1u << 17)       /* its bounds leave pixels of the tile out */
#define MARK_STEEP (1u << 18)     /* 1 - w may come near 0, and alpha has a gradient */
#define MARK_CLOCKWISE (1u << 31) /* vertices run against the order that has normals point inwards */
#define MARK_EDGE                                                                                            \
    (1u << 20) /* one edge, which comes first here, is the nearest of all pixels within the bounds */
#define MARK_BEYOND (1u << 21)         /* and then: some of them may lie beyond its ends */
/* Of MARK_EDGE, for each four of 16 lanes: which four of a triangle's sums are theirs to write. The first
 * have those of the edge, the second those of colour and alpha (3), the others what is 0 of the other edges.
 */
#define FOURS_OF(edge) ((edge) << 22 | 3u << 24 | ((edge) + 1u) % 3u << 26 | ((edge) + 2u) % 3u << 28)
#define FOUR_OF(marks, lane) ((marks) >> (22u + (lane) / 4u % 4u * 2u) & 3u)

#define LEFT(place) ((int)((place).x & 0xffffu))
#define RIGHT(place) ((int)((place).x >> 16))
#define TOP(place) ((int)((place).y & 0xffffu))
#define BOTTOM(place) ((int)((place).y >> 16))

/* MODEL.md's rule to the letter, for triangles so thin that exact zeros decide. x, y: pixel centres on the
 * canvas. */
static inline mask inside_by_crosses(RECORD_SPACE const struct shared_triangle *from, real x, float y)
{
    real low = (real)(INFINITY), high = (real)(-INFINITY);
    for (uint k = 0; k < 3; ++k) {
        RECORD_SPACE const float *e = from->edge[k], *f = from->edge[(k + 1) % 3];
        real cross = (f[0] - e[0]) * (y - e[1]) - (f[1] - e[1]) * (x - e[0]);
        low = MIN(low, cross);
        high = MAX(high, cross);
    }
    return (low >= 0.0f) | (high <= 0.0f);
}

/* a b - c d with one rounding of the result, not of each product (Kahan). */
static inline float difference_of_products(float a, float b, float c, float d)
{
    float cd = c * d;
    return fma(a, b, -cd) + fma(-c, d, cd);
}

static inline float4 aim_line(float4 edge, const struct tile *tile)
{
    float x = edge.x - tile->left, y = edge.y - tile->top; /* the edge's start */
    return (float4)(edge.z, edge.w, difference_of_products(edge.w, x, edge.z, y) * tile->unit,
                    -fma(edge.z, x, edge.w * y) * tile->unit);
}

/* Below this 1 - w, in units of the residual's scale, its division loses alpha's gradient (MODEL.md). */
#define STEEP 1e-2f

/* Without the bits of blocks. The slot is the first of all tiles. */
static inline struct aimed aim(RECORD_SPACE const struct shared_triangle *from, const struct tile *tile, uint index)
{
    struct aimed t;
    RECORD_SPACE const float4 *record = (RECORD_SPACE const float4 *)from;
    const float unit = tile->unit, inverse = RECIPROCAL(unit);
    t.line[0] = aim_line(record[0], tile);
    t.line[1] = aim_line(record[1], tile);
    t.line[2] = aim_line(record[2], tile);
    const float4 length = record[3], inverses = record[4];
    const uint4 place = as_uint4(record[6]);
    t.colour = record[5];
    const float opacity = inverses.w, alpha = t.colour.w;
    t.length = (float4)(length.xyz * unit, opacity);
    t.inverse = (float4)(inverses.xyz * inverse, as_float(place.z));
    t.place = (uint4)(place.xy, index, as_uint(length.w * unit));
    t.colour.w = as_float((place.w & SHARED_FLAG_DEGENERATE ? MARK_CROSSED : 0u) |
                          (place.w & SHARED_FLAG_CLOCKWISE ? MARK_CLOCKWISE : 0u) |
                          (alpha < 1.0f && alpha > 1.0f - STEEP ? MARK_STEEP : 0u));
    return t;
}


#endif
