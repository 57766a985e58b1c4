/* A CPU device's tile: 16 x 16 pixels and one work-item, which holds a block of 4 x WIDTH/4 pixels in a
 * vector. The structure is that of the OpenMP renderer (src/cpu/tile.h has the reasons): a list of triangles
 * with a bit for each block, edges made ready once a triangle, geometry written to a tape for the way back.
 */
#ifndef GPUBENCH_KERNELS_CPU_TILE_H
#define GPUBENCH_KERNELS_CPU_TILE_H

#include "cpu_math.h"

#define NOINLINE static __attribute__((noinline))
#define SIDE 16u   /* pixels of a tile */
#define COLUMNS 4u /* of a block, and blocks side by side */
#define ROWS (WIDTH / COLUMNS)
#define BLOCKS (SIDE * SIDE / WIDTH)

#if WIDTH == 16u
#define IN_EACH_ROW(c) (real)(c, c, c, c)
#define IN_EACH_COLUMN(r) (real)((r).xxxx, (r).yyyy, (r).zzzz, (r).wwww)
#define LOAD_ROWS(p) vload4(0, p)
#else
#define IN_EACH_ROW(c) (real)(c, c)
#define IN_EACH_COLUMN(r) (real)((r).xxxx, (r).yyyy)
#define LOAD_ROWS(p) vload2(0, p)
#endif

#define DOT(a, b) FMA((a)[0], (b)[0], FMA((a)[1], (b)[1], (a)[2] * (b)[2]))

/* Compilers turn any() of a long vector into a tree of shuffles, a third of the work of a loop. */
#if defined(__AVX__) && defined(__has_builtin)
#if __has_builtin(__builtin_reduce_or)
#define ANY(m) (__builtin_reduce_or(m) != 0)
#endif
#endif
#ifndef ANY
#define ANY(m) any(m)
#endif

/* Number of the lowest bit that is set. */
#define LOWEST(bits) (31u - clz((bits) & (0u - (bits))))

/* A triangle of the list, and the blocks of the tile that it may touch: bit 4 row + column. */
typedef uint2 entry;

struct tile {
    uint column, row; /* of tiles */
    int x, y;         /* first pixel */
    float16 x_at;     /* centres of pixel columns */
    float y_at[SIDE];
};

struct work {
    struct tile tile;
    global const struct shared_triangle *triangles; /* the scene's [T] */
    global const uint2 *bounds;                     /* [T] */
#ifdef BIN_TILES
    global const uint *bin; /* [BIN_WORDS(T)]: a bit for each triangle that meets the tile's bin */
#endif
    global float *slots; /* [slot_capacity][SHARED_SLOT] */
    float4 ground;
    entry list[LIST_ROOM]; /* in painter's order */
    uint first, length;    /* of the list: where it starts in its room */
    uint next;             /* triangles looked at so far */
    bool whole;            /* one list holds all that meet the tile: it serves both passes */
    real canvas[BLOCKS][3];
    float column[3][3][SIDE]; /* one triangle's columns: offset, along and cross (struct row) of each edge */
};

INLINE void place_tile(struct tile *tile, const struct shared_view *view, uint column, uint row)
{
    tile->column = column;
    tile->row = row;
    tile->x = (int)(column * SIDE);
    tile->y = (int)(row * SIDE);
    const int16 index = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    tile->x_at = (convert_float16(tile->x + index) + 0.5f) / (float)view->width;
    vstore16((convert_float16(tile->y + index) + 0.5f) / (float)view->height, 0, tile->y_at);
}

/* ---- memory of pixels: [H][W][3] ---- */

