/* The model's arithmetic for one triangle and one `real` of pixels (MODEL.md, Forward 1 to 3). */
#ifndef GPUBENCH_KERNELS_GEOMETRY_H
#define GPUBENCH_KERNELS_GEOMETRY_H

#include "lanes.h"

#define BLOCKS (BLOCKS_X * BLOCKS_Y)
#ifdef PATH_CPU
#define BLOCK_H 1u
#else
#define BLOCK_H (LANES / BLOCK_W)
#endif

/* Cross products and bounds are rounded step by step; where a fused multiply-add is wanted, it says so. */
#pragma OPENCL FP_CONTRACT OFF

/* HAS_FMA: from the host. Not every compiler whose device has it says so. */
#if defined(FP_FAST_FMAF) || defined(HAS_FMA)
#define FMA(a, b, c) fma((real)(a), (real)(b), (real)(c))
#else
#define FMA(a, b, c) ((real)(a) * (real)(b) + (real)(c))
#endif

/* select() takes a scalar's condition as a truth value and a vector's as sign bits: comparisons give both.
 * (`?:` between elements of an array would choose an address, and put the array into memory.) */
#define CHOOSE(condition, yes, no) select((real)(no), (real)(yes), (mask)(condition))

#ifdef PATH_CPU
#define RECIPROCAL(x) (1.0f / (x))
#define INVERSE_ROOT(x) (1.0f / sqrt(x))
/* One instruction each, where fmin and fmax would look for NaNs first. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Library calls of a vector become one call an element on some CPU devices, so the exponential is written
 * out: 2^x = 2^n 2^f with f in [-1/2, 1/2], 2^f by the polynomial of Cephes' exp2f (relative error 2e-8).
 * Clamped to -126 ... 126, where n fits an exponent. */
static inline real exp2_of(real wide)
{
    real x = MIN(MAX(wide, (real)(-126.0f)), (real)(126.0f));
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer in the low bits */
    real shifted = x + magic;
    real f = x - (shifted - magic);
    real p = FMA(1.535336188319500e-4f, f, 1.339887440266574e-3f);
    p = FMA(p, f, 9.618437357674640e-3f);
    p = FMA(p, f, 5.550332471162809e-2f);
    p = FMA(p, f, 2.402264791363012e-1f);
    p = FMA(p, f, 6.931472028550421e-1f);
    p = FMA(p, f, 1.0f);
    return as_float8(as_int8(p) + (as_int8(shifted) << 23));
}
#elif defined(PATH_PTX)
/* One instruction each; without ftz, each takes three to five more, for denormals that do not occur. */
#define PTX_UNARY(name, instruction)                                                               \
    static inline float name(float x)                                                              \
    {                                                                                              \
        float r;                                                                                   \
        asm(instruction " %0, %1;" : "=f"(r) : "f"(x));                                            \
        return r;                                                                                  \
    }
PTX_UNARY(exp2_of, "ex2.approx.ftz.f32")
PTX_UNARY(RECIPROCAL, "rcp.approx.ftz.f32")
PTX_UNARY(INVERSE_ROOT, "rsqrt.approx.ftz.f32")
#define MIN(a, b) fmin(a, b)
#define MAX(a, b) fmax(a, b)
#else
/* The native forms are good to 2 ulp on the devices that have them in hardware. */
#define exp2_of(x) native_exp2(x) /* 0 and infinity far out; neither reaches a pixel that is covered */
#define RECIPROCAL(x) native_recip(x)
#define INVERSE_ROOT(x) native_rsqrt(x)
#define MIN(a, b) fmin(a, b)
#define MAX(a, b) fmax(a, b)
#endif

/* The centres of pixel columns (or rows) on a canvas of `size` pixels. */
static inline real centre(mask px, uint size)
{
#ifdef PATH_CPU
    return (convert_float8(px) + 0.5f) / (float)size;
#else
    return ((float)px + 0.5f) / (float)size;
#endif
}

