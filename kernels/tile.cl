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
 *   WALK_UNROLL     triangles that the walks take at a time; not defined: the compiler's choice
 */
#include "geometry.h"

#ifdef PATH_CPU
/* A tile is 2 x 16 blocks of 8 x 1 pixels; it is culled in cells of 8 x 4, bits j, j + 2, j + 4, j + 6. */
#define CULL_CELLS 8u
#define CULL_W 8
#define CULL_H 4
#define CULL_COLUMNS 2u
#define CULL_BITS(cell) (0x55u << ((cell) / 2u * 8u + (cell) % 2u))
#define SKIPS true
#define CHUNK 32u /* triangles that are aimed at the tile at a time */
#define GULP 1u   /* bounds that a lane loads at a time */
#else
#define CHUNK LANES
#ifdef PATH_LOCAL
/* An array that lives across barriers goes wrong in PoCL 3.1, and a condition around one takes it minutes. */
#define SKIPS false
#define GULP 1u
#else
#define SKIPS true /* triangles that touch no block are not walked */
#define GULP 4u
#endif
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
/* Unrolled, so that a lane's pixels stay in registers. An entry of the list has a bit set. */
#define FOR_BLOCKS(j, bits)                                                                        \
    _Pragma("unroll") for (uint j = 0; j < BLOCKS; ++j) if ((SKIPS && BLOCKS == 1u) || ((bits) & BLOCK_BITS(j)))
#define FOR_ALL_BLOCKS(j) _Pragma("unroll") for (uint j = 0; j < BLOCKS; ++j)
#endif

/* Blocks are walked BLOCK_GROUP at a time where any of them is touched: their arithmetic overlaps. */
#ifndef BLOCK_GROUP
#define BLOCK_GROUP 1u
#endif
#define BLOCK_BITS(j) (((1u << BLOCK_GROUP) - 1u) << ((j) / BLOCK_GROUP * BLOCK_GROUP))

/* With one block a lane, triangles are what can overlap. */
#ifdef WALK_UNROLL
#define PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(n) PRAGMA(unroll n)
#define WALK_UNROLLED UNROLL_BY(WALK_UNROLL)
#else
#define WALK_UNROLLED
#endif

/* A triangle of the list and the blocks of the tile that it may touch. */
typedef uint2 entry;

