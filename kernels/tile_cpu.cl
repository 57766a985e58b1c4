/* Rendering and its gradient on a CPU device: tile.cl's kernel, with the same macros and arguments, for one
 * work-item a tile. */
#include "cpu_forward.h"
#include "cpu_backward.h"

struct walk; /* complete where there is a way back */

/* Forward over the whole list or, where it does not hold all triangles, over one list after the other. tape:
 * the scene's [T][H][W][3], with STRATEGY_TAPED. walk: in one kernel with the way back. */
NOINLINE void walk_forward(struct work *work, const struct shared_view *view, global float *tape,
                           struct walk *walk)
{
    uint parts = 0;
    for (uint j = 0; j < BLOCKS; ++j)
        clear_block(work->canvas[j], work->ground);
    do {
        fill_list(work, view, false);
        ++parts;
        for (uint at = 0; at < work->length; ++at) {
            const entry item = work->list[at];
            real *to = NULL;
            global float *before = NULL;
#ifdef STRATEGY_TAPED
            before = tape + item.x * ((size_t)view->width * view->height * 3);
#endif
#ifdef PASS_BACKWARD
            const uint careful = is_careful(work->triangles + item.x),
                       size = (uint)popcount(item.y) * TAPE_OF(careful);
            if (walk->taped == at && parts == 1u && walk->end + size <= walk->tape + TAPE_ROOM) {
                to = walk->end;
                walk->end += size;
                ++walk->taped;
            }
#endif
            put_triangle(work, view, item, work->canvas, to, before);
        }
    } while (work->next < view->triangles);
    work->whole = parts == 1u;
#ifdef PASS_BACKWARD
    if (!work->whole) {
        walk->taped = 0;
        walk->end = walk->tape;
    }
#endif
}

#if defined(PASS_BACKWARD) || defined(WITH_LOSS)
/* Turns the target into dL/dC (upstream gradients are that already), starts the walk, and returns the sum of
 * squared differences. walk: NULL without a way back. */
NOINLINE float compare(const struct work *work, const struct shared_view *view, global const float *goal,
                       struct walk *walk)
{
    real squares = (real)(0.0f);
    for (uint j = 0; j < BLOCKS; ++j) {
        real g[3];
#ifdef UPSTREAM
        load_block(goal, view, &work->tile, j, (float4)(0.0f), g);
#else
        /* No triangle covers a pixel past the image: its colour is the background, and so is its target. */
        load_block(goal, view, &work->tile, j, work->ground, g);
        UNROLLED for (uint v = 0; v < 3; ++v)
        {
            const real difference = work->canvas[j][v] - g[v];
            squares = FMA(difference, difference, squares);
            g[v] = difference * (2.0f * view->loss_scale);
        }
#endif
#ifdef PASS_BACKWARD
        UNROLLED for (uint v = 0; v < 3; ++v) walk->g[j][v] = g[v];
        walk->through[j] = (real)(1.0f);
#ifdef STRATEGY_FUSED
        walk->residual[j] = DOT(g, work->canvas[j]);
        walk->scale[j] = (real)(1.0f);
#endif
#endif
    }
    return across(squares);
}
#endif

/* triangles, bounds, goal, tape, slots, loss_partials, bins: as in tile.cl. Work-groups: (tiles_x, tiles_y,
 * scenes). */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
tile_pass(const struct shared_view view, global const struct shared_triangle *triangles,
          global const uint2 *bounds, global const float *in, global const float *goal, global float *image,
          global float *tape, global float *slots, global float *out, global float *loss_partials,
          global const uint *bins)
{
    const uint column = (uint)get_group_id(0), row = view.first_row + (uint)get_group_id(1);
    const size_t scene = view.first_scene + get_group_id(2), plane = (size_t)view.width * view.height * 3;
    struct work work;
    struct walk *on = NULL;
#ifdef PASS_BACKWARD
    struct walk walk;
    on = &walk;
    walk.taped = 0;
    walk.end = walk.tape;
#endif
    place_tile(&work.tile, &view, column, row);
    work.triangles = triangles + scene * view.triangles;
    work.bounds = bounds + scene * view.triangles;
#ifdef BIN_TILES
    const uint bin = row / BIN_TILES * BINS_ACROSS(view.tiles_x) + column / BIN_TILES;
    work.bin = bins + (scene * BIN_COUNT(view) + bin) * BIN_WORDS(view.triangles);
#endif
    work.slots = slots + scene * view.slot_capacity * SHARED_SLOT;
    work.next = 0;
    global const float *ground =
        in + (size_t)view.in_scenes * view.triangles * SUMS + (view.in_first + scene) * 3;
    work.ground = (float4)(ground[0], ground[1], ground[2], 0.0f);
    image += (view.image_first + scene) * plane;
    goal += (view.goal_first + scene) * plane;
    tape += scene * view.triangles * plane;

#ifdef PASS_FORWARD
    walk_forward(&work, &view, tape, on);
#ifdef WITH_IMAGE
    for (uint j = 0; j < BLOCKS; ++j)
        store_block(image, &view, &work.tile, j, work.canvas[j]);
#endif
#else
    fill_list(&work, &view, false);
    work.whole = work.next >= view.triangles;
    for (uint j = 0; j < BLOCKS; ++j)
        load_block(image, &view, &work.tile, j, work.ground, work.canvas[j]);
#endif

#if defined(PASS_BACKWARD) || defined(WITH_LOSS)
    const float loss = compare(&work, &view, goal, on);
#ifdef WITH_LOSS
    loss_partials[scene * view.tiles_x * view.tiles_y + row * view.tiles_x + column] = loss;
#endif
#endif
#ifdef PASS_BACKWARD
    walk_back(&work, &view, &walk, tape, out + (view.out_first + scene) * view.triangles * SUMS);
#endif
}
