/* A CPU device's geometry and forward pass (MODEL.md, Forward 2 to 4). */
#ifndef GPUBENCH_KERNELS_CPU_FORWARD_H
#define GPUBENCH_KERNELS_CPU_FORWARD_H

#include "cpu_tile.h"

/* Further than any triangle reaches, and its square is still a float: what a pixel outside the bounds is told
 * for its offset, so that its weight comes out as 0 without a mask in the loop. */
#define FAR_AWAY 1e15f

/* Below this altitude, or with coordinates further out, a cross product's rounding may turn a triangle's
 * orientation. */
#define MIN_ALTITUDE 1e-4f
#define MAX_COORDINATE 4.0f

/* A triangle made ready. Edge j of the inside test runs from vertex j to j + 1. Distances use edges 0-1, 1-2
 * and 0-2: the last the other way round, so that vertex 2 is the end of both of its edges. */
struct triangle {
    float x[3], y[3];
    float cross_x[3], cross_y[3];   /* edges of the inside test; negated where the winding is negative */
    float edge_x[3], edge_y[3];     /* edges of the distance */
    float along_x[3], along_y[3];   /* edge / |edge|^2 (0 for a point): t = (p - start) . along - 1/2 */
    float left, right, top, bottom; /* of the bounds, from the tile's first pixel */
    float colour[3], opacity;
    bool unoriented; /* points, lines, needles, huge ones: their inside is whatever the rounded cross products
                        say */
    bool careful;
};

/* Whether the way back needs more of the triangle: the opacity makes digits of 1/(1 - w) go, or the strategy
 * is another than the residual walk. */
INLINE bool is_careful(global const struct shared_triangle *t)
{
#ifdef STRATEGY_FUSED
    return t->opacity > 0.99f;
#else
    return true;
#endif
}

INLINE void aim(struct triangle *t, global const struct shared_triangle *from, const struct tile *tile)
{
    const bool clockwise = from->flags & SHARED_FLAG_CLOCKWISE;
    float length2[3], largest = 0.0f, coordinate = 0.0f;
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        t->x[k] = clockwise ? from->edge[(k + 2) % 3][0] : from->edge[k][0];
        t->y[k] = clockwise ? from->edge[(k + 2) % 3][1] : from->edge[k][1];
        t->colour[k] = from->colour[k];
        coordinate = MAX(coordinate, MAX(fabs(t->x[k]), fabs(t->y[k])));
    }
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        const float dx = t->x[(k + 1) % 3] - t->x[k], dy = t->y[(k + 1) % 3] - t->y[k];
        length2[k] = dx * dx + dy * dy;
        largest = MAX(largest, length2[k]);
        const float inverse = length2[k] > 1e-20f ? 1.0f / length2[k] : 0.0f;
        t->cross_x[k] = dx;
        t->cross_y[k] = dy;
        t->edge_x[k] = k == 2 ? -dx : dx;
        t->edge_y[k] = k == 2 ? -dy : dy;
        t->along_x[k] = t->edge_x[k] * inverse;
        t->along_y[k] = t->edge_y[k] * inverse;
    }
    const float area2 = t->cross_x[0] * t->cross_y[1] - t->cross_y[0] * t->cross_x[1];
    const float turn = area2 < 0.0f ? -1.0f : 1.0f;
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        t->cross_x[k] *= turn;
        t->cross_y[k] *= turn;
    }
    t->unoriented = !(area2 * area2 > MIN_ALTITUDE * MIN_ALTITUDE * largest && coordinate <= MAX_COORDINATE);
    t->opacity = from->opacity;
    t->careful = is_careful(from);
    t->left = (float)((int)(from->columns & 0xffffu) - tile->x);
    t->right = (float)((int)(from->columns >> 16) - tile->x);
    t->top = (float)((int)(from->rows & 0xffffu) - tile->y);
    t->bottom = (float)((int)(from->rows >> 16) - tile->y);
}

/* What the pixels of a row of blocks share. */
struct row {
    real offset[3], along[3]; /* y from the edge's middle, and y's part of t */
    real cross[3];            /* the first product of the cross product */
};

/* x's parts, for the tile's columns. Outside the bounds the offset is far away and the cross product is not a
 * number, which no comparison accepts: such pixels are outside, with weight 0. Offsets from the middle are
 * taken from those to a vertex, which are exact: the middle itself would be rounded. */
INLINE void fill_columns(float (*column)[3][SIDE], const struct triangle *t, const struct tile *tile)
{
    const float16 index = (float16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const int16 in = (index >= t->left) & (index < t->right);
    float16 to[3];
    UNROLLED for (uint k = 0; k < 3; ++k) to[k] = tile->x_at - t->x[k];
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        const float16 from = to[k == 1 ? 1 : 0], product = to[k] * t->cross_y[k];
        vstore16(select((float16)(FAR_AWAY), from - 0.5f * t->edge_x[k], in), 0, column[0][k]);
        vstore16(from * t->along_x[k] - 0.5f, 0, column[1][k]);
        vstore16(k == 0 ? select((float16)(NAN), product, in) : product, 0, column[2][k]);
    }
}

