/* The fast variant's loops. Included once by each isa_*.c, which defines the vectors: vf of LANES floats, vm
 * a mask of them, and the v_ and m_ operations. */

#include <math.h>
#include <stddef.h>
#include <string.h>

#define ROWS (LANES / TILE_COLUMNS)                 /* of a block */
#define BLOCKS (TILE_PIXELS / LANES)                /* in a tile */
#define BLOCK_ROWS (TILE_SIZE / ROWS)
#define INLINE static inline __attribute__((always_inline))

/* Further than any triangle reaches, and its square is still a float: what a pixel outside the bounds is
 * told for its offset, so that its weight comes out as 0 without a mask in the loop. */
#define FAR_AWAY 1e15f

/* 2^f for f in [-0.5, 0.5] by a polynomial that is minimax in the relative error and exact at 0: 9.1e-8 away
 * from 2^f, 1.5e-7 with rounding. */
INLINE vf v_exp2(vf a)
{
    vf f, n = v_exp2_split(a, &f);
    vf p = v_fma(f, v_set1(1.32647273e-3f), v_set1(9.67151299e-3f));
    p = v_fma(p, f, v_set1(5.55073358e-2f));
    p = v_fma(p, f, v_set1(2.40222424e-1f));
    p = v_fma(p, f, v_set1(6.93147004e-1f));
    p = v_fma(p, f, v_set1(1.0f));
    return v_exp2_join(p, n);
}

/* ---- which triangles and blocks ---- */

static const float lane_index[16] __attribute__((aligned(64))) = {0, 1, 2,  3,  4,  5,  6,  7,
                                                                  8, 9, 10, 11, 12, 13, 14, 15};

/* Centres of a tile's blocks, and how far their outermost pixel centres are from them. */
struct block_grid {
    _Alignas(64) float x[TILE_COLUMNS];
    _Alignas(64) float y[BLOCK_ROWS];
    float half_width, half_height;
};

static void block_grid_init(struct block_grid *grid, const struct tile *tile)
{
    const float *x = tile->centre_x + tile->x0, *y = tile->centre_y + tile->y0;
    for (unsigned c = 0; c < TILE_COLUMNS; c++)
        grid->x[c] = 0.5f * (x[4 * c] + x[4 * c + 3]);
    for (unsigned r = 0; r < BLOCK_ROWS; r++)
        grid->y[r] = 0.5f * (y[ROWS * r] + y[ROWS * r + ROWS - 1]);
    grid->half_width = 0.5f * (x[3] - x[0]);
    grid->half_height = 0.5f * (y[ROWS - 1] - y[0]);
}

/* Blocks within a triangle's bounds. Bounds and tile overlap. */
static uint64_t blocks_in_bounds(const struct tile *tile, uint32_t i)
{
    int left = (int)tile->bounds.left[i] - (int)tile->x0, right = (int)tile->bounds.right[i] - (int)tile->x0;
    int top = (int)tile->bounds.top[i] - (int)tile->y0, bottom = (int)tile->bounds.bottom[i] - (int)tile->y0;
    unsigned c0 = left > 0 ? (unsigned)left / 4 : 0;
    unsigned c1 = right < (int)TILE_SIZE ? (unsigned)(right - 1) / 4 : TILE_COLUMNS - 1;
    unsigned r0 = top > 0 ? (unsigned)top / ROWS : 0;
    unsigned r1 = bottom < (int)TILE_SIZE ? (unsigned)(bottom - 1) / ROWS : BLOCK_ROWS - 1;
    uint64_t columns = ((2u << c1) - (1u << c0)) * 0x1111111111111111u;
    uint64_t rows = (~(uint64_t)0 >> (60 - 4 * r1)) & (~(uint64_t)0 << (4 * r0));
    return columns & rows;
}