static inline void place_tile(struct tile *tile, const struct shared_view *view, uint lane, uint column, uint row)
{
    tile->column = column;
    tile->row = row;
    tile->x = (int)(column * TILE_W);
    tile->y = (int)(row * TILE_H);
    tile->left = (float)tile->x / (float)view->width;
    tile->top = (float)tile->y / (float)view->height;
#ifdef PATH_CPU
    tile->px = tile->x + (mask)(0, 1, 2, 3, 4, 5, 6, 7);
    tile->py = tile->y;
#else
    tile->px = tile->x + (int)(lane % BLOCK_W);
    tile->py = tile->y + (int)(lane / BLOCK_W);
#endif
    for (uint i = 0; i < BLOCKS_X; ++i)
        tile->x_at[i] = centre(COLUMN_OF(tile, i), view->width) - tile->left;
    for (uint i = 0; i < BLOCKS_Y; ++i)
        tile->y_at[i] = centre_row(tile->py + (int)(i * BLOCK_H), view->height) - tile->top;
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
                                   const struct aimed *t, uint bits)
{
    float half_w = 0.5f * CULL_W / (float)view->width, half_h = 0.5f * CULL_H / (float)view->height;
    uint kept = 0;
    ROLLED for (uint j = 0; j < CULL_CELLS; ++j)
    {
        float x = (float)(2 * (j % CULL_COLUMNS) + 1) * half_w, y = (float)(2 * (j / CULL_COLUMNS) + 1) * half_h;
        bool near = true;
        for (uint k = 0; k < 3; ++k) {
            float4 line = t->line[k];
            float normal = line.x * y - line.y * x + line.z;
            near = near && normal + fabs(line.x) * half_h + fabs(line.y) * half_w > -t->colour.w;
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
    TEAM_MEMORY entry *list;         /* [LIST_ROOM], in painter's order */
    TEAM_MEMORY struct aimed *chunk; /* [CHUNK]: those of the list that are being walked */
    uint first, length; /* of the list: where it starts in its room */
    uint next;          /* triangles looked at so far */
    bool whole;         /* one list holds all that meet the tile: it serves both passes */
    float4 ground;
};

/* Fills the list with triangles whose bounds meet the tile, until all are seen or it is full: from the first
 * on or, descending, from the last. keep: leaves it as it is. (A parameter, and not a condition around the
 * call: compilers that turn work-items into loops take minutes over barriers inside conditions.) */
static inline void fill_list(struct work *work, const struct shared_view *view, bool descending, bool keep)
{
    const uint end = keep ? 0 : view->triangles;
    uint length = 0, next = work->next;
    team_sync(); /* the list before this one has been read by all */
    while (next < end && length + GULP * LANES <= LIST_ROOM) {
        uint2 bounds[GULP];
        uint index[GULP];
        UNROLLED for (uint u = 0; u < GULP; ++u) /* the loads first, so that they overlap */
        {
            uint at = next + u * LANES + work->team.lane;
            index[u] = descending ? view->triangles - 1u - at : at;
            bounds[u] = at < view->triangles ? work->bounds[index[u]] : (uint2)(0, 0);
        }
        UNROLLED for (uint u = 0; u < GULP; ++u)
        {
            uint bits = blocks_in_bounds(&work->tile, bounds[u]), total;
            uint at = length + team_rank(&work->team, bits != 0, &total);
            if (bits)
                work->list[descending ? LIST_ROOM - 1u - at : at] = (entry)(index[u], bits);
            length += total;
        }
        next += GULP * LANES;
    }
    if (!keep) {
        work->first = descending ? LIST_ROOM - length : 0;
        work->length = length;
    }
    work->next = next;
    team_sync();
}

/* Aims `count` triangles of the list, from entry `first` on, at the tile: a lane each. Those that do not reach
 * its pixels get no blocks; where sums are written, theirs is written here. */
static inline void fill_chunk(const struct work *work, const struct shared_view *view, uint first, uint count,
                              bool backward)
{
    team_sync(); /* the chunk before this one has been read by all */
    for (uint c = work->team.lane; c < count; c += LANES) {
        entry item = work->list[work->first + first + c];
        struct aimed t = aim(work->triangles + item.x, &work->tile, item.x, item.y);
        t.item.y = blocks_in_reach(&work->tile, view, &t, item.y);
#ifdef REDUCTION_ORDERED
        if (t.place.z != SHARED_NO_SLOT) {
            t.place.z = slot_of(&work->tile, t.place);
            for (uint v = 0; backward && !t.item.y && v < SUMS; ++v)
                work->slots[(size_t)t.place.z * SUMS + v] = 0.0f;
        }
#endif
        work->chunk[c] = t;
    }
    team_sync();
}

/* ---- forward ---- */

struct canvas {
    real r[BLOCKS], g[BLOCKS], b[BLOCKS];
};

#define COMPOSITE(canvas, w, c) (canvas) = FMA(w, (c) - (canvas), canvas)
#define DOT(ax, ay, az, bx, by, bz) FMA(ax, bx, FMA(ay, by, (az) * (bz)))

static inline mask in_bounds(const struct aimed *t, mask px, int py)
{
    return (px >= LEFT(t->place)) & (px < RIGHT(t->place)) &
           (mask)(py >= TOP(t->place) && py < BOTTOM(t->place) ? -1 : 0);
}

/* The weight of block j's pixels, at x, y from the tile's corner; 0 where they are not covered. */
static inline real weight_at(const struct facing *f, const struct shared_view *view, const struct tile *tile,
                             uint j, real x, float y)
{
    struct nearest n = find_nearest(f, view, tile, j, x, y);
    real e = edge_exponential(&n, view->exp2_scale);
    real w = f->t.length.w * RECIPROCAL(1.0f + e);
    return CHOOSE(in_bounds(&f->t, COLUMN_OF(tile, j), ROW_OF(tile, j)) & (w > SHARED_MIN_WEIGHT), w, 0.0f);
}

static inline void clear_canvas(struct canvas *canvas, float4 ground)
{
    FOR_ALL_BLOCKS(j)
    {
        canvas->r[j] = (real)(ground.x);
        canvas->g[j] = (real)(ground.y);
        canvas->b[j] = (real)(ground.z);
    }
}

/* Composites one triangle over the blocks of `bits`. */
static inline void composite(const struct tile *tile, const struct shared_view *view, const struct facing *f,
                             uint bits, struct canvas *canvas)
{
    FOR_BLOCKS(j, bits)
    {
        real w = weight_at(f, view, tile, j, tile->x_at[j % BLOCKS_X], tile->y_at[j / BLOCKS_X]);
        COMPOSITE(canvas->r[j], w, f->t.colour.x);
        COMPOSITE(canvas->g[j], w, f->t.colour.y);
        COMPOSITE(canvas->b[j], w, f->t.colour.z);
    }
}

/* tape: the scene's [T][H][W][3], with STRATEGY_TAPED. */
static inline void walk_forward(struct work *work, const struct shared_view *view, struct canvas *canvas,
                                global float *tape)
{
    const struct tile *tile = &work->tile;
    uint parts = 0;
    clear_canvas(canvas, work->ground);
    do {
        fill_list(work, view, false, false);
        ++parts;
        for (uint first = 0; first < work->length; first += CHUNK) {
            const uint count = min(CHUNK, work->length - first);
            fill_chunk(work, view, first, count, false);
            WALK_UNROLLED for (uint k = 0; k < count; ++k)
            {
                struct aimed t = work->chunk[k];
                if (SKIPS && !t.item.y)
                    continue;
                struct facing f = face(t, work->triangles + t.item.x, tile, view);
#ifdef STRATEGY_TAPED
                size_t plane = (size_t)view->width * view->height * 3;
                FOR_BLOCKS(j, t.item.y)
                {
                    store_pixel(tape + t.item.x * plane, view, COLUMN_OF(tile, j), ROW_OF(tile, j), canvas->r[j],
                                canvas->g[j], canvas->b[j]);
                }
#endif
                composite(tile, view, &f, t.item.y, canvas);
            }
        }
    } while (work->next < view->triangles);
    work->whole = parts == 1;
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
#define ADD(i, a, b) add_pixels(sums + (i), (a) * (b), live)
#else
#define ADD(i, a, b) sums[i] = FMA(a, b, sums[i])
#endif

#ifdef STRATEGY_FUSED
/* Below this 1 - w the division of the residual walk loses alpha's gradient (MODEL.md). */
#define STEEP 1e-2f

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

/* The scene's triangle at place k from the bottom, of the list or, where that is not whole, of all. */
static inline uint triangle_at(const struct work *work, uint k)
{
    return work->whole ? work->list[k].x : k;
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
    for (uint k = 0; k < count; ++k) {
        const uint i = triangle_at(work, k);
        const uint meets = bits & blocks_in_bounds(&work->tile, work->bounds[i]);
        if (meets) {
            struct facing f = face_triangle(work, view, i);
            composite(&work->tile, view, &f, meets, canvas);
        }
    }
}
#endif

#ifdef STRATEGY_FUSED
/* g . (canvas below the triangle at place `count`) for block j's pixels, composited again from the bottom. */
static inline real below_dot(const struct work *work, const struct shared_view *view, uint count, uint j, real x,
                             float y, real g_r, real g_g, real g_b)
{
    real r = (real)(work->ground.x), g = (real)(work->ground.y), b = (real)(work->ground.z);
    ROLLED for (uint i = 0; i < count; ++i)
    {
        struct facing f = face_triangle(work, view, triangle_at(work, i));
        real w = weight_at(&f, view, &work->tile, j, x, y);
        COMPOSITE(r, w, f.t.colour.x);
        COMPOSITE(g, w, f.t.colour.y);
        COMPOSITE(b, w, f.t.colour.z);
    }
    return DOT(g_r, g_g, g_b, r, g, b);
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
    const mask is_steep = live & (left < steep_below);
#ifdef STEEP_LATER
    *steep = *steep || is_steep;
    by_weight = CHOOSE(live & (left >= steep_below), by_weight, 0.0f);
#else
    if (ANY(is_steep)) {
        real dot = below_dot(work, view, place, j, tile->x_at[j % BLOCKS_X], tile->y_at[j / BLOCKS_X], g_r, g_g, g_b);
        by_weight = CHOOSE(is_steep, q - through * dot, by_weight);
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
    team_store_ten(&work->team, sums, work->slots + (size_t)t->place.z * SUMS, t->place.z != SHARED_NO_SLOT);
#elif defined(REDUCTION_LOCAL)
    team_add_ten(&work->team, sums, grads + (size_t)t->item.x * SUMS);
#endif
    return steep;
}

/* grads: the scene's [T][10], for reductions that add to it. Returns whether walk_steep must follow. */
static inline bool walk_backward(struct work *work, const struct shared_view *view, struct walk *walk,
                                 global const float *tape, global float *grads)
{
    bool steep = false;
    work->next = work->whole ? view->triangles : 0;
    do {
        fill_list(work, view, true, work->whole);
        for (uint left = work->length; left > 0;) {
            const uint count = (left - 1u) % CHUNK + 1u;
            left -= count;
            fill_chunk(work, view, left, count, true);
            WALK_UNROLLED for (uint k = count; k > 0; --k)
            {
                struct aimed t = work->chunk[k - 1u];
                if (SKIPS && !t.item.y)
                    continue;
                steep = walk_triangle(work, view, &t, left + k - 1u, walk, tape, grads) || steep;
            }
        }
    } while (work->next < view->triangles);
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
        real through = (real)(1.0f);
        ROLLED for (uint k = places; k > 0; --k)
        {
            const uint i = triangle_at(work, k - 1u);
            const struct facing f = face_triangle(work, view, i);
            const struct aimed *t = &f.t;
            struct nearest n = find_nearest(&f, view, tile, j, x, y);
            const float opacity = t->length.w;
            real e = edge_exponential(&n, view->exp2_scale);
            real coverage = RECIPROCAL(1.0f + e), left = FMA(opacity, e * coverage, 1.0f - opacity);
            mask live = in_bounds(t, COLUMN_OF(tile, j), ROW_OF(tile, j)) &
                        (opacity * coverage > SHARED_MIN_WEIGHT);
            const bool fades = t->inverse.w > 0.0f && opacity > 1.0f - STEEP;
            mask steep = live & (left < STEEP);
            real alpha = (real)(0.0f);
            if (fades && ANY(steep)) {
                real dot = below_dot(work, view, k - 1u, j, x, y, g_r, g_g, g_b);
                real q = DOT(g_r, g_g, g_b, t->colour.x, t->colour.y, t->colour.z);
                alpha = CHOOSE(steep, through * (q - dot) * coverage, 0.0f);
            }
            add_alpha(work, t->place, i, across(alpha), grads);
            through = CHOOSE(live, through * left, through);
        }
    }
}
#endif

#endif

/* ---- the kernel ---- */

#if defined(PASS_BACKWARD) || defined(WITH_LOSS)
/* The squared differences of one block's pixels from their target. *g_r, *g_g, *g_b: dL/dC. */
static inline real compare_block(const struct work *work, const struct shared_view *view,
                                 global const float *goal, const struct canvas *canvas, uint j, real *g_r,
                                 real *g_g, real *g_b)
{
    mask px = COLUMN_OF(&work->tile, j);
    int py = ROW_OF(&work->tile, j);
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
    struct aimed chunk[CHUNK];
#else
    local entry lists[TEAMS][LIST_ROOM];
    local struct aimed chunks[TEAMS][CHUNK];
    local entry *list = lists[get_local_id(1)];
    local struct aimed *chunk = chunks[get_local_id(1)];
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
    work.chunk = chunk;
    work.next = 0;
    global const float *ground = in + (size_t)view.in_scenes * view.triangles * SUMS + (view.in_first + scene) * 3;
    work.ground = (float4)(ground[0], ground[1], ground[2], 0.0f);
    image += (view.image_first + scene) * plane;
    goal += (view.goal_first + scene) * plane;
    tape += scene * view.triangles * plane;

#ifdef PASS_FORWARD
    walk_forward(&work, &view, &canvas, tape);
#ifdef WITH_IMAGE
    FOR_ALL_BLOCKS(j)
    {
        store_pixel(image, &view, COLUMN_OF(&work.tile, j), ROW_OF(&work.tile, j), canvas.r[j], canvas.g[j],
                    canvas.b[j]);
    }
#endif
#else
    fill_list(&work, &view, false, false);
    work.whole = work.next >= view.triangles;
    FOR_ALL_BLOCKS(j)
    {
        load_pixel(image, &view, COLUMN_OF(&work.tile, j), ROW_OF(&work.tile, j), &canvas.r[j], &canvas.g[j],
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
    global float *grads = out + (view.out_first + scene) * view.triangles * SUMS;
    const bool steep = walk_backward(&work, &view, &walk, tape, grads);
#if defined(STRATEGY_FUSED) && defined(STEEP_LATER)
    if (team_any(&work.team, steep))
        walk_steep(&work, &view, &walk, grads);
#else
    (void)steep;
#endif
#endif
#endif
}
