/* Small scenes whole, in one launch: what setup.cl does before the tiles and gather.cl behind them takes less than
 * launches of their own do. A work-group has TEAMS tiles, one above the other. It sets up all triangles in local
 * memory, walks them as tile.cl does, and adds up the sums of its tiles; the group of a scene that is done last adds
 * up those of all groups. Which one that is differs from run to run; the order of the additions does not.
 *
 * Such a launch is short: what counts is how long one work-item waits for the other's result. So loads are under way
 * before there is anything to do, and triangles are walked in pairs, whose arithmetic overlaps.
 *
 * Macros: as in tile.cl, for PASS_FORWARD and PASS_BACKWARD, STRATEGY_FUSED, REDUCTION_ORDERED, and tiles of one
 * block, of 8x4. There are at most LANES triangles. */
#include "frame.h"
#include "scene_walk.h"

#define GROUP_LANES (LANES * TEAMS)
#define GROUP_H (TILE_H * TEAMS)
#define ROOM LANES /* triangles */
#define FOURS (SLOT_FLOATS / 4u)

/* For functions that are given local arrays by name. Where such a one is not inlined, compilers may have it use the array
 * without being told, and PoCL 3.1 then keeps two. */
#define INLINED static inline __attribute__((always_inline))

/* A load that is under way from here on: compilers would leave it to where its value is used first, behind a barrier. */
static inline float2 load_now(global const float *at)
{
    float2 v;
#ifdef PATH_PTX
    asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(at));
#else
    v = *(global const float2 *)at;
#endif
    return v;
}

static inline float load_one_now(global const float *at)
{
#ifdef PATH_PTX
    float v;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(at));
    return v;
#else
    return *at;
#endif
}

/* What there is to set up of a triangle: its edges and, dealt out among their parts and one more, the rest. */
#define PARTS 4u

/* A lane's triangle as it comes from the host, if there is one, but for its vertices: part k's come first. in: the scene's
 * [T][10]. (Choosing among values that are loaded takes longer than all that is done with them.) */
static inline void load_part(global const float *in, const struct shared_view *view, uint lane, uint part, float *p)
{
    in += min(lane, view->triangles - 1u) * SHARED_STRIDE;
    UNROLLED for (uint v = 0; v < SHARED_STRIDE / 2u; ++v)
    {
        const float2 pair = load_now(in + 2u * (v < 3u ? (v + part) % 3u : v));
        p[2u * v] = pair.x;
        p[2u * v + 1u] = pair.y;
    }
}

/* A lane's pixel of the target, [H][W][3]; of one outside, that of the edge. */
static inline void load_goal(global const float *goal, const struct shared_view *view, uint column, uint row,
                             struct walk *walk)
{
    goal += (min(row, view->height - 1u) * view->width + min(column, view->width - 1u)) * 3u;
    walk->g_r[0] = load_one_now(goal);
    walk->g_g[0] = load_one_now(goal + 1);
    walk->g_b[0] = load_one_now(goal + 2);
}

/* Makes compilers work out here what they would leave to where it is used first. */
static inline void have_ready(float value)
{
#ifdef PATH_PTX
    asm volatile("// ready" ::"f"(value));
#endif
}

/* Sets up a part of a lane's triangle. Edges run in the order of the vertices. */
INLINED void set_up(const float *p, const struct shared_view *view, uint lane, uint part,
                    local struct shared_triangle *records, local uint2 *bounds)
{
    local struct shared_triangle *t = records + lane;
    if (lane >= view->triangles)
        return;
    if (part < 3u) {
        const struct edge_frame e = frame_edge(p[0], p[1], p[2], p[3], false);
        ((local float4 *)t->edge)[part] = e.line;
        t->length[part] = e.length;
        t->inverse[part] = e.inverse;
    }
    if (part == 0) {
        t->flags = flags_of(p);
    } else if (part == 1u) {
        t->opacity = opacity_of(p[9]);
        t->alpha = p[9];
        t->slot = lane;
        UNROLLED for (uint c = 0; c < 3; ++c) t->colour[c] = p[6u + c];
    } else if (part == 2u) {
        const uint rows = padded_span(p[1], p[3], p[5], view->sigma, view->height);
        ((local uint *)(bounds + lane))[1] = rows;
        t->rows = rows;
    } else {
        const uint columns = can_be_seen(p) ? padded_span(p[0], p[2], p[4], view->sigma, view->width) : 0u;
        ((local uint *)(bounds + lane))[0] = columns;
        t->columns = columns;
        t->reach = NO_REACH; /* tiles so small are met by the bounds alone */
    }
}

