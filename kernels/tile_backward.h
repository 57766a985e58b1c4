/* The backward pass over a tile on a CPU device: the walk from the last triangle to the first, and the sums (MODEL.md,
 * Backward). */
#ifndef GPUBENCH_KERNELS_TILE_BACKWARD_H
#define GPUBENCH_KERNELS_TILE_BACKWARD_H

#include "tile_forward.h"

#if defined(PASS_BACKWARD) && defined(PATH_CPU)

#ifdef STRATEGY_FUSED
/* Below this 1 - w, in units of the residual's scale, its division loses alpha's gradient (MODEL.md). */
#define STEEP 1e-2f
/* What lies below layers that let less than this through does not show. */
#define HIDDEN 1e-7f

/* Such pixels are rare. Where registers decide how many teams a device holds, they are left to a walk of their
 * own; elsewhere they are dealt with on the spot. */
#if defined(PATH_PTX) || defined(PATH_SUBGROUPS)
#define STEEP_LATER
#endif

#ifdef PATH_CPU
#define ANY(m) any(m)
#else
#define ANY(m) (m)
#endif
#endif

/* What the walk from the last triangle to the first carries for each pixel. */
struct walk {
    real g_r[BLOCKS], g_g[BLOCKS], g_b[BLOCKS]; /* dL/dC */
    real through[BLOCKS];                       /* product of 1 - w over the triangles in front */
#ifdef STRATEGY_FUSED
    real rest[BLOCKS]; /* through * g . (canvas below the triangles so far): the residual R of MODEL.md */
#ifndef STEEP_LATER
    real scale[BLOCKS]; /* through where rest was exact: its rounding errors are in units of it */
#endif
#endif
};

#ifdef REDUCTION_DIRECT
/* One atomic a pixel: what the other reductions are measured against. */
static inline void add_pixels(global float *sum, real value, mask live)
{
#ifdef PATH_CPU
    union { real v; float at[WIDTH]; } values;
    union { mask v; int at[WIDTH]; } lives;
    values.v = value;
    lives.v = live;
    for (uint i = 0; i < WIDTH; ++i) {
        if (lives.at[i])
            atomic_add_float(sum, values.at[i]);
    }
#else
    if (live)
        atomic_add_float(sum, value);
#endif
}
#define ADD(i, a, b) add_pixels(sums + (i), (a) * (b), live)
#else
#define ADD(i, a, b) sums[i] = FMA(a, b, sums[i])
#endif

/* The scene's triangle at place k from the bottom, of the list or, where that is not whole, of all. */
static inline uint triangle_at(const struct work *work, uint k)
{
    return work->whole ? work->list[k] : k;
}

/* Where the list is not whole, bins tell which places to pass over. The first place from k on, below end, that
 * must be looked at; and the last below k, plus one. */
static inline uint seek_up(const struct work *work, uint k, uint end)
{
#ifdef BIN_TILES
    while (!work->whole && k < end) {
        const uint bits = work->bin[k / 32u] & ~0u << k % 32u;
        if (bits)
            return min(k / 32u * 32u + 31u - clz(bits & (0u - bits)), end);
        k = (k / 32u + 1u) * 32u;
    }
#endif
    return k;
}

static inline uint seek_down(const struct work *work, uint k)
{
#ifdef BIN_TILES
    while (!work->whole && k > 0) {
        const uint word = (k - 1u) / 32u, bits = work->bin[word] & ~0u >> (31u - (k - 1u) % 32u);
        if (bits)
            return word * 32u + 32u - clz(bits);
        k = word * 32u;
    }
#endif
    return k;
}

static inline struct facing face_triangle(const struct work *work, const struct shared_view *view, uint i)
{
    global const struct shared_triangle *from = work->triangles + i;
    return face(aim(from, &work->tile, i, 0), from, &work->tile, view);
}

