/* The forward pass over a tile on a CPU device (MODEL.md, Forward 3 and 4). */
#ifndef GPUBENCH_KERNELS_TILE_FORWARD_H
#define GPUBENCH_KERNELS_TILE_FORWARD_H

#include "tile_list.h"

#ifdef PATH_CPU

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
            fill_chunk(work, view, first, count);
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
    } while (work->next < work->count);
    work->whole = parts == 1;
}

#endif

#endif