#define NOT_MET 0xffffffffu
/* Of the groups whose tiles meet the bounds: how many there are, and which of them, row by row, is this one. */
static inline uint2 groups_met(uint2 bounds)
{
    const uint left = (uint)LEFT(bounds) / TILE_W, top = (uint)TOP(bounds) / GROUP_H;
    const uint across = ((uint)RIGHT(bounds) - 1u) / TILE_W - left + 1u;
    const uint down = ((uint)BOTTOM(bounds) - 1u) / GROUP_H - top + 1u;
    const uint column = (uint)get_group_id(0) - left, row = (uint)get_group_id(1) - top;
    if (bounds.x == 0 || bounds.y == 0)
        return (uint2)(0, NOT_MET);
    return (uint2)(across * down, column < across && row < down ? row * across + column : NOT_MET);
}

/* Four of a triangle's sums that a lane adds up. */
struct share {
    uint i, four, count, place; /* count, place: see groups_met */
};

static inline struct share share_of(const struct shared_view *view, local const uint2 *bounds, uint at)
{
    struct share s = {at / FOURS, at % FOURS, 0, NOT_MET};
    if (s.i < view->triangles) {
        const uint2 met = groups_met(bounds[s.i]);
        s.count = met.x;
        s.place = met.y;
    }
    return s;
}

/* sums: the tiles' [TEAMS][ROOM][SLOT_FLOATS]. slots: the scene's [T][groups][SHARED_SLOT], a triangle's without gaps.
 * share: the lane's first. */
INLINED void add_tiles(const struct shared_view *view, struct share share, local const float *sums,
                       local const uint2 *bounds, uint lane, uint groups, global float *slots)
{
    for (uint at = lane; at < view->triangles * FOURS; share = share_of(view, bounds, at += GROUP_LANES)) {
        float4 sum = (float4)(0.0f);
        UNROLLED for (uint tile = 0; tile < TEAMS; ++tile)
            sum += ((local const float4 *)sums)[(tile * ROOM) * FOURS + at];
        if (share.place != NOT_MET)
            ((global float4 *)slots)[(share.i * groups + share.place) * (SHARED_SLOT / 4u) + share.four] = sum;
    }
}

/* Counts one more, from 0 to all and back to 0; true for the last. What this work-item has written or, before a barrier,
 * its group, is seen by whoever counts later. (OpenCL 1.2 has no such order between groups: elsewhere than on NVIDIA's
 * devices this is for CPUs, on which tests run it.) */
static inline bool count_up(volatile global uint *count, uint all)
{
    uint before;
#ifdef PATH_PTX
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(count), "r"(all - 1u)
                 : "memory");
#else
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    before = atomic_inc(count);
    if (before == all - 1u)
        *count = 0;
#endif
    return before == all - 1u;
}

#define AT_ONCE 12u /* loads under way at a time */
/* Sums the same four values of so many slots. */
static inline float4 add_groups(global const float4 *from, uint count)
{
    float4 sum = (float4)(0.0f);
    for (uint left = count; left > 0; left -= min(left, AT_ONCE)) {
        float4 part[AT_ONCE];
        UNROLLED for (uint u = 0; u < AT_ONCE; ++u) part[u] =
            u < left ? from[u * (SHARED_SLOT / 4u)] : (float4)(0.0f);
        from += AT_ONCE * (SHARED_SLOT / 4u);
        UNROLLED for (uint u = 0; u < AT_ONCE; u += 4u) sum += (part[u] + part[u + 1u]) + (part[u + 2u] + part[u + 3u]);
    }
    return sum;
}

