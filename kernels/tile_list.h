/* A tile: where its pixels lie, how they are loaded and stored, and the list of triangles that meet it. */
#ifndef GPUBENCH_KERNELS_TILE_LIST_H
#define GPUBENCH_KERNELS_TILE_LIST_H

#include "geometry.h"

/* Triangles that are aimed at a time: those that the forward pass aimed last, the backward pass has at hand.
 */
#if defined(PATH_PTX) && !defined(SHARED_TILE) && !defined(LOCAL_RECORDS)
#define CHUNK (2u * LANES)
#else
#define CHUNK LANES
#endif
#ifdef LOOPED_LANES
#define SKIPS false
#define GULP 1u
#else
#define SKIPS true /* triangles that touch no block are not walked */
#define GULP 4u
#endif
/* Unrolled, so that a lane's pixels stay in registers. An entry of the list has a bit set. */
#define FOR_BLOCKS(j, bits)                                                                                  \
    _Pragma("unroll") for (uint j = 0; j < BLOCKS; ++j) if ((SKIPS && BLOCKS == 1u) || ((bits) >> (j)&1u))
#define FOR_ALL_BLOCKS(j) _Pragma("unroll") for (uint j = 0; j < BLOCKS; ++j)

/* With one block a lane, triangles are what can overlap. */
#ifdef WALK_UNROLL
#define PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(n) PRAGMA(unroll n)
#define WALK_UNROLLED UNROLL_BY(WALK_UNROLL)
#else
#define WALK_UNROLLED
#endif

/* A triangle of the list: its index in the scene. */
typedef uint entry;

static inline void place_tile(struct tile *tile, const struct shared_view *view, uint lane, uint column, uint row)
{
    tile->column = column;
    tile->row = row;
    tile->x = (int)(column * TILE_W);
    tile->y = (int)(row * TILE_H);
    tile->left = part_of((float)tile->x, view->width);
    tile->top = part_of((float)tile->y, view->height);
    tile->unit = view->exp2_scale; /* so that exp(-d/s) is 2^-d */
    tile->px = tile->x + (int)(lane % BLOCK_W);
    tile->py = tile->y + (int)(lane / BLOCK_W);
    for (uint i = 0; i < BLOCKS_X; ++i)
        tile->x_at[i] = (centre(COLUMN_OF(tile, i), view->width) - tile->left) * tile->unit;
    for (uint i = 0; i < BLOCKS_Y; ++i)
        tile->y_at[i] = (centre_row(tile->py + (int)(i * BLOCK_H), view->height) - tile->top) * tile->unit;
}

/* ---- memory of pixels: [H][W][3] ---- */

static inline void load_pixel(global const float *image, const struct shared_view *view, mask px, int py,
                              real *r, real *g, real *b)
{
    *r = *g = *b = (real)(0.0f);
    if (px < (int)view->width && py < (int)view->height) {
        size_t at = ((size_t)py * view->width + (size_t)px) * 3;
        *r = image[at];
        *g = image[at + 1];
        *b = image[at + 2];
    }
}

static inline void store_pixel(global float *image, const struct shared_view *view, mask px, int py, real r,
                               real g, real b)
{
    if (px < (int)view->width && py < (int)view->height) {
        size_t at = ((size_t)py * view->width + (size_t)px) * 3;
        image[at] = r;
        image[at + 1] = g;
        image[at + 2] = b;
    }
}

/* ---- which triangles ---- */

