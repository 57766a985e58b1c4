/* Small scenes whole, in one launch: what setup.cl does before the tiles and gather.cl behind them takes less than
 * launches of their own do. A work-group has TEAMS tiles, one above the other. It sets up all triangles in local
 * memory, walks them as tile.cl does, and adds up the sums of its tiles; the group of a scene that is done last adds
 * up those of all groups. Which one that is differs from run to run; the order of the additions does not.
 *
 * Macros: as in tile.cl, for PASS_FORWARD and PASS_BACKWARD, STRATEGY_FUSED, REDUCTION_ORDERED, and tiles of one
 * block. There are at most LANES triangles. */
#define LOCAL_RECORDS
#include "frame.h"
#include "team_backward.h"

#define GROUP_LANES (LANES * TEAMS)
#define GROUP_H (TILE_H * TEAMS)
#define ROOM LANES /* triangles */
#define FOURS (SHARED_SLOT / 4u)

/* A lane's triangle as it comes from the host, if there is one. in: the scene's [T][10]. */
static inline void load_triangle(global const float *in, const struct shared_view *view, uint lane, float *p)
{
    global const float2 *pairs = (global const float2 *)in + min(lane, view->triangles - 1u) * (SHARED_STRIDE / 2u);
    UNROLLED for (uint v = 0; v < SHARED_STRIDE / 2u; ++v)
    {
        const float2 pair = pairs[v];
        p[2u * v] = pair.x;
        p[2u * v + 1u] = pair.y;
    }
}

/* Makes compilers load, or work out, what they would leave to where it is used first: behind a branch, or a barrier. */
static inline void have_ready(const float *values, uint count)
{
#ifdef PATH_PTX
    UNROLLED for (uint i = 0; i < count; ++i) asm volatile("// ready" ::"f"(values[i]));
#endif
}

/* Sets up a lane's triangle; the teams share what there is to do. */
static inline void set_up(const float *p, const struct shared_view *view, uint lane, uint member,
                          local struct shared_triangle *records, local uint2 *bounds)
{
    local struct shared_triangle *t = records + lane;
    const uint flags = flags_of(p);
    if (lane >= view->triangles)
        return;
    for (uint part = member; part < 4u; part += TEAMS) {
        if (part < 3u) {
            const float here_x = part == 0 ? p[0] : part == 1u ? p[2] : p[4];
            const float here_y = part == 0 ? p[1] : part == 1u ? p[3] : p[5];
            const float next_x = part == 0 ? p[2] : part == 1u ? p[4] : p[0];
            const float next_y = part == 0 ? p[3] : part == 1u ? p[5] : p[1];
            const struct edge_frame e = frame_edge(here_x, here_y, next_x, next_y, flags & SHARED_FLAG_CLOCKWISE);
            ((local float4 *)t->edge)[part] = e.line;
            t->length[part] = e.length;
            t->inverse[part] = e.inverse;
        } else {
            const uint2 box = bounds_of(p, view);
            bounds[lane] = box;
            t->columns = box.x;
            t->rows = box.y;
            t->flags = flags;
            t->opacity = opacity_of(p[9]);
            t->reach = reach_of(t->opacity, flags, view);
            UNROLLED for (uint c = 0; c < 3; ++c) t->colour[c] = p[6u + c];
            t->alpha = p[9];
            t->slot = lane;
        }
    }
}

/* What a lane knows of triangles so thin that exact zeros decide. Bit k: of the k-th of the chunk. */
struct crossings {
    uint crossed; /* inside is decided by cross products */
    uint outside; /* and then: this lane's pixel is not inside */
};

/* Aims the triangles that meet the tile at it, a lane each. Clears the tile's sums. */
static inline struct crossings choose(struct work *work, const struct shared_view *view)
{
    const uint lane = work->team.lane;
    const uint2 bounds = lane < view->triangles ? work->bounds[lane] : (uint2)(0, 0);
    const bool found = meets(bounds, (uint)work->tile.x, (uint)work->tile.y, TILE_W, TILE_H);
    const uint at = team_rank(&work->team, found, &work->length);
    bool crossed = false;
    struct crossings c = {0, 0};
    UNROLLED for (uint four = 0; four < FOURS; ++four)
    {
        ((local float4 *)work->slots)[four * LANES + lane] = (float4)(0.0f);
    }
    if (found) {
        const struct aimed t = aim(work->triangles + lane, &work->tile, lane);
        crossed = MARKS(t) & MARK_CROSSED;
        work->chunk[at] = t;
    }
    team_sync();
    if (!team_any(&work->team, crossed))
        return c;
    for (uint k = 0; k < work->length; ++k) {
        const struct aimed t = work->chunk[k];
        const uint outside =
            MARKS(t) & MARK_CROSSED ? find_outside(&t, work->triangles + t.place.z, &work->tile, view) : 0;
        c.crossed |= MARKS(t) & MARK_CROSSED ? 1u << k : 0u;
        c.outside |= outside << k;
    }
    return c;
}