/* Takes away blocks that lie beyond an edge's line by more than the triangle reaches. */
static uint64_t blocks_in_reach(const struct block_grid *grid, const struct tile_triangle *tri, uint64_t blocks)
{
    vf limit[3];
    for (int j = 0; j < 3; j++)
        limit[j] = v_set1(-tri->reach - tri->normal_0[j] - fabsf(tri->normal_x[j]) * grid->half_width -
                          fabsf(tri->normal_y[j]) * grid->half_height);
    for (unsigned b = 0; b < BLOCKS; b += LANES) {
        vf x = v_columns(grid->x), y = v_rows(grid->y + b / TILE_COLUMNS);
        vm beyond = v_lt(v_fma(x, v_set1(tri->normal_x[0]), v_mul(y, v_set1(tri->normal_y[0]))), limit[0]);
        for (int j = 1; j < 3; j++)
            beyond = m_or(beyond, v_lt(v_fma(x, v_set1(tri->normal_x[j]),
                                             v_mul(y, v_set1(tri->normal_y[j]))), limit[j]));
        blocks &= ~(m_bits(beyond) << b);
    }
    return blocks;
}

static void tile_scan(const struct tile *tile, struct tile_scratch *scratch)
{
    const struct tile_bounds *bounds = &tile->bounds;
    vf x0 = v_set1((float)tile->x0), x1 = v_set1((float)(tile->x0 + TILE_SIZE));
    vf y0 = v_set1((float)tile->y0), y1 = v_set1((float)(tile->y0 + TILE_SIZE));
    struct block_grid grid;
    uint32_t count = 0;
    block_grid_init(&grid, tile);
    for (uint32_t i = 0; i < tile->triangles; i += LANES) {
        vm in_x = m_and(v_lt(v_load(bounds->left + i), x1), v_lt(x0, v_load(bounds->right + i)));
        vm in_y = m_and(v_lt(v_load(bounds->top + i), y1), v_lt(y0, v_load(bounds->bottom + i)));
        for (uint64_t bits = m_bits(m_and(in_x, in_y)); bits != 0; bits &= bits - 1) {
            uint32_t k = i + (uint32_t)__builtin_ctzll(bits);
            const struct tile_triangle *tri = &tile->triangle[k];
            uint64_t blocks = blocks_in_bounds(tile, k);
            if (tri->reach < INFINITY)
                blocks = blocks_in_reach(&grid, tri, blocks);
            scratch->list[count] = k;
            scratch->blocks[count] = blocks;
            count += blocks != 0;
        }
    }
    scratch->count = count;
}

/* ---- forward ---- */

/* What the pixels of a row of blocks share. */
struct row {
    vf offset[2];          /* y - vy[0], y - vy[1] */
    vf along[3], cross[3]; /* y's part of t, and the first product of the cross product */
};

/* x's parts, for the tile's columns. Outside the bounds the offset is far away and the cross product is not
 * a number, which no comparison accepts: such pixels are outside, with weight 0. */
INLINE void fill_columns(const struct tile *tile, struct tile_scratch *scratch, uint32_t i)
{
    const struct tile_triangle *tri = &tile->triangle[i];
    float (*offset)[TILE_SIZE] = scratch->column[0], (*along)[TILE_SIZE] = scratch->column[1];
    float (*cross)[TILE_SIZE] = scratch->column[2];
    vf left = v_set1(tile->bounds.left[i] - (float)tile->x0);
    vf right = v_set1(tile->bounds.right[i] - (float)tile->x0);
    for (unsigned c = 0; c < TILE_SIZE; c += LANES) {
        vf x = v_loadu(tile->centre_x + tile->x0 + c), index = v_load(lane_index + c);
        vm in = m_and(v_le(left, index), v_lt(index, right));
        vf r0 = v_sub(x, v_set1(tri->vx[0])), r1 = v_sub(x, v_set1(tri->vx[1]));
        vf r2 = v_sub(x, v_set1(tri->vx[2]));
        v_store(&along[0][c], v_mul(r0, v_set1(tri->along_x[0])));
        v_store(&along[1][c], v_mul(r1, v_set1(tri->along_x[1])));
        v_store(&along[2][c], v_fma(r0, v_set1(tri->along_x[2]), v_set1(tri->along_0[2])));
        v_store(&cross[0][c], v_select(in, v_mul(r0, v_set1(tri->cross_y[0])), v_set1(NAN)));
        v_store(&cross[1][c], v_mul(r1, v_set1(tri->cross_y[1])));
        v_store(&cross[2][c], v_mul(r2, v_set1(tri->cross_y[2])));
        v_store(&offset[0][c], v_select(in, r0, v_set1(FAR_AWAY)));
        v_store(&offset[1][c], v_select(in, r1, v_set1(FAR_AWAY)));
    }
}