INLINE void fill_row(struct row *row, const struct triangle *t, const struct tile *tile, uint block_row)
{
    const real y = IN_EACH_COLUMN(LOAD_ROWS(tile->y_at + block_row * ROWS));
#if WIDTH == 16u
    const float4 lane = (float4)(0, 1, 2, 3);
#else
    const float2 lane = (float2)(0, 1);
#endif
    const real index = IN_EACH_COLUMN(lane + (float)(block_row * ROWS));
    const mask in = (index >= t->top) & (index < t->bottom);
    real to[3];
    UNROLLED for (uint k = 0; k < 3; ++k) to[k] = y - t->y[k];
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        const real from = to[k == 1 ? 1 : 0];
        row->along[k] = from * t->along_y[k];
        row->offset[k] = CHOOSE(in, from - 0.5f * t->edge_y[k], (real)(FAR_AWAY));
        row->cross[k] = to[k] * t->cross_x[k];
    }
    row->cross[0] = CHOOSE(in, row->cross[0], (real)(NAN));
}

/* A block and a triangle: where the nearest edge is, and how much is covered. */
struct seen {
    real square, dx, dy;     /* squared distance, never 0, and the offset from the closest point */
    real share_1, share_2;   /* of vertices 1 and 2 in the closest point, less a half */
    real inverse;            /* 2 / distance */
    real k, w, uncovered;    /* coverage, weight, 1 - k; 0, 0 and 1 where w is at most 1e-6 */
    mask inside, is_1, is_2; /* is_: the nearest edge; neither: edge 0 */
};

/* 2 / sqrt(x), as the product of two factors. */
INLINE real inverse_root_2(real x, real *correction)
{
#if defined(__AVX512F__) && WIDTH == 16u
    /* An estimate of 14 bits and Newton's step. */
    const real root = __builtin_ia32_rsqrt14ps512_mask(x, (real)(0.0f), 0xffff);
    *correction = FMA(-(x * root), root, (real)(3.0f));
    return root;
#else
    *correction = (real)(2.0f);
    return 1.0f / sqrt(x);
#endif
}

#define COLUMN(quantity, k) IN_EACH_ROW(vload4(c, column[quantity][k]))

/* t: where on the edge the closest point is, from -1/2 to 1/2; dx, dy: the offset from there to the pixel. */
#define EDGE(k)                                                                                              \
    const real along_##k = COLUMN(1, k) + row->along[k];                                                     \
    const real t_##k = MAX(MIN(along_##k, (real)(0.5f)), (real)(-0.5f));                                     \
    const real dx_##k = FMA(-t_##k, t->edge_x[k], COLUMN(0, k));                                             \
    const real dy_##k = FMA(-t_##k, t->edge_y[k], row->offset[k]);                                           \
    const real square_##k = FMA(dy_##k, dy_##k, FMA(dx_##k, dx_##k, (real)(1e-30f)));

INLINE void look(struct seen *s, const struct triangle *t, const struct row *row, float (*column)[3][SIDE],
                 uint c, float exp2_scale)
{
    EDGE(0)
    EDGE(1)
    EDGE(2)
    const real square_01 = MIN(square_1, square_0);
    s->is_1 = square_1 < square_0; /* a tie keeps the earlier edge */
    s->is_2 = square_2 < square_01;
    s->square = MIN(square_2, square_01);
    s->dx = CHOOSE(s->is_2, dx_2, CHOOSE(s->is_1, dx_1, dx_0));
    s->dy = CHOOSE(s->is_2, dy_2, CHOOSE(s->is_1, dy_1, dy_0));
    s->share_1 = CHOOSE(s->is_2, (real)(-0.5f), CHOOSE(s->is_1, -t_1, t_0));
    s->share_2 = CHOOSE(s->is_2, t_2, CHOOSE(s->is_1, t_1, (real)(-0.5f)));
    /* The cross products are never formed: the rounded p - q is >= 0 exactly where p >= q. */
    const real q0 = COLUMN(2, 0), q1 = COLUMN(2, 1), q2 = COLUMN(2, 2);
    s->inside = (q0 <= row->cross[0]) & (q1 <= row->cross[1]) & (q2 <= row->cross[2]);
    if (t->unoriented) /* either winding counts */
        s->inside |= (q0 >= row->cross[0]) & (q1 >= row->cross[1]) & (q2 >= row->cross[2]);
    /* The half of 2 d is in exp2_scale. */
    real correction;
    const real root = inverse_root_2(s->square, &correction);
    s->inverse = root * correction;
    const real z = exp2_of(s->square * root * exp2_scale * correction), part = 1.0f / (1.0f + z);
    const real k = CHOOSE(s->inside, (real)(1.0f), z) * part, w = k * t->opacity;
    const mask live = w > SHARED_MIN_WEIGHT;
    s->k = CHOOSE(live, k, (real)(0.0f));
    s->w = CHOOSE(live, w, (real)(0.0f));
    s->uncovered = CHOOSE(live, CHOOSE(s->inside, z, (real)(1.0f)) * part, (real)(1.0f));
}

