/* One triangle in front of the pixels of a team of work-items. CPU devices have cpu_forward.h and
 * cpu_backward.h instead.
 *
 * Minima, comparisons and selections run at half the rate of multiply-adds on the GPUs that this was written
 * for, so there are few of them: where a pixel is not covered, that shows in its exponential alone, and what
 * follows comes to nothing by itself. */
#ifndef GPUBENCH_KERNELS_TEAM_PIXEL_H
#define GPUBENCH_KERNELS_TEAM_PIXEL_H

#include "tile_list.h"


/* Where pixels outside the bounds are taken to lie: no triangle reaches there. */
#define FAR 1e15f
/* exp(-d/s) of a pixel that is not covered: a power of two, so that its coverage is one, and 1 - w is 1. */
#define NOTHING 0x1p100f
/* Added to squared distances, so that none is 0 and none's root infinite. */
#define TINY 1e-36f

/* a b between 0 and 1. */
static inline float saturated_product(float a, float b)
{
#ifdef PATH_PTX
    float r;
    asm("mul.ftz.sat.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
#else
    return clamp(a * b, 0.0f, 1.0f);
#endif
}

struct facing {
    struct aimed t;
    float x[BLOCKS_X];                                     /* of the tile's, or FAR */
    float normal_row[3][BLOCKS_Y], along_row[3][BLOCKS_Y]; /* what a row of pixels has in common */
    bool crossed;                                          /* inside is decided by cross products */
    uint outside; /* and then, bit j: this lane's pixel of block j is not inside */
};

static inline bool column_in_bounds(uint4 place, int px)
{
    return px >= LEFT(place) && px < RIGHT(place);
}

static inline bool row_in_bounds(uint4 place, int py)
{
    return py >= TOP(place) && py < BOTTOM(place);
}

/* Once for all blocks, and not unrolled: rare, and long. */
static inline uint find_outside(const struct aimed *t, global const struct shared_triangle *from,
                                const struct tile *tile, const struct shared_view *view)
{
    uint outside = 0;
    ROLLED for (uint j = 0; j < BLOCKS; ++j)
    {
        const int px = COLUMN_OF(tile, j), py = ROW_OF(tile, j);
        const bool inside = column_in_bounds(t->place, px) && row_in_bounds(t->place, py) &&
                            inside_by_crosses(from, centre(px, view->width), centre_row(py, view->height));
        outside |= inside ? 0u : 1u << j;
    }
    return outside;
}

static inline struct facing face(struct aimed t, global const struct shared_triangle *from,
                                 const struct tile *tile, const struct shared_view *view)
{
    struct facing f;
    float y[BLOCKS_Y];
    f.t = t;
    f.crossed = t.place.w & SHARED_FLAG_DEGENERATE;
    f.outside = f.crossed ? find_outside(&t, from, tile, view) : 0;
    UNROLLED for (uint i = 0; i < BLOCKS_X; ++i) f.x[i] = tile->x_at[i];
    UNROLLED for (uint i = 0; i < BLOCKS_Y; ++i) y[i] = tile->y_at[i];
    if (t.item.z) {
        UNROLLED for (uint i = 0; i < BLOCKS_X; ++i) f.x[i] =
            column_in_bounds(t.place, COLUMN_OF(tile, i)) ? f.x[i] : FAR;
        UNROLLED for (uint i = 0; i < BLOCKS_Y; ++i) y[i] =
            row_in_bounds(t.place, tile->py + (int)(i * BLOCK_H)) ? y[i] : FAR;
    }
    UNROLLED for (uint i = 0; i < BLOCKS_Y; ++i)
    {
        UNROLLED for (uint k = 0; k < 3; ++k)
        {
            f.normal_row[k][i] = FMA(t.line[k].x, y[i], t.line[k].z);
            f.along_row[k][i] = FMA(t.line[k].y, y[i], t.line[k].w);
        }
    }
    return f;
}

/* One pixel of a lane. */
struct spot {
    float x, normal_row[3], along_row[3];
    bool crossed;
    uint outside; /* with crossed: the sign bit */
};

static inline struct spot spot_of(const struct facing *f, uint j)
{
    struct spot s;
    s.x = f->x[j % BLOCKS_X];
    s.crossed = f->crossed;
    s.outside = f->outside << (31u - j);
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        s.normal_row[k] = f->normal_row[k][j / BLOCKS_X];
        s.along_row[k] = f->along_row[k][j / BLOCKS_X];
    }
    return s;
}

/* Without what the others of block j share, where j is no constant: an index would put arrays into memory. */
static inline struct spot lone_spot(const struct aimed *t, global const struct shared_triangle *from,
                                    const struct tile *tile, const struct shared_view *view, uint j)
{
    const int px = COLUMN_OF(tile, j), py = ROW_OF(tile, j);
    const bool bounded = column_in_bounds(t->place, px) && row_in_bounds(t->place, py);
    const float x = centre(px, view->width), y = centre_row(py, view->height);
    const float y_at = (y - tile->top) * tile->unit;
    struct spot s;
    s.x = bounded ? (x - tile->left) * tile->unit : FAR;
    s.crossed = t->place.w & SHARED_FLAG_DEGENERATE;
    s.outside = s.crossed && !(bounded && inside_by_crosses(from, x, y)) ? 0x80000000u : 0u;
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        s.normal_row[k] = FMA(t->line[k].x, y_at, t->line[k].z);
        s.along_row[k] = FMA(t->line[k].y, y_at, t->line[k].w);
    }
    return s;
}

/* Where a pixel lies from each edge. */
struct nearness {
    float normal[3], along[3],
        beyond[3];   /* along: 0 ... 1; p - closest = normal (-ty, tx) + beyond (tx, ty) */
    float square[3]; /* of the distance */
};

static inline struct nearness find_edges(const struct aimed *t, const struct spot *s)
{
    const float lengths[3] = {t->length.x, t->length.y, t->length.z};
    const float inverses[3] = {t->inverse.x, t->inverse.y, t->inverse.z};
    struct nearness n;
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        n.normal[k] = FMA(-t->line[k].y, s->x, s->normal_row[k]);
        float along = FMA(t->line[k].x, s->x, s->along_row[k]);
        n.along[k] = saturated_product(along, inverses[k]);
        n.beyond[k] = FMA(-n.along[k], lengths[k], along);
        n.square[k] = FMA(n.normal[k], n.normal[k], FMA(n.beyond[k], n.beyond[k], TINY));
    }
    return n;
}

#define SMALLEST(v) fmin(fmin((v)[0], (v)[1]), (v)[2])

/* 1/distance, negative inside. */
static inline float signed_inverse(const struct spot *s, const struct nearness *n, float square)
{
    float lowest = SMALLEST(n->normal);
    if (s->crossed)
        lowest = as_float(s->outside);
    return as_float(as_uint(INVERSE_ROOT(square)) | (~as_uint(lowest) & 0x80000000u));
}

/* exp(-d/s): the coverage is k = 1/(1 + e), and 1 - k = e k without cancellation. */
static inline float edge_exponential(const struct aimed *t, float square, float inverse)
{
    float e = exp2_of(square * inverse);
    return e < t->inverse.w ? e : NOTHING;
}

/* The weight of a pixel; next to nothing where it is not covered. */
static inline float weight_at(const struct aimed *t, const struct spot *s)
{
    const struct nearness n = find_edges(t, s);
    const float square = SMALLEST(n.square);
    return t->length.w * RECIPROCAL(1.0f + edge_exponential(t, square, signed_inverse(s, &n, square)));
}


#endif
