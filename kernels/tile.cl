/* Rendering and its gradient, tile by tile. A team tests all triangles against its tile, keeps those that
 * meet it in painter's order, and every lane walks that short list for its own pixels: forward, the loss,
 * and backward. Macros that the host sets choose what a pass holds:
 *
 *   PASS_FORWARD, PASS_BACKWARD   one of them, or both: one kernel for everything (fused)
 *   STRATEGY_FUSED, _RECOMPUTE, _TAPED   where the canvas below a triangle comes from (MODEL.md)
 *   REDUCTION_ORDERED, _LOCAL, _DIRECT   how the sums over pixels are made
 *   UPSTREAM        dL/dC is given in place of a target
 *   WITH_LOSS       loss partials are written, one a tile
 *   WITH_IMAGE      the forward pass writes the image
 *   LANES, BLOCK_W, BLOCKS_X, BLOCKS_Y   the tile: BLOCKS_X x BLOCKS_Y blocks, a pixel of each a lane
 *   LIST_ROOM       entries of a team's list; a longer list is walked in parts
 */
#include "geometry.h"

#define BLOCKS (BLOCKS_X * BLOCKS_Y)
#ifdef PATH_CPU
#define BLOCK_H 1u
#define NO_INLINE
/* A tile is 2 x 16 blocks of 8 x 1 pixels; it is culled in cells of 8 x 4, bits j, j + 2, j + 4, j + 6. */
#define CULL_CELLS 8u
#define CULL_W 8
#define CULL_H 4
#define CULL_COLUMNS 2u
#define CULL_BITS(cell) (0x55u << ((cell) / 2u * 8u + (cell) % 2u))
#else
#define BLOCK_H (LANES / BLOCK_W)
#define NO_INLINE __attribute__((noinline))
#define CULL_CELLS BLOCKS
#define CULL_W (int)BLOCK_W
#define CULL_H (int)BLOCK_H
#define CULL_COLUMNS BLOCKS_X
#define CULL_BITS(cell) (1u << (cell))
#endif

#ifdef PATH_CPU
/* Only the blocks whose bits are set. */
#define FOR_BLOCKS(j, bits)                                                                        \
    for (uint rest_ = (bits), j = 0; rest_ && (j = 31u - clz(rest_ & (0u - rest_)), true); rest_ &= rest_ - 1u)
#define FOR_ALL_BLOCKS(j) for (uint j = 0; j < BLOCKS; ++j)
#else
/* Unrolled, so that a lane's pixels stay in registers. */
#define FOR_BLOCKS(j, bits)                                                                        \
    _Pragma("unroll") for (uint j = 0; j < BLOCKS; ++j) if ((bits) & (1u << j))
#define FOR_ALL_BLOCKS(j) _Pragma("unroll") for (uint j = 0; j < BLOCKS; ++j)
#endif

/* A triangle of the list and the blocks of the tile that it may touch. */
typedef uint2 entry;

struct tile {
    int x, y;      /* of its top left pixel */
    uint column, row;
    mask px[BLOCKS_X]; /* pixel columns and rows of this lane, a block */
    int py[BLOCKS_Y];
    real x_at[BLOCKS_X]; /* their centres, normalised */
    float y_at[BLOCKS_Y];
};

static inline void place_tile(struct tile *tile, const struct shared_view *view, uint lane, uint column, uint row)
{
    tile->column = column;
    tile->row = row;
    tile->x = (int)(column * TILE_W);
    tile->y = (int)(row * TILE_H);
#ifdef PATH_CPU
    mask lane_x = (mask)(0, 1, 2, 3, 4, 5, 6, 7);
    int lane_y = 0;
#else
    mask lane_x = (int)(lane % BLOCK_W);
    int lane_y = (int)(lane / BLOCK_W);
#endif
    for (uint i = 0; i < BLOCKS_X; ++i) {
        tile->px[i] = tile->x + (int)(i * BLOCK_W) + lane_x;
#ifdef PATH_CPU
        tile->x_at[i] = (convert_float8(tile->px[i]) + 0.5f) / (float)view->width;
#else
        tile->x_at[i] = ((float)tile->px[i] + 0.5f) / (float)view->width;
#endif
    }
    for (uint i = 0; i < BLOCKS_Y; ++i) {
        tile->py[i] = tile->y + (int)(i * BLOCK_H) + lane_y;
        tile->y_at[i] = ((float)tile->py[i] + 0.5f) / (float)view->height;
    }
}

/* ---- memory of pixels: [H][W][3] ---- */