INLINE void fill_row(struct row *row, const struct tile *tile, uint32_t i, unsigned r)
{
    const struct tile_triangle *tri = &tile->triangle[i];
    vf y = v_rows(tile->centre_y + tile->y0 + r * ROWS), index = v_rows(lane_index + r * ROWS);
    vm in = m_and(v_le(v_set1(tile->bounds.top[i] - (float)tile->y0), index),
                  v_lt(index, v_set1(tile->bounds.bottom[i] - (float)tile->y0)));
    vf r0 = v_sub(y, v_set1(tri->vy[0])), r1 = v_sub(y, v_set1(tri->vy[1])), r2 = v_sub(y, v_set1(tri->vy[2]));
    row->along[0] = v_mul(r0, v_set1(tri->along_y[0]));
    row->along[1] = v_mul(r1, v_set1(tri->along_y[1]));
    row->along[2] = v_mul(r0, v_set1(tri->along_y[2]));
    row->cross[0] = v_select(in, v_mul(r0, v_set1(tri->cross_x[0])), v_set1(NAN));
    row->cross[1] = v_mul(r1, v_set1(tri->cross_x[1]));
    row->cross[2] = v_mul(r2, v_set1(tri->cross_x[2]));
    row->offset[0] = v_select(in, r0, v_set1(FAR_AWAY));
    row->offset[1] = v_select(in, r1, v_set1(FAR_AWAY));
}

/* Closest point of edge j: t, and the offset from it to the pixel. */
INLINE vf edge_distance2(const struct tile_triangle *tri, const struct row *row, const struct tile_scratch *s,
                         unsigned c, int j, vf *t, vf *dx, vf *dy)
{
    int from = j == 1 ? 1 : 0;
    *t = v_add(v_columns(&s->column[1][j][c]), row->along[j]);
    *t = v_min(v_max(*t, v_set1(0)), v_set1(1));
    *dx = v_fnma(*t, v_set1(tri->edge_x[j]), v_columns(&s->column[0][from][c]));
    *dy = v_fnma(*t, v_set1(tri->edge_y[j]), row->offset[from]);
    return v_fma(*dy, *dy, v_mul(*dx, *dx));
}

/* The cross products are never formed: fl(p - q) >= 0 exactly where p >= q. */
INLINE vm inside_test(const struct row *row, const struct tile_scratch *s, unsigned c, bool careful)
{
    vf q0 = v_columns(&s->column[2][0][c]), q1 = v_columns(&s->column[2][1][c]);
    vf q2 = v_columns(&s->column[2][2][c]);
    vm inside = m_and(m_and(v_le(q0, row->cross[0]), v_le(q1, row->cross[1])), v_le(q2, row->cross[2]));
    if (careful) /* no orientation: either winding counts */
        inside = m_or(inside, m_and(m_and(v_le(row->cross[0], q0), v_le(row->cross[1], q1)),
                                    v_le(row->cross[2], q2)));
    return inside;
}

