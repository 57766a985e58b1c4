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
#define FAR 1e18f
/* Added to squared distances, so that none is 0 and none's root infinite. */
#define TINY 1e-36f

/* In one of two branches that are alike: else compilers fold what they have in common, and choose operands by
 * selections. */
static inline void keep_apart(void)
{
#ifdef PATH_PTX
    asm volatile("// apart");
#endif
}

/* *sum += a b where `condition` holds. */
static inline void add_product_if(bool condition, float a, float b, float *sum)
{
#ifdef PATH_PTX
    asm("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p fma.rn.f32 %0, %1, %2, %0; }"
        : "+f"(*sum)
        : "f"(a), "f"(b), "r"((uint)condition));
#else
    *sum = condition ? FMA(a, b, *sum) : *sum;
#endif
}

/* A sum over the lane's pixels, of parts that are 0 where a condition does not hold. Of one pixel alone, the factor
 * that parts have in common is chosen; of several, each addition is left out. */
#if BLOCKS_X * BLOCKS_Y == 1u
#define FACTOR(condition, a) CHOOSE(condition, a, 0.0f)
#define ADD_PART(condition, a, b, sum) (*(sum) = FMA(a, b, *(sum)))
#else
#define FACTOR(condition, a) (a)
#define ADD_PART(condition, a, b, sum) add_product_if(condition, a, b, sum)
#endif

/* *value *= factor where `condition` holds. */
static inline void multiply_if(bool condition, float factor, float *value)
{
#ifdef PATH_PTX
    asm("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p mul.rn.f32 %0, %0, %1; }"
        : "+f"(*value)
        : "f"(factor), "r"((uint)condition));
#else
    *value = condition ? *value * factor : *value;
#endif
}

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