/* Gradients of a scene's triangles, four floats a lane. share: the lane's first. */
INLINED void gather_scene(const struct shared_view *view, struct share share, global const float *slots,
                          local const struct shared_triangle *records, local const uint2 *bounds, uint lane,
                          uint groups, global float *grads)
{
    for (uint at = lane; at < view->triangles * FOURS; share = share_of(view, bounds, at += GROUP_LANES)) {
        const uint four = share.four;
        const float4 sum =
            add_groups((global const float4 *)slots + share.i * groups * (SHARED_SLOT / 4u) + four, share.count);
        global float2 *out = (global float2 *)(grads + share.i * SUMS + 4u * four);
        out[0] = four < 2u ? sum.xy * view->inverse_softness : (float2)(sum.x, alpha_gradient(records + share.i, sum.y));
        if (four < 2u)
            out[1] = four == 0 ? sum.zw * view->inverse_softness : sum.zw;
    }
}

/* Renders a tile; leaves its sums in work->slots. image: the scene's. Returns the pixel's squared difference. */
static inline float render_tile(struct work *work, const struct shared_view *view, const struct seat *seat,
                                struct walk *walk, global float *image)
{
    const int px = work->tile.px, py = work->tile.py;
    struct canvas canvas;
    const bool steep = choose(work, view);
    walk_up(work, seat, &canvas);
#ifdef WITH_IMAGE
    store_pixel(image, view, px, py, canvas.r[0], canvas.g[0], canvas.b[0]);
#endif
    const float loss = compare_pixels(view, px, py, &canvas, 0, walk->g_r, walk->g_g, walk->g_b);
    walk->through[0] = 1.0f;
    walk->rest[0] = DOT(walk->g_r[0], walk->g_g[0], walk->g_b[0], canvas.r[0], canvas.g[0], canvas.b[0]);
#ifndef STEEP_LATER
    walk->scale[0] = 1.0f;
#endif
    walk_down(work, view, seat, walk);
#ifdef STEEP_LATER
    if (steep && is_left_out(work, seat))
        walk_steep(work, view, walk, NULL);
#endif
    return loss;
}

/* in, goal, image, out: as in tile.cl. slots: [scenes][slot_capacity][SHARED_SLOT]. loss_partials: [scenes][groups].
 * counts: [scenes][SHARED_COUNT_STRIDE], whose first are 0 before and after. Work-groups: (tiles_x, ceil(tiles_y / TEAMS), scenes). */
