/* A tile: where its pixels lie, how they are loaded and stored, and the list of triangles that meet it. */
#ifndef GPUBENCH_KERNELS_TILE_LIST_H
#define GPUBENCH_KERNELS_TILE_LIST_H

#include "geometry.h"

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

/* Unrolled, so that a lane's pixels stay in registers. An entry of the list has a bit set. */
#define FOR_BLOCKS(j, bits)                                                                        \
    _Pragma("unroll") for (uint j = 0; j < BLOCKS; ++j) if ((SKIPS && BLOCKS == 1u) || ((bits) & BLOCK_BITS(j)))
#define FOR_ALL_BLOCKS(j) _Pragma("unroll") for (uint j = 0; j < BLOCKS; ++j)

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

/* A triangle of the list: its index in the scene. */
typedef uint entry;

static inline void place_tile(struct tile *tile, const struct shared_view *view, uint lane, uint column, uint row)
{
    tile->column = column;
    tile->row = row;
    tile->x = (int)(column * TILE_W);
    tile->y = (int)(row * TILE_H);
    tile->left = (float)tile->x / (float)view->width;
    tile->top = (float)tile->y / (float)view->height;
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
    float half_w = 0.5f * CULL_W * tile->unit / (float)view->width;
    float half_h = 0.5f * CULL_H * tile->unit / (float)view->height;
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

/* Whether the bounds hold all of the tile. */
static inline bool in_bounds_whole(const struct tile *tile, uint4 place)
{
    return LEFT(place) <= tile->x && RIGHT(place) >= tile->x + (int)TILE_W && TOP(place) <= tile->y &&
           BOTTOM(place) >= tile->y + (int)TILE_H;
}

/* Where a triangle's partial sums of this tile go, counted from the scene's first slot. */
static inline uint slot_of(const struct tile *tile, uint4 place)
{
    uint first = (uint)LEFT(place) / TILE_W, columns = ((uint)RIGHT(place) - 1u) / TILE_W - first + 1u;
    return place.z + (tile->row - (uint)TOP(place) / TILE_H) * columns + tile->column - first;
}

#define HELD_NONE 0xffffffffu

/* One team's share of a launch. */
struct work {
    struct team team;
    struct tile tile;
    global const struct shared_triangle *triangles; /* the scene's [T] */
    uint begin, count; /* of them, those that are this team's */
    uint layer;        /* of the teams that share the tile, from the back */
#ifdef SHARED_TILE
    local float4 *layers; /* [TEAMS][BLOCKS][LANES]: what each team's triangles make of a black canvas; w: what they
                           * let through */
#endif
    global const uint2 *bounds;                     /* [T] */
#ifdef BIN_TILES
    global const uint *bin; /* [BIN_WORDS(T)]: a bit for each triangle that meets the tile's bin */
#endif
    global float *slots;                            /* [slot_capacity][SHARED_SLOT] */
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

/* Appends to a list of `length` those of a lane's triangles whose bounds meet the tile; returns the new
 * length. index: in the scene, view->triangles for none. */
static inline uint keep_gulp(const struct work *work, const struct shared_view *view, const uint *index,
                             bool descending, uint length)
{
    uint2 bounds[GULP];
    UNROLLED for (uint u = 0; u < GULP; ++u) /* the loads first, so that they overlap */
    {
        bounds[u] = index[u] < view->triangles ? work->bounds[index[u]] : (uint2)(0, 0);
    }
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

/* Fills the list with the team's triangles whose bounds meet the tile, until all are seen or it is full: from the first
 * on or, descending, from the last. keep: leaves it as it is. (A parameter, and not a condition around the
 * call: compilers that turn work-items into loops take minutes over barriers inside conditions.) */
static inline void fill_list(struct work *work, const struct shared_view *view, bool descending, bool keep)
{
    const uint end = keep ? 0 : work->count;
    uint length = 0, next = work->next, index[GULP];
    team_sync(); /* the list before this one has been read by all */
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
            length = keep_gulp(work, view, index, descending, length);
        }
#else
        UNROLLED for (uint u = 0; u < GULP; ++u)
        {
            uint at = next + u * LANES + work->team.lane;
            index[u] = at >= end ? view->triangles : work->begin + (descending ? end - 1u - at : at);
        }
        length = keep_gulp(work, view, index, descending, length);
        next += GULP * LANES;
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

/* Aims `count` triangles of the list, from entry `first` on, at the tile: a lane each; none, where it holds them
 * already. Those that do not reach its pixels get no blocks. */
static inline void fill_chunk(struct work *work, const struct shared_view *view, uint first, uint count)
{
    const uint wanted = work->held == first ? 0 : count;
    work->held = first;
    team_sync(); /* the chunk before this one has been read by all */
    for (uint c = work->team.lane; c < wanted; c += LANES) {
        const entry index = work->list[work->first + first + c];
        struct aimed t = aim(work->triangles + index, &work->tile, index, 0);
        t.item.y = blocks_in_reach(&work->tile, view, &t, blocks_in_bounds(&work->tile, t.place.xy));
        t.item.z = !in_bounds_whole(&work->tile, t.place);
#ifdef REDUCTION_ORDERED
        if (t.place.z != SHARED_NO_SLOT)
            t.place.z = slot_of(&work->tile, t.place);
#endif
        work->chunk[c] = t;
    }
    team_sync();
}

#endif
