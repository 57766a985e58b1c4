/* The backward pass of a team over its tile: the walk from the last triangle to the first, and the sums
 * (MODEL.md, Backward).
 *
 * What moves an edge's ends lies along its normal and its tangent, the same for all pixels. So pixels are
 * summed in the frames of the edges (kernels/edge_sums.h), and only the sums are turned into gradients. */
#ifndef GPUBENCH_KERNELS_TEAM_BACKWARD_H
#define GPUBENCH_KERNELS_TEAM_BACKWARD_H

#include "edge_sums.h"
#include "team_forward.h"

#ifdef PASS_BACKWARD

#ifdef STRATEGY_FUSED
/* Below this 1 - w, in units of the residual's scale, its division loses alpha's gradient (MODEL.md). */
#define STEEP 1e-2f
/* What lies below layers that let less than this through does not show. */
#define HIDDEN 1e-7f

/* Such pixels are rare. Where registers decide how many teams a device holds, they are left to a walk of
 * their own; elsewhere they are dealt with on the spot. */
#ifndef PATH_LOCAL
#define STEEP_LATER
#endif

/* A triangle's STEEP; nothing is, where alpha's gradient is 0 anyway or 1 - w cannot be that small. */
static inline float steep_below(float opacity)
{
    return opacity < 1.0f && opacity > 1.0f - STEEP ? STEEP : -1.0f;
}
#endif

/* What the walk from the last triangle to the first carries for each pixel. */
struct walk {
    float g_r[BLOCKS], g_g[BLOCKS], g_b[BLOCKS]; /* dL/dC */
    float through[BLOCKS];                       /* product of 1 - w over the triangles in front */
#ifdef STRATEGY_FUSED
    float rest[BLOCKS]; /* through * g . (canvas below the triangles so far): the residual R of MODEL.md */
#ifndef STEEP_LATER
    float scale[BLOCKS]; /* through where rest was exact: its rounding errors are in units of it */
#endif
#endif
};

/* The scene's triangle at place k from the bottom, of the list or, where that is not whole, of all of the
 * team's. */
static inline uint triangle_at(const struct work *work, uint k)
{
    return work->whole ? work->list[k] : work->begin + k;
}

#ifdef STRATEGY_RECOMPUTE
/* The canvas below the triangle at place `count`, in the blocks of `bits`. */
static inline void recompute(const struct work *work, const struct shared_view *view, uint count, uint bits,
                             struct canvas *canvas)
{
    clear_canvas(canvas, work->ground);
    for (uint k = 0; k < count; ++k) {
        const uint i = triangle_at(work, k);
        const uint touched = bits & blocks_in_bounds(&work->tile, work->bounds[i]);
        if (touched) {
            global const struct shared_triangle *from = work->triangles + i;
            struct aimed t = aim(from, &work->tile, i, 0);
            t.item.z = true;
            struct facing f = face(t, from, &work->tile, view);
            composite(&f, touched, canvas);
        }
    }
}
#endif

#ifdef STRATEGY_FUSED
/* Whether the triangle at place k may touch block j. */
static inline bool meets_block(const struct work *work, uint k, uint j)
{
    const uint x = (uint)work->tile.x + j % BLOCKS_X * BLOCK_W, y = (uint)work->tile.y + j / BLOCKS_X * BLOCK_H;
    return meets(work->bounds[triangle_at(work, k)], x, y, BLOCK_W, BLOCK_H);
}

/* g . (canvas below the triangle at place `count`) for a pixel of block j: from the top down, as far as
 * anything shows. */
static inline float below_dot(const struct work *work, const struct shared_view *view, uint count, uint j,
                              float g_r, float g_g, float g_b)
{
    float dot = 0.0f, through = 1.0f;
    ROLLED for (uint k = count; k > 0 && through > HIDDEN; --k)
    {
        if (!meets_block(work, k - 1u, j))
            continue;
        const uint i = triangle_at(work, k - 1u);
        const struct aimed t = aim(work->triangles + i, &work->tile, i, 0);
        const struct spot spot = lone_spot(&t, work->triangles + i, &work->tile, view, j);
        const float shown = through * weight_at(&t, &spot);
        dot = FMA(shown, DOT(g_r, g_g, g_b, t.colour.x, t.colour.y, t.colour.z), dot);
        through -= shown;
    }
#ifdef SHARED_TILE
    const float4 ground = look_through(work, j).below;
#else
    const float4 ground = work->ground;
#endif
    return FMA(through, DOT(g_r, g_g, g_b, ground.x, ground.y, ground.z), dot);
}
#endif