/* a + b between 0 and 1. */
static inline float saturated_sum(float a, float b)
{
#ifdef PATH_PTX
    float r;
    asm("add.ftz.sat.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
#else
    return clamp(a + b, 0.0f, 1.0f);
#endif
}

struct facing {
    struct aimed t;
    float limit;                                           /* the least exp(-d/s) that comes to nothing */
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
static inline uint find_outside(const struct aimed *t, RECORD_SPACE const struct shared_triangle *from,
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

/* w = o/(1 + e) > SHARED_MIN_WEIGHT. */
static inline float limit_of(const struct aimed *t)
{
    return FMA(t->length.w, 1.0f / SHARED_MIN_WEIGHT, -1.0f);
}

static inline struct facing face(struct aimed t, const struct work *work, const struct shared_view *view)
{
    const struct tile *tile = &work->tile;
    struct facing f;
    float y[BLOCKS_Y];
    f.t = t;
    f.limit = limit_of(&t);
    f.crossed = MARKS(t) & MARK_CROSSED;
    f.outside = f.crossed ? find_outside(&t, work->triangles + t.place.z, tile, view) : 0;
    UNROLLED for (uint i = 0; i < BLOCKS_X; ++i) f.x[i] = tile->x_at[i];
    UNROLLED for (uint i = 0; i < BLOCKS_Y; ++i) y[i] = tile->y_at[i];
    if (MARKS(t) & MARK_CUT) {
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

/* Records of setup.cl have edges turned so that their normals point inwards; those of scene.cl do not. */
#ifdef LOCAL_RECORDS
#define TURNED(t) MARKS(t)
#else
#define TURNED(t) 0u
#endif

/* One pixel of a lane. */
struct spot {
    float x, normal_row[3], along_row[3];
    bool crossed;
    uint outside; /* with crossed: the sign bit */
    uint turned;  /* the sign bit: normals point outwards */
};

static inline struct spot spot_of(const struct facing *f, uint j)
{
    struct spot s;
    s.x = f->x[j % BLOCKS_X];
    s.crossed = f->crossed;
    s.outside = f->outside << (31u - j);
    s.turned = 0;
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        s.normal_row[k] = f->normal_row[k][j / BLOCKS_X];
        s.along_row[k] = f->along_row[k][j / BLOCKS_X];
    }
    return s;
}

/* Without what the others of block j share, where j is no constant: an index would put arrays into memory. */
static inline struct spot lone_spot(const struct aimed *t, RECORD_SPACE const struct shared_triangle *from,
                                    const struct tile *tile, const struct shared_view *view, uint j)
{
    const int px = COLUMN_OF(tile, j), py = ROW_OF(tile, j);
    const bool bounded = column_in_bounds(t->place, px) && row_in_bounds(t->place, py);
    const float x = centre(px, view->width), y = centre_row(py, view->height);
    const float y_at = (y - tile->top) * tile->unit;
    struct spot s;
    s.x = bounded ? (x - tile->left) * tile->unit : FAR;
    s.crossed = MARKS(*t) & MARK_CROSSED;
    s.turned = TURNED(*t);
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

/* root, as it is where the sign bit of `outside` is set; else negative. */
static inline float signed_root(float root, uint outside)
{
#ifdef PATH_PTX
    uint r;
    asm("lop3.b32 %0, %1, %2, 0x80000000, 0xf2;" : "=r"(r) : "r"(as_uint(root)), "r"(outside));
    return as_float(r);
#else
    return as_float(as_uint(root) | (~outside & 0x80000000u));
#endif
}

/* 1/distance, negative inside: where no normal that points inwards has its sign bit set. */
static inline float signed_inverse(const struct spot *s, const struct nearness *n, float square)
{
    uint outside =
        (as_uint(n->normal[0]) ^ s->turned) | (as_uint(n->normal[1]) ^ s->turned) | (as_uint(n->normal[2]) ^ s->turned);
    if (s->crossed)
        outside = s->outside;
    return signed_root(INVERSE_ROOT(square), outside);
}

/* The weight of a pixel, or anything where *covered becomes false: exp(-d/s) = e makes a coverage of 1/(1 +
 * e). */
static inline float weight_at(const struct aimed *t, float limit, const struct spot *s, bool *covered)
{
    const struct nearness n = find_edges(t, s);
    const float square = SMALLEST(n.square), e = exp2_of(square * signed_inverse(s, &n, square));
    *covered = e < limit;
    return t->length.w * RECIPROCAL(1.0f + e);
}

/* A triangle with MARK_EDGE in front of the pixels. */
struct edge_facing {
    float4 line;
    float length, inverse, limit;
    float x[BLOCKS_X], normal_row[BLOCKS_Y], along_row[BLOCKS_Y];
};

/* Pixels outside the bounds lie far out: FAR |ty| and more. */
static inline struct edge_facing face_edge(const struct aimed *t, const struct tile *tile)
{
    struct edge_facing f;
    const float4 line = t->line[0];
    f.line = line;
    f.length = t->length.x;
    f.inverse = t->inverse.x;
    f.limit = limit_of(t);
    UNROLLED for (uint i = 0; i < BLOCKS_X; ++i) f.x[i] = tile->x_at[i];
    UNROLLED for (uint i = 0; i < BLOCKS_Y; ++i)
    {
        f.normal_row[i] = FMA(line.x, tile->y_at[i], line.z);
        f.along_row[i] = FMA(line.y, tile->y_at[i], line.w);
    }
    if (MARKS(*t) & MARK_CUT) {
        UNROLLED for (uint i = 0; i < BLOCKS_X; ++i) f.x[i] =
            column_in_bounds(t->place, COLUMN_OF(tile, i)) ? f.x[i] : copysign(FAR, line.y);
        UNROLLED for (uint i = 0; i < BLOCKS_Y; ++i) f.normal_row[i] =
            row_in_bounds(t->place, tile->py + (int)(i * BLOCK_H)) ? f.normal_row[i] : -FAR;
    }
    return f;
}

/* Where a pixel lies from that edge. */
struct edge_spot {
    float normal, along, beyond; /* as in struct nearness */
    float square, inverse;       /* of the distance; inverse: 1/distance, negative inside */
    float e;                     /* exp(-d/s) */
};

/* beyond: as MARK_BEYOND. Without it, only normal, along and e are set: the normal is the distance. */
static inline struct edge_spot edge_spot_of(const struct edge_facing *f, uint j, bool beyond)
{
    const float x = f->x[j % BLOCKS_X], along = FMA(f->line.x, x, f->along_row[j / BLOCKS_X]);
    struct edge_spot s;
    s.normal = FMA(-f->line.y, x, f->normal_row[j / BLOCKS_X]);
    if (beyond) {
        s.along = saturated_product(along, f->inverse);
        s.beyond = FMA(-s.along, f->length, along);
        s.square = FMA(s.normal, s.normal, FMA(s.beyond, s.beyond, TINY));
        s.inverse = signed_root(INVERSE_ROOT(s.square), as_uint(s.normal));
        s.e = exp2_of(s.square * s.inverse);
    } else {
        s.along = along * f->inverse;
        s.beyond = s.square = s.inverse = 0.0f;
        s.e = exp2_of(-s.normal);
    }
    return s;
}

#endif
