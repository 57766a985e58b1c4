/* Scenes as they come from the host (ten floats a triangle) to the records that the tiles walk: bounds,
 * edge frames, and a place for every partial sum. Work-groups share a scene along the second dimension;
 * places are a running total over its triangles, so each of them first counts those before its own. */
#include "shared.h"

#pragma OPENCL FP_CONTRACT OFF

/* A triangle whose height is below this part of its longest edge is too thin for its frames to tell
 * inside from outside beyond its tips, where rounding would flip far pixels. */
#define THIN 1e-3f
#define NO_REACH 1e30f
#define AT_A_TIME 4u /* triangles that a lane loads */

/* MODEL.md, Forward 1: every operation rounded to float32. */
static inline uint2 padded_bounds(const float *v, float sigma, uint width, uint height)
{
    float pad = 6.0f * sigma;
    float min_x = fmin(fmin(v[0], v[2]), v[4]), max_x = fmax(fmax(v[0], v[2]), v[4]);
    float min_y = fmin(fmin(v[1], v[3]), v[5]), max_y = fmax(fmax(v[1], v[3]), v[5]);
    bool finite = true;
    UNROLLED for (uint i = 0; i < 6; ++i) finite = finite && fabs(v[i]) <= SHARED_MAX_COORD;
    /* Clamped before the conversion: a wide pad must not overflow an int. */
    float w = (float)width, h = (float)height;
    float left = fmax(floor((min_x - pad) * w), 0.0f);
    float right = fmin(fmax(ceil((max_x + pad) * w), 0.0f) + 1.0f, w);
    float top = fmax(floor((min_y - pad) * h), 0.0f);
    float bottom = fmin(fmax(ceil((max_y + pad) * h), 0.0f) + 1.0f, h);
    if (!finite || !(left < right) || !(top < bottom))
        return (uint2)(0, 0);
    return (uint2)((uint)left | (uint)right << 16, (uint)top | (uint)bottom << 16);
}

static inline uint tiles_met(uint2 bounds)
{
    uint left = bounds.x & 0xffffu, right = bounds.x >> 16;
    uint top = bounds.y & 0xffffu, bottom = bounds.y >> 16;
    if (left >= right)
        return 0;
    return ((right - 1) / TILE_W - left / TILE_W + 1) * ((bottom - 1) / TILE_H - top / TILE_H + 1);
}

/* The padded bounds of a triangle that can be seen; else empty ones. */
static inline uint2 bounds_of(const float *p, const struct shared_view *view)
{
    /* At most SHARED_MIN_WEIGHT of opacity never makes a weight above it. */
    if (!(p[9] > SHARED_MIN_WEIGHT))
        return (uint2)(0, 0);
    return padded_bounds(p, view->sigma, view->width, view->height);
}

static inline struct shared_triangle frame(const float *p, const struct shared_view *view)
{
    struct shared_triangle t;
    float longest = 0.0f;
    float area = (p[2] - p[0]) * (p[5] - p[1]) - (p[3] - p[1]) * (p[4] - p[0]);
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        float dx = p[(2 * k + 2) % 6] - p[2 * k], dy = p[(2 * k + 3) % 6] - p[2 * k + 1];
        longest = fmax(longest, dx * dx + dy * dy);
    }
    uint2 bounds = bounds_of(p, view);
    t.flags = 0;
    if (!(fabs(area) > THIN * longest))
        t.flags = SHARED_FLAG_DEGENERATE;
    else if (area < 0.0f)
        t.flags = SHARED_FLAG_CLOCKWISE;
    const bool clockwise = t.flags & SHARED_FLAG_CLOCKWISE;
    UNROLLED for (uint k = 0; k < 3; ++k)
    {
        float x = p[2 * k], y = p[2 * k + 1], next_x = p[(2 * k + 2) % 6], next_y = p[(2 * k + 3) % 6];
        float dx = clockwise ? x - next_x : next_x - x, dy = clockwise ? y - next_y : next_y - y;
        float square = dx * dx + dy * dy, length = sqrt(square);
        bool point = square <= 1e-20f;
        t.edge[k][0] = clockwise ? next_x : x;
        t.edge[k][1] = clockwise ? next_y : y;
        t.edge[k][2] = point ? 1.0f : dx / length;
        t.edge[k][3] = point ? 0.0f : dy / length;
        t.length[k] = point ? 0.0f : length;
        t.inverse[k] = point ? 0.0f : 1.0f / length;
    }
    t.opacity = fmin(fmax(p[9], 0.0f), 1.0f);
    /* w = o/(1 + exp(x)) <= 1e-6 from x = ln(1e6 o) on; one part in a hundred more, for rounding. */
    t.reach = t.flags & SHARED_FLAG_DEGENERATE
                  ? NO_REACH
                  : (log(1e6f * t.opacity + 1.0f) + 0.01f) * 1.01f / view->inverse_softness;
    t.colour[0] = p[6];
    t.colour[1] = p[7];
    t.colour[2] = p[8];
    t.alpha = p[9];
    t.columns = bounds.x;
    t.rows = bounds.y;
    t.slot = 0;
    return t;
}

