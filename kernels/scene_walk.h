/* How scene.cl's teams walk their tiles: 8x4 pixels, one a lane, and triangles in pairs. */
#ifndef GPUBENCH_KERNELS_SCENE_WALK_H
#define GPUBENCH_KERNELS_SCENE_WALK_H

#define LOCAL_RECORDS
#define SLOT_FLOATS 12u /* a triangle's gradient (positions': times s), and two floats that are nothing */
#define SLOT_ALPHA 9u
#define INDEX(t) (MARKS(t) & (LANES - 1u)) /* in the place of the bits of blocks: there is one */
#include "team_backward.h"

/* What chunks of this kernel hold in place of what tile.cl's do. A bit for each pixel of the tile: */
#define WITHIN(t) (t).place.x  /* the bounds */
#define OUTSIDE(t) (t).place.y /* with MARK_CROSSED: not inside */
#define STEEP_BELOW(t) as_float((t).place.z)
#define CLEAR(t) as_float((t).place.w)
#define LIMIT(t) (t).inverse.w

/* Bits of the tile's pixels, 8 by 4, that lie within the bounds of a triangle that meets it. */
static inline uint pixels_within(const struct tile *tile, uint2 bounds)
{
    const uint left = (uint)max(LEFT(bounds) - tile->x, 0), right = (uint)min(RIGHT(bounds) - tile->x, (int)TILE_W);
    const uint top = (uint)max(TOP(bounds) - tile->y, 0), bottom = (uint)min(BOTTOM(bounds) - tile->y, (int)TILE_H);
    const uint columns = (1u << right) - (1u << left);
    return (columns * 0x01010101u) & (~0u << (top * TILE_W)) & (~0u >> ((TILE_H - bottom) * TILE_W));
}

/* Aims the triangles that meet the tile at it, a lane each. Returns whether one of them has MARK_STEEP. */
static inline bool choose(struct work *work, const struct shared_view *view)
{
    const uint lane = work->team.lane;
    const uint2 bounds = lane < view->triangles ? work->bounds[lane] : (uint2)(0, 0);
    const bool found = meets(bounds, (uint)work->tile.x, (uint)work->tile.y, TILE_W, TILE_H);
    const uint at = team_rank(&work->team, found, &work->length);
    uint marks = 0;
    if (found) {
        struct aimed t = aim(work->triangles + lane, &work->tile, lane);
        marks = MARKS(t);
        LIMIT(t) = limit_of(&t);
        t.place = (uint4)(pixels_within(&work->tile, bounds), 0, as_uint(marks & MARK_STEEP ? STEEP : 0.0f),
                          as_uint((1.0f - t.length.w) + 1e-30f));
        t.colour.w = as_float(marks | lane);
        work->chunk[at] = t;
    }
    team_sync();
    const bool any_crossed = team_any(&work->team, marks & MARK_CROSSED);
    const bool any_steep = team_any(&work->team, marks & MARK_STEEP);
    for (uint k = 0; any_crossed && k < work->length; ++k) {
        struct aimed t = work->chunk[k];
        if (!(MARKS(t) & MARK_CROSSED))
            continue;
        t.place.xy = work->bounds[INDEX(t)];
        if (find_outside(&t, work->triangles + INDEX(t), &work->tile, view))
            atomic_or((volatile local uint *)&work->chunk[k].place + 1, 1u << lane);
    }
    team_sync();
    return any_steep;
}

#define PAIR (2u * SUMS) /* what two triangles get of a pixel */
/* What a lane needs in each step of its walks, and always the same. */
struct seat {
    uint bit, below_sign; /* its own, and how far that is from the highest */
    local float *row;     /* where it writes a pair's parts: [PAIR] */
    /* Where it reads them to add them up: sixteen columns by the halves of the lanes, each with four rows of every eight,
     * and the last four by fours of lanes. So, no two lanes meet in a bank. */
    local const float *column, *last;
    uint which;        /* of the pair, the triangle whose sum it gets */
    local float *slot; /* its value of the first slot */
    local const struct aimed *chunk;
};

/* A value that compilers can't see through: they would work it out again in each step. */
static inline uint pinned(uint value)
{
#ifdef PATH_PTX
    asm volatile("shfl.sync.bfly.b32 %0, %0, 0, 0x1f, 0xffffffff;" : "+r"(value));
#endif
    return value;
}

static inline local float *pinned_place(local float *place)
{
#ifdef PATH_PTX /* whose local memory has addresses of 32 bits */
    return (local float *)(size_t)pinned((uint)(size_t)place);
#else
    return place;
#endif
}