/* Where the lane's pixel lies from the k-th triangle. Without branches, so that two can be walked side by side. */
static inline struct spot spot_from(const struct aimed *t, const struct tile *tile, const struct crossings *c, uint k)
{
    const float x = column_in_bounds(t->place, tile->px) ? tile->x_at[0] : FAR;
    const float y = row_in_bounds(t->place, tile->py) ? tile->y_at[0] : FAR;
    struct spot s;
    s.x = x;
    s.crossed = c->crossed >> k & 1u;
    s.outside = (c->outside >> k) << 31u;
    UNROLLED for (uint edge = 0; edge < 3; ++edge)
    {
        s.normal_row[edge] = FMA(t->line[edge].x, y, t->line[edge].z);
        s.along_row[edge] = FMA(t->line[edge].y, y, t->line[edge].w);
    }
    return s;
}

static inline void walk_up(const struct work *work, const struct crossings *c, struct canvas *canvas)
{
    clear_canvas(canvas, work->ground);
    ROLLED for (uint k = 0; k < work->length; ++k)
    {
        const struct aimed t = work->chunk[k];
        const struct spot spot = spot_from(&t, &work->tile, c, k);
        bool covered;
        const float w = weight_at(&t, limit_of(&t), &spot, &covered);
        composite_pixel(covered, w, t.colour, 0, canvas);
    }
}

#define PAIR_STRIDE (2u * SHARED_SLOT + 4u)
/* Sums the 16 values of two triangles over the team's lanes; lane i gets the sum of value i % 16 of triangle i / 16. */
static inline float team_sum_pair(const struct team *team, const float *a, const float *b)
{
    local float4 *row = (local float4 *)(team->sums + team->lane * PAIR_STRIDE);
    local const float *column = team->sums + team->lane;
    float part[8];
    UNROLLED for (uint i = 0; i < FOURS; ++i)
    {
        row[i] = (float4)(a[4u * i], a[4u * i + 1u], a[4u * i + 2u], a[4u * i + 3u]);
        row[FOURS + i] = (float4)(b[4u * i], b[4u * i + 1u], b[4u * i + 2u], b[4u * i + 3u]);
    }
    team_sync();
    UNROLLED for (uint i = 0; i < 8u; ++i) part[i] =
        (column[i * PAIR_STRIDE] + column[(i + 8u) * PAIR_STRIDE]) +
        (column[(i + 16u) * PAIR_STRIDE] + column[(i + 24u) * PAIR_STRIDE]);
    const float sum =
        ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    team_sync(); /* all have read it */
    return sum;
}

/* Returns whether walk_steep must follow. */
static inline bool walk_down(const struct work *work, const struct shared_view *view, const struct crossings *c,
                             struct walk *walk)
{
    const uint mine = work->team.lane / SHARED_SLOT; /* of the pair */
    bool steep = false;
    ROLLED for (uint left = work->length; left > 0; left -= min(left, 2u))
    {
        float sums[2][SHARED_SLOT];
        UNROLLED for (uint u = 0; u < 2u; ++u)
        {
            const uint k = u < left ? left - 1u - u : 0;
            const struct aimed t = work->chunk[k];
            const struct spot spot = spot_from(&t, &work->tile, c, k);
            const struct step step = {work, view, t.colour, t.length.w, (1.0f - t.length.w) + 1e-30f,
                                      MARKS(t) & MARK_STEEP, k, &steep, NULL};
            UNROLLED for (uint v = 0; v < SHARED_SLOT; ++v) sums[u][v] = 0.0f;
            walk_spot(&step, &t, u < left ? limit_of(&t) : 0.0f, &spot, 0, walk, sums[u]);
        }
        const float sum = team_sum_pair(&work->team, sums[0], sums[1]);
        if (mine < left)
            work->slots[work->chunk[left - 1u - mine].place.z * SHARED_SLOT + work->team.lane % SHARED_SLOT] = sum;
    }
    return steep;
}

/* The groups that hold a pixel of the bounds: the first column and row of them, and how many. */
static inline uint4 groups_met(uint2 bounds)
{
    const uint left = (uint)LEFT(bounds) / TILE_W, top = (uint)TOP(bounds) / GROUP_H;
    const uint right = ((uint)RIGHT(bounds) - 1u) / TILE_W, bottom = ((uint)BOTTOM(bounds) - 1u) / GROUP_H;
    return bounds.x == 0 ? (uint4)(0) : (uint4)(left, top, right - left + 1u, bottom - top + 1u);
}

