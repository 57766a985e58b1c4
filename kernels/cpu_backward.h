/* A CPU device's backward pass: the walk from the last triangle to the first, and the sums (MODEL.md,
 * Backward). */
#ifndef GPUBENCH_KERNELS_CPU_BACKWARD_H
#define GPUBENCH_KERNELS_CPU_BACKWARD_H

#include "cpu_forward.h"

#ifdef PASS_BACKWARD

/* Below this 1 - w, in units of the residual's scale, its division loses alpha's gradient (MODEL.md). */
#define STEEP 1e-2f
/* What lies below layers that let less than this through does not show. */
#define HIDDEN 1e-7f

/* Of what is seen on the way forward, this many vectors are kept; the rest is looked at again on the way
 * back. */
#ifdef STRATEGY_FUSED
#define TAPE_ROOM (5120u * 16u / WIDTH)
#else
#define TAPE_ROOM 0u
#endif
#define LAST_ROOM (BLOCKS * TAPE_CAREFUL) /* behind it: of the triangle that is looked at again */

/* What the walk carries for each pixel. */
struct walk {
    real g[BLOCKS][3];    /* dL/dC */
    real through[BLOCKS]; /* product of 1 - w over the triangles in front */
#ifdef STRATEGY_FUSED
    real residual[BLOCKS]; /* through * g . (canvas below the triangles so far): R of MODEL.md */
    real scale[BLOCKS];    /* through where that was exact: its rounding errors are in units of it */
#else
    real below[BLOCKS][3]; /* the canvas below a triangle, in its blocks */
#endif
    real tape[TAPE_ROOM + LAST_ROOM];
    uint taped; /* entries of the list that are on the tape */
    real *end;  /* of what is on it */
};

INLINE float4 quarter(real v)
{
#if WIDTH == 16u
    const float8 half_sum = v.lo + v.hi;
    return half_sum.lo + half_sum.hi;
#else
    return v.lo + v.hi;
#endif
}

/* The sums over lanes of four vectors. */
INLINE float4 sum_four(real a, real b, real c, real d)
{
    const float4 a4 = quarter(a), b4 = quarter(b), c4 = quarter(c), d4 = quarter(d);
    const float4 ab = (float4)(a4.lo, b4.lo) + (float4)(a4.hi, b4.hi);
    const float4 cd = (float4)(c4.lo, d4.lo) + (float4)(c4.hi, d4.hi);
    return (float4)(ab.even, cd.even) + (float4)(ab.odd, cd.odd);
}

/* The triangle at place k from the bottom, of the list or, where that is not whole, of all; no blocks where
 * it does not meet the tile. */
INLINE entry entry_at(const struct work *w, uint k)
{
    if (w->whole)
        return w->list[w->first + k];
#ifdef BIN_TILES
    if (!(w->bin[k / 32u] >> k % 32u & 1u))
        return (entry)(k, 0);
#endif
    return (entry)(k, meeting(w->bounds + k, 1, &w->tile) ? blocks_in_bounds(&w->tile, w->bounds[k]) : 0u);
}

/* How many triangles lie below the list's entry `at`, for entry_at. */
INLINE uint place_of(const struct work *w, uint at)
{
    return w->whole ? at : w->list[w->first + at].x;
}

#ifdef STRATEGY_RECOMPUTE
/* The canvas below the list's entry `at`, in the blocks of `bits`, composited again from the bottom. */
NOINLINE void composite_below(struct work *w, const struct shared_view *view, uint at, uint bits,
                              real (*canvas)[3])
{
    const uint count = place_of(w, at);
    for (uint j = 0; j < BLOCKS; ++j)
        clear_block(canvas[j], w->ground);
    for (uint k = 0; k < count; ++k) {
        entry item = entry_at(w, k);
        item.y &= bits;
        if (item.y)
            put_triangle(w, view, item, canvas, NULL, NULL);
    }
}
#endif

/* What a triangle's pixels add up to: x and y of the whole triangle and of vertices 1 and 2, with half of it
 * taken off each; r, g, b, alpha. */
struct sums {
    real v[SUMS];
};

INLINE void add_position(struct sums *s, const real *tape, real m)
{
    const real x = m * tape[TAPE_X], y = m * tape[TAPE_Y];
    s->v[0] += x;
    s->v[1] += y;
    s->v[2] = FMA(tape[TAPE_SHARE_1], x, s->v[2]);
    s->v[3] = FMA(tape[TAPE_SHARE_1], y, s->v[3]);
    s->v[4] = FMA(tape[TAPE_SHARE_2], x, s->v[4]);
    s->v[5] = FMA(tape[TAPE_SHARE_2], y, s->v[5]);
}

