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

/* A tile's sums for one triangle, and the one for alpha. */
#ifndef SLOT_FLOATS
#define SLOT_FLOATS SHARED_SLOT
#define SLOT_ALPHA SUM_ALPHA
#endif

#ifdef STRATEGY_FUSED
/* What lies below layers that let less than this through does not show. */
#define HIDDEN 1e-7f

/* Such pixels are rare. Where registers decide how many teams a device holds, they are left to a walk of
 * their own; elsewhere they are dealt with on the spot. */
#ifndef LOOPED_LANES
#define STEEP_LATER
#endif
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
#ifdef LOCAL_RECORDS /* one chunk has all */
    return INDEX(work->chunk[k]);
#else
    return work->whole ? work->list[k] : work->begin + k;
#endif
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
            struct aimed t = aim(work->triangles + i, &work->tile, i);
            t.colour.w = as_float(MARKS(t) | MARK_CUT);
            struct facing f = face(t, work, view);
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
        const struct aimed t = aim(work->triangles + i, &work->tile, i);
        const struct spot spot = lone_spot(&t, work->triangles + i, &work->tile, view, j);
        bool covered;
        const float w = weight_at(&t, limit_of(&t), &spot, &covered), shown = covered ? through * w : 0.0f;
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

/* What a pixel's walk needs to know of the triangle that it is at. */
struct step {
    const struct work *work;
    const struct shared_view *view;
    float4 colour;
    float opacity, clear; /* clear: 1 - opacity, and never 0 */
    bool may_be_steep; /* where 1 - w is less than steep_below, dL/dalpha is worked out anew, or left out and *steep set */
    float steep_below;
    uint place;       /* from the bottom */
    bool *steep;
    const struct canvas *below; /* the canvas below, taped or recomputed */
};

/* Moves a pixel of block j one triangle down, if that covers it, and adds its gradient for red, green, blue and alpha
 * to sums[4]. e: exp(-d/s). Returns -dL/dd, times s. */
static inline float walk_pixel(const struct step *s, uint j, float e, bool covered, struct walk *walk, float *sums)
{
    /* The coverage is k = 1/(1 + e), and 1 - k = e k without cancellation. */
    const float coverage = RECIPROCAL(1.0f + e), uncovered = e * coverage, w = s->opacity * coverage;
    const float left = FMA(s->opacity, uncovered, s->clear); /* 1 - w */
    const float through = walk->through[j], g_r = walk->g_r[j], g_g = walk->g_g[j], g_b = walk->g_b[j];
    const float q = through * DOT(g_r, g_g, g_b, s->colour.x, s->colour.y, s->colour.z);
    float by_weight; /* dL/dw */
#ifdef STRATEGY_FUSED
    add_product_if(covered, -w, q, &walk->rest[j]);
    by_weight = FMA(-walk->rest[j], RECIPROCAL(left), q);
#else
    by_weight = q - through * DOT(g_r, g_g, g_b, s->below->r[j], s->below->g[j], s->below->b[j]);
#endif
    const float pull = by_weight * uncovered * w;
    bool counts = covered; /* for alpha */
#if defined(STRATEGY_FUSED) && defined(STEEP_LATER)
    if (s->may_be_steep) {
        const bool is_steep = covered & (left < s->steep_below);
        *s->steep |= is_steep;
        counts = covered & !is_steep;
    }
#elif defined(STRATEGY_FUSED)
    if (s->may_be_steep && covered && left < s->steep_below * walk->scale[j]) {
        float dot = below_dot(s->work, s->view, s->place, j, g_r, g_g, g_b);
        by_weight = q - through * dot;
        walk->rest[j] = through * left * dot;
        walk->scale[j] = through * left;
    }
#endif
    const float shown = FACTOR(covered, through * w);
    multiply_if(covered, left, &walk->through[j]);
    ADD_PART(covered, shown, g_r, &sums[0]);
    ADD_PART(covered, shown, g_g, &sums[1]);
    ADD_PART(covered, shown, g_b, &sums[2]);
    ADD_PART(counts, FACTOR(counts, by_weight), coverage, &sums[3]);
    return pull;
}