#ifdef STRATEGY_RECOMPUTE
/* The canvas below the triangle at place `count`, in the blocks of `bits`. */
static inline void recompute(const struct work *work, const struct shared_view *view, uint count, uint bits,
                             struct canvas *canvas)
{
    clear_canvas(canvas, work->ground);
    for (uint k = seek_up(work, 0, count); k < count; k = seek_up(work, k + 1u, count)) {
        const uint i = triangle_at(work, k);
        const uint touched = bits & blocks_in_bounds(&work->tile, work->bounds[i]);
        if (touched) {
            struct facing f = face_triangle(work, view, i);
            composite(&work->tile, view, &f, touched, canvas);
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

/* g . (canvas below the triangle at place `count`) for those of block j's pixels that are wanted: from the top
 * down, as far as anything shows. */
static inline real below_dot(const struct work *work, const struct shared_view *view, uint count, uint j, real x,
                             float y, real g_r, real g_g, real g_b, mask wanted)
{
    real dot = (real)(0.0f), through = CHOOSE(wanted, 1.0f, 0.0f);
    ROLLED for (uint k = seek_down(work, count); k > 0 && ANY(through > HIDDEN); k = seek_down(work, k - 1u))
    {
        if (!meets_block(work, k - 1u, j))
            continue;
        struct facing f = face_triangle(work, view, triangle_at(work, k - 1u));
        real shown = through * weight_at(&f, view, &work->tile, j, x, y);
        dot = FMA(shown, DOT(g_r, g_g, g_b, f.t.colour.x, f.t.colour.y, f.t.colour.z), dot);
        through -= shown;
    }
    return FMA(through, DOT(g_r, g_g, g_b, work->ground.x, work->ground.y, work->ground.z), dot);
}
#endif

/* Triangle t's gradient from the pixels of block j; moves them one triangle down. place: of t, from the
 * bottom. steep_below: for a smaller 1 - w, dL/dalpha is worked out anew, or left out and *steep set. below: the canvas below, taped or recomputed. */
static inline void walk_block(const struct tile *tile, const struct shared_view *view, const struct facing *f,
                              uint j, struct walk *walk,
#ifdef STRATEGY_FUSED
                              const struct work *work, uint place, float steep_below, bool *steep,
#else
                              const struct canvas *below,
#endif
#ifdef REDUCTION_DIRECT
                              global float *sums
#else
                              real *sums
#endif
)
{
    const struct aimed *t = &f->t;
    const float opacity = t->length.w;
    struct nearest n = find_nearest(f, view, tile, j, tile->x_at[j % BLOCKS_X], tile->y_at[j / BLOCKS_X]);
    real e = edge_exponential(&n, view->exp2_scale);
    real coverage = RECIPROCAL(1.0f + e), uncovered = e * coverage;
    real w = opacity * coverage;
    real left = FMA(opacity, uncovered, 1.0f - opacity); /* 1 - w */
    mask live = in_bounds(t, COLUMN_OF(tile, j), ROW_OF(tile, j)) & (w > SHARED_MIN_WEIGHT);
    real g_r = walk->g_r[j], g_g = walk->g_g[j], g_b = walk->g_b[j], through = walk->through[j];
    real q = through * DOT(g_r, g_g, g_b, t->colour.x, t->colour.y, t->colour.z);
    real by_weight, by_position; /* dL/dw, and dL/dw (1 - k) */
#ifdef STRATEGY_FUSED
    real rest = walk->rest[j] - w * q, inverse = RECIPROCAL(left);
    by_position = FMA(q, uncovered, -rest * CHOOSE(w >= coverage, 1.0f, uncovered * inverse));
    by_weight = q - rest * inverse;
#ifdef STEEP_LATER
    *steep = *steep || ANY(live & (left < steep_below));
    by_weight = CHOOSE(live & (left >= steep_below), by_weight, 0.0f);
#else
    const mask is_steep = live & (left < steep_below * walk->scale[j]);
    if (ANY(is_steep)) {
        real dot = below_dot(work, view, place, j, tile->x_at[j % BLOCKS_X], tile->y_at[j / BLOCKS_X], g_r, g_g, g_b,
                             is_steep);
        by_weight = CHOOSE(is_steep, q - through * dot, by_weight);
        rest = CHOOSE(is_steep, through * left * dot, rest);
        walk->scale[j] = CHOOSE(is_steep, through * left, walk->scale[j]);
    }
    by_weight = CHOOSE(live, by_weight, 0.0f);
#endif
    walk->rest[j] = CHOOSE(live, rest, walk->rest[j]);
#else
    real dot = DOT(g_r, g_g, g_b, below->r[j], below->g[j], below->b[j]);
    by_weight = CHOOSE(live, q - through * dot, 0.0f);
    by_position = by_weight * uncovered;
#endif
    walk->through[j] = CHOOSE(live, through * left, through);
    /* -sgn dL/dd / distance: the factor of (p - closest) in what the edge's two ends get. */
    real pull = by_position * w * n.inverse * view->inverse_softness;
    pull = CHOOSE(n.inside, -pull, pull);
    pull = CHOOSE(live & (n.distance >= 1e-7f), pull, 0.0f);
    real t_x = CHOOSE(n.is_2, t->line[2].x, CHOOSE(n.is_1, t->line[1].x, t->line[0].x));
    real t_y = CHOOSE(n.is_2, t->line[2].y, CHOOSE(n.is_1, t->line[1].y, t->line[0].y));
    real v_x = FMA(n.beyond, t_x, -n.normal * t_y), v_y = FMA(n.beyond, t_y, n.normal * t_x);
    /* `end` is for vertex (k+1)%3 of edge k, whichever way the edge runs. */
    const bool clockwise = t->place.w & SHARED_FLAG_CLOCKWISE;
    real end = pull * FMA(clockwise ? -1.0f : 1.0f, n.along, clockwise ? 1.0f : 0.0f), start = pull - end;
    real at_0 = CHOOSE(n.is_2, end, CHOOSE(n.is_1, 0.0f, start));
    real at_1 = CHOOSE(n.is_2, 0.0f, CHOOSE(n.is_1, start, end));
    real at_2 = CHOOSE(n.is_2, start, CHOOSE(n.is_1, end, 0.0f));
    real shown = CHOOSE(live, through * w, 0.0f);
    ADD(0, at_0, v_x);
    ADD(1, at_0, v_y);
    ADD(2, at_1, v_x);
    ADD(3, at_1, v_y);
    ADD(4, at_2, v_x);
    ADD(5, at_2, v_y);
    ADD(6, shown, g_r);
    ADD(7, shown, g_g);
    ADD(8, shown, g_b);
#ifdef REDUCTION_DIRECT
    if (t->inverse.w == 0.0f)
        return;
#endif
    ADD(9, by_weight, coverage);
}

/* Triangle t, entry `at` of the list. tape: the scene's [T][H][W][3]. grads: the scene's [T][10], for
 * reductions that add to it. Returns whether dL/dalpha of a pixel is left out. */
static inline bool walk_triangle(const struct work *work, const struct shared_view *view, const struct aimed *t,
                                 uint at, struct walk *walk, global const float *tape, global float *grads)
{
    const struct tile *tile = &work->tile;
    const struct facing f = face(*t, work->triangles + t->item.x, tile, view);
    bool steep = false;
#ifdef STRATEGY_FUSED
    /* Nothing is left out where alpha's gradient is 0 anyway, or 1 - w cannot be that small. */
    const float steep_below = t->inverse.w > 0.0f && t->length.w > 1.0f - STEEP ? STEEP : -1.0f;
#else
    struct canvas below;
#ifdef STRATEGY_TAPED
    const size_t plane = (size_t)view->width * view->height * 3;
    FOR_BLOCKS(j, t->item.y)
    {
        load_pixel(tape + t->item.x * plane, view, COLUMN_OF(tile, j), ROW_OF(tile, j), &below.r[j], &below.g[j],
                   &below.b[j]);
    }
#else
    recompute(work, view, work->whole ? at : t->item.x, t->item.y, &below);
#endif
#endif
#ifdef REDUCTION_DIRECT
    global float *sums = grads + (size_t)t->item.x * SUMS;
#else
    real sums[SUMS];
    UNROLLED for (uint v = 0; v < SUMS; ++v)
        sums[v] = (real)(0.0f);
#endif
    FOR_BLOCKS(j, t->item.y)
    {
#ifdef STRATEGY_FUSED
        walk_block(tile, view, &f, j, walk, work, work->whole ? at : t->item.x, steep_below, &steep, sums);
#else
        walk_block(tile, view, &f, j, walk, &below, sums);
#endif
    }
#ifndef REDUCTION_DIRECT
    sums[9] = CHOOSE((mask)(t->inverse.w > 0.0f ? -1 : 0), sums[9], 0.0f);
#endif
#if defined(REDUCTION_ORDERED)
    team_store_ten(&work->team, sums, work->slots + (size_t)t->place.z * SHARED_SLOT, t->place.z != SHARED_NO_SLOT);
#elif defined(REDUCTION_LOCAL)
    team_add_ten(&work->team, sums, grads + (size_t)t->item.x * SUMS);
#endif
    return steep;
}

/* A triangle that reaches none of the tile's pixels. */
static inline void leave_slot_empty(const struct work *work, const struct aimed *t)
{
#ifdef REDUCTION_ORDERED
    for (uint v = 0; t->place.z != SHARED_NO_SLOT && v < SUMS; ++v)
        work->slots[(size_t)t->place.z * SHARED_SLOT + v] = 0.0f;
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
static inline real pick(const real *values, uint j)
{
    real value = values[0];
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
        work->slots[(size_t)slot_of(&work->tile, place) * SUMS + 9] += sum;
#else
    atomic_add_float(&grads[(size_t)i * SUMS + 9], sum);
#endif
}

/* The walk once more, for the pixels whose dL/dalpha it left out: rare, so short rather than fast. */
static inline void walk_steep(const struct work *work, const struct shared_view *view, const struct walk *walk,
                              global float *grads)
{
    const struct tile *tile = &work->tile;
    const uint places = work->whole ? work->length : view->triangles;
    team_sync_global();
    ROLLED for (uint j = 0; j < BLOCKS; ++j)
    {
        const real x = centre(COLUMN_OF(tile, j), view->width) - tile->left;
        const float y = centre_row(ROW_OF(tile, j), view->height) - tile->top;
        const real g_r = pick(walk->g_r, j), g_g = pick(walk->g_g, j), g_b = pick(walk->g_b, j);
        real through = (real)(1.0f), scale = (real)(1.0f);
        real rest = below_dot(work, view, places, j, x, y, g_r, g_g, g_b, (mask)(-1));
        ROLLED for (uint k = seek_down(work, places); k > 0; k = seek_down(work, k - 1u))
        {
            if (!meets_block(work, k - 1u, j))
                continue;
            const uint i = triangle_at(work, k - 1u);
            const struct facing f = face_triangle(work, view, i);
            const struct aimed *t = &f.t;
            struct nearest n = find_nearest(&f, view, tile, j, x, y);
            const float opacity = t->length.w;
            real e = edge_exponential(&n, view->exp2_scale);
            real coverage = RECIPROCAL(1.0f + e), left = FMA(opacity, e * coverage, 1.0f - opacity);
            real q = through * DOT(g_r, g_g, g_b, t->colour.x, t->colour.y, t->colour.z);
            mask live = in_bounds(t, COLUMN_OF(tile, j), ROW_OF(tile, j)) &
                        (opacity * coverage > SHARED_MIN_WEIGHT);
            rest = CHOOSE(live, rest - opacity * coverage * q, rest);
            if (t->inverse.w > 0.0f && opacity > 1.0f - STEEP) {
                const mask steep = live & (left < STEEP), lost = steep & (left < STEEP * scale);
                if (ANY(lost)) {
                    real dot = below_dot(work, view, k - 1u, j, x, y, g_r, g_g, g_b, lost);
                    rest = CHOOSE(lost, through * left * dot, rest);
                    scale = CHOOSE(lost, through * left, scale);
                }
                add_alpha(work, t->place, i, across(CHOOSE(steep, (q - rest * RECIPROCAL(left)) * coverage, 0.0f)),
                          grads);
            }
            through = CHOOSE(live, through * left, through);
        }
    }
}
#endif

#endif

#endif