kernel __attribute__((reqd_work_group_size(LANES, TEAMS, 1))) void
scene_pass(const struct shared_view view, global const float *in, global const float *goal, global float *image,
           global float *slots, global float *out, global float *loss_partials, volatile global uint *counts)
{
    local struct aimed chunks[TEAMS][ROOM];
    local struct shared_triangle records[ROOM];
    local uint2 bounds[ROOM];
    local float sums[TEAMS][ROOM * SLOT_FLOATS] __attribute__((aligned(16)));
    local float team_sums[TEAMS][LANES * PAIR] __attribute__((aligned(16)));
    local float losses[GROUP_LANES]; /* of pixels */
    local uint is_last[1], sum_count[1]; /* arrays: clang takes a branch for what leaves a variable unset */
    const uint column = (uint)get_group_id(0), across = (uint)get_num_groups(0);
    const uint group = (uint)get_group_id(1) * across + column, groups = across * (uint)get_num_groups(1);
    const uint member = (uint)get_local_id(1), lane = member * LANES + (uint)get_local_id(0);
    const uint row = (uint)get_group_id(1) * TEAMS + member;
    const uint scene = view.first_scene + (uint)get_group_id(2), plane = view.width * view.height * 3u;
    const uint values = view.triangles * SUMS;
    struct work work;
    struct walk walk;
#ifdef PATH_LOCAL
    local uint votes[TEAM_VOTES];
    work.team.votes = votes;
#endif
    work.team.lane = (uint)get_local_id(0);
    work.team.sums = team_sums[member];
    work.triangles = records;
    work.bounds = bounds;
    work.slots = sums[member];
    work.chunk = chunks[member];
    work.whole = true;
    /* All that is to be loaded is on its way while the tile is placed. */
    float p[SHARED_STRIDE];
    global const float *triangles = in + (size_t)(view.in_first + scene) * values;
    load_part(triangles, &view, work.team.lane, member, p);
    load_goal(goal + (size_t)(view.goal_first + scene) * plane, &view, column * TILE_W + work.team.lane % BLOCK_W,
              row * TILE_H + work.team.lane / BLOCK_W, &walk);
    in += (size_t)view.in_scenes * values + (size_t)(view.in_first + scene) * 3u;
    work.ground = (float4)(load_one_now(in), load_one_now(in + 1), load_one_now(in + 2), 0.0f);
    const struct seat seat = take_seat(&work);
    place_tile(&work.tile, &view, work.team.lane, column, row);
    have_ready(work.tile.left);
    have_ready(work.tile.top);
    have_ready(work.tile.x_at[0]);
    have_ready(work.tile.y_at[0]);
    UNROLLED for (uint four = 0; four < FOURS; ++four)
    {
        ((local float4 *)work.slots)[work.team.lane * FOURS + four] = (float4)(0.0f);
    }
    set_up(p, &view, work.team.lane, member, records, bounds);
    for (uint part = member + TEAMS; part < PARTS; part += TEAMS) {
        load_part(triangles, &view, work.team.lane, part, p);
        set_up(p, &view, work.team.lane, part, records, bounds);
    }
    if (lane == 0)
        sum_count[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const struct share share = share_of(&view, bounds, lane);
    if (group == 0 && lane < view.triangles)
        atomic_add(sum_count, groups_met(bounds[lane]).x);
    losses[lane] = render_tile(&work, &view, &seat, &walk, image + (size_t)(view.image_first + scene) * plane);
    barrier(CLK_LOCAL_MEM_FENCE);

    global float *losses_out = out + (size_t)view.out_scenes * values;
    slots += (size_t)scene * view.slot_capacity * SHARED_SLOT;
    loss_partials += (size_t)scene * groups;
    add_tiles(&view, share, sums[0], bounds, lane, groups, slots);
    const bool last_team = TEAMS == 1u || member == TEAMS - 1u; /* has the least to add; no condition around barriers */
    if (last_team && work.team.lane == 0 && group == 0)
        ((global uint *)losses_out)[view.out_scenes + view.out_first + scene] = sum_count[0];
#ifdef WITH_LOSS
    if (last_team) {
        float part = losses[work.team.lane];
        UNROLLED for (uint tile = 1; tile < TEAMS; ++tile) part += losses[tile * LANES + work.team.lane];
        const float sum = team_sum(&work.team, part);
        if (work.team.lane == 0)
            loss_partials[group] = sum;
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (lane == 0)
        is_last[0] = count_up(counts + (size_t)scene * SHARED_COUNT_STRIDE, groups);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* what other groups wrote is read behind it */
    if (!is_last[0])
        return;
#ifdef WITH_LOSS
    if (last_team) {
        const float all = team_sum(&work.team, part_of_loss(loss_partials, groups, work.team.lane, LANES));
        if (work.team.lane == 0)
            losses_out[view.out_first + scene] = all * view.loss_scale;
    }
#endif
    gather_scene(&view, share, slots, records, bounds, lane, groups,
                 out + (size_t)(view.out_first + scene) * values);
}