/* Adds a pixel's part of an edge's position gradient where that is the nearest. */
static inline void add_edge(bool nearest, const struct nearness *n, uint k, float pull, float *sums)
{
    const float part = FACTOR(nearest, pull), end = part * n->along[k];
    ADD_PART(nearest, part, n->normal[k], &sums[EDGE_NORMAL(k)]);
    ADD_PART(nearest, end, n->normal[k], &sums[EDGE_NORMAL_END(k)]);
    ADD_PART(nearest, part, n->beyond[k], &sums[EDGE_BEYOND(k)]);
    ADD_PART(nearest, end, n->beyond[k], &sums[EDGE_BEYOND_END(k)]);
}

/* Nearer than this there is no position gradient (MODEL.md). */
static inline float near_distance(const struct shared_view *view)
{
    return view->exp2_scale * 1e-7f;
}

/* Adds the gradient of block j's pixels, which lie at `spot` from t, to sums; moves them one triangle down. */
static inline void walk_spot(const struct step *s, const struct aimed *t, float limit, const struct spot *spot,
                             uint j, struct walk *walk, float *sums)
{
    const struct nearness n = find_edges(t, spot);
    const float square = SMALLEST(n.square);
    const float inverse = signed_inverse(spot, &n, square), e = exp2_of(square * inverse);
    const bool covered = e < limit;
    const float pull = walk_pixel(s, j, e, covered, walk, &sums[SUM_COLOUR]) * inverse;
    /* Ties keep the earlier edge. */
    const bool far = covered & (square >= near_distance(s->view) * near_distance(s->view));
    const bool is_1 = n.square[1] < n.square[0];
    const bool is_2 = n.square[2] < fmin(n.square[0], n.square[1]);
    add_edge(far & !is_2 & !is_1, &n, 0, pull, sums);
    add_edge(far & !is_2 & is_1, &n, 1, pull, sums);
    add_edge(far & is_2, &n, 2, pull, sums);
}

/* The same for all blocks, where the triangle has MARK_EDGE; its sums are those of edge 0. beyond:
 * MARK_BEYOND. */
static inline void walk_edge(const struct step *s, const struct aimed *t, bool beyond, struct walk *walk,
                             float *sums)
{
    const struct edge_facing f = face_edge(t, &s->work->tile);
    const float near = near_distance(s->view);
    FOR_ALL_BLOCKS(j)
    {
        const struct edge_spot spot = edge_spot_of(&f, j, beyond);
        const bool covered = spot.e < f.limit;
        const float pull = walk_pixel(s, j, spot.e, covered, walk, &sums[SUM_COLOUR]);
        const bool far = covered & (beyond ? spot.square >= near * near : fabs(spot.normal) >= near);
        if (beyond) {
            const float part = pull * spot.inverse, end = part * spot.along;
            add_product_if(far, part, spot.normal, &sums[EDGE_NORMAL(0)]);
            add_product_if(far, end, spot.normal, &sums[EDGE_NORMAL_END(0)]);
            add_product_if(far, part, spot.beyond, &sums[EDGE_BEYOND(0)]);
            add_product_if(far, end, spot.beyond, &sums[EDGE_BEYOND_END(0)]);
        } else { /* normal times inverse is -1 */
            add_product_if(far, pull, -1.0f, &sums[EDGE_NORMAL(0)]);
            add_product_if(far, -pull, spot.along, &sums[EDGE_NORMAL_END(0)]);
        }
    }
}

/* Where value i of a triangle's sums belongs: with MARK_EDGE, those of edge 0 are another's. */
static inline uint turned(uint marks, uint i)
{
    const uint at = i + 4u * FOUR_OF(marks, 0u);
    return !HAS_LONE_EDGE(marks) || i >= SUM_COLOUR ? i : at >= SUM_COLOUR ? at - SUM_COLOUR : at;
}

#ifdef REDUCTION_DIRECT
/* One atomic a value and pixel: what the other reductions are measured against. */
static inline void add_pixel(const struct work *work, const struct shared_view *view, uint i,
                             const float *sums, global float *grads)
{
    RECORD_SPACE const struct shared_triangle *t = work->triangles + i;
    if (sums[SUM_ALPHA] == 0.0f && sums[SUM_COLOUR] == 0.0f)
        return;
    UNROLLED for (uint v = 0; v < SUMS; ++v)
        atomic_add_float(&grads[(size_t)i * SUMS + v], GRADIENT_OF(sums, t, view->inverse_softness, v));
}
#endif