/* Whether the bounds meet w x h pixels from x, y on; empty ones, which are 0, never do. */
static inline bool meets(uint2 bounds, uint x, uint y, uint w, uint h)
{
    return (bounds.x & 0xffffu) < x + w && bounds.x >= (x + 1u) << 16 && (bounds.y & 0xffffu) < y + h &&
           bounds.y >= (y + 1u) << 16;
}

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
    const float half_w = 0.5f * (float)BLOCK_W * tile->unit / (float)view->width;
    const float half_h = 0.5f * (float)BLOCK_H * tile->unit / (float)view->height;
    uint beyond = 0;
    for (uint k = 0; k < 3; ++k) {
        const float4 line = t->line[k];
        const float across = -line.y * half_w, down = line.x * half_h; /* of normal, for half a block */
        const float nearest = line.z + fabs(across) + fabs(down) + as_float(t->place.w);
        UNROLLED for (uint j = 0; j < BLOCKS; ++j)
        {
            const float x = (float)(2 * (j % BLOCKS_X) + 1), y = (float)(2 * (j / BLOCKS_X) + 1);
            beyond |= FMA(x, across, FMA(y, down, nearest)) > 0.0f ? 0u : 1u << j;
        }
    }
    return bits & ~beyond;
}

/* Where gradients are summed over pixels: tiles of which one edge of a triangle alone is the nearest are
 * walked by simpler arithmetic. A single block gains nothing from it (but is what the tests run on CPU
 * devices). */
#if defined(ON_CPU) && (defined(STRATEGY_RECOMPUTE) || defined(STRATEGY_TAPED))
#define HAS_LONE_EDGE(marks) false /* PoCL 5's compiler breaks on a backward pass that is walked apart */
#elif !defined(REDUCTION_DIRECT) && (BLOCKS > 1u || !defined(PATH_PTX))
#define LONE_EDGES
#define HAS_LONE_EDGE(marks) ((marks) & MARK_EDGE)
#else
#define HAS_LONE_EDGE(marks) false
#endif

/* Of an edge that is walked alone: along one of 0, pixels could not be moved out of its way. */
#define LEAST_TANGENT 1e-9f

/* Puts the edge first that is the nearest of all pixels within both the tile and the bounds, if there is one
 * whose normal also tells whether they are inside; returns its marks, or 0. So it is where no pixel is nearer
 * to another edge's line, or all are outside of it, and those that lie beyond an end do so of the edge that
 * it shares that with. */
static inline uint find_lone_edge(const struct tile *tile, const struct shared_view *view, struct aimed *t)
{
    const int left = max(LEFT(t->place) - tile->x, 0), right = min(RIGHT(t->place) - tile->x, (int)TILE_W);
    const int top = max(TOP(t->place) - tile->y, 0), bottom = min(BOTTOM(t->place) - tile->y, (int)TILE_H);
    const float half_w = 0.5f * tile->unit / (float)view->width,
                half_h = 0.5f * tile->unit / (float)view->height;
    const float x = (float)(left + right) * half_w,
                y = (float)(top + bottom) * half_h; /* the pixels' centre */
    const float reach_x = (float)(right - left - 1) * half_w, reach_y = (float)(bottom - top - 1) * half_h;
    const bool clockwise = MARKS(*t) & MARK_CLOCKWISE;
    /* One edge's end is the next one's start. */
    const float4 line[3] = {t->line[0], clockwise ? t->line[2] : t->line[1],
                            clockwise ? t->line[1] : t->line[2]};
    const float length[3] = {t->length.x, clockwise ? t->length.z : t->length.y,
                             clockwise ? t->length.y : t->length.z};
    const float inverse[3] = {t->inverse.x, clockwise ? t->inverse.z : t->inverse.y,
                              clockwise ? t->inverse.y : t->inverse.z};
    float normal[3], start[3], end[3]; /* at the centre; along, from either end */
    float spread[3];                   /* of along, over the pixels */
    bool no_next[3], no_last[3];       /* the edge before, or behind, is nowhere the nearest */
    bool nearer[3], further[3];        /* everywhere, than the next one's line */
    uint found = 0;
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        normal[k] = FMA(line[k].x, y, FMA(-line[k].y, x, line[k].z));
        start[k] = FMA(line[k].x, x, FMA(line[k].y, y, line[k].w));
        end[k] = start[k] - length[k];
        spread[k] = FMA(fabs(line[k].x), reach_x, fabs(line[k].y) * reach_y);
    }
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        const uint next = (k + 1u) % 3u;
        const float turn_x = line[k].x + line[next].x, turn_y = line[k].y + line[next].y,
                    both = end[k] + start[next];
        const float both_spread = FMA(fabs(turn_x), reach_x, fabs(turn_y) * reach_y);
        const float apart = normal[k] - normal[next];
        const float apart_spread =
            FMA(fabs(line[k].y - line[next].y), reach_x, fabs(line[k].x - line[next].x) * reach_y);
        no_next[k] = (end[k] <= -spread[k]) | (start[next] <= -spread[next]) | (both <= -both_spread);
        no_last[next] = (start[next] >= spread[next]) | (end[k] >= spread[k]) | (both >= both_spread);
        nearer[k] = apart <= -apart_spread;
        further[k] = apart >= apart_spread;
    }
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        const uint last = (k + 2u) % 3u;
        const bool outside = normal[k] < -FMA(fabs(line[k].y), reach_x, fabs(line[k].x) * reach_y);
        const bool beyond = (start[k] < spread[k]) | (end[k] > -spread[k]);
        if ((outside | (nearer[k] & further[last])) & no_next[k] & no_last[k]) {
            found =
                MARK_EDGE | (beyond ? MARK_BEYOND : 0u) | (clockwise ? FOURS_OF((3u - k) % 3u) : FOURS_OF(k));
            t->line[0] = line[k];
            t->length.x = length[k];
            t->inverse.x = inverse[k];
        }
    }
    if (found) /* for pixels outside the bounds, see face_edge */
        t->line[0].y = copysign(fmax(fabs(t->line[0].y), LEAST_TANGENT), t->line[0].y);
    return found;
}

