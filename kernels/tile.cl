/* Rendering and its gradient, tile by tile. A team tests all triangles against its tile, keeps those that
 * meet it in painter's order, and every lane walks that short list for its own pixels: forward, the loss,
 * and backward. Macros that the host sets choose what a pass holds:
 *
 *   PASS_FORWARD, PASS_BACKWARD   one of them, or both: one kernel for everything (fused)
 *   STRATEGY_FUSED, _RECOMPUTE, _TAPED   where the canvas below a triangle comes from (MODEL.md)
 *   REDUCTION_ORDERED, _LOCAL, _DIRECT   how the sums over pixels are made
 *   UPSTREAM        dL/dC is given in place of a target
 *   WITH_LOSS       loss partials are written, one a tile
 *   WITH_IMAGE      the forward pass writes the image
 *   LANES, BLOCK_W, BLOCKS_X, BLOCKS_Y   the tile: BLOCKS_X x BLOCKS_Y blocks, a pixel of each a lane
 *   TEAMS, SHARED_TILE   teams a work-group, each with a tile of its own or, with SHARED_TILE, one for all: each
 *                   finds its part of the triangles and walks its part of those found, which make a layer of
 *                   the image
 *   LIST_ROOM       entries of a team's list; a longer list is walked in parts
 *   BIN_TILES       the bins of bin.cl say which triangles to look at; not defined: all of them
 *   WALK_UNROLL     triangles that the walks take at a time; not defined: the compiler's choice
 */
#include "team_backward.h"

/* triangles, bounds: [scenes][T], from setup. goal: the target or, with UPSTREAM, dL/dC. tape:
 * [scenes][T][H][W][3]. slots: [scenes][slot_capacity][SHARED_SLOT]. loss_partials: [scenes][tiles]. bins: from bin.cl. Pointers that
 * a variant does not use may be NULL. Work-groups: (tiles_x, ceil(tiles_y / TEAMS), scenes). */