#ifdef REDUCTION_LOCAL
/* Adds the team's sums to the triangle's gradient, where other teams add, too. */
static inline void add_sums(const struct work *work, const struct shared_view *view, uint i, uint marks,
                            const float *sums, global float *grads)
{
    RECORD_SPACE const struct shared_triangle *t = work->triangles + i;
    const uint lane = work->team.lane;
    uint which;
    const float sum = team_sum_slot(&work->team, sums, &which);
    if (which < SHARED_SLOT)
        work->totals[turned(marks, which)] = sum;
    team_sync();
    if (lane < SUMS)
        atomic_add_float(&grads[(size_t)i * SUMS + lane],
                         GRADIENT_OF(work->totals, t, view->inverse_softness, lane));
    team_sync();
}
#endif

#ifdef REDUCTION_ORDERED
/* The lane's place in a slot's values, counted in fours. */
static inline RECORD_SPACE float *lane_value(const struct work *work, uint slot, uint four)
{
    return work->lane_slots + (size_t)slot * SHARED_SLOT + four * 4u;
}

/* Writes the team's sums for a triangle to its slot. */
static inline void store_sums(const struct work *work, const struct aimed *t, const float *sums)
{
    uint which;
    const float sum = team_sum_slot(&work->team, sums, &which);
#ifdef PATH_PTX
    if (SLOT(*t) != SHARED_NO_SLOT && which < SHARED_SLOT)
        *lane_value(work, SLOT(*t), which / 4u) = sum;
#else
    if (SLOT(*t) != SHARED_NO_SLOT && which < SHARED_SLOT)
        work->slots[(size_t)SLOT(*t) * SHARED_SLOT + turned(MARKS(*t), which)] = sum;
#endif
}

#ifdef PATH_PTX
/* The same for one with MARK_EDGE: of its sums, few are not 0. */
static inline void store_edge_sums(const struct work *work, const struct aimed *t, const float *sums)
{
    const uint lane = work->team.lane;
    const float sum = team_sum_eight(
        &work->team,
        (float4)(sums[EDGE_NORMAL(0)], sums[EDGE_NORMAL_END(0)], sums[EDGE_BEYOND(0)],
                 sums[EDGE_BEYOND_END(0)]),
        (float4)(sums[SUM_COLOUR], sums[SUM_COLOUR + 1], sums[SUM_COLOUR + 2], sums[SUM_ALPHA]));
    if (SLOT(*t) != SHARED_NO_SLOT && lane < SHARED_SLOT)
        *lane_value(work, SLOT(*t), FOUR_OF(MARKS(*t), lane)) = lane < 8u ? sum : 0.0f;
}
#endif
#endif

/* Triangle t, entry `at` of the list. tape: the scene's [T][H][W][3]. grads: the scene's [T][10], for
 * reductions that add to it. Sets *steep where dL/dalpha of a pixel is left out. */
static inline void walk_triangle(const struct work *work, const struct shared_view *view,
                                 const struct aimed *t, uint at, struct walk *walk, global const float *tape,
                                 global float *grads, bool *steep)
{
    const uint marks = MARKS(*t);
    const uint place = work->whole ? at : t->place.z - work->begin;
    float sums[SHARED_SLOT];
    struct step step = {
        work,  view,  t->colour, t->length.w, (1.0f - t->length.w) + 1e-30f, marks & MARK_STEEP, STEEP,
        place, steep, NULL};
#ifndef STRATEGY_FUSED
    struct canvas below;
    step.below = &below;
#ifdef STRATEGY_TAPED
    const struct tile *tile = &work->tile;
    const size_t plane = (size_t)view->width * view->height * 3;
    FOR_BLOCKS(j, marks)
    {
        load_pixel(tape + t->place.z * plane, view, COLUMN_OF(tile, j), ROW_OF(tile, j), &below.r[j],
                   &below.g[j], &below.b[j]);
    }
#else
    recompute(work, view, place, marks, &below);
#endif
#endif
    UNROLLED for (uint v = 0; v < SHARED_SLOT; ++v) sums[v] = 0.0f;
    if (HAS_LONE_EDGE(marks)) {
        step.may_be_steep = false;
        if (marks & MARK_BEYOND) {
            walk_edge(&step, t, true, walk, sums);
            keep_apart();
        } else {
            keep_apart();
            walk_edge(&step, t, false, walk, sums);
        }
#if defined(REDUCTION_ORDERED) && defined(PATH_PTX)
        store_edge_sums(work, t, sums);
        return;
#endif
    } else {
        const struct facing f = face(*t, work, view);
        FOR_BLOCKS(j, marks)
        {
            const struct spot spot = spot_of(&f, j);
            walk_spot(&step, &f.t, f.limit, &spot, j, walk, sums);
#ifdef REDUCTION_DIRECT
            add_pixel(work, view, t->place.z, sums, grads);
            UNROLLED for (uint v = 0; v < SHARED_SLOT; ++v) sums[v] = 0.0f;
#endif
        }
    }
#if defined(REDUCTION_ORDERED)
    store_sums(work, t, sums);
#elif defined(REDUCTION_LOCAL)
    add_sums(work, view, t->place.z, marks, sums, grads);
#endif
}