/* Whether the bounds hold all of the tile. */
static inline bool in_bounds_whole(const struct tile *tile, uint4 place)
{
    return LEFT(place) <= tile->x && RIGHT(place) >= tile->x + (int)TILE_W && TOP(place) <= tile->y &&
           BOTTOM(place) >= tile->y + (int)TILE_H;
}

/* Where a triangle's partial sums of this tile go, counted from the scene's first slot. slot: where its first
 * are. */
static inline uint slot_of(const struct tile *tile, uint2 bounds, uint slot)
{
#ifdef LOCAL_RECORDS /* [T] for each tile */
    return slot;
#else
    uint first = (uint)LEFT(bounds) / TILE_W, columns = ((uint)RIGHT(bounds) - 1u) / TILE_W - first + 1u;
    return slot + (tile->row - (uint)TOP(bounds) / TILE_H) * columns + tile->column - first;
#endif
}

#define HELD_NONE 0xffffffffu

/* One team's share of a launch. */
struct work {
    struct team team;
    struct tile tile;
    RECORD_SPACE const struct shared_triangle *triangles; /* the scene's [T] */
    uint begin, count; /* of them, those that are this team's */
    uint layer;        /* of the teams that share the tile, from the back */
#ifdef SHARED_TILE
    local float4 *layers; /* [TEAMS][BLOCKS][LANES]: what each team's triangles make of a black canvas; w: what they
                           * let through */
    local uint *lengths;  /* [TEAMS]: of the teams' lists */
#endif
    RECORD_SPACE const uint2 *bounds;               /* [T] */
#ifdef BIN_TILES
    global const uint *bin; /* [BIN_WORDS(T)]: a bit for each triangle that meets the tile's bin */
#endif
    RECORD_SPACE float *slots;                      /* [slot_capacity][SHARED_SLOT], or the team's [T][SHARED_SLOT] */
#ifdef REDUCTION_ORDERED
    RECORD_SPACE float *lane_slots; /* the same, from the lane's place in every four on */
#endif
    TEAM_MEMORY entry *list;         /* [LIST_ROOM], in painter's order */
    TEAM_MEMORY struct aimed *chunk; /* [CHUNK]: those of the list that are being walked */
#ifdef REDUCTION_LOCAL
    local float *totals; /* [SHARED_SLOT] */
#endif
    uint first, length; /* of the list: where it starts in its room */
    uint held;          /* the entry that the chunk starts with; HELD_NONE: not of this list */
    uint next;          /* of the team's triangles, those looked at so far */
    bool whole;         /* one list holds all that meet the tile: it serves both passes */
    float4 ground;
};