/* One block: covers and composites; writes the tape; true where some weight is not 0. */
INLINE bool forward_block(const struct tile *tile, const struct tile_triangle *tri, const struct row *row,
                          const struct tile_scratch *s, unsigned c, float *canvas, float *tape, bool careful,
                          bool taped)
{
    vf t0, t1, t2, dx, dy, dx1, dy1, dx2, dy2;
    vf d2 = edge_distance2(tri, row, s, c, 0, &t0, &dx, &dy);
    vf d2_1 = edge_distance2(tri, row, s, c, 1, &t1, &dx1, &dy1);
    vf d2_2 = edge_distance2(tri, row, s, c, 2, &t2, &dx2, &dy2);
    vm nearer1 = v_lt(d2_1, d2);
    d2 = v_min(d2_1, d2);
    vm nearer2 = v_lt(d2_2, d2);
    d2 = v_min(d2_2, d2);
    vm inside = inside_test(row, s, c, careful);

    /* 1e-30: the root of 0 would not be a number. */
    vf inv = v_rsqrt(v_max(d2, v_set1(1e-30f)));
    vf z = v_exp2(v_mul(v_mul(d2, inv), v_set1(tile->exp2_scale)));
    vf rcp = v_rcp(v_add(z, v_set1(1)));
    vf k = v_mul(z, rcp), w, opacity = v_set1(tri->opacity);
    vm some;
    if (careful) {
        k = v_select(inside, rcp, k);
        some = v_lt(v_set1(1e-6f), v_mul(k, opacity));
        k = v_keep(some, k);
    } else {
        vm near = v_lt(v_set1(tri->min_z), z);
        k = v_select(inside, rcp, v_keep(near, k));
        some = m_or(inside, near);
    }
    w = v_mul(k, opacity);

    for (unsigned ch = 0; ch < 3; ch++) {
        vf below = v_load(canvas + ch * LANES);
        v_store(canvas + ch * LANES, v_fma(w, v_sub(v_set1(tri->colour[ch]), below), below));
        if (careful && taped)
            v_store(tape + (5 + ch) * LANES, below);
    }
    if (taped) {
        /* Within 1e-7 of the edge the direction is rounding noise: none. */
        inv = v_negate_unless(inside, v_keep(v_le(v_set1(1e-14f), d2), inv));
        dx = v_select(nearer2, dx2, v_select(nearer1, dx1, dx));
        dy = v_select(nearer2, dy2, v_select(nearer1, dy1, dy));
        v_store(tape, k);
        v_store(tape + LANES, v_mul(dx, inv));
        v_store(tape + 2 * LANES, v_mul(dy, inv));
        v_store(tape + 3 * LANES,
                v_select(nearer2, v_set1(0), v_select(nearer1, v_sub(v_set1(1), t1), t0)));
        v_store(tape + 4 * LANES, v_select(nearer2, t2, v_keep(nearer1, t1)));
    }
    return m_bits(some) != 0;
}

/* One triangle over its blocks. Returns the blocks where some weight is not 0; the tape holds those alone. */
INLINE uint64_t forward_triangle(const struct tile *tile, struct tile_scratch *s, uint32_t entry, float **tape,
                                 bool careful, bool taped)
{
    uint32_t i = s->list[entry];
    uint64_t blocks = s->blocks[entry], live = 0;
    const struct tile_triangle *tri = &tile->triangle[i];
    fill_columns(tile, s, i);
    for (; blocks != 0;) {
        unsigned r = (unsigned)__builtin_ctzll(blocks) / TILE_COLUMNS;
        uint64_t in_row = blocks & ((uint64_t)15 << (r * TILE_COLUMNS));
        struct row row;
        blocks ^= in_row;
        fill_row(&row, tile, i, r);
        for (; in_row != 0; in_row &= in_row - 1) {
            unsigned b = (unsigned)__builtin_ctzll(in_row);
            bool some = forward_block(tile, tri, &row, s, b % TILE_COLUMNS * 4, s->canvas + b * 3 * LANES, *tape,
                                      careful, taped);
            if (taped) {
                live |= (uint64_t)some << b;
                *tape += some ? (careful ? TILE_TAPE_CAREFUL : TILE_TAPE_PLAIN) * LANES : 0;
            }
        }
    }
    return live;
}

static void forward_list(const struct tile *tile, struct tile_scratch *s, uint32_t first, uint32_t end)
{
    for (uint32_t e = first; e < end; e++) {
        if (tile->triangle[s->list[e]].flags & TILE_CAREFUL)
            forward_triangle(tile, s, e, &(float *){NULL}, true, false);
        else
            forward_triangle(tile, s, e, &(float *){NULL}, false, false);
    }
}