/* Between an edge's ends the offset to the pixel stands at a right angle to the edge. Rounding turns it by
 * about 2e-8 of the canvas over the distance: what lies along the edge is taken out again. */
INLINE void straighten(const struct triangle *t, struct seen *s)
{
    const real dx = s->dx, dy = s->dy;
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        const real lies = FMA(dy, t->along_y[k], dx * t->along_x[k]);
        const real at = k == 2 ? s->share_2 : s->share_1; /* of edge 1 with the other sign */
        const mask between = (at > -0.5f) & (at < 0.5f) &
                             (k == 0   ? ~(s->is_1 | s->is_2)
                              : k == 1 ? s->is_1 & ~s->is_2
                                       : s->is_2);
        s->dx = CHOOSE(between, FMA(-lies, t->edge_x[k], dx), s->dx);
        s->dy = CHOOSE(between, FMA(-lies, t->edge_y[k], dy), s->dy);
    }
    s->square = FMA(s->dy, s->dy, FMA(s->dx, s->dx, (real)(1e-30f)));
    real correction;
    const real root = inverse_root_2(s->square, &correction);
    s->inverse = MIN(root * correction, 2.0f * s->inverse); /* far from the canvas it may be all noise */
}

/* ---- the tape: what the way back needs of a block and a triangle ---- */

enum {
    TAPE_K,
    TAPE_X,
    TAPE_Y,
    TAPE_SHARE_1,
    TAPE_SHARE_2,
    TAPE_PLAIN,
    TAPE_UNCOVERED = TAPE_PLAIN,
    TAPE_CAREFUL
};

#define TAPE_OF(careful) ((careful) ? (uint)TAPE_CAREFUL : (uint)TAPE_PLAIN)

/* TAPE_X, TAPE_Y: twice the unit direction in which the signed distance grows. */
INLINE void keep_on_tape(struct seen *s, const struct triangle *t, real *tape)
{
    if (ANY(s->square < 1e-9f)) /* seldom; further out the turn is below 1e-3 */
        straighten(t, s);
    /* Within 1e-7 of the edge the direction is rounding noise: none. */
    real inverse = CHOOSE(s->square >= 1e-14f, s->inverse, (real)(0.0f));
    inverse = CHOOSE(s->inside, inverse, -inverse);
    tape[TAPE_K] = s->k;
    tape[TAPE_X] = s->dx * inverse;
    tape[TAPE_Y] = s->dy * inverse;
    tape[TAPE_SHARE_1] = s->share_1;
    tape[TAPE_SHARE_2] = s->share_2;
    if (t->careful)
        tape[TAPE_UNCOVERED] = s->uncovered;
}

/* One triangle over its blocks: onto the canvas and onto the tape, either of which may be NULL. before: an
 * image that the canvas is kept in, as it is below the triangle; or NULL. */
NOINLINE void put_triangle(struct work *work, const struct shared_view *view, entry item, real (*canvas)[3],
                           real *tape, global float *before)
{
    struct triangle t;
    aim(&t, work->triangles + item.x, &work->tile);
    fill_columns(work->column, &t, &work->tile);
    const float exp2_scale = -0.5f * view->exp2_scale;
    for (uint bits = item.y; bits;) {
        const uint r = LOWEST(bits) / COLUMNS;
        uint in_row = bits & (15u << (r * COLUMNS));
        struct row row;
        bits ^= in_row;
        fill_row(&row, &t, &work->tile, r);
        for (; in_row; in_row &= in_row - 1u) {
            const uint j = LOWEST(in_row);
            struct seen s;
            look(&s, &t, &row, work->column, j % COLUMNS, exp2_scale);
            if (canvas) {
                real *c = canvas[j];
#ifdef STRATEGY_TAPED
                if (before)
                    store_block(before, view, &work->tile, j, c);
#endif
                UNROLLED for (uint v = 0; v < 3; ++v) c[v] = FMA(s.w, t.colour[v] - c[v], c[v]);
            }
            if (tape) {
                keep_on_tape(&s, &t, tape);
                tape += TAPE_OF(t.careful);
            }
        }
    }
}

#endif