static inline struct seat take_seat(const struct work *work)
{
    const uint lane = work->team.lane;
    struct seat s;
    s.bit = pinned(1u << lane);
    s.below_sign = pinned(31u - lane);
    s.row = pinned_place(work->team.sums + lane * PAIR);
    s.column = pinned_place(work->team.sums + lane / 16u * (4u * PAIR) + lane % 16u);
    s.last = pinned_place(work->team.sums + lane / 4u * PAIR + 16u + lane % 4u);
    s.which = pinned(lane / SUMS);
    s.slot = pinned_place(work->slots + lane % SUMS);
    s.chunk = (local const struct aimed *)pinned_place((local float *)work->chunk);
    return s;
}

/* Where the lane's pixel lies from a triangle. Without branches, so that two can be walked side by side. */
static inline struct spot spot_from(const struct aimed *t, const struct tile *tile, const struct seat *seat)
{
    const float y = tile->y_at[0];
    struct spot s;
    s.x = WITHIN(*t) & seat->bit ? tile->x_at[0] : FAR; /* and so from all edges */
    s.crossed = MARKS(*t) & MARK_CROSSED;
    s.turned = TURNED(*t);
    s.outside = OUTSIDE(*t) << seat->below_sign;
    UNROLLED for (uint edge = 0; edge < 3; ++edge)
    {
        s.normal_row[edge] = FMA(t->line[edge].x, y, t->line[edge].z);
        s.along_row[edge] = FMA(t->line[edge].y, y, t->line[edge].w);
    }
    return s;
}

/* Composites `count` triangles, from the one at `from` on. A constant: their weights are worked out side by side. */
static inline void composite_few(const struct work *work, const struct seat *seat, local const struct aimed *from,
                                 uint count, struct canvas *canvas)
{
    float w[2];
    float4 colour[2];
    bool covered[2];
    UNROLLED for (uint u = 0; u < 2u; ++u)
    {
        if (u >= count)
            continue;
        const struct aimed t = from[u];
        const struct spot spot = spot_from(&t, &work->tile, seat);
        w[u] = weight_at(&t, LIMIT(t), &spot, &covered[u]);
        colour[u] = t.colour;
    }
    composite_pixel(covered[0], w[0], colour[0], 0, canvas);
    if (count == 2u)
        composite_pixel(covered[1], w[1], colour[1], 0, canvas);
}

static inline void walk_up(const struct work *work, const struct seat *seat, struct canvas *canvas)
{
    const uint first = work->length % 2u;
    local const struct aimed *from = seat->chunk + first;
    clear_canvas(canvas, work->ground);
    if (first)
        composite_few(work, seat, seat->chunk, 1u, canvas);
    ROLLED for (uint left = work->length - first; left > 0; left -= 2u)
    {
        composite_few(work, seat, from, 2u, canvas);
        from += 2;
    }
}

#ifdef STEEP_LATER
/* Whether walk_one leaves dL/dalpha of a pixel out. (Nearly opaque triangles are seldom so in any of a tile's pixels, and
 * the steps of the walk have no time to tell.) */
static inline bool is_left_out(const struct work *work, const struct seat *seat)
{
    bool steep = false;
    ROLLED for (uint k = 0; k < work->length; ++k)
    {
        const struct aimed t = seat->chunk[k];
        if (!(MARKS(t) & MARK_STEEP))
            continue;
        const struct spot spot = spot_from(&t, &work->tile, seat);
        const struct nearness n = find_edges(&t, &spot);
        const float square = SMALLEST(n.square), e = exp2_of(square * signed_inverse(&spot, &n, square));
        const float left = FMA(t.length.w, e * RECIPROCAL(1.0f + e), CLEAR(t)); /* as in walk_pixel */
        steep |= (e < LIMIT(t)) & (left < STEEP_BELOW(t));
    }
    return team_any(&work->team, steep);
}
#endif

/* Moves the pixel one triangle down, as walk_spot does, and leaves what it adds to the triangle's gradient in part[SUMS].
 * One edge's part is all that a pixel has: it is turned to x and y at once, and shared out among the vertices. */