/* At most TILE_CHUNK entries; returns the tape's end. */
static float *forward_list_taped(const struct tile *tile, struct tile_scratch *s, uint32_t first, uint32_t end)
{
    float *tape = s->tape;
    for (uint32_t e = first; e < end; e++) {
        if (tile->triangle[s->list[e]].flags & TILE_CAREFUL)
            s->live[e - first] = forward_triangle(tile, s, e, &tape, true, true);
        else
            s->live[e - first] = forward_triangle(tile, s, e, &tape, false, true);
    }
    return tape;
}

/* ---- backward ---- */

INLINE void backward_triangle(struct tile_scratch *s, const struct tile_triangle *tri, uint64_t live,
                              const float *tape, float *sums, bool careful)
{
    /* x and y of: the whole triangle, vertex 1, vertex 2; then r, g, b, alpha. */
    vf acc[10];
    vf opacity = v_set1(tri->opacity), one = v_set1(1);
    for (int j = 0; j < 10; j++)
        acc[j] = v_set1(0);
    for (; live != 0; live &= live - 1, tape += (careful ? TILE_TAPE_CAREFUL : TILE_TAPE_PLAIN) * LANES) {
        unsigned b = (unsigned)__builtin_ctzll(live);
        const float *adjoint = s->adjoint + b * 3 * LANES;
        float *residual = s->residual + b * LANES, *transmittance = s->transmittance + b * LANES;
        vf g0 = v_load(adjoint), g1 = v_load(adjoint + LANES), g2 = v_load(adjoint + 2 * LANES);
        vf k = v_load(tape), w = v_mul(k, opacity), t = v_load(transmittance), tw = v_mul(t, w);
        vf rest = v_sub(one, w);
        vf q = v_mul(g0, v_set1(tri->colour[0]));
        q = v_fma(g2, v_set1(tri->colour[2]), v_fma(g1, v_set1(tri->colour[1]), q));
        acc[6] = v_fma(tw, g0, acc[6]);
        acc[7] = v_fma(tw, g1, acc[7]);
        acc[8] = v_fma(tw, g2, acc[8]);
        vf r = v_fnma(tw, q, v_load(residual)), dw;
        v_store(residual, r);
        v_store(transmittance, v_mul(t, rest));
        if (careful) {
            vf below = v_mul(g0, v_load(tape + 5 * LANES));
            below = v_fma(g2, v_load(tape + 7 * LANES), v_fma(g1, v_load(tape + 6 * LANES), below));
            dw = v_mul(t, v_sub(q, below));
        } else {
            dw = v_fnma(r, v_rcp(rest), v_mul(t, q));
        }
        vf dwk = v_mul(dw, k);
        acc[9] = v_add(acc[9], dwk);
        vf m = v_mul(dwk, v_sub(one, k));
        vf mx = v_mul(m, v_load(tape + LANES)), my = v_mul(m, v_load(tape + 2 * LANES));
        vf share1 = v_load(tape + 3 * LANES), share2 = v_load(tape + 4 * LANES);
        acc[0] = v_add(acc[0], mx);
        acc[1] = v_add(acc[1], my);
        acc[2] = v_fma(share1, mx, acc[2]);
        acc[3] = v_fma(share1, my, acc[3]);
        acc[4] = v_fma(share2, mx, acc[4]);
        acc[5] = v_fma(share2, my, acc[5]);
    }
    /* The shares of the three vertices add up to 1. */
    acc[0] = v_sub(v_sub(acc[0], acc[2]), acc[4]);
    acc[1] = v_sub(v_sub(acc[1], acc[3]), acc[5]);
    v_sum10(acc, sums);
}