/* Block j's pixels, a vector for each channel. Those past the image become `fill`. */
INLINE void load_block(global const float *pixels, const struct shared_view *view, const struct tile *tile,
                       uint j, float4 fill, real *out)
{
    const uint x = (uint)tile->x + j % COLUMNS * 4u, y = (uint)tile->y + j / COLUMNS * ROWS;
    float *to = (float *)out;
    for (uint r = 0; r < ROWS; ++r, to += 4) {
        global const float *from = pixels + ((size_t)(y + r) * view->width + x) * 3;
        if (y + r < view->height && x + 4u <= view->width) {
            float4 a = vload4(0, from), b = vload4(1, from), c = vload4(2, from);
            vstore4((float4)(a.x, a.w, b.z, c.y), 0, to);
            vstore4((float4)(a.y, b.x, b.w, c.z), 0, to + WIDTH);
            vstore4((float4)(a.z, b.y, c.x, c.w), 0, to + 2 * WIDTH);
            continue;
        }
        for (uint i = 0; i < 4u; ++i) {
            const bool in = y + r < view->height && x + i < view->width;
            to[i] = in ? from[3 * i] : fill.x;
            to[i + WIDTH] = in ? from[3 * i + 1] : fill.y;
            to[i + 2 * WIDTH] = in ? from[3 * i + 2] : fill.z;
        }
    }
}

INLINE void store_block(global float *pixels, const struct shared_view *view, const struct tile *tile, uint j,
                        const real *block)
{
    const uint x = (uint)tile->x + j % COLUMNS * 4u, y = (uint)tile->y + j / COLUMNS * ROWS;
    const float *from = (const float *)block;
    for (uint r = 0; r < ROWS && y + r < view->height; ++r, from += 4) {
        global float *to = pixels + ((size_t)(y + r) * view->width + x) * 3;
        for (uint i = 0; i < 4u && x + i < view->width; ++i) {
            to[3 * i] = from[i];
            to[3 * i + 1] = from[i + WIDTH];
            to[3 * i + 2] = from[i + 2 * WIDTH];
        }
    }
}

INLINE void clear_block(real *block, float4 ground)
{
    block[0] = (real)(ground.x);
    block[1] = (real)(ground.y);
    block[2] = (real)(ground.z);
}

/* ---- which triangles ---- */

INLINE uint bits_of(int16 set)
{
    const int16 bits =
        set & (int16)(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768);
    const int8 half_bits = bits.lo | bits.hi;
    const int4 quarter = half_bits.lo | half_bits.hi;
    const int2 eighth = quarter.lo | quarter.hi;
    return (uint)(eighth.x | eighth.y);
}

/* Which of 8 triangles (fewer at the end of the array) have bounds that meet the tile. */
#define GULP 8u
INLINE uint meeting(global const uint2 *bounds, uint count, const struct tile *tile)
{
    const uint2 start = (uint2)((uint)tile->x, (uint)tile->y), end = start + SIDE;
    if (count == GULP) {
        const uint16 b = vload16(0, (global const uint *)bounds);
        const uint8 start_4 = (uint8)(start, start, start, start), end_4 = (uint8)(end, end, end, end);
        const int16 meets =
            ((b & 0xffffu) < (uint16)(end_4, end_4)) & ((b >> 16) > (uint16)(start_4, start_4));
        return bits_of((int16)(meets.even & meets.odd, (int8)(0)));
    }
    uint bits = 0;
    for (uint i = 0; i < count; ++i)
        bits |= all(((bounds[i] & 0xffffu) < end) & ((bounds[i] >> 16) > start)) ? 1u << i : 0u;
    return bits;
}

/* Blocks that meet the bounds; bounds and tile overlap. */
INLINE uint blocks_in_bounds(const struct tile *tile, uint2 bounds)
{
    const int left = (int)(bounds.x & 0xffffu) - tile->x, right = (int)(bounds.x >> 16) - tile->x;
    const int top = (int)(bounds.y & 0xffffu) - tile->y, bottom = (int)(bounds.y >> 16) - tile->y;
    const uint c0 = (uint)max(left, 0) / 4u, c1 = (uint)(min(right, (int)SIDE) - 1) / 4u;
    const uint r0 = (uint)max(top, 0) / ROWS, r1 = (uint)(min(bottom, (int)SIDE) - 1) / ROWS;
    const uint columns = ((2u << c1) - (1u << c0)) * 0x11111111u;
    return columns & (~0u >> (28u - 4u * r1)) & (~0u << (4u * r0));
}