kernel __attribute__((reqd_work_group_size(LANES, TEAMS, 1))) IN_TEAMS void
tile_pass(const struct shared_view view, global const struct shared_triangle *triangles,
          global const uint2 *bounds, global const float *in, global const float *goal, global float *image,
          global float *tape, global float *slots, global float *out, global float *loss_partials,
          global const uint *bins)
{
    local entry lists[TEAMS][LIST_ROOM];
    local struct aimed chunks[TEAMS][CHUNK];
    local entry *list = lists[get_local_id(1)];
    local struct aimed *chunk = chunks[get_local_id(1)];
#ifdef REDUCTION_LOCAL
    local float totals[TEAMS][SHARED_SLOT];
#endif
#ifdef PATH_LOCAL
    local uint votes[TEAM_VOTES];
#endif
#ifdef TEAM_SUMS
    local float team_sums[TEAMS][TEAM_SUMS] __attribute__((aligned(16)));
#endif
    const uint column = (uint)get_group_id(0), member = (uint)get_local_id(1);
#ifdef SHARED_TILE
    local float4 layers[TEAMS * BLOCKS * LANES];
    local uint lengths[TEAMS];
    const uint row = view.first_row + (uint)get_group_id(1);
#else
    const uint row = view.first_row + (uint)get_group_id(1) * TEAMS + member;
#endif
    size_t scene = view.first_scene + get_group_id(2), plane = (size_t)view.width * view.height * 3;
    struct work work;
    struct canvas canvas;
#if TEAMS > 1 && !defined(SHARED_TILE)
    if (row >= view.tiles_y) /* a whole team leaves, and teams never wait for each other */
        return;
#endif
    work.team.lane = (uint)get_local_id(0);
#ifdef PATH_LOCAL
    work.team.votes = votes;
#endif
#ifdef TEAM_SUMS
    work.team.sums = team_sums[member];
#endif
    place_tile(&work.tile, &view, work.team.lane, column, row);
    work.triangles = triangles + scene * view.triangles;
    work.bounds = bounds + scene * view.triangles;
#ifdef BIN_TILES
    const uint bin = row / BIN_TILES * BINS_ACROSS(view.tiles_x) + column / BIN_TILES;
    work.bin = bins + (scene * BIN_COUNT(view) + bin) * BIN_WORDS(view.triangles);
#endif
    work.slots = slots + scene * view.slot_capacity * SHARED_SLOT;
    work.list = list;
    work.chunk = chunk;
#ifdef REDUCTION_LOCAL
    work.totals = totals[get_local_id(1)];
#endif
#ifdef SHARED_TILE
    work.layer = member;
    work.layers = layers;
    work.lengths = lengths;
    work.begin = view.triangles * member / TEAMS;
    work.count = view.triangles * (member + 1u) / TEAMS - work.begin;
#else
    work.layer = 0;
    work.begin = 0;
    work.count = view.triangles;
#endif
    work.next = 0;
    global const float *ground = in + (size_t)view.in_scenes * view.triangles * SUMS + (view.in_first + scene) * 3;
    work.ground = (float4)(ground[0], ground[1], ground[2], 0.0f);
    image += (view.image_first + scene) * plane;
    goal += (view.goal_first + scene) * plane;
    tape += scene * view.triangles * plane;

#ifdef PASS_FORWARD
    walk_forward(&work, &view, &canvas, tape);
#ifdef SHARED_TILE
    join_layers(&work, &canvas);
#endif
#ifdef WITH_IMAGE
    FOR_ALL_BLOCKS(j)
    {
        if (work.layer == 0)
            store_pixel(image, &view, COLUMN_OF(&work.tile, j), ROW_OF(&work.tile, j), canvas.r[j], canvas.g[j],
                        canvas.b[j]);
    }
#endif
#else
    fill_list(&work, &view, false, false);
    work.whole = work.next >= work.count;
    FOR_ALL_BLOCKS(j)
    {
        load_pixel(image, &view, COLUMN_OF(&work.tile, j), ROW_OF(&work.tile, j), &canvas.r[j], &canvas.g[j],
                   &canvas.b[j]);
    }
#endif

#if defined(PASS_BACKWARD) || defined(WITH_LOSS)
    real loss = (real)(0.0f);
#ifdef PASS_BACKWARD
    struct walk walk;
#endif
    FOR_ALL_BLOCKS(j)
    {
        const mask px = COLUMN_OF(&work.tile, j);
        const int py = ROW_OF(&work.tile, j);
        real g_r, g_g, g_b;
        load_pixel(goal, &view, px, py, &g_r, &g_g, &g_b);
        loss += compare_pixels(&view, px, py, &canvas, j, &g_r, &g_g, &g_b);
#ifdef PASS_BACKWARD
        walk.g_r[j] = g_r;
        walk.g_g[j] = g_g;
        walk.g_b[j] = g_b;
        walk.through[j] = (real)(1.0f);
#ifdef SHARED_TILE
        const struct stack stack = look_through(&work, j);
        walk.through[j] = stack.through;
        walk.rest[j] = stack.through * DOT(g_r, g_g, g_b, stack.top.x, stack.top.y, stack.top.z);
#elif defined(STRATEGY_FUSED)
        walk.rest[j] = DOT(g_r, g_g, g_b, canvas.r[j], canvas.g[j], canvas.b[j]);
#ifndef STEEP_LATER
        walk.scale[j] = (real)(1.0f);
#endif
#endif
#endif
    }
#ifdef WITH_LOSS
    float tile_loss = team_sum(&work.team, across(loss));
    if (work.team.lane == 0 && work.layer == 0)
        loss_partials[scene * view.tiles_x * view.tiles_y + row * view.tiles_x + column] = tile_loss;
#endif
#ifdef PASS_BACKWARD
    global float *grads = out + (view.out_first + scene) * view.triangles * SUMS;
    const bool steep = walk_backward(&work, &view, &walk, tape, grads);
#if defined(STRATEGY_FUSED) && defined(STEEP_LATER)
    if (team_any(&work.team, steep))
        walk_steep(&work, &view, &walk, grads);
#else
    (void)steep;
#endif
#endif
#endif
}
