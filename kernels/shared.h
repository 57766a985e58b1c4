/* What host and kernels share: structures of fixed-width fields, and constants. Included by both, so it
 * holds only what C11 and OpenCL C 1.2 read alike. layout.cl and src/gpu/layout.c compare what they make of it. */
#ifndef GPUBENCH_KERNELS_SHARED_H
#define GPUBENCH_KERNELS_SHARED_H

#ifdef __OPENCL_VERSION__
#define SHARED_U32 uint
#define SHARED_ALIGNED(n) __attribute__((aligned(n)))
/* Loops over small arrays that must come apart, so that the arrays stay in registers; and loops that must
 * stay loops: rare code need not fill the instruction cache. */
#define UNROLLED _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#else
#include <stdint.h>
#define SHARED_U32 uint32_t
#define SHARED_ALIGNED(n) _Alignas(n)
#endif

#define SHARED_STRIDE 10          /* parameters of a triangle: x0 y0 x1 y1 x2 y2 r g b alpha */
#define SHARED_SLOT 16            /* floats that a triangle's partial sums of one tile take */
/* Groups of four lanes that add up a triangle's partial sums, of GATHER_FOURS in a work-group: more where there may be
 * many. By the tiles, and not by the sums that a batch needs: their order must not change with it. */
#define SHARED_GATHER_PARTS(tiles) ((tiles) <= 1024 ? 4u : 16u)
#define SHARED_GATHER_FOURS 16u
#define SHARED_MAX_COORD 16384.0f /* a coordinate beyond it counts as not finite */
#define SHARED_MIN_WEIGHT 1e-6f   /* a pixel of at most this weight is not covered */
#define SHARED_NO_SLOT 0xffffffffu

/* Bins: squares of BIN_TILES x BIN_TILES tiles, row by row; each has a mask of the triangles that meet it,
 * triangle i in bit i % 32 of word i / 32. */
#define BIN_WORDS(triangles) (((triangles) + 31) / 32)
#ifdef __OPENCL_VERSION__
#define BINS_ACROSS(tiles) (((tiles) + BIN_TILES - 1) / BIN_TILES)
#define BIN_COUNT(view) ((size_t)BINS_ACROSS((view).tiles_x) * BINS_ACROSS((view).tiles_y))
#endif

/* One launch's sizes, by value. The scenes of a launch are counted from 0; in the arrays that it shares with
 * the caller they may stand further back, from *_first on. */
struct shared_view {
    SHARED_U32 width, height; /* pixels */
    SHARED_U32 triangles;     /* a scene */
    SHARED_U32 tiles_x, tiles_y;
    SHARED_U32 first_scene, first_row; /* of the launch, and of tiles: where a part of the work begins */
    SHARED_U32 slot_capacity; /* partial sums that a scene has room for */
    SHARED_U32 in_first, in_scenes;   /* in: [in_scenes][T][10] parameters, then [in_scenes][3] backgrounds */
    SHARED_U32 out_first, out_scenes; /* out: [out_scenes][T][10] gradients, [out_scenes] losses, [out_scenes]
                                       * slots needed (as uint) */
    SHARED_U32 goal_first, image_first; /* targets (or dL/dC) and images: [...][H][W][3] */
    float sigma;
    float inverse_softness; /* 1 / s, s = max(sigma, 1e-8) */
    float exp2_scale;       /* log2(e) / s */
    float loss_scale;       /* 1 / (3 W H) */
};

/* How the setup kernel leaves a triangle. Edge k joins vertices k and (k+1)%3, and runs the way that has the
 * inside on the side of its normal (-ty, tx): from vertex (k+1)%3 where SHARED_FLAG_CLOCKWISE is set. */
struct shared_triangle {
    SHARED_ALIGNED(16) float edge[3][4]; /* start x, y; unit tangent x, y */
    float length[3];                     /* of the edges; 0 where an edge is a point */
    float reach;      /* pixels further outside than this have no weight; huge: not known */
    float inverse[3]; /* 1/length, 0 where an edge is a point */
    float opacity;    /* clamp(alpha, 0, 1) */
    float colour[3];
    float alpha;
    SHARED_U32 columns; /* left | right << 16, of the padded bounds; equal: touches nothing */
    SHARED_U32 rows;    /* top | bottom << 16 */
    SHARED_U32 slot;    /* first of its partial sums, one a tile that its bounds meet */
    SHARED_U32 flags;   /* SHARED_FLAG_* */
};

/* Their fields, once for both compilers: FIELD(structure, field, type, count) with a type of
 * src/model/struct_rules.h and 0 for no array; WHOLE(structure) behind each structure's last. */
#define SHARED_LAYOUT(FIELD, WHOLE)             \
    FIELD(shared_view, width, U32, 0)           \
    FIELD(shared_view, height, U32, 0)          \
    FIELD(shared_view, triangles, U32, 0)       \
    FIELD(shared_view, tiles_x, U32, 0)         \
    FIELD(shared_view, tiles_y, U32, 0)         \
    FIELD(shared_view, first_scene, U32, 0)     \
    FIELD(shared_view, first_row, U32, 0)       \
    FIELD(shared_view, slot_capacity, U32, 0)   \
    FIELD(shared_view, in_first, U32, 0)        \
    FIELD(shared_view, in_scenes, U32, 0)       \
    FIELD(shared_view, out_first, U32, 0)       \
    FIELD(shared_view, out_scenes, U32, 0)      \
    FIELD(shared_view, goal_first, U32, 0)      \
    FIELD(shared_view, image_first, U32, 0)     \
    FIELD(shared_view, sigma, F32, 0)           \
    FIELD(shared_view, inverse_softness, F32, 0) \
    FIELD(shared_view, exp2_scale, F32, 0)      \
    FIELD(shared_view, loss_scale, F32, 0)      \
    WHOLE(shared_view)                          \
    FIELD(shared_triangle, edge, VEC4, 3)       \
    FIELD(shared_triangle, length, F32, 3)      \
    FIELD(shared_triangle, reach, F32, 0)       \
    FIELD(shared_triangle, inverse, F32, 3)     \
    FIELD(shared_triangle, opacity, F32, 0)     \
    FIELD(shared_triangle, colour, F32, 3)      \
    FIELD(shared_triangle, alpha, F32, 0)       \
    FIELD(shared_triangle, columns, U32, 0)     \
    FIELD(shared_triangle, rows, U32, 0)        \
    FIELD(shared_triangle, slot, U32, 0)        \
    FIELD(shared_triangle, flags, U32, 0)       \
    WHOLE(shared_triangle)

#define SHARED_COUNT_STRIDE 32u /* from one scene's count of groups to the next: no two in a line of a cache */

#define SHARED_SETUP_PLACES 1u /* partial sums are counted, and get places */
#define SHARED_SETUP_CLEAR 2u  /* zero the scenes' gradients, for passes that add to them */

#define SHARED_FLAG_CLOCKWISE 1u  /* edges run against the order of the vertices */
#define SHARED_FLAG_DEGENERATE 2u /* too thin for the frames: inside is decided by cross products */

#endif