static inline float centre_row(int py, uint size)
{
    return ((float)py + 0.5f) / (float)size;
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

/* A triangle as the walks hold it. With p a pixel from the tile's corner and t an edge's unit tangent, p is at
 * normal = (-ty, tx).p + z off the edge's line, positive inside, and at along = t.p + w along it: two
 * multiply-adds each. */
struct aimed {
    float4 line[3]; /* x, y: tangent; z, w: offsets of normal and along */
    float4 length;  /* of the edges; w: opacity */
    float4 inverse; /* 1/length; w: 1 where alpha has a gradient, 0 where its clamp is flat */
    float4 colour;  /* w: reach */
    uint4 place;    /* columns, rows, slot, flags */
    uint4 item;     /* index in the scene; bits of the tile's blocks that it may touch; unused */
    uint4 odd;      /* nothing: an odd number of 16 bytes keeps lanes that each write one out of the same banks */
};

#define LEFT(place) ((int)((place).x & 0xffffu))
#define RIGHT(place) ((int)((place).x >> 16))
#define TOP(place) ((int)((place).y & 0xffffu))
#define BOTTOM(place) ((int)((place).y >> 16))

/* MODEL.md's rule to the letter, for triangles so thin that exact zeros decide. x, y: pixel centres on the
 * canvas. */
static inline mask inside_by_crosses(global const struct shared_triangle *from, real x, float y)
{
    real low = (real)(INFINITY), high = (real)(-INFINITY);
    for (uint k = 0; k < 3; ++k) {
        global const float *e = from->edge[k], *f = from->edge[(k + 1) % 3];
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

static inline struct aimed aim(global const struct shared_triangle *from, const struct tile *tile, uint index,
                               uint bits)
{
    struct aimed t;
    global const float4 *record = (global const float4 *)from;
    t.line[0] = aim_line(record[0], tile);
    t.line[1] = aim_line(record[1], tile);
    t.line[2] = aim_line(record[2], tile);
    t.length = record[3];
    t.inverse = record[4];
    t.colour = record[5];
    t.place = as_uint4(record[6]);
    float reach = t.length.w, opacity = t.inverse.w, alpha = t.colour.w;
    t.length.w = opacity;
    t.inverse.w = alpha > 0.0f && alpha < 1.0f ? 1.0f : 0.0f;
    t.colour.w = reach;
    t.item = (uint4)(index, bits, 0, 0);
#ifndef PATH_CPU
    const float unit = tile->unit, inverse = 1.0f / unit;
    t.length.xyz *= unit;
    t.inverse.xyz *= inverse;
    t.colour.w *= unit;
    /* w = o/(1 + e) > SHARED_MIN_WEIGHT. */
    t.inverse.w = opacity * (1.0f / SHARED_MIN_WEIGHT) - 1.0f;
#endif
    return t;
}

#ifdef PATH_CPU
/* A triangle in front of a lane's pixels. */
struct facing {
    struct aimed t;
    global const struct shared_triangle *from;
};

static inline struct facing face(struct aimed t, global const struct shared_triangle *from,
                                 const struct tile *tile, const struct shared_view *view)
{
    struct facing f;
    f.t = t;
    f.from = from;
    return f;
}

/* Where pixels lie from the nearest edge: p - closest = normal (-ty, tx) + beyond (tx, ty). */
struct nearest {
    real distance, inverse; /* and 1/distance; never 0 and infinite: 1e-30 is added to the square */
    real normal, beyond;
    real along;      /* 0 ... 1 along the edge, the way it runs */
    mask is_1, is_2; /* which edge; neither: edge 0 */
    mask inside;
};

#define EDGE(k, len)                                                                               \
    real normal##k = FMA(t->line[k].x, y, FMA(-t->line[k].y, x, t->line[k].z));                    \
    real along##k = FMA(t->line[k].x, x, FMA(t->line[k].y, y, t->line[k].w));                      \
    real on##k = MIN(MAX(along##k, (real)(0.0f)), (real)(len));                                    \
    real beyond##k = along##k - on##k;                                                             \
    real square##k = FMA(normal##k, normal##k, FMA(beyond##k, beyond##k, 1e-30f));

/* For the pixels of block j, at x, y from the tile's corner. */
static inline struct nearest find_nearest(const struct facing *facing, const struct shared_view *view,
                                          const struct tile *tile, uint j, real x, float y)
{
    const struct aimed *t = &facing->t;
    struct nearest n;
    EDGE(0, t->length.x)
    EDGE(1, t->length.y)
    EDGE(2, t->length.z)
    /* Ties keep the earlier edge. */
    n.is_1 = square1 < square0;
    real square = MIN(square0, square1);
    n.is_2 = square2 < square;
    square = MIN(square, square2);
    n.inverse = INVERSE_ROOT(square);
    n.distance = square * n.inverse;
    n.normal = CHOOSE(n.is_2, normal2, CHOOSE(n.is_1, normal1, normal0));
    n.beyond = CHOOSE(n.is_2, beyond2, CHOOSE(n.is_1, beyond1, beyond0));
    n.along = CHOOSE(n.is_2, on2 * t->inverse.z,
                     CHOOSE(n.is_1, on1 * t->inverse.y, on0 * t->inverse.x));
    n.inside = MIN(MIN(normal0, normal1), normal2) >= 0.0f;
    if (t->place.w & SHARED_FLAG_DEGENERATE)
        n.inside = inside_by_crosses(facing->from, centre(COLUMN_OF(tile, j), view->width),
                                     centre_row(ROW_OF(tile, j), view->height));
    return n;
}

/* exp(-d/s) for the signed distance of n: the coverage is k = 1/(1 + e), and 1 - k = e k without
 * cancellation. */
static inline real edge_exponential(const struct nearest *n, float exp2_scale)
{
    real x = n->distance * exp2_scale;
    return exp2_of(CHOOSE(n->inside, -x, x));
}
#endif

#endif