/* sums: the tiles' [TEAMS][ROOM][SHARED_SLOT]. slots: the scene's [T][groups][SHARED_SLOT]. */
static inline void add_tiles(const struct shared_view *view, local const float *sums, local const uint2 *bounds,
                             uint lane, uint group, uint groups, global float *slots)
{
    for (uint at = lane; at < view->triangles * FOURS; at += GROUP_LANES) {
        const uint i = at / FOURS, four = at % FOURS;
        float4 sum = (float4)(0.0f);
        if (!meets(bounds[i], (uint)get_group_id(0) * TILE_W, (uint)get_group_id(1) * GROUP_H, TILE_W, GROUP_H))
            continue;
        UNROLLED for (uint tile = 0; tile < TEAMS; ++tile)
            sum += ((local const float4 *)sums)[(tile * ROOM + i) * FOURS + four];
        ((global float4 *)slots)[(i * groups + group) * FOURS + four] = sum;
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

#define AT_ONCE 16u /* loads under way at a time */
/* The sums of four values of a triangle over all groups. */
static inline float4 add_groups(global const float *slots, uint4 met, uint i, uint four, uint across, uint groups)
{
    global const float4 *from =
        (global const float4 *)slots + (i * groups + met.y * across + met.x) * FOURS + four;
    const uint count = met.z * met.w;
    float4 sum = (float4)(0.0f);
    uint column = 0, at = 0;
    for (uint first = 0; first < count; first += AT_ONCE) {
        float4 part[AT_ONCE];
        UNROLLED for (uint u = 0; u < AT_ONCE; ++u)
        {
            part[u] = first + u < count ? from[at * FOURS] : (float4)(0.0f);
            const bool end = ++column == met.z;
            at += end ? across - met.z + 1u : 1u;
            column = end ? 0 : column;
        }
        UNROLLED for (uint u = 0; u < AT_ONCE; u += 8u) sum +=
            ((part[u] + part[u + 1u]) + (part[u + 2u] + part[u + 3u])) +
            ((part[u + 4u] + part[u + 5u]) + (part[u + 6u] + part[u + 7u]));
    }
    return sum;
}

/* Gradients of a scene's triangles; four lanes each: three of them have an edge and the vertex that it starts from. */
static inline void gather_scene(const struct shared_view *view, global const float *slots,
                                local const struct shared_triangle *records, local const uint2 *bounds, uint lane,
                                uint across, uint groups, local float4 *sums, global float *grads)
{
    for (uint first = 0; first < view->triangles * FOURS; first += GROUP_LANES) {
        const uint at = first + lane, i = min(at / FOURS, view->triangles - 1u), four = at % FOURS;
        const float4 mine = add_groups(slots, groups_met(bounds[i]), i, four, across, groups);
        sums[at] = mine;
        team_sync();
        const float4 other = sums[at - four + (four + 2u) % 3u];
        local const struct shared_triangle *t = records + i;
        global float *out = grads + i * SUMS + 2u * four;
        if (at >= view->triangles * FOURS)
            continue;
        if (four < 3u) {
            out[0] = vertex_gradient(t, view->inverse_softness, mine, other, four, 0);
            out[1] = vertex_gradient(t, view->inverse_softness, mine, other, four, 1);
        } else {
            out[0] = mine.x;
            out[1] = mine.y;
            out[2] = mine.z;
            out[3] = alpha_gradient(t, mine.w);
        }
    }
}

/* Renders a tile; leaves its sums in work->slots. image: the scene's. Returns the sum of squared differences. */
static inline float render_tile(struct work *work, const struct shared_view *view, struct walk *walk,
                                global float *image)
{
    const int px = work->tile.px, py = work->tile.py;
    const struct crossings crossings = choose(work, view);
    struct canvas canvas;
    walk_up(work, &crossings, &canvas);
#ifdef WITH_IMAGE
    store_pixel(image, view, px, py, canvas.r[0], canvas.g[0], canvas.b[0]);
#endif
    const float loss = compare_pixels(view, px, py, &canvas, 0, walk->g_r, walk->g_g, walk->g_b);
    walk->through[0] = 1.0f;
    walk->rest[0] = DOT(walk->g_r[0], walk->g_g[0], walk->g_b[0], canvas.r[0], canvas.g[0], canvas.b[0]);
#ifdef STEEP_LATER
    if (team_any(&work->team, walk_down(work, view, &crossings, walk)))
        walk_steep(work, view, walk, NULL);
#else
    walk->scale[0] = 1.0f;
    walk_down(work, view, &crossings, walk);
#endif
#ifdef WITH_LOSS
    return team_sum(&work->team, loss);
#else
    return 0.0f;
#endif
}

/* in, goal, image, out: as in tile.cl. slots: [scenes][slot_capacity][SHARED_SLOT]. loss_partials: [scenes][groups].
 * counts: [scenes], 0 before and after. Work-groups: (tiles_x, ceil(tiles_y / TEAMS), scenes). */
kernel __attribute__((reqd_work_group_size(LANES, TEAMS, 1))) void
scene_pass(const struct shared_view view, global const float *in, global const float *goal, global float *image,
           global float *slots, global float *out, global float *loss_partials, volatile global uint *counts)
{
    local struct aimed chunks[TEAMS][ROOM];
    local struct shared_triangle records[ROOM];
    local uint2 bounds[ROOM];
    local float sums[TEAMS][ROOM * SHARED_SLOT] __attribute__((aligned(16)));
    local float team_sums[TEAMS][LANES * PAIR_STRIDE] __attribute__((aligned(16)));
    local float tile_losses[TEAMS];
    local uint is_last[1], sum_count[1]; /* arrays: clang takes a branch for what leaves a variable unset */
    const uint column = (uint)get_group_id(0), across = (uint)get_num_groups(0);
    const uint group = (uint)get_group_id(1) * across + column, groups = across * (uint)get_num_groups(1);
    const uint member = (uint)get_local_id(1), lane = member * LANES + (uint)get_local_id(0);
    const uint row = (uint)get_group_id(1) * TEAMS + member;
    const size_t scene = view.first_scene + get_group_id(2), plane = (size_t)view.width * view.height * 3;
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
    load_triangle(in + (view.in_first + scene) * view.triangles * SUMS, &view, work.team.lane, p);
    have_ready(p, SHARED_STRIDE);
    goal += (view.goal_first + scene) * plane;
    load_pixel(goal, &view, (int)(column * TILE_W + work.team.lane % BLOCK_W),
               (int)(row * TILE_H + work.team.lane / BLOCK_W), &walk.g_r[0], &walk.g_g[0], &walk.g_b[0]);
    global const float *ground = in + (size_t)view.in_scenes * view.triangles * SUMS + (view.in_first + scene) * 3;
    work.ground = (float4)(ground[0], ground[1], ground[2], 0.0f);
    have_ready(walk.g_b, 1);
    place_tile(&work.tile, &view, work.team.lane, column, row);
    have_ready(&work.tile.left, 1);
    have_ready(&work.tile.top, 1);
    have_ready(work.tile.x_at, 1);
    have_ready(work.tile.y_at, 1);
    set_up(p, &view, work.team.lane, member, records, bounds);
    if (lane == 0)
        sum_count[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (group == 0 && lane < view.triangles) {
        const uint4 met = groups_met(bounds[lane]);
        atomic_add(sum_count, met.z * met.w);
    }
    const float tile_loss = render_tile(&work, &view, &walk, image + (view.image_first + scene) * plane);
    if (work.team.lane == 0)
        tile_losses[member] = tile_loss;
    barrier(CLK_LOCAL_MEM_FENCE);

    global float *losses = out + (size_t)view.out_scenes * view.triangles * SUMS;
    slots += scene * view.slot_capacity * SHARED_SLOT;
    loss_partials += scene * groups;
    add_tiles(&view, sums[0], bounds, lane, group, groups, slots);
    if (lane == 0 && group == 0)
        ((global uint *)losses)[view.out_scenes + view.out_first + scene] = sum_count[0];
#ifdef WITH_LOSS
    if (lane == 0) {
        float group_loss = tile_losses[0];
        for (uint tile = 1; tile < TEAMS; ++tile)
            group_loss += tile_losses[tile];
        loss_partials[group] = group_loss;
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (lane == 0)
        is_last[0] = count_up(counts + scene, groups);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* what other groups wrote is read behind it */
    if (!is_last[0])
        return;
#ifdef WITH_LOSS /* its first load is under way beside those of the sums */
    const float loss = first_of_loss(loss_partials, groups, work.team.lane);
#endif
    gather_scene(&view, slots, records, bounds, lane, across, groups, (local float4 *)sums[0],
                 out + (view.out_first + scene) * view.triangles * SUMS);
#ifdef WITH_LOSS
    const float all = team_sum(&work.team, part_of_loss(loss, loss_partials, groups, work.team.lane, LANES));
    if (lane == 0)
        losses[view.out_first + scene] = all * view.loss_scale;
#endif
}