/* How far, in parts of a vertex' distance from the canvas, rounding carries a line. */
#define LINE_NOISE 4e-6f

/* The blocks of `bits` that hold a pixel within the triangle's reach: none is dropped unless all of it lies
 * beyond one of the edges by more than the distance at which the weight falls to nothing. */
INLINE uint blocks_in_reach(const struct tile *tile, const struct shared_view *view,
                            global const struct shared_triangle *from, uint bits)
{
    const float half_w = 2.0f / (float)view->width, half_h = 0.5f * ROWS / (float)view->height;
    const float16 x = (float16)(1, 3, 5, 7, 1, 3, 5, 7, 1, 3, 5, 7, 1, 3, 5, 7) * half_w +
                      (float)tile->x / (float)view->width;
    const float16 rows = (float16)(1, 1, 1, 1, 3, 3, 3, 3, 5, 5, 5, 5, 7, 7, 7, 7) * half_h;
    uint kept = 0;
    for (uint b = 0; b < BLOCKS; b += 16u) {
        const float16 y = rows + (float)(tile->y + (int)(b / 4u * ROWS)) / (float)view->height;
        int16 near = (int16)(-1);
        UNROLLED for (uint k = 0; k < 3; ++k)
        {
            const float4 e = vload4(k, from->edge[0]);
            const float limit = -from->reach - fabs(e.z) * half_h - fabs(e.w) * half_w -
                                LINE_NOISE * (1.0f + fabs(e.x) + fabs(e.y));
            near &= (y - e.y) * e.z - (x - e.x) * e.w > limit;
        }
        kept |= bits_of(near) << b;
    }
    return bits & kept;
}

/* Where a triangle's partial sums of this tile go, counted from the scene's first slot. */
INLINE uint slot_of(const struct tile *tile, global const struct shared_triangle *t)
{
    const uint first = (t->columns & 0xffffu) / SIDE, columns = ((t->columns >> 16) - 1u) / SIDE - first + 1u;
    return t->slot + (tile->row - (t->rows & 0xffffu) / SIDE) * columns + tile->column - first;
}

/* Fills the list with triangles that reach the tile, until all are seen or it is full: from the first on or,
 * descending, from the last. Where sums are written, those of triangles that have none are written here. */
NOINLINE void fill_list(struct work *w, const struct shared_view *view, bool descending)
{
    uint length = 0, next = w->next;
    while (next < view->triangles && length + GULP <= LIST_ROOM) {
        const uint in_order = descending ? view->triangles - 1u - next : next, base = in_order / GULP * GULP;
        const uint count = min(GULP, view->triangles - base);
        next = descending ? view->triangles - base : base + count;
#ifdef BIN_TILES
        if (!w->bin[base / 32u]) {
            next = descending ? view->triangles - base / 32u * 32u
                              : min(view->triangles, base / 32u * 32u + 32u);
            continue;
        }
#endif
        for (uint hits = meeting(w->bounds + base, count, &w->tile); hits;) {
            const uint lane = descending ? 31u - clz(hits) : LOWEST(hits), i = base + lane;
            hits ^= 1u << lane;
            global const struct shared_triangle *t = w->triangles + i;
            uint bits = blocks_in_bounds(&w->tile, w->bounds[i]);
            bits = blocks_in_reach(&w->tile, view, t, bits);
            if (bits) {
                w->list[descending ? LIST_ROOM - 1u - length : length] = (entry)(i, bits);
                ++length;
                continue;
            }
#ifdef REDUCTION_ORDERED
            global float *sums = w->slots + (size_t)slot_of(&w->tile, t) * SHARED_SLOT;
            for (uint v = 0; t->slot != SHARED_NO_SLOT && v < SUMS; ++v)
                sums[v] = 0.0f;
#endif
        }
    }
    w->first = descending ? LIST_ROOM - length : 0;
    w->length = length;
    w->next = next;
}

#endif
