/* The model's arithmetic for one triangle and one `real` of pixels (MODEL.md, Forward 1 to 3). */
#ifndef GPUBENCH_KERNELS_GEOMETRY_H
#define GPUBENCH_KERNELS_GEOMETRY_H

#include "lanes.h"

/* Cross products and bounds are rounded step by step; where a fused multiply-add is wanted, it says so. */
#pragma OPENCL FP_CONTRACT OFF

#ifdef FP_FAST_FMAF
#define FMA(a, b, c) fma((real)(a), (real)(b), (real)(c))
#else
#define FMA(a, b, c) ((real)(a) * (real)(b) + (real)(c))
#endif

/* select() takes a scalar's condition as a truth value and a vector's as sign bits: comparisons give both. */
#define CHOOSE(condition, yes, no) select((real)(no), (real)(yes), (mask)(condition))

#ifdef PATH_CPU
/* Library calls of a vector become one call an element on some CPU devices, so the exponential is written
 * out: 2^x = 2^n 2^f with f in [-1/2, 1/2], 2^f by the polynomial of Cephes' exp2f (relative error 2e-8).
 * For -126 <= x <= 126. */
static inline real exp2_of(real x)
{
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
#define RECIPROCAL(x) (1.0f / (x))
#define INVERSE_ROOT(x) (1.0f / sqrt(x))
/* One instruction each, where fmin and fmax would look for NaNs first. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#else
/* The native forms are good to 2 ulp on the devices that have them in hardware. */
#define exp2_of(x) native_exp2(x)
#define RECIPROCAL(x) native_recip(x)
#define INVERSE_ROOT(x) native_rsqrt(x)
#define MIN(a, b) fmin(a, b)
#define MAX(a, b) fmax(a, b)
#endif

/* A triangle as the walks hold it: the record, loaded once for all of a lane's pixels. */
struct triangle {
    float4 edge[3]; /* start x, y; tangent x, y */
    float4 length;  /* of the edges; w: reach */
    float4 inverse; /* 1/length; w: opacity */
    float4 colour;  /* w: alpha */
    uint4 place;    /* columns, rows, slot, flags */
};

static inline struct triangle load_triangle(global const struct shared_triangle *from)
{
    struct triangle t;
    global const float4 *record = (global const float4 *)from;
    t.edge[0] = record[0];
    t.edge[1] = record[1];
    t.edge[2] = record[2];
    t.length = record[3];
    t.inverse = record[4];
    t.colour = record[5];
    t.place = as_uint4(record[6]);
    return t;
}

#define LEFT(place) ((int)((place).x & 0xffffu))
#define RIGHT(place) ((int)((place).x >> 16))
#define TOP(place) ((int)((place).y & 0xffffu))
#define BOTTOM(place) ((int)((place).y >> 16))

/* Where pixels lie from the nearest edge. With n = (-ty, tx) the edge's normal and t its tangent,
 * p - closest = normal * n + beyond * t. */
struct nearest {
    real square;         /* squared distance */
    real distance, inverse; /* its root, and 1/distance (large, not infinite, at 0) */
    real normal, beyond;
    real along;          /* 0 ... 1 from the edge's start to its end: t of the model */
    mask is_1, is_2;     /* which edge; neither: edge 0 */
    mask inside;
};

/* The distance to an edge splits in its frame: `normal` off the line, `beyond` off its ends. */
#define EDGE(k, len)                                                                               \
    real dx##k = px - t->edge[k].x, dy##k = py - t->edge[k].y;                                     \
    real normal##k = FMA(t->edge[k].z, dy##k, -t->edge[k].w * dx##k);                              \
    real along##k = FMA(t->edge[k].z, dx##k, t->edge[k].w * dy##k);                                \
    real on##k = MIN(MAX(along##k, (real)(0.0f)), (real)(len));                                  \
    real beyond##k = along##k - on##k;                                                             \
    real square##k = FMA(normal##k, normal##k, beyond##k * beyond##k);

static inline struct nearest find_nearest(const struct triangle *t, real px, real py)
{
    struct nearest n;
    EDGE(0, t->length.x)
    EDGE(1, t->length.y)
    EDGE(2, t->length.z)
    /* Ties keep the earlier edge. */
    n.is_1 = square1 < square0;
    n.square = MIN(square0, square1);
    n.is_2 = square2 < n.square;
    n.square = MIN(n.square, square2);
    n.inverse = INVERSE_ROOT(MAX(n.square, (real)(1e-30f)));
    n.distance = n.square * n.inverse;
    n.normal = CHOOSE(n.is_2, normal2, CHOOSE(n.is_1, normal1, normal0));
    n.beyond = CHOOSE(n.is_2, beyond2, CHOOSE(n.is_1, beyond1, beyond0));
    n.along = CHOOSE(n.is_2, on2 * t->inverse.z,
                     CHOOSE(n.is_1, on1 * t->inverse.y, on0 * t->inverse.x));
    if (t->place.w & SHARED_FLAG_DEGENERATE) {
        /* The model's rule to the letter: exact zeros decide. */
        real c0 = (t->edge[1].x - t->edge[0].x) * dy0 - (t->edge[1].y - t->edge[0].y) * dx0;
        real c1 = (t->edge[2].x - t->edge[1].x) * dy1 - (t->edge[2].y - t->edge[1].y) * dx1;
        real c2 = (t->edge[0].x - t->edge[2].x) * dy2 - (t->edge[0].y - t->edge[2].y) * dx2;
        real low = MIN(MIN(c0, c1), c2), high = MAX(MAX(c0, c1), c2);
        n.inside = (low >= 0.0f) | (high <= 0.0f);
    } else if (t->place.w & SHARED_FLAG_CLOCKWISE) {
        n.inside = MAX(MAX(normal0, normal1), normal2) <= 0.0f;
    } else {
        n.inside = MIN(MIN(normal0, normal1), normal2) >= 0.0f;
    }
    return n;
}

/* exp(-d/s) for the signed distance of n, at most 2^126 so that nothing overflows: the coverage is
 * k = 1/(1 + e), and 1 - k = e k without cancellation. */
static inline real edge_exponential(const struct nearest *n, float exp2_scale)
{
    real x = n->distance * exp2_scale;
    x = CHOOSE(n->inside, -x, x);
    return exp2_of(MIN(MAX(x, (real)(-126.0f)), (real)(126.0f)));
}

#endif
