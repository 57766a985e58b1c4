/* Tiles: the unit of work of the fast variant, and what its instruction-set paths share.
 *
 * Inside a tile a vector holds a block of 4 columns and LANES/4 rows, row-major. Blocks are numbered
 * row-major; a mask of a tile's blocks is 64 bits.
 *
 * Why blocks and not rows: of the lanes that 16 scenes of 512 triangles touch (sigma 0.01), inside bounds are
 *     blocks of    4x4    8x2   16x1    4x2    8x1
 *     64x64       76 %   72 %   59 %   83 %   75 %
 *     256x256     93 %   90 %   84 %   95 %   92 %
 * Why 16x16 pixels: the same scenes give 646,000 entries of tiles' lists with 8x8, 194,000 with 16x16 and
 * 66,000 with 32x32 (256x256 pixels); an entry costs about as much as two blocks of 16 (its columns, rows and
 * the sum over lanes). With 32x32 the canvas and the walk's state are 32 kB, all of the first-level cache,
 * and 64x64 pixels are 4 tiles, too few for the threads; with 16x16 they are 8 kB.
 */
#ifndef GPUBENCH_CPU_TILE_H
#define GPUBENCH_CPU_TILE_H

#include <stdbool.h>
#include <stdint.h>

#define TILE_SIZE 16u
#define TILE_PIXELS (TILE_SIZE * TILE_SIZE)
#define TILE_COLUMNS 4u /* of a block, and blocks side by side */

/* Triangles whose coverage is kept at a time. A longer list goes through in chunks: the canvas at the start
 * of each is kept, and the forward pass of all but the last is done again. A chunk of 256 takes at most 1.3 MB
 * (2 where every triangle is treated with care); the benchmark's lists are about 50, at 64x64 x 512 triangles
 * 110, of which half the blocks are touched: the second-level cache. Against 128 a gradient takes 10 % less at
 * 64x64 x 512, 18 % less at 64x64 x 1024, and the same at 256x256 x 512. */
#define TILE_CHUNK 256u
/* Floats a pixel and triangle on the tape: coverage, direction (2), shares of vertices 1 and 2; where the
 * triangle is treated with care, the canvas below it (3) too. */
#define TILE_TAPE_PLAIN 5u
#define TILE_TAPE_CAREFUL 8u

/* Which of the two loops a triangle goes through. The careful one makes no use of: a triangle with an
 * orientation (points, lines, needles, huge ones: their inside is whatever the rounded cross products say);
 * opacity within [1e-4, 0.99] (beyond it 1/(1-w) loses digits, or 1e-6/o is no small number). */
#define TILE_CAREFUL 1u

/* One triangle, made ready. Edge j of the inside test runs from vertex j to j+1. Distances use edges 0->1,
 * 1->2 and 0->2: the last the other way round, so that vertex 2 is the end of both of its edges. */
struct tile_triangle {
    float vx[3], vy[3];
    float cross_x[3], cross_y[3]; /* edges of the inside test; negated where the winding is negative */
    float edge_x[3], edge_y[3];   /* edges of the distance */
    float along_x[3], along_y[3]; /* edge/|edge|^2 (0 for a point): t = dot(p - start, along) - 1/2 */
    float normal_x[3], normal_y[3], normal_0[3]; /* unit, inward: signed distance to the edge's line */
    float reach; /* w <= 1e-6 where a line is further away than this; INFINITY: cull nothing */
    float colour[3];
    float opacity;
    float min_z; /* outside, w > 1e-6 exactly where exp(-d/s) > min_z; plain loop only */
    uint32_t flags;
};

/* Bounds of a scene's triangles, structure of arrays, padded to a multiple of 16 with empty ones. Pixels as
 * floats: exact, and compared by the same vectors as everything else. */
struct tile_bounds {
    const float *left, *right, *top, *bottom;
};

/* One tile of one scene. Columns and rows past the image are in nobody's bounds. */
struct tile {
    uint32_t x0, y0;        /* first pixel */
    uint32_t width, height; /* of the image */
    uint32_t triangles;
    struct tile_bounds bounds;
    const uint64_t *bin; /* [(T+63)/64] a bit for each triangle that may meet the tile; NULL: all may */
    const struct tile_triangle *triangle;
    const float *centre_x, *centre_y; /* (x+0.5)/W and (y+0.5)/H, padded to whole tiles */
    const float *background;          /* [3] */
    const float *target;              /* [H][W][3]: target, or dL/dC where upstream; NULL in forward mode */
    float *image;                     /* [H][W][3] or NULL */
    bool upstream;
    float exp2_scale; /* -log2(e)/(2s) */
    float loss_scale; /* 2/(3WH) */
};

/* What backward adds up for one triangle over one tile: x and y for vertices 0, 1, 2; colour; alpha. The
 * positions still lack the factor -o/(2s), alpha the clamp's derivative. */
#define TILE_SUMS 12 /* 10, and two zeros that make it a whole number of vectors */
struct tile_sums {
    float value[TILE_SUMS];
};

/* One thread's memory, allocated once. */
struct tile_scratch {
    uint32_t *list;   /* [T] triangles */
    uint64_t *blocks; /* [T] which blocks each may touch */
    uint32_t count;
    float *tape;       /* [TILE_CHUNK][TILE_TAPE_CAREFUL][TILE_PIXELS]; NULL in forward mode */
    float *checkpoint; /* [chunks - 1][3][TILE_PIXELS] */
    /* [block][lane] or [block][channel][lane] */
    _Alignas(64) float canvas[3 * TILE_PIXELS];
    _Alignas(64) float adjoint[3 * TILE_PIXELS];   /* g = dL/dC */
    _Alignas(64) float residual[TILE_PIXELS];      /* R */
    _Alignas(64) float transmittance[TILE_PIXELS]; /* T */
    /* One triangle's columns: offset, along and cross (struct row) of each edge. */
    _Alignas(64) float column[3][3][TILE_SIZE];
};

#endif