/* Adds a pixel's part of a triangle's position gradient. pull: -sgn dL/dd / distance, times s. */
static inline void add_edges(const struct nearness *n, float pull, float *sums)
{
    float part[3];
    /* Ties keep the earlier edge. */
    const bool is_1 = n->square[1] < n->square[0], is_2 = n->square[2] < fmin(n->square[0], n->square[1]);
    part[2] = is_2 ? pull : 0.0f;
    pull -= part[2];
    part[1] = is_1 ? pull : 0.0f;
    part[0] = pull - part[1];
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        const float end = part[k] * n->along[k];
        sums[EDGE_NORMAL(k)] = FMA(part[k], n->normal[k], sums[EDGE_NORMAL(k)]);
        sums[EDGE_NORMAL_END(k)] = FMA(end, n->normal[k], sums[EDGE_NORMAL_END(k)]);
        sums[EDGE_BEYOND(k)] = FMA(part[k], n->beyond[k], sums[EDGE_BEYOND(k)]);
        sums[EDGE_BEYOND_END(k)] = FMA(end, n->beyond[k], sums[EDGE_BEYOND_END(k)]);
    }
}

/* What a pixel's walk needs to know of the triangle that it is at. */
struct step {
    const struct work *work;
    const struct shared_view *view;
    const struct facing *f;
    float steep_below; /* for a smaller 1 - w, dL/dalpha is worked out anew, or left out and *steep set */
    uint place;        /* from the bottom */
    bool *steep;
    const struct canvas *below; /* the canvas below, taped or recomputed */
};

/* Adds the gradient of block j's pixels to sums; moves them one triangle down. */
static inline void walk_block(const struct step *s, uint j, struct walk *walk, float *sums)
{
    const struct facing *f = s->f;
    const float opacity = f->t.length.w;
    const struct spot spot = spot_of(f, j);
    const struct nearness n = find_edges(&f->t, &spot);
    const float square = SMALLEST(n.square);
    const float inverse = signed_inverse(&spot, &n, square), e = edge_exponential(&f->t, square, inverse);
    const float coverage = RECIPROCAL(1.0f + e), uncovered = e * coverage, w = opacity * coverage;
    /* 1 - w; never 0, so that nothing is divided by it. */
    const float left = FMA(opacity, uncovered, (1.0f - opacity) + 1e-30f);
    const float through = walk->through[j], g_r = walk->g_r[j], g_g = walk->g_g[j], g_b = walk->g_b[j];
    const float q = through * DOT(g_r, g_g, g_b, f->t.colour.x, f->t.colour.y, f->t.colour.z);
    float by_weight; /* dL/dw */
#ifdef STRATEGY_FUSED
    float rest = FMA(-w, q, walk->rest[j]);
    by_weight = FMA(-rest, RECIPROCAL(left), q);
#else
    by_weight = q - through * DOT(g_r, g_g, g_b, s->below->r[j], s->below->g[j], s->below->b[j]);
#endif
    const float near_enough = square >= s->view->exp2_scale * s->view->exp2_scale * 1e-14f ? w : 0.0f;
    add_edges(&n, by_weight * uncovered * near_enough * inverse, sums);
#if defined(STRATEGY_FUSED) && defined(STEEP_LATER)
    if (left < s->steep_below) {
        *s->steep = true;
        by_weight = 0.0f;
    }
#elif defined(STRATEGY_FUSED)
    if (left < s->steep_below * walk->scale[j]) {
        float dot = below_dot(s->work, s->view, s->place, j, g_r, g_g, g_b);
        by_weight = q - through * dot;
        rest = through * left * dot;
        walk->scale[j] = through * left;
    }
#endif
#ifdef STRATEGY_FUSED
    walk->rest[j] = rest;
#endif
    walk->through[j] = through * left;
    const float shown = through * w;
    sums[SUM_COLOUR] = FMA(shown, g_r, sums[SUM_COLOUR]);
    sums[SUM_COLOUR + 1] = FMA(shown, g_g, sums[SUM_COLOUR + 1]);
    sums[SUM_COLOUR + 2] = FMA(shown, g_b, sums[SUM_COLOUR + 2]);
    sums[SUM_ALPHA] = FMA(by_weight, coverage, sums[SUM_ALPHA]);
}