static inline void load_pixel(global const float *image, const struct shared_view *view, mask px, int py,
                              real *r, real *g, real *b)
{
    *r = *g = *b = (real)(0.0f);
#ifdef PATH_CPU
    union { real v; float at[WIDTH]; } red, green, blue;
    union { mask v; int at[WIDTH]; } column;
    if (py >= (int)view->height)
        return;
    red.v = green.v = blue.v = (real)(0.0f);
    column.v = px;
    for (uint i = 0; i < WIDTH && column.at[i] < (int)view->width; ++i) {
        size_t at = ((size_t)py * view->width + (size_t)column.at[i]) * 3;
        red.at[i] = image[at];
        green.at[i] = image[at + 1];
        blue.at[i] = image[at + 2];
    }
    *r = red.v;
    *g = green.v;
    *b = blue.v;
#else
    if (px < (int)view->width && py < (int)view->height) {
        size_t at = ((size_t)py * view->width + (size_t)px) * 3;
        *r = image[at];
        *g = image[at + 1];
        *b = image[at + 2];
    }
#endif
}

static inline void store_pixel(global float *image, const struct shared_view *view, mask px, int py, real r,
                               real g, real b)
{
#ifdef PATH_CPU
    union { real v; float at[WIDTH]; } red, green, blue;
    union { mask v; int at[WIDTH]; } column;
    if (py >= (int)view->height)
        return;
    red.v = r;
    green.v = g;
    blue.v = b;
    column.v = px;
    for (uint i = 0; i < WIDTH && column.at[i] < (int)view->width; ++i) {
        size_t at = ((size_t)py * view->width + (size_t)column.at[i]) * 3;
        image[at] = red.at[i];
        image[at + 1] = green.at[i];
        image[at + 2] = blue.at[i];
    }
#else
    if (px < (int)view->width && py < (int)view->height) {
        size_t at = ((size_t)py * view->width + (size_t)px) * 3;
        image[at] = r;
        image[at + 1] = g;
        image[at + 2] = b;
    }
#endif
}

/* ---- which triangles ---- */

/* Bits of the tile's blocks (row by row) that meet the bounds. */
static inline uint blocks_in_bounds(const struct tile *tile, uint2 bounds)
{
    int left = LEFT(bounds) - tile->x, right = RIGHT(bounds) - tile->x;
    int top = TOP(bounds) - tile->y, bottom = BOTTOM(bounds) - tile->y;
    if (left >= right || right <= 0 || left >= (int)TILE_W || bottom <= 0 || top >= (int)TILE_H)
        return 0;
    uint from_x = (uint)max(left, 0) / BLOCK_W, to_x = ((uint)min(right, (int)TILE_W) - 1u) / BLOCK_W;
    uint from_y = (uint)max(top, 0) / BLOCK_H, to_y = ((uint)min(bottom, (int)TILE_H) - 1u) / BLOCK_H;
    uint columns = (2u << to_x) - (1u << from_x), bits = 0;
    for (uint i = 0; i < BLOCKS_Y; ++i)
        bits |= (i >= from_y && i <= to_y ? columns : 0u) << (i * BLOCKS_X);
    return bits;
}

/* The blocks of `bits` that hold a pixel within the triangle's reach: no block is dropped unless all of it
 * lies beyond one of the edges by more than the distance at which the weight falls to nothing. */
static inline uint blocks_in_reach(const struct tile *tile, const struct shared_view *view,
                                   global const struct shared_triangle *from, uint bits)
{
    struct triangle t = load_triangle(from);
    float turn = t.place.w & SHARED_FLAG_CLOCKWISE ? -1.0f : 1.0f;
    float pixel_w = 1.0f / (float)view->width, pixel_h = 1.0f / (float)view->height;
    float half_w = 0.5f * CULL_W * pixel_w, half_h = 0.5f * CULL_H * pixel_h;
    uint kept = 0;
    for (uint j = 0; j < CULL_CELLS; ++j) {
        float x = ((float)(tile->x + (int)(j % CULL_COLUMNS * CULL_W)) * pixel_w) + half_w;
        float y = ((float)(tile->y + (int)(j / CULL_COLUMNS * CULL_H)) * pixel_h) + half_h;
        bool near = true;
        for (uint k = 0; k < 3; ++k) {
            float4 e = t.edge[k];
            float normal = turn * (e.z * (y - e.y) - e.w * (x - e.x));
            near = near && normal + fabs(e.z) * half_h + fabs(e.w) * half_w > -t.length.w;
        }
        kept |= near ? CULL_BITS(j) : 0u;
    }
    return bits & kept;
}

