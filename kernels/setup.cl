/* Scenes as they come from the host (ten floats a triangle) to the records that the tiles walk: bounds,
 * edge frames, and a place for every partial sum. Work-groups share a scene along the second dimension;
 * places are a running total over its triangles, so each of them first counts those before its own. */
#include "frame.h"

#define AT_A_TIME 4u /* triangles that a lane loads */

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