/* Where the at-th triangle that is found goes: the list is in painter's order whichever way it is filled. */
#define PLACE(at) (descending ? LIST_ROOM - 1u - (at) : (at))

/* The bounds of a lane's triangles; empty where there is none. index: in the scene, view->triangles for none.
 */
static inline void load_gulp(const struct work *work, const struct shared_view *view, const uint *index,
                             uint2 *bounds)
{
    UNROLLED for (uint u = 0; u < GULP; ++u) /* the loads first, so that they overlap */
    {
        bounds[u] = index[u] < view->triangles ? work->bounds[index[u]] : (uint2)(0, 0);
    }
}

/* Appends to a list of `length` those of a lane's triangles whose bounds meet the tile; returns the new
 * length. */
static inline uint keep_gulp(const struct work *work, const uint *index, const uint2 *bounds, bool descending,
                             uint length)
{
    UNROLLED for (uint u = 0; u < GULP; ++u)
    {
        const bool found = meets(bounds[u], (uint)work->tile.x, (uint)work->tile.y, TILE_W, TILE_H);
        uint total, at = length + team_rank(&work->team, found, &total);
        if (found)
            work->list[PLACE(at)] = index[u];
        length += total;
    }
    return length;
}

#ifdef BIN_TILES
/* Puts the next triangles of the tile's bin behind a list of `length`: a word of the mask a lane, as far as
 * there is room. *next: triangles looked at so far. Returns how many were put there. */
static inline uint unpack_bin(const struct work *work, const struct shared_view *view, bool descending,
                              uint length, uint *next)
{
    const uint lane = work->team.lane, room = LIST_ROOM - length, left = view->triangles - *next;
    const uint from = descending ? (left - 1u) / 32u : *next / 32u; /* the first lane's word */
    const uint word = descending ? from - lane : from + lane;       /* wraps around below the first */
    uint bits = word < BIN_WORDS(view->triangles) ? work->bin[word] : 0, total;
    if (lane == 0) /* of this word, some may have been looked at */
        bits &= descending ? ~0u >> (31u - (left - 1u) % 32u) : ~0u << (*next % 32u);
    uint at = team_offset(&work->team, popcount(bits), &total);
    for (; bits && at < room; ++at) {
        uint bit = 31u - clz(descending ? bits : bits & (0u - bits));
        work->list[PLACE(length + at)] = word * 32u + bit;
        bits ^= 1u << bit;
    }
    team_sync();
    if (total > room) {
        const uint last = work->list[PLACE(LIST_ROOM - 1u)];
        *next = descending ? view->triangles - last : last + 1u;
        return room;
    }
    if (descending)
        *next = view->triangles - (from < LANES ? 0 : (from - LANES + 1u) * 32u);
    else
        *next = (from + LANES) * 32u;
    return total;
}
#endif

#ifndef BIN_TILES
/* The next triangles to look at, from the next-th on. */
static inline void name_gulp(const struct work *work, const struct shared_view *view, bool descending,
                             uint next, uint end, uint *index)
{
    UNROLLED for (uint u = 0; u < GULP; ++u)
    {
        const uint at = next + u * LANES + work->team.lane;
        index[u] = at >= end ? view->triangles : work->begin + (descending ? end - 1u - at : at);
    }
}
#endif

/* Fills the list with the team's triangles whose bounds meet the tile, until all are seen or it is full: from the first
 * on or, descending, from the last. keep: leaves it as it is. (A parameter, and not a condition around the
 * call: compilers that turn work-items into loops take minutes over barriers inside conditions.) */