INLINE void add_colour(struct sums *s, const real *g, real shown)
{
    UNROLLED for (uint v = 0; v < 3; ++v) s->v[6 + v] = FMA(shown, g[v], s->v[6 + v]);
}

INLINE real dot_of(const real *g, float4 c)
{
    return FMA(g[2], c.z, FMA(g[1], c.y, g[0] * c.x));
}

#ifdef STRATEGY_FUSED
/* g . (canvas below the list's entry `at`) for those of block j's pixels that are wanted: from the top down,
 * as far as anything shows. */
NOINLINE real below_dot(struct work *work, const struct shared_view *view, uint at, uint j, const real *g,
                        mask wanted)
{
    real dot = (real)(0.0f), through = CHOOSE(wanted, (real)(1.0f), (real)(0.0f));
    for (uint k = place_of(work, at); k > 0 && ANY(through > HIDDEN); --k) {
        const entry item = entry_at(work, k - 1u);
        if (!(item.y >> j & 1u))
            continue;
        global const struct shared_triangle *t = work->triangles + item.x;
        real seen[TAPE_CAREFUL];
        put_triangle(work, view, (entry)(item.x, 1u << j), NULL, seen, NULL);
        const real shown = through * seen[TAPE_K] * t->opacity;
        dot = FMA(shown, dot_of(g, vload4(0, t->colour)), dot);
        through -= shown;
    }
    return FMA(through, dot_of(g, work->ground), dot);
}

/* Opacities of at most 0.99, so that 1 - w is never small. */
INLINE void walk_block(struct walk *walk, uint j, const real *tape, float4 colour, float opacity,
                       struct sums *s)
{
    const real *g = walk->g[j], k = tape[TAPE_K], w = k * opacity, through = walk->through[j];
    const real q = through * dot_of(g, colour), rest = FMA(-w, q, walk->residual[j]), left = 1.0f - w;
    walk->residual[j] = rest;
    walk->through[j] = through * left;
    add_colour(s, g, through * w);
    const real by_alpha = FMA(-rest, 1.0f / left, q) * k;
    s->v[9] += by_alpha;
    add_position(s, tape, by_alpha * (1.0f - k));
}
#endif

/* Any opacity, and any strategy. The list's entry `at`; steep_below: for a smaller 1 - w, dL/dalpha is worked
 * out anew. */
NOINLINE void walk_careful(struct work *work, const struct shared_view *view, struct walk *walk, uint at,
                           uint j, const real *tape, float4 colour, float opacity, float steep_below,
                           struct sums *s)
{
    const real *g = walk->g[j], k = tape[TAPE_K], w = k * opacity, through = walk->through[j];
    const real uncovered = tape[TAPE_UNCOVERED];
    const mask live = k > 0.0f;
    const real left = FMA(opacity, uncovered, (real)(1.0f - opacity)); /* 1 - w */
    const real q = through * dot_of(g, colour);
    real by_weight, by_position; /* dL/dw, and dL/dw (1 - k) */
#ifdef STRATEGY_FUSED
    const real inverse = 1.0f / left;
    real rest = FMA(-w, q, walk->residual[j]);
    by_position = FMA(q, uncovered, -rest * CHOOSE(w >= k, (real)(1.0f), uncovered * inverse));
    by_weight = FMA(-rest, inverse, q);
    const mask steep = live & (left < steep_below * walk->scale[j]);
    if (ANY(steep)) {
        const real dot = below_dot(work, view, at, j, g, steep);
        by_weight = CHOOSE(steep, q - through * dot, by_weight);
        rest = CHOOSE(steep, through * left * dot, rest);
        walk->scale[j] = CHOOSE(steep, through * left, walk->scale[j]);
    }
    walk->residual[j] = CHOOSE(live, rest, walk->residual[j]);
#else
    by_weight = q - through * DOT(g, walk->below[j]);
    by_position = by_weight * uncovered;
#endif
    walk->through[j] = CHOOSE(live, through * left, through);
    by_weight = CHOOSE(live, by_weight, (real)(0.0f));
    add_colour(s, g, through * w);
    s->v[9] += by_weight * k;
    add_position(s, tape, by_position * k);
}

/* What is left of the sums once they are known: vertex 0 has what the others have not, and factors that all
 * of a triangle's pixels share. */
INLINE void finish(struct sums *s, global const struct shared_triangle *t, float inverse_softness)
{
    const float scale = -0.5f * t->opacity * inverse_softness;
    UNROLLED for (uint axis = 0; axis < 2; ++axis)
    {
        const real all = s->v[axis], half_all = 0.5f * all, v1 = s->v[2 + axis], v2 = s->v[4 + axis];
        s->v[axis] = (-v1 - v2) * scale;
        s->v[2 + axis] = (v1 + half_all) * scale;
        s->v[4 + axis] = (v2 + half_all) * scale;
    }
    if (!(t->alpha > 0.0f && t->alpha < 1.0f))
        s->v[9] = (real)(0.0f);
}