static inline void walk_one(const struct step *s, const struct aimed *t, float limit, const struct spot *spot,
                            struct walk *walk, float *part)
{
    const struct nearness n = find_edges(t, spot);
    const float square = SMALLEST(n.square);
    const float inverse = signed_inverse(spot, &n, square), e = exp2_of(square * inverse);
    const bool covered = e < limit;
    UNROLLED for (uint v = 0; v < SUMS; ++v) part[v] = 0.0f;
    const float pull = walk_pixel(s, 0, e, covered, walk, part + 6u) * inverse;
    const bool far = covered & (square >= near_distance(s->view) * near_distance(s->view));
    /* Ties keep the earlier edge. */
    const bool is_2 = n.square[2] < fmin(n.square[0], n.square[1]), is_1 = !is_2 & (n.square[1] < n.square[0]);
#define NEAREST(v) CHOOSE(is_2, (v)[2], CHOOSE(is_1, (v)[1], (v)[0]))
    const float tangents_x[3] = {t->line[0].x, t->line[1].x, t->line[2].x};
    const float tangents_y[3] = {t->line[0].y, t->line[1].y, t->line[2].y};
    /* How far around the triangle the nearest point lies, in edges: what it pulls at is shared by the two vertices that are
     * less than one away. */
    const float around[3] = {n.along[0], n.along[1] + 1.0f, n.along[2] + 2.0f};
    const float x = NEAREST(tangents_x), y = NEAREST(tangents_y), at = NEAREST(around);
    const float factor = CHOOSE(far, pull, 0.0f);
    const float across = factor * NEAREST(n.normal), on = factor * NEAREST(n.beyond);
    const float pull_x = FMA(on, x, -across * y), pull_y = FMA(across, x, on * y);
    const float share[3] = {saturated_sum(fabs(at - 1.5f), -0.5f), saturated_sum(1.0f, -fabs(at - 1.0f)),
                            saturated_sum(1.0f, -fabs(at - 2.0f))};
#undef NEAREST
    UNROLLED for (uint v = 0; v < 3u; ++v)
    {
        part[2u * v] = pull_x * share[v];
        part[2u * v + 1u] = pull_y * share[v];
    }
}

/* Sums the parts of `count` triangles, 1 or 2, over the team's lanes; lane i gets the sum of the i-th. */
static inline float team_sum_parts(const struct team *team, const struct seat *seat, const float *part, uint count)
{
    float sum = 0.0f;
    UNROLLED for (uint i = 0; i < PAIR / 4u; ++i)
    {
        if (i < count * SUMS / 4u)
            ((local float4 *)seat->row)[i] =
                (float4)(part[4u * i], part[4u * i + 1u], part[4u * i + 2u], part[4u * i + 3u]);
    }
    if (count == 1u)
        *(local float2 *)(seat->row + 8u) = (float2)(part[8], part[9]);
    team_sync();
#ifdef PATH_PTX
    float four[4], rest[2];
    UNROLLED for (uint i = 0; i < 4u; ++i) four[i] =
        (seat->column[i * 8u * PAIR] + seat->column[(i * 8u + 1u) * PAIR]) +
        (seat->column[(i * 8u + 2u) * PAIR] + seat->column[(i * 8u + 3u) * PAIR]);
    sum = (four[0] + four[1]) + (four[2] + four[3]);
    sum += shuffle_xor(sum, 16);
    if (count == 2u) {
        UNROLLED for (uint i = 0; i < 2u; ++i) rest[i] = seat->last[i * 16u * PAIR] + seat->last[(i * 16u + 8u) * PAIR];
        float other = rest[0] + rest[1];
        other += shuffle_xor(other, 4);
        other += shuffle_xor(other, 8);
        other += shuffle_xor(other, 16);
        sum = team->lane < 16u ? sum : other;
    }
#else
    for (uint i = 0; i < LANES; ++i)
        sum += team->sums[i * PAIR + min(team->lane, count * SUMS - 1u)];
#endif
    team_sync(); /* all have read it */
    return sum;
}

/* Moves the pixel down `count` triangles (a constant, 1 or 2), from the one at `top` on. */
static inline void walk_few(const struct work *work, const struct shared_view *view, const struct seat *seat,
                            local const struct aimed *top, uint count, struct walk *walk)
{
    float part[PAIR];
    bool steep = false; /* is_left_out() tells */
    UNROLLED for (uint u = 0; u < 2u; ++u)
    {
        if (u >= count)
            continue;
        const struct aimed t = *(top - u);
        const struct spot spot = spot_from(&t, &work->tile, seat);
        const struct step step = {work, view, t.colour, t.length.w, CLEAR(t), true, STEEP_BELOW(t),
                                  (uint)(top - seat->chunk) - u, &steep, NULL};
        walk_one(&step, &t, LIMIT(t), &spot, walk, part + u * SUMS);
    }
    const float sum = team_sum_parts(&work->team, seat, part, count);
    if (seat->which < count)
        seat->slot[INDEX(*(top - seat->which)) * SLOT_FLOATS] = sum;
}

static inline void walk_down(const struct work *work, const struct shared_view *view, const struct seat *seat,
                             struct walk *walk)
{
    local const struct aimed *top = seat->chunk + work->length - 1u;
    uint left = work->length;
    ROLLED for (; left > 1u; left -= 2u)
    {
        walk_few(work, view, seat, top, 2u, walk);
        top -= 2;
    }
    if (left == 1u)
        walk_few(work, view, seat, seat->chunk, 1u, walk);
}

#endif