static inline void fill_list(struct work *work, const struct shared_view *view, bool descending, bool keep)
{
    const uint end = keep ? 0 : work->count;
    uint length = 0, next = work->next, index[GULP];
    uint2 bounds[GULP];
    team_sync(); /* the list before this one has been read by all */
#ifndef BIN_TILES
    name_gulp(work, view, descending, next, end, index);
    load_gulp(work, view, index, bounds); /* while one gulp is looked at, the next is on its way */
#endif
    while (next < end && length + GULP * LANES <= LIST_ROOM) {
#ifdef BIN_TILES
        const uint first = length, found = unpack_bin(work, view, descending, first, &next);
        /* In place: what is kept moves down, to where all lanes have read. */
        for (uint from = 0; from < found; from += GULP * LANES) {
            UNROLLED for (uint u = 0; u < GULP; ++u)
            {
                uint at = from + u * LANES + work->team.lane;
                index[u] = at < found ? work->list[PLACE(first + at)] : view->triangles;
            }
            load_gulp(work, view, index, bounds);
            length = keep_gulp(work, index, bounds, descending, length);
        }
#else
        uint ready[GULP];
        uint2 ready_bounds[GULP];
        UNROLLED for (uint u = 0; u < GULP; ++u)
        {
            ready[u] = index[u];
            ready_bounds[u] = bounds[u];
        }
        next += GULP * LANES;
        name_gulp(work, view, descending, next, end, index);
        load_gulp(work, view, index, bounds);
        length = keep_gulp(work, ready, ready_bounds, descending, length);
#endif
    }
    if (!keep) {
        work->first = descending ? LIST_ROOM - length : 0;
        work->length = length;
        work->held = HELD_NONE;
    }
    work->next = next;
    team_sync();
}

#ifdef SHARED_TILE
#define NOT_WHOLE 0xffffffffu

/* Deals out what all teams found in equal parts, as they wait for the slowest. Where a list has no room for all of
 * its team's triangles, each keeps its own. */
static inline void deal_lists(struct work *work)
{
    local entry *all = work->list - work->layer * LIST_ROOM;
    entry mine[LIST_ROOM / LANES];
    uint before = 0, total = 0;
    bool whole = true;
    if (work->team.lane == 0)
        work->lengths[work->layer] = work->next < work->count ? NOT_WHOLE : work->length;
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLLED for (uint layer = 0; layer < TEAMS; ++layer)
    {
        const uint length = work->lengths[layer];
        whole = whole && length != NOT_WHOLE;
        before += layer < work->layer ? length : 0u;
        total += length;
    }
    if (!whole) /* so do all teams */
        return;
    UNROLLED for (uint u = 0; u < LIST_ROOM / LANES; ++u)
    {
        const uint at = u * LANES + work->team.lane;
        mine[u] = at < work->length ? work->list[at] : 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLLED for (uint u = 0; u < LIST_ROOM / LANES; ++u)
    {
        const uint at = u * LANES + work->team.lane;
        if (at < work->length)
            all[before + at] = mine[u];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint begin = total * work->layer / TEAMS;
    work->list = all + begin;
    work->length = total * (work->layer + 1u) / TEAMS - begin;
}
#endif

/* Aims `count` triangles of the list, from entry `first` on, at the tile: a lane each; none, where it holds them
 * already. Those that do not reach its pixels get no blocks. */
static inline void fill_chunk(struct work *work, const struct shared_view *view, uint first, uint count)
{
    const uint wanted = work->held == first ? 0 : count;
    work->held = first;
    team_sync(); /* the chunk before this one has been read by all */
    for (uint c = work->team.lane; c < wanted; c += LANES) {
        const entry index = work->list[work->first + first + c];
        struct aimed t = aim(work->triangles + index, &work->tile, index);
        uint marks =
            MARKS(t) | blocks_in_reach(&work->tile, view, &t, blocks_in_bounds(&work->tile, t.place.xy));
        marks |= in_bounds_whole(&work->tile, t.place) ? 0u : MARK_CUT;
#ifdef LONE_EDGES
        if (!(marks & (MARK_CROSSED | MARK_STEEP)))
            marks |= find_lone_edge(&work->tile, view, &t);
#endif
        t.colour.w = as_float(marks);
#ifdef REDUCTION_ORDERED
        if (SLOT(t) != SHARED_NO_SLOT)
            t.inverse.w = as_float(slot_of(&work->tile, t.place.xy, SLOT(t)));
#endif
        work->chunk[c] = t;
    }
    team_sync();
}

#endif
