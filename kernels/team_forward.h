/* The forward pass of a team over its tile (MODEL.md, Forward 3 and 4). */
#ifndef GPUBENCH_KERNELS_TEAM_FORWARD_H
#define GPUBENCH_KERNELS_TEAM_FORWARD_H

#include "team_pixel.h"


struct canvas {
    float r[BLOCKS], g[BLOCKS], b[BLOCKS];
#ifdef SHARED_TILE
    float through[BLOCKS]; /* product of 1 - w */
#endif
};

#define DOT(ax, ay, az, bx, by, bz) FMA(ax, bx, FMA(ay, by, (az) * (bz)))

static inline void clear_canvas(struct canvas *canvas, float4 ground)
{
    FOR_ALL_BLOCKS(j)
    {
        canvas->r[j] = ground.x;
        canvas->g[j] = ground.y;
        canvas->b[j] = ground.z;
#ifdef SHARED_TILE
        canvas->through[j] = 1.0f;
#endif
    }
}

/* Composites a pixel of block j. */
static inline void composite_pixel(bool covered, float w, float4 colour, uint j, struct canvas *canvas)
{
    add_product_if(covered, w, colour.x - canvas->r[j], &canvas->r[j]);
    add_product_if(covered, w, colour.y - canvas->g[j], &canvas->g[j]);
    add_product_if(covered, w, colour.z - canvas->b[j], &canvas->b[j]);
#ifdef SHARED_TILE
    add_product_if(covered, -w, canvas->through[j], &canvas->through[j]);
#endif
}

/* Composites one triangle over the blocks of `bits`. */
static inline void composite(const struct facing *f, uint bits, struct canvas *canvas)
{
    FOR_BLOCKS(j, bits)
    {
        const struct spot spot = spot_of(f, j);
        bool covered;
        const float w = weight_at(&f->t, f->limit, &spot, &covered);
        composite_pixel(covered, w, f->t.colour, j, canvas);
    }
}

/* The same for one with MARK_EDGE, over all blocks. beyond: MARK_BEYOND. */
static inline void composite_edge(const struct aimed *t, const struct tile *tile, bool beyond,
                                  struct canvas *canvas)
{
    const struct edge_facing f = face_edge(t, tile);
    FOR_ALL_BLOCKS(j)
    {
        const struct edge_spot s = edge_spot_of(&f, j, beyond);
        composite_pixel(s.e < f.limit, t->length.w * RECIPROCAL(1.0f + s.e), t->colour, j, canvas);
    }
}

#ifdef SHARED_TILE
/* A pixel's canvases: below this team's triangles, above them, and above all; and what the teams in front let
 * through. */
struct stack {
    float4 below, top, whole;
    float through;
};

static inline struct stack look_through(const struct work *work, uint j)
{
    struct stack s = {work->ground, work->ground, work->ground, 1.0f};
    UNROLLED for (uint layer = 0; layer < TEAMS; ++layer)
    {
        const float4 part = work->layers[(layer * BLOCKS + j) * LANES + work->team.lane];
        s.below = layer == work->layer ? s.whole : s.below;
        s.whole = (float4)(FMA(part.w, s.whole.x, part.x), FMA(part.w, s.whole.y, part.y),
                           FMA(part.w, s.whole.z, part.z), 0.0f);
        s.top = layer == work->layer ? s.whole : s.top;
        s.through *= layer > work->layer ? part.w : 1.0f;
    }
    return s;
}

/* Shares what the team's triangles make of a black canvas; the canvas becomes that of all teams. */
static inline void join_layers(const struct work *work, struct canvas *canvas)
{
    FOR_ALL_BLOCKS(j)
    {
        work->layers[(work->layer * BLOCKS + j) * LANES + work->team.lane] =
            (float4)(canvas->r[j], canvas->g[j], canvas->b[j], canvas->through[j]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_ALL_BLOCKS(j)
    {
        const float4 whole = look_through(work, j).whole;
        canvas->r[j] = whole.x;
        canvas->g[j] = whole.y;
        canvas->b[j] = whole.z;
    }
}
#endif

#if defined(PASS_BACKWARD) || defined(WITH_LOSS)
/* The squared differences of block j's pixels from their target. *g_r, *g_g, *g_b: the target, then dL/dC; with
 * UPSTREAM, they are that. */
static inline real compare_pixels(const struct shared_view *view, mask px, int py, const struct canvas *canvas,
                                  uint j, real *g_r, real *g_g, real *g_b)
{
#ifdef UPSTREAM
    return (real)(0.0f);
#else
    mask inside = (px < (int)view->width) & (mask)(py < (int)view->height ? -1 : 0);
    real r = canvas->r[j] - *g_r, g = canvas->g[j] - *g_g, b = canvas->b[j] - *g_b;
    *g_r = r * (2.0f * view->loss_scale);
    *g_g = g * (2.0f * view->loss_scale);
    *g_b = b * (2.0f * view->loss_scale);
    return CHOOSE(inside, DOT(r, g, b, r, g, b), 0.0f);
#endif
}
#endif

/* tape: the scene's [T][H][W][3], with STRATEGY_TAPED. */
static inline void walk_forward(struct work *work, const struct shared_view *view, struct canvas *canvas,
                                global float *tape)
{
    const struct tile *tile = &work->tile;
    uint parts = 0;
#ifdef SHARED_TILE
    clear_canvas(canvas, (float4)(0.0f));
#else
    clear_canvas(canvas, work->ground);
#endif
    do {
        fill_list(work, view, false, false);
#ifdef SHARED_TILE
        if (parts == 0)
            deal_lists(work);
#endif
        ++parts;
        for (uint first = 0; first < work->length; first += CHUNK) {
            const uint count = min(CHUNK, work->length - first);
            fill_chunk(work, view, first, count);
            WALK_UNROLLED for (uint k = 0; k < count; ++k)
            {
                const struct aimed t = work->chunk[k];
                const uint marks = MARKS(t);
                if (SKIPS && !(marks & ALL_BLOCKS))
                    continue;
#ifdef STRATEGY_TAPED
                size_t plane = (size_t)view->width * view->height * 3;
                FOR_BLOCKS(j, marks)
                {
                    store_pixel(tape + t.place.z * plane, view, COLUMN_OF(tile, j), ROW_OF(tile, j),
                                canvas->r[j], canvas->g[j], canvas->b[j]);
                }
#endif
                if (HAS_LONE_EDGE(marks)) {
                    if (marks & MARK_BEYOND) {
                        composite_edge(&t, tile, true, canvas);
                        keep_apart();
                    } else {
                        keep_apart();
                        composite_edge(&t, tile, false, canvas);
                    }
                    continue;
                }
                const struct facing f = face(t, work, view);
                composite(&f, marks, canvas);
            }
        }
    } while (work->next < work->count);
    work->whole = parts == 1;
}


#endif