/* A triangle that reaches none of the tile's pixels. */
static inline void leave_slot_empty(const struct work *work, const struct aimed *t)
{
#ifdef REDUCTION_ORDERED
    if (SLOT(*t) != SHARED_NO_SLOT && work->team.lane < SHARED_SLOT)
        *lane_value(work, SLOT(*t), work->team.lane / 4u) = 0.0f;
#endif
}

/* grads: the scene's [T][10], for reductions that add to it. Returns whether walk_steep must follow. */
static inline bool walk_backward(struct work *work, const struct shared_view *view, struct walk *walk,
                                 global const float *tape, global float *grads)
{
    bool steep = false;
    work->next = work->whole ? work->count : 0;
#ifdef REDUCTION_ORDERED
    work->lane_slots = work->slots + work->team.lane % 4u;
#if defined(PATH_PTX) && !defined(LOCAL_RECORDS) /* as one value: compilers would put it together again for each triangle */
    asm volatile("mov.u64 %0, %1;" : "=l"(work->lane_slots) : "l"(work->lane_slots));
#endif
#endif
    do {
        fill_list(work, view, true, work->whole);
        for (uint left = work->length; left > 0;) {
            const uint count = (left - 1u) % CHUNK + 1u;
            left -= count;
            fill_chunk(work, view, left, count);
            WALK_UNROLLED for (uint k = count; k > 0; --k)
            {
                struct aimed t = work->chunk[k - 1u];
                if (SKIPS && !(MARKS(t) & ALL_BLOCKS)) {
                    leave_slot_empty(work, &t);
                    continue;
                }
                walk_triangle(work, view, &t, left + k - 1u, walk, tape, grads, &steep);
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
static inline void add_alpha(const struct work *work, const struct aimed *t, float alpha, global float *grads)
{
    float sum = team_sum(&work->team, alpha);
    if (work->team.lane != 0 || sum == 0.0f)
        return;
#ifdef REDUCTION_ORDERED
    if (SLOT(*t) != SHARED_NO_SLOT)
        work->slots[(size_t)slot_of(&work->tile, t->place.xy, SLOT(*t)) * SLOT_FLOATS + SLOT_ALPHA] += sum;
#else
    atomic_add_float(&grads[(size_t)t->place.z * SUMS + 9], sum);
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
            const struct aimed t = aim(work->triangles + i, &work->tile, i);
            const struct spot spot = lone_spot(&t, work->triangles + i, &work->tile, view, j);
            const struct nearness n = find_edges(&t, &spot);
            const float opacity = t.length.w, square = SMALLEST(n.square);
            const float e = exp2_of(square * signed_inverse(&spot, &n, square));
            const bool covered = e < limit_of(&t);
            const float coverage = covered ? RECIPROCAL(1.0f + e) : 0.0f;
            const float left = FMA(opacity, covered ? e * coverage : 1.0f, 1.0f - opacity);
            const float q = through * DOT(g_r, g_g, g_b, t.colour.x, t.colour.y, t.colour.z);
            rest = FMA(-opacity * coverage, q, rest);
            if (MARKS(t) & MARK_STEEP) {
                const bool steep = left < STEEP;
                if (steep && left < STEEP * scale) {
                    rest = through * left * below_dot(work, view, k - 1u, j, g_r, g_g, g_b);
                    scale = through * left;
                }
                add_alpha(work, &t, steep ? (q - rest * RECIPROCAL(left)) * coverage : 0.0f, grads);
            }
            through *= left;
        }
    }
}
#endif

#endif

#endif