static void backward_list(const struct tile *tile, struct tile_scratch *s, uint32_t first, uint32_t end,
                          const float *tape, struct tile_sums *sums)
{
    for (uint32_t e = end; e-- > first;) {
        const struct tile_triangle *tri = &tile->triangle[s->list[e]];
        uint64_t live = s->live[e - first];
        bool careful = (tri->flags & TILE_CAREFUL) != 0;
        tape -= (unsigned)__builtin_popcountll(live) * (careful ? TILE_TAPE_CAREFUL : TILE_TAPE_PLAIN) * LANES;
        if (careful)
            backward_triangle(s, tri, live, tape, sums[e].value, true);
        else
            backward_triangle(s, tri, live, tape, sums[e].value, false);
    }
}

/* ---- pixels in and out: rows of r g b in memory, a plane a channel in a block ---- */

typedef float v4 __attribute__((vector_size(16)));

INLINE v4 load4(const float *p)
{
    v4 a;
    memcpy(&a, p, sizeof a);
    return a;
}

/* Where pixel (x, y) of a tile is in an array [block][3][lane]. */
INLINE size_t plane_index(unsigned x, unsigned y)
{
    size_t block = (size_t)(y / ROWS) * TILE_COLUMNS + x / 4;
    return block * 3 * LANES + (size_t)(y % ROWS) * 4 + x % 4;
}

INLINE bool whole_tile(const struct tile *tile)
{
    return tile->x0 + TILE_SIZE <= tile->width && tile->y0 + TILE_SIZE <= tile->height;
}

INLINE size_t pixel_index(const struct tile *tile, unsigned x, unsigned y)
{
    return ((size_t)(tile->y0 + y) * tile->width + tile->x0 + x) * 3;
}

/* Pixels past the image become `fill`. */
static void load_planes(const struct tile *tile, const float *pixels, float *planes, const float fill[3])
{
    if (!whole_tile(tile)) {
        for (unsigned y = 0; y < TILE_SIZE; y++)
            for (unsigned x = 0; x < TILE_SIZE; x++) {
                bool in = tile->x0 + x < tile->width && tile->y0 + y < tile->height;
                const float *from = in ? pixels + pixel_index(tile, x, y) : fill;
                for (unsigned ch = 0; ch < 3; ch++)
                    planes[plane_index(x, y) + ch * LANES] = from[ch];
            }
        return;
    }
    for (unsigned y = 0; y < TILE_SIZE; y++) {
        const float *from = pixels + pixel_index(tile, 0, y);
        for (unsigned x = 0; x < TILE_SIZE; x += 4, from += 12) {
            float *to = planes + plane_index(x, y);
            v4 a = load4(from), b = load4(from + 4), c = load4(from + 8);
            v4 red = __builtin_shufflevector(__builtin_shufflevector(a, b, 0, 3, 6, 6), c, 0, 1, 2, 5);
            v4 green = __builtin_shufflevector(__builtin_shufflevector(a, b, 1, 4, 7, 7), c, 0, 1, 2, 6);
            v4 blue = __builtin_shufflevector(__builtin_shufflevector(a, b, 2, 5, 5, 5), c, 0, 1, 4, 7);
            memcpy(to, &red, sizeof red);
            memcpy(to + LANES, &green, sizeof green);
            memcpy(to + 2 * LANES, &blue, sizeof blue);
        }
    }
}

static void store_planes(const struct tile *tile, const float *planes, float *pixels)
{
    if (!whole_tile(tile)) {
        for (unsigned y = 0; y < TILE_SIZE && tile->y0 + y < tile->height; y++)
            for (unsigned x = 0; x < TILE_SIZE && tile->x0 + x < tile->width; x++)
                for (unsigned ch = 0; ch < 3; ch++)
                    pixels[pixel_index(tile, x, y) + ch] = planes[plane_index(x, y) + ch * LANES];
        return;
    }
    for (unsigned y = 0; y < TILE_SIZE; y++) {
        float *to = pixels + pixel_index(tile, 0, y);
        for (unsigned x = 0; x < TILE_SIZE; x += 4, to += 12) {
            const float *from = planes + plane_index(x, y);
            v4 r = load4(from), g = load4(from + LANES), b = load4(from + 2 * LANES);
            v4 first = __builtin_shufflevector(__builtin_shufflevector(r, g, 0, 4, 1, 1), b, 0, 1, 4, 2);
            v4 second = __builtin_shufflevector(__builtin_shufflevector(g, b, 1, 5, 2, 2), r, 0, 1, 6, 2);
            v4 third = __builtin_shufflevector(__builtin_shufflevector(b, r, 2, 7, 3, 3), g, 0, 1, 7, 2);
            memcpy(to, &first, sizeof first);
            memcpy(to + 4, &second, sizeof second);
            memcpy(to + 8, &third, sizeof third);
        }
    }
}