/* Where a triangle's partial sums of this tile go, counted from the scene's first slot. */
static inline uint slot_of(const struct tile *tile, uint4 place)
{
    uint first = (uint)LEFT(place) / TILE_W, columns = ((uint)RIGHT(place) - 1u) / TILE_W - first + 1u;
    return place.z + (tile->row - (uint)TOP(place) / TILE_H) * columns + tile->column - first;
}

/* One team's share of a launch. */
struct work {
    struct team team;
    struct tile tile;
    global const struct shared_triangle *triangles; /* the scene's [T] */
    global const uint2 *bounds;                     /* [T] */
    global float *slots;                            /* [slot_capacity][10] */
    TEAM_MEMORY entry *list;
    uint length; /* of the list */
    uint next;   /* triangles looked at so far */
    bool whole;  /* one list holds all that meet the tile: it serves both ways */
    float4 ground;
};

/* Triangles within whose bounds the tile lies, but not within their reach, have a partial sum, too. */
static inline void clear_slot(const struct work *work, uint i)
{
#if defined(REDUCTION_ORDERED) && defined(PASS_BACKWARD)
    uint4 place = as_uint4(((global const float4 *)(work->triangles + i))[6]);
    if (place.z != SHARED_NO_SLOT) {
        global float *slot = work->slots + (size_t)slot_of(&work->tile, place) * SUMS;
        for (uint v = 0; v < SUMS; ++v)
            slot[v] = 0.0f;
    }
#endif
}

/* Fills the list with triangles from `next` on that meet the tile until all are seen or it is full.
 * Ascending: triangle `next` itself; descending: T - 1 - next. */
static inline void fill_list(struct work *work, const struct shared_view *view, bool descending)
{
    uint length = 0, next = work->next;
    team_sync(); /* the list before this one has been read by all */
    while (next < view->triangles && length + LANES <= LIST_ROOM) {
        uint at = next + work->team.lane, bits = 0, total;
        uint i = descending ? view->triangles - 1u - at : at;
        if (at < view->triangles) {
            bits = blocks_in_bounds(&work->tile, work->bounds[i]);
            if (bits) {
                bits = blocks_in_reach(&work->tile, view, work->triangles + i, bits);
                if (!bits)
                    clear_slot(work, i);
            }
        }
        uint rank = team_rank(&work->team, bits != 0, &total);
        if (bits)
            work->list[length + rank] = (entry)(i, bits);
        length += total;
        next += LANES;
    }
    team_sync();
    work->length = length;
    work->next = next;
}

/* ---- forward ---- */

struct canvas {
    real r[BLOCKS], g[BLOCKS], b[BLOCKS];
};

#define COMPOSITE(canvas, w, c) (canvas) = FMA(w, (c) - (canvas), canvas)
#define DOT(ax, ay, az, bx, by, bz) FMA(ax, bx, FMA(ay, by, (az) * (bz)))

static inline mask in_bounds(const struct triangle *t, mask px, int py)
{
    return (px >= LEFT(t->place)) & (px < RIGHT(t->place)) &
           (mask)(py >= TOP(t->place) && py < BOTTOM(t->place) ? -1 : 0);
}

/* The weight of the pixels, 0 where they are not covered. */
static inline real weight_at(const struct triangle *t, const struct shared_view *view, mask px, int py,
                             real x, float y)
{
    struct nearest n = find_nearest(t, x, (real)(y));
    real e = edge_exponential(&n, view->exp2_scale);
    real w = t->inverse.w * RECIPROCAL(1.0f + e);
    return CHOOSE(in_bounds(t, px, py) & (w > SHARED_MIN_WEIGHT), w, 0.0f);
}