#ifdef REDUCTION_DIRECT
/* One atomic a pixel: what the other reductions are measured against. */
NOINLINE void add_pixels(global float *sums, struct sums *s, real k, bool alpha)
{
    const float *values = (const float *)s->v, *live = (const float *)&k;
    for (uint v = 0; v < (alpha ? SUMS : SUMS - 1u); ++v) {
        for (uint lane = 0; lane < WIDTH; ++lane) {
            if (live[lane] > 0.0f)
                atomic_add_float(sums + v, values[v * WIDTH + lane]);
        }
    }
}
#endif

/* The list's entry `at`. grads: the scene's [T][10], for reductions that add to it. */
INLINE void walk_triangle(struct work *work, const struct shared_view *view, struct walk *walk, uint at,
                          const real *tape, bool careful, global float *grads)
{
    const entry item = work->list[work->first + at];
    global const struct shared_triangle *t = work->triangles + item.x;
    const float4 colour = vload4(0, t->colour);
    const float opacity = t->opacity;
    const bool fades = t->alpha > 0.0f && t->alpha < 1.0f;
    const float steep_below = fades && opacity > 1.0f - STEEP ? STEEP : -1.0f;
    struct sums s;
    UNROLLED for (uint v = 0; v < SUMS; ++v) s.v[v] = (real)(0.0f);
    for (uint bits = item.y; bits; bits &= bits - 1u) {
        const uint j = LOWEST(bits);
        if (careful) {
            walk_careful(work, view, walk, at, j, tape, colour, opacity, steep_below, &s);
            tape += TAPE_CAREFUL;
        }
#ifdef STRATEGY_FUSED
        else {
            walk_block(walk, j, tape, colour, opacity, &s);
            tape += TAPE_PLAIN;
        }
#endif
#ifdef REDUCTION_DIRECT
        finish(&s, t, view->inverse_softness);
        add_pixels(grads + (size_t)item.x * SUMS, &s, tape[TAPE_K - (int)TAPE_OF(careful)], fades);
        UNROLLED for (uint v = 0; v < SUMS; ++v) s.v[v] = (real)(0.0f);
#endif
    }
#ifndef REDUCTION_DIRECT
    finish(&s, t, view->inverse_softness);
    const float4 a = sum_four(s.v[0], s.v[1], s.v[2], s.v[3]), b = sum_four(s.v[4], s.v[5], s.v[6], s.v[7]);
    const float4 c = sum_four(s.v[8], s.v[9], s.v[8], s.v[9]);
#ifdef REDUCTION_ORDERED
    if (t->slot != SHARED_NO_SLOT) {
        global float *sums = work->slots + (size_t)slot_of(&work->tile, t) * SHARED_SLOT;
        vstore4(a, 0, sums);
        vstore4(b, 1, sums);
        vstore2(c.lo, 4, sums);
    }
#else
    float values[12];
    vstore4(a, 0, values);
    vstore4(b, 1, values);
    vstore4(c, 2, values);
    for (uint v = 0; v < SUMS; ++v)
        atomic_add_float(&grads[(size_t)item.x * SUMS + v], values[v]);
#endif
#endif
}

/* tape: the scene's [T][H][W][3], with STRATEGY_TAPED. */
NOINLINE void walk_back(struct work *work, const struct shared_view *view, struct walk *walk,
                        global const float *tape, global float *grads)
{
    real *end = walk->end;
    work->next = work->whole ? view->triangles : 0;
    do {
        if (!work->whole)
            fill_list(work, view, true);
        for (uint at = work->length; at-- > 0;) {
            const entry item = work->list[work->first + at];
            const bool careful = is_careful(work->triangles + item.x);
            if (at < walk->taped)
                end -= (uint)popcount(item.y) * TAPE_OF(careful);
            else
                put_triangle(work, view, item, NULL, end, NULL);
#if defined(STRATEGY_TAPED)
            const size_t plane = (size_t)view->width * view->height * 3;
            for (uint bits = item.y; bits; bits &= bits - 1u) {
                const uint j = LOWEST(bits);
                load_block(tape + item.x * plane, view, &work->tile, j, work->ground, walk->below[j]);
            }
#elif defined(STRATEGY_RECOMPUTE)
            composite_below(work, view, at, item.y, walk->below);
#endif
#ifdef STRATEGY_FUSED
            if (!careful)
                walk_triangle(work, view, walk, at, end, false, grads);
            else
#endif
                walk_triangle(work, view, walk, at, end, true, grads);
        }
    } while (work->next < view->triangles);
}

#endif

#endif