#ifdef REDUCTION_DIRECT
/* One atomic a value and pixel: what the other reductions are measured against. */
static inline void add_pixel(const struct work *work, const struct shared_view *view, const struct facing *f,
                             const float *sums, global float *grads)
{
    global const struct shared_triangle *t = work->triangles + f->t.item.x;
    if (sums[SUM_ALPHA] == 0.0f && sums[SUM_COLOUR] == 0.0f)
        return;
    UNROLLED for (uint i = 0; i < SUMS; ++i) atomic_add_float(
        &grads[(size_t)f->t.item.x * SUMS + i], GRADIENT_OF(sums, t, view->inverse_softness, i));
}
#endif

#ifdef REDUCTION_LOCAL
/* Adds the team's sums to the triangle's gradient, where other teams add, too. */
static inline void add_sums(const struct work *work, const struct shared_view *view, uint i,
                            const float *sums, global float *grads)
{
    global const struct shared_triangle *t = work->triangles + i;
    const uint lane = work->team.lane;
    uint which;
    const float sum = team_sum_slot(&work->team, sums, &which);
    if (which < SHARED_SLOT)
        work->totals[which] = sum;
    team_sync();
    if (lane < SUMS)
        atomic_add_float(&grads[(size_t)i * SUMS + lane],
                         GRADIENT_OF(work->totals, t, view->inverse_softness, lane));
    team_sync();
}
#endif

/* Triangle t, entry `at` of the list. tape: the scene's [T][H][W][3]. grads: the scene's [T][10], for
 * reductions that add to it. Returns whether dL/dalpha of a pixel is left out. */
static inline bool walk_triangle(const struct work *work, const struct shared_view *view,
                                 const struct aimed *t, uint at, struct walk *walk, global const float *tape,
                                 global float *grads)
{
    const struct facing f = face(*t, work->triangles + t->item.x, &work->tile, view);
    const uint place = work->whole ? at : t->item.x - work->begin;
    bool steep = false;
    float sums[SHARED_SLOT];
#ifdef STRATEGY_FUSED
    const struct step step = {work, view, &f, steep_below(t->length.w), place, &steep, NULL};
#else
    struct canvas below;
    const struct step step = {work, view, &f, -1.0f, place, &steep, &below};
#ifdef STRATEGY_TAPED
    const struct tile *tile = &work->tile;
    const size_t plane = (size_t)view->width * view->height * 3;
    FOR_BLOCKS(j, t->item.y)
    {
        load_pixel(tape + t->item.x * plane, view, COLUMN_OF(tile, j), ROW_OF(tile, j), &below.r[j],
                   &below.g[j], &below.b[j]);
    }
#else
    recompute(work, view, place, t->item.y, &below);
#endif
#endif
    UNROLLED for (uint v = 0; v < SHARED_SLOT; ++v) sums[v] = 0.0f;
    FOR_BLOCKS(j, t->item.y)
    {
        walk_block(&step, j, walk, sums);
#ifdef REDUCTION_DIRECT
        add_pixel(work, view, &f, sums, grads);
        UNROLLED for (uint v = 0; v < SHARED_SLOT; ++v) sums[v] = 0.0f;
#endif
    }
#if defined(REDUCTION_ORDERED)
    team_store_slot(&work->team, sums, work->slots + (size_t)t->place.z * SHARED_SLOT,
                    t->place.z != SHARED_NO_SLOT);
#elif defined(REDUCTION_LOCAL)
    add_sums(work, view, t->item.x, sums, grads);
#endif
    return steep;
}

/* A triangle that reaches none of the tile's pixels. */
static inline void leave_slot_empty(const struct work *work, const struct aimed *t)
{
#ifdef REDUCTION_ORDERED
    if (t->place.z != SHARED_NO_SLOT && work->team.lane < SHARED_SLOT)
        work->slots[(size_t)t->place.z * SHARED_SLOT + work->team.lane] = 0.0f;
#endif
}