/* tape: the scene's [T][H][W][3], with STRATEGY_TAPED. */
static inline void walk_forward(struct work *work, const struct shared_view *view, struct canvas *canvas,
                                global float *tape)
{
    size_t plane = (size_t)view->width * view->height * 3;
    FOR_ALL_BLOCKS(j)
    {
        canvas->r[j] = (real)(work->ground.x);
        canvas->g[j] = (real)(work->ground.y);
        canvas->b[j] = (real)(work->ground.z);
    }
    for (;;) {
        for (uint k = 0; k < work->length; ++k) {
            entry item = work->list[k];
            struct triangle t = load_triangle(work->triangles + item.x);
            FOR_BLOCKS(j, item.y)
            {
                mask px = work->tile.px[j % BLOCKS_X];
                int py = work->tile.py[j / BLOCKS_X];
#ifdef STRATEGY_TAPED
                store_pixel(tape + item.x * plane, view, px, py, canvas->r[j], canvas->g[j], canvas->b[j]);
#endif
                real w = weight_at(&t, view, px, py, work->tile.x_at[j % BLOCKS_X], work->tile.y_at[j / BLOCKS_X]);
                COMPOSITE(canvas->r[j], w, t.colour.x);
                COMPOSITE(canvas->g[j], w, t.colour.y);
                COMPOSITE(canvas->b[j], w, t.colour.z);
            }
        }
        if (work->next >= view->triangles)
            break;
        fill_list(work, view, false);
    }
}

/* ---- backward ---- */

#ifdef PASS_BACKWARD