static void fill_planes(float *planes, const float colour[3])
{
    for (unsigned b = 0; b < BLOCKS; b++)
        for (unsigned ch = 0; ch < 3; ch++)
            v_store(planes + (b * 3 + ch) * LANES, v_set1(colour[ch]));
}

/* ---- a tile ---- */

static void tile_forward(const struct tile *tile, struct tile_scratch *s)
{
    fill_planes(s->canvas, tile->background);
    forward_list(tile, s, 0, s->count);
    if (tile->image != NULL)
        store_planes(tile, s->canvas, tile->image);
}

/* Turns the target in s->adjoint into dL/dC (upstream gradients are that already), starts the residual
 * walk, and returns the sum of squared differences. */
static double start_backward(const struct tile *tile, struct tile_scratch *s)
{
    vf scale = v_set1(tile->loss_scale), squares = v_set1(0);
    for (unsigned b = 0; b < BLOCKS; b++) {
        vf r = v_set1(0);
        for (unsigned ch = 0; ch < 3; ch++) {
            float *adjoint = s->adjoint + (b * 3 + ch) * LANES;
            vf c = v_load(s->canvas + (b * 3 + ch) * LANES), g = v_load(adjoint);
            if (!tile->upstream) {
                vf difference = v_sub(c, g);
                squares = v_fma(difference, difference, squares);
                g = v_mul(difference, scale);
                v_store(adjoint, g);
            }
            r = v_fma(g, c, r);
        }
        v_store(s->residual + b * LANES, r);
        v_store(s->transmittance + b * LANES, v_set1(1));
    }
    _Alignas(64) float lane[LANES];
    double sum = 0;
    v_store(lane, squares);
    for (unsigned i = 0; i < LANES; i++)
        sum += (double)lane[i];
    return sum;
}

static double tile_gradient(const struct tile *tile, struct tile_scratch *s, struct tile_sums *sums)
{
    static const float zero[3] = {0, 0, 0};
    uint32_t last = s->count > 0 ? (s->count - 1) / TILE_CHUNK : 0; /* chunk */
    fill_planes(s->canvas, tile->background);
    for (uint32_t chunk = 0; chunk < last; chunk++) {
        memcpy(s->checkpoint + (size_t)chunk * 3 * TILE_PIXELS, s->canvas, sizeof s->canvas);
        forward_list(tile, s, chunk * TILE_CHUNK, (chunk + 1) * TILE_CHUNK);
    }
    const float *tape = forward_list_taped(tile, s, last * TILE_CHUNK, s->count);
    if (tile->image != NULL)
        store_planes(tile, s->canvas, tile->image);

    /* No triangle covers a pixel past the image: its colour is the background, and so is its target. */
    load_planes(tile, tile->target, s->adjoint, tile->upstream ? zero : tile->background);
    double squares = start_backward(tile, s);
    backward_list(tile, s, last * TILE_CHUNK, s->count, tape, sums);
    for (uint32_t chunk = last; chunk-- > 0;) {
        uint32_t first = chunk * TILE_CHUNK, end = first + TILE_CHUNK;
        memcpy(s->canvas, s->checkpoint + (size_t)chunk * 3 * TILE_PIXELS, sizeof s->canvas);
        tape = forward_list_taped(tile, s, first, end);
        backward_list(tile, s, first, end, tape, sums);
    }
    return squares;
}

const struct isa ISA_TABLE = {
    .name = ISA_NAME,
    .lanes = LANES,
    .scan = tile_scan,
    .forward = tile_forward,
    .gradient = tile_gradient,
};