/* grads: the scene's [T][10], for reductions that add to it. Returns whether walk_steep must follow. */
static inline bool walk_backward(struct work *work, const struct shared_view *view, struct walk *walk,
                                 global const float *tape, global float *grads)
{
    bool steep = false;
    work->next = work->whole ? work->count : 0;
    do {
        fill_list(work, view, true, work->whole);
        for (uint left = work->length; left > 0;) {
            const uint count = (left - 1u) % CHUNK + 1u;
            left -= count;
            fill_chunk(work, view, left, count);
            WALK_UNROLLED for (uint k = count; k > 0; --k)
            {
                struct aimed t = work->chunk[k - 1u];
                if (SKIPS && !t.item.y) {
                    leave_slot_empty(work, &t);
                    continue;
                }
                steep = walk_triangle(work, view, &t, left + k - 1u, walk, tape, grads) || steep;
            }
        }
    } while (work->next < work->count);
    return steep;
}

#if defined(STRATEGY_FUSED) && defined(STEEP_LATER)
/* values[j] by selects: an index that is not constant would put the array into memory. */
static inline float pick(const float *values, uint j)
{
    float value = values[0];
    FOR_ALL_BLOCKS(i)
    {
        value = CHOOSE(i == j, values[i], value);
    }
    return value;
}

/* Adds the sum over the team's pixels to dL/dalpha of a triangle whose sums the team has written. */
static inline void add_alpha(const struct work *work, uint4 place, uint i, float alpha, global float *grads)
{
    float sum = team_sum(&work->team, alpha);
    if (work->team.lane != 0 || sum == 0.0f)
        return;
#ifdef REDUCTION_ORDERED
    if (place.z != SHARED_NO_SLOT)
        work->slots[(size_t)slot_of(&work->tile, place) * SHARED_SLOT + SUM_ALPHA] += sum;
#else
    atomic_add_float(&grads[(size_t)i * SUMS + 9], sum);
#endif
}

/* The walk once more, for the pixels whose dL/dalpha it left out: rare, so short rather than fast. */
static inline void walk_steep(const struct work *work, const struct shared_view *view,
                              const struct walk *walk, global float *grads)
{
    const uint places = work->whole ? work->length : work->count;
    team_sync_global();
    ROLLED for (uint j = 0; j < BLOCKS; ++j)
    {
        const float g_r = pick(walk->g_r, j), g_g = pick(walk->g_g, j), g_b = pick(walk->g_b, j);
#ifdef SHARED_TILE
        float through = look_through(work, j).through;
#else
        float through = 1.0f;
#endif
        float scale = through, rest = through * below_dot(work, view, places, j, g_r, g_g, g_b);
        ROLLED for (uint k = places; k > 0; --k)
        {
            if (!meets_block(work, k - 1u, j))
                continue;
            const uint i = triangle_at(work, k - 1u);
            const struct aimed t = aim(work->triangles + i, &work->tile, i, 0);
            const struct spot spot = lone_spot(&t, work->triangles + i, &work->tile, view, j);
            const struct nearness n = find_edges(&t, &spot);
            const float opacity = t.length.w, square = SMALLEST(n.square);
            const float e = edge_exponential(&t, square, signed_inverse(&spot, &n, square));
            const float coverage = RECIPROCAL(1.0f + e), left = FMA(opacity, e * coverage, 1.0f - opacity);
            const float q = through * DOT(g_r, g_g, g_b, t.colour.x, t.colour.y, t.colour.z);
            rest = FMA(-opacity * coverage, q, rest);
            if (steep_below(opacity) > 0.0f) {
                const bool steep = left < STEEP;
                if (steep && left < STEEP * scale) {
                    rest = through * left * below_dot(work, view, k - 1u, j, g_r, g_g, g_b);
                    scale = through * left;
                }
                add_alpha(work, t.place, i, steep ? (q - rest * RECIPROCAL(left)) * coverage : 0.0f, grads);
            }
            through *= left;
        }
    }
}
#endif

#endif

#endif