/* The sum of the counts of this lane and those below, and of all. Saturates, so that a scene that wants more than 2^32
 * says so. Each step adds what lies `step` lanes below, from one array into the other. */
static uint running_total(uint count, uint lane, local uint counts[2][SETUP_GROUP], uint *all)
{
    uint side = 0;
    counts[0][lane] = count;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < SETUP_GROUP; step *= 2) {
        counts[1 - side][lane] = add_sat(counts[side][lane], lane >= step ? counts[side][lane - step] : 0u);
        side = 1 - side;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    count = counts[side][lane];
    *all = counts[side][SETUP_GROUP - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    return count;
}

/* How many partial sums the triangles before `end` need. */
static uint count_before(const struct shared_view *view, global const float *in, uint end, uint lane,
                         local uint counts[2][SETUP_GROUP])
{
    uint count = 0, total;
    for (uint first = lane; first < end; first += AT_A_TIME * SETUP_GROUP) {
        float p[AT_A_TIME][SHARED_STRIDE];
        UNROLLED for (uint u = 0; u < AT_A_TIME; ++u) /* the loads first, so that they overlap */
        {
            const uint i = min(first + u * SETUP_GROUP, end - 1u);
            UNROLLED for (uint v = 0; v < SHARED_STRIDE; ++v) p[u][v] = in[(size_t)i * SHARED_STRIDE + v];
        }
        UNROLLED for (uint u = 0; u < AT_A_TIME; ++u)
            count = add_sat(count, first + u * SETUP_GROUP < end ? tiles_met(bounds_of(p[u], view)) : 0u);
    }
    running_total(count, lane, counts, &total);
    return total;
}

/* triangles, bounds: [scenes][T]. Says in out how many partial sums each scene wants room for; beyond
 * slot_capacity its triangles get none, and the host makes the call again with more. flags: SHARED_SETUP_*.
 * Work-groups: (scenes, any number). */
kernel __attribute__((reqd_work_group_size(SETUP_GROUP, 1, 1))) void
setup(const struct shared_view view, global const float *in, global struct shared_triangle *triangles,
      global uint2 *bounds, global float *out, uint flags)
{
    local uint counts[2][SETUP_GROUP];
    const uint lane = (uint)get_local_id(0), group = (uint)get_group_id(1), groups = (uint)get_num_groups(1);
    const size_t scene = view.first_scene + get_group_id(0);
    in += (view.in_first + scene) * view.triangles * SHARED_STRIDE;
    triangles += scene * view.triangles;
    bounds += scene * view.triangles;
    global float *grads = out + (view.out_first + scene) * view.triangles * SHARED_STRIDE;
    /* A group's share: whole rounds of SETUP_GROUP. */
    const uint share = ((view.triangles + SETUP_GROUP - 1) / SETUP_GROUP + groups - 1) / groups * SETUP_GROUP;
    const uint begin = min(share * group, view.triangles), end = min(begin + share, view.triangles);
    uint total = count_before(&view, in, flags & SHARED_SETUP_PLACES ? begin : 0, lane, counts);
    for (uint first = begin; first < end; first += SETUP_GROUP) {
        uint i = first + lane;
        bool live = i < end;
        struct shared_triangle t;
        uint count = 0;
        if (live) {
            float p[SHARED_STRIDE];
            UNROLLED for (uint v = 0; v < SHARED_STRIDE; ++v) p[v] = in[(size_t)i * SHARED_STRIDE + v];
            t = frame(p, &view);
            count = tiles_met((uint2)(t.columns, t.rows));
        }
        uint all;
        const uint last = add_sat(total, running_total(count, lane, counts, &all));
        total = add_sat(total, all);
        if (live) {
            t.slot = last <= view.slot_capacity && total < SHARED_NO_SLOT ? last - count : SHARED_NO_SLOT;
            triangles[i] = t;
            bounds[i] = (uint2)(t.columns, t.rows);
            for (uint v = 0; flags & SHARED_SETUP_CLEAR && v < SHARED_STRIDE; ++v)
                grads[(size_t)i * SHARED_STRIDE + v] = 0.0f;
        }
    }
    if (lane == 0 && end == view.triangles && (begin < end || group == 0)) {
        global uint *needed =
            (global uint *)(out + (size_t)view.out_scenes * (view.triangles * SHARED_STRIDE + 1));
        needed[view.out_first + scene] = total;
    }
}
