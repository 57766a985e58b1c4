/* A triangle as it comes from the host (ten floats) to the record that tiles walk (MODEL.md, Forward 1 and 2). */
#ifndef GPUBENCH_KERNELS_FRAME_H
#define GPUBENCH_KERNELS_FRAME_H

#include "native.h"
#include "shared.h"

/* Every operation rounded to float32. */
#pragma OPENCL FP_CONTRACT OFF

/* A triangle whose height is below this part of its longest edge is too thin for its frames to tell
 * inside from outside beyond its tips, where rounding would flip far pixels. */
#define THIN 1e-3f
#define NO_REACH 1e30f

/* Of pixel columns (or rows) of `size`, those that a triangle with such vertices may cover: first | last + 1 << 16, or 0. */
static inline uint padded_span(float a, float b, float c, float sigma, uint size)
{
    const float pad = 6.0f * sigma, low = fmin(fmin(a, b), c), high = fmax(fmax(a, b), c), whole = (float)size;
    const bool finite = fabs(a) <= SHARED_MAX_COORD && fabs(b) <= SHARED_MAX_COORD && fabs(c) <= SHARED_MAX_COORD;
    /* Clamped before the conversion: a wide pad must not overflow an int. */
    const float from = fmax(floor((low - pad) * whole), 0.0f);
    const float to = fmin(fmax(ceil((high + pad) * whole), 0.0f) + 1.0f, whole);
    return finite && from < to ? (uint)from | (uint)to << 16 : 0u;
}

static inline uint tiles_met(uint2 bounds)
{
    uint left = bounds.x & 0xffffu, right = bounds.x >> 16;
    uint top = bounds.y & 0xffffu, bottom = bounds.y >> 16;
    if (left >= right)
        return 0;
    return ((right - 1) / TILE_W - left / TILE_W + 1) * ((bottom - 1) / TILE_H - top / TILE_H + 1);
}

/* At most SHARED_MIN_WEIGHT of opacity never makes a weight above it. */
static inline bool can_be_seen(const float *p)
{
    return p[9] > SHARED_MIN_WEIGHT;
}

/* The padded bounds of a triangle that can be seen; else empty ones. */
static inline uint2 bounds_of(const float *p, const struct shared_view *view)
{
    const uint columns = padded_span(p[0], p[2], p[4], view->sigma, view->width);
    const uint rows = padded_span(p[1], p[3], p[5], view->sigma, view->height);
    return can_be_seen(p) && columns && rows ? (uint2)(columns, rows) : (uint2)(0, 0);
}

/* SHARED_FLAG_* of a triangle. */
static inline uint flags_of(const float *p)
{
    float longest = 0.0f;
    float area = (p[2] - p[0]) * (p[5] - p[1]) - (p[3] - p[1]) * (p[4] - p[0]);
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        float dx = p[(2 * k + 2) % 6] - p[2 * k], dy = p[(2 * k + 3) % 6] - p[2 * k + 1];
        longest = fmax(longest, dx * dx + dy * dy);
    }
    if (!(fabs(area) > THIN * longest))
        return SHARED_FLAG_DEGENERATE;
    return area < 0.0f ? SHARED_FLAG_CLOCKWISE : 0;
}

struct edge_frame {
    float4 line; /* start x, y; unit tangent x, y */
    float length, inverse;
};

/* 1/sqrt(x), to an ulp or two: a step of Newton's squares the error of an estimate. Quotients and roots that are
 * rounded correctly take several times as long, with branches. */
static inline float inverse_root(float x)
{
    const float r = INVERSE_ROOT(x);
    return fma(0.5f * r, fma(-x * r, r, 1.0f), r);
}

/* The edge from one vertex to the next, or the other way round. */
static inline struct edge_frame frame_edge(float x, float y, float next_x, float next_y, bool clockwise)
{
    float dx = clockwise ? x - next_x : next_x - x, dy = clockwise ? y - next_y : next_y - y;
    float square = dx * dx + dy * dy, inverse = inverse_root(square);
    bool point = !(square > 1e-20f && square < INFINITY); /* or not finite: sums of 0 times its direction would be NaN */
    struct edge_frame e;
    e.line = (float4)(clockwise ? next_x : x, clockwise ? next_y : y, point ? 1.0f : dx * inverse,
                      point ? 0.0f : dy * inverse);
    e.length = point ? 0.0f : square * inverse;
    e.inverse = point ? 0.0f : inverse;
    return e;
}

static inline float opacity_of(float alpha)
{
    return fmin(fmax(alpha, 0.0f), 1.0f);
}

/* w = o/(1 + exp(x)) <= 1e-6 from x = ln(1e6 o) on; one part in a hundred more, for rounding. */
static inline float reach_of(float opacity, uint flags, const struct shared_view *view)
{
    return flags & SHARED_FLAG_DEGENERATE ? NO_REACH
                                          : (log(1e6f * opacity + 1.0f) + 0.01f) * 1.01f / view->inverse_softness;
}

/* The record but for its slot. */
static inline struct shared_triangle frame(const float *p, const struct shared_view *view)
{
    struct shared_triangle t;
    uint2 bounds = bounds_of(p, view);
    t.flags = flags_of(p);
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        struct edge_frame e = frame_edge(p[2 * k], p[2 * k + 1], p[(2 * k + 2) % 6], p[(2 * k + 3) % 6],
                                         t.flags & SHARED_FLAG_CLOCKWISE);
        t.edge[k][0] = e.line.x;
        t.edge[k][1] = e.line.y;
        t.edge[k][2] = e.line.z;
        t.edge[k][3] = e.line.w;
        t.length[k] = e.length;
        t.inverse[k] = e.inverse;
    }
    t.opacity = opacity_of(p[9]);
    t.reach = reach_of(t.opacity, t.flags, view);
    t.colour[0] = p[6];
    t.colour[1] = p[7];
    t.colour[2] = p[8];
    t.alpha = p[9];
    t.columns = bounds.x;
    t.rows = bounds.y;
    t.slot = 0;
    return t;
}

#endif