/* What the walk from the last triangle to the first carries for each pixel. */
struct walk {
    real g_r[BLOCKS], g_g[BLOCKS], g_b[BLOCKS]; /* dL/dC */
    real through[BLOCKS];                       /* product of 1 - w over the triangles in front */
#ifdef STRATEGY_FUSED
    real rest[BLOCKS]; /* through * g . (canvas below the triangles so far): the residual R of MODEL.md */
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
#define ADD(i, a, b) add_pixels(out + (i), (a) * (b), live)
#else
#define ADD(i, a, b) sums[i] = FMA(a, b, sums[i])
#endif

#ifdef PATH_CPU
#define ANY(m) any(m)
#else
#define ANY(m) (m)
#endif

/* Below this 1 - w the division of the residual walk loses alpha's gradient (MODEL.md). */
#define STEEP 1e-2f

/* g . (canvas below) of one block's pixels, composited again from the bottom: below the list's entry
 * `count`, or, where the list is not the whole one, below the scene's triangle `count`. */
static NO_INLINE real below_dot(global const struct shared_triangle *triangles, TEAM_MEMORY const entry *list,
                                bool whole, uint count, const struct shared_view *view, float4 ground, mask px,
                                int py, real x, float y, real g_r, real g_g, real g_b)
{
    real r = (real)(ground.x), g = (real)(ground.y), b = (real)(ground.z);
    for (uint i = 0; i < count; ++i) {
        struct triangle t = load_triangle(triangles + (whole ? list[i].x : i));
        if (LEFT(t.place) >= RIGHT(t.place))
            continue;
        real w = weight_at(&t, view, px, py, x, y);
        COMPOSITE(r, w, t.colour.x);
        COMPOSITE(g, w, t.colour.y);
        COMPOSITE(b, w, t.colour.z);
    }
    return DOT(g_r, g_g, g_b, r, g, b);
}

/* Triangle t's gradient from the pixels of block j; moves them one triangle down. below: how many entries
 * of the list (of the scene, where it is not whole) lie below t. tape: the triangle's plane. */
static inline void walk_block(const struct work *work, const struct shared_view *view, const struct triangle *t,
                              uint below, uint j, struct walk *walk, global const float *tape,
#ifdef REDUCTION_DIRECT
                              global float *out
#else
                              real *sums
#endif
)
{
    mask px = work->tile.px[j % BLOCKS_X];
    int py = work->tile.py[j / BLOCKS_X];
    real x = work->tile.x_at[j % BLOCKS_X];
    float y = work->tile.y_at[j / BLOCKS_X];
    const float opacity = t->inverse.w;
    const bool fades = t->colour.w > 0.0f && t->colour.w < 1.0f;
    struct nearest n = find_nearest(t, x, (real)(y));
    real e = edge_exponential(&n, view->exp2_scale);
    real coverage = RECIPROCAL(1.0f + e), uncovered = e * coverage;
    real w = opacity * coverage;
    real left = FMA(opacity, uncovered, 1.0f - opacity); /* 1 - w */
    mask live = in_bounds(t, px, py) & (w > SHARED_MIN_WEIGHT);
    real g_r = walk->g_r[j], g_g = walk->g_g[j], g_b = walk->g_b[j], through = walk->through[j];
    real q = through * DOT(g_r, g_g, g_b, t->colour.x, t->colour.y, t->colour.z);
    real by_weight, by_position; /* dL/dw, and dL/dw (1 - k) */
#ifdef STRATEGY_FUSED
    real rest = walk->rest[j] - w * q, inverse = RECIPROCAL(left);
    by_position = FMA(q, uncovered, -rest * CHOOSE(w >= coverage, 1.0f, uncovered * inverse));
    by_weight = q - rest * inverse;
    if (fades && opacity > 1.0f - STEEP) {
        mask steep = live & (left < STEEP);
        if (ANY(steep)) {
            real dot = below_dot(work->triangles, work->list, work->whole, below, view, work->ground, px, py, x,
                                 y, g_r, g_g, g_b);
            by_weight = CHOOSE(steep, q - through * dot, by_weight);
        }
    }
    walk->rest[j] = CHOOSE(live, rest, walk->rest[j]);
#else
#ifdef STRATEGY_TAPED
    real r, g, b;
    load_pixel(tape, view, px, py, &r, &g, &b);
    real dot = DOT(g_r, g_g, g_b, r, g, b);
#else
    real dot = below_dot(work->triangles, work->list, work->whole, below, view, work->ground, px, py, x, y, g_r,
                         g_g, g_b);
#endif
    by_weight = q - through * dot;
    by_position = by_weight * uncovered;
#endif
    walk->through[j] = CHOOSE(live, through * left, through);
    /* -sgn dL/dd / distance: the factor of (p - closest) in what the edge's two ends get. */
    real pull = by_position * w * n.inverse * (1.0f / view->softness);
    pull = CHOOSE(n.inside, -pull, pull);
    pull = CHOOSE(live & (n.distance >= 1e-7f), pull, 0.0f);
    real t_x = CHOOSE(n.is_2, t->edge[2].z, CHOOSE(n.is_1, t->edge[1].z, t->edge[0].z));
    real t_y = CHOOSE(n.is_2, t->edge[2].w, CHOOSE(n.is_1, t->edge[1].w, t->edge[0].w));
    real v_x = FMA(n.beyond, t_x, -n.normal * t_y), v_y = FMA(n.beyond, t_y, n.normal * t_x);
    real end = pull * n.along, start = pull - end;
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
    if (fades) {
        by_weight = CHOOSE(live, by_weight, 0.0f);
        ADD(9, by_weight, coverage);
    }
}

/* grads: the scene's [T][10], for reductions that add to it. */
static inline void walk_backward(struct work *work, const struct shared_view *view, struct walk *walk,
                                 global const float *tape, global float *grads)
{
    size_t plane = (size_t)view->width * view->height * 3;
    work->next = work->whole ? view->triangles : 0;
    for (;;) {
        if (!work->whole)
            fill_list(work, view, true);
        for (uint k = 0; k < work->length; ++k) {
            uint at = work->whole ? work->length - 1u - k : k;
            entry item = work->list[at];
            struct triangle t = load_triangle(work->triangles + item.x);
            uint below = work->whole ? at : item.x;
#ifdef REDUCTION_DIRECT
            FOR_BLOCKS(j, item.y)
            {
                walk_block(work, view, &t, below, j, walk, tape + item.x * plane, grads + (size_t)item.x * SUMS);
            }
#else
            real sums[SUMS];
            for (uint v = 0; v < SUMS; ++v)
                sums[v] = (real)(0.0f);
            FOR_BLOCKS(j, item.y)
            {
                walk_block(work, view, &t, below, j, walk, tape + item.x * plane, sums);
            }
#ifdef REDUCTION_ORDERED
            team_store_ten(&work->team, sums, work->slots + (size_t)slot_of(&work->tile, t.place) * SUMS,
                           t.place.z != SHARED_NO_SLOT);
#else
            team_add_ten(&work->team, sums, grads + (size_t)item.x * SUMS);
#endif
#endif
        }
        if (work->next >= view->triangles)
            break;
    }
}

#endif

/* ---- the kernel ---- */

#if defined(PASS_BACKWARD) || defined(WITH_LOSS)
/* The squared differences of one block's pixels from their target. *g_r, *g_g, *g_b: dL/dC. */
static inline real compare_block(const struct work *work, const struct shared_view *view,
                                 global const float *goal, const struct canvas *canvas, uint j, real *g_r,
                                 real *g_g, real *g_b)
{
    mask px = work->tile.px[j % BLOCKS_X];
    int py = work->tile.py[j / BLOCKS_X];
    load_pixel(goal, view, px, py, g_r, g_g, g_b);
#ifdef UPSTREAM
    return (real)(0.0f);
#else
    mask inside = (px < (int)view->width) & (mask)(py < (int)view->height ? -1 : 0);
    real r = canvas->r[j] - *g_r, g = canvas->g[j] - *g_g, b = canvas->b[j] - *g_b;
    *g_r = r * (2.0f * view->loss_scale);
    *g_g = g * (2.0f * view->loss_scale);
    *g_b = b * (2.0f * view->loss_scale);
    return CHOOSE(inside, DOT(r, g, b, r, g, b), 0.0f);
#endif
}
#endif

/* triangles, bounds: [scenes][T], from setup. goal: the target or, with UPSTREAM, dL/dC. tape:
 * [scenes][T][H][W][3]. slots: [scenes][slot_capacity][10]. loss_partials: [scenes][tiles]. Pointers that
 * a variant does not use may be NULL. Work-groups: (tiles_x, ceil(tiles_y / TEAMS), scenes). */
kernel __attribute__((reqd_work_group_size(LANES, TEAMS, 1))) void
tile_pass(const struct shared_view view, global const struct shared_triangle *triangles,
          global const uint2 *bounds, global const float *in, global const float *goal, global float *image,
          global float *tape, global float *slots, global float *out, global float *loss_partials)
{
#ifdef PATH_CPU
    entry list[LIST_ROOM];
#else
    local entry lists[TEAMS][LIST_ROOM];
    local entry *list = lists[get_local_id(1)];
#endif
#ifdef PATH_LOCAL
    local uint votes[TEAM_VOTES];
    local float team_sums[TEAM_SUMS];
#endif
    uint column = (uint)get_group_id(0), row = (uint)get_group_id(1) * TEAMS + (uint)get_local_id(1);
    size_t scene = get_group_id(2), plane = (size_t)view.width * view.height * 3;
    struct work work;
    struct canvas canvas;
#if TEAMS > 1
    if (row >= view.tiles_y) /* a whole team leaves, and teams never wait for each other */
        return;
#endif
    work.team.lane = (uint)get_local_id(0);
#ifdef PATH_LOCAL
    work.team.votes = votes;
    work.team.sums = team_sums;
#endif
    place_tile(&work.tile, &view, work.team.lane, column, row);
    work.triangles = triangles + scene * view.triangles;
    work.bounds = bounds + scene * view.triangles;
    work.slots = slots + scene * view.slot_capacity * SUMS;
    work.list = list;
    work.next = 0;
    global const float *ground = in + (size_t)view.in_scenes * view.triangles * SUMS + (view.in_first + scene) * 3;
    work.ground = (float4)(ground[0], ground[1], ground[2], 0.0f);
    image += (view.image_first + scene) * plane;
    goal += (view.goal_first + scene) * plane;
    tape += scene * view.triangles * plane;
    fill_list(&work, &view, false);
    work.whole = work.next >= view.triangles;

#ifdef PASS_FORWARD
    walk_forward(&work, &view, &canvas, tape);
#ifdef WITH_IMAGE
    FOR_ALL_BLOCKS(j)
    {
        store_pixel(image, &view, work.tile.px[j % BLOCKS_X], work.tile.py[j / BLOCKS_X], canvas.r[j], canvas.g[j],
                    canvas.b[j]);
    }
#endif
#else
    FOR_ALL_BLOCKS(j)
    {
        load_pixel(image, &view, work.tile.px[j % BLOCKS_X], work.tile.py[j / BLOCKS_X], &canvas.r[j], &canvas.g[j],
                   &canvas.b[j]);
    }
#endif

#if defined(PASS_BACKWARD) || defined(WITH_LOSS)
    real loss = (real)(0.0f);
#ifdef PASS_BACKWARD
    struct walk walk;
#endif
    FOR_ALL_BLOCKS(j)
    {
        real g_r, g_g, g_b;
        loss += compare_block(&work, &view, goal, &canvas, j, &g_r, &g_g, &g_b);
#ifdef PASS_BACKWARD
        walk.g_r[j] = g_r;
        walk.g_g[j] = g_g;
        walk.g_b[j] = g_b;
        walk.through[j] = (real)(1.0f);
#ifdef STRATEGY_FUSED
        walk.rest[j] = DOT(g_r, g_g, g_b, canvas.r[j], canvas.g[j], canvas.b[j]);
#endif
#endif
    }
#ifdef WITH_LOSS
    float tile_loss = team_sum(&work.team, across(loss));
    if (work.team.lane == 0)
        loss_partials[scene * view.tiles_x * view.tiles_y + row * view.tiles_x + column] = tile_loss;
#endif
#ifdef PASS_BACKWARD
    walk_backward(&work, &view, &walk, tape, out + (view.out_first + scene) * view.triangles * SUMS);
#endif
#endif
}
