/* The second pass of the ordered reduction: adds each triangle's partial sums, and each scene's losses,
 * in an order that never changes, and makes gradients of them. */
#include "edge_sums.h"
#include "frame.h"

#ifdef PATH_CPU
#define GATHER_GROUP 1u
typedef float some;
#else
#define GATHER_GROUP (4u * SHARED_GATHER_FOURS)
typedef float4 some;
#endif

/* Adds every parts-th partial sum, of the value (or four of them) that `slots` points at. */
static some part_of_sum(global const some *slots, uint count, uint part, uint parts)
{
    const size_t stride = SHARED_SLOT * sizeof(float) / sizeof(some);
    some sum = (some)(0.0f);
    uint s = part;
    for (; s + 3u * parts < count; s += 4u * parts) { /* four loads under way at a time */
        some a = slots[s * stride], b = slots[(s + parts) * stride];
        some c = slots[(s + 2u * parts) * stride], d = slots[(s + 3u * parts) * stride];
        sum += (a + b) + (c + d);
    }
    for (; s < count; s += parts)
        sum += slots[s * stride];
    return sum;
}

/* How many partial sums a triangle has. */
static uint slots_of(global const struct shared_triangle *t)
{
    return t->slot == SHARED_NO_SLOT ? 0 : tiles_met((uint2)(t->columns, t->rows));
}

#ifdef PATH_CPU
/* Work-item (i, 0, scene): triangle first + i; beyond the last triangle, the scene's loss. */
#else
/* Group (i, 0, scene): the next triangles, from those of group `first` on; beyond the last of them, the
 * scene's loss. */
#endif
kernel __attribute__((reqd_work_group_size(GATHER_GROUP, 1, 1))) void
gather(const struct shared_view view, global const struct shared_triangle *triangles,
       global const float *slots, global const float *loss_partials, global float *out, uint first)
{
    const uint lane = (uint)get_local_id(0), group = first + (uint)get_group_id(0);
    const uint tiles = view.tiles_x * view.tiles_y;
    const size_t scene = view.first_scene + get_global_id(2), out_scene = view.out_first + scene;
    global float *losses = out + (size_t)view.out_scenes * view.triangles * SUMS;
    global float *grads = out + out_scene * view.triangles * SUMS;
    triangles += scene * view.triangles;
    slots += scene * view.slot_capacity * SHARED_SLOT;
    loss_partials += scene * tiles;
#ifdef PATH_CPU
    if (group >= view.triangles) {
        losses[out_scene] = part_of_loss(loss_partials, tiles, lane, GATHER_GROUP) * view.loss_scale;
        return;
    }
    const uint count = slots_of(&triangles[group]);
    slots += (size_t)triangles[group].slot * SHARED_SLOT;
    for (uint value = 0; value < SUMS; ++value)
        grads[(size_t)group * SUMS + value] = part_of_sum(slots + value, count, 0, 1);
#else
    local float4 parts_of[GATHER_GROUP]; /* [triangle][part][SHARED_SLOT] */
    local float totals[GATHER_GROUP * 4];
    local float *values = (local float *)parts_of;
    const uint parts = SHARED_GATHER_PARTS(tiles), each = SHARED_GATHER_FOURS / parts, begin = group * each;
    const bool is_loss = begin >= view.triangles;
    const uint i = begin + lane / 4u / parts;
    float loss = 0.0f;
    some four = (some)(0.0f);
    if (is_loss) {
        loss = part_of_loss(loss_partials, tiles, lane, GATHER_GROUP);
    } else if (i < view.triangles) {
        const uint count = slots_of(&triangles[i]);
        global const some *from = (global const some *)(slots + (size_t)triangles[i].slot * SHARED_SLOT);
        four = part_of_sum(from + lane % 4u, count, lane / 4u % parts, parts);
    }
    parts_of[lane] = is_loss ? (some)(loss) : four;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint at = lane; !is_loss && at < each * SHARED_SLOT; at += GATHER_GROUP) {
        float sum = 0.0f;
        for (uint part = 0; part < parts; ++part)
            sum += values[(at / SHARED_SLOT * parts + part) * SHARED_SLOT + at % SHARED_SLOT];
        totals[at] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_loss && lane == 0) {
        for (uint part = 1; part < GATHER_GROUP; ++part)
            loss += parts_of[part].x;
        losses[out_scene] = loss * view.loss_scale;
    }
    const uint here = is_loss ? 0 : min(each, view.triangles - begin);
    for (uint at = lane; at < here * SUMS; at += GATHER_GROUP) {
        const uint k = at / SUMS, value = at % SUMS;
        grads[(size_t)begin * SUMS + at] =
            GRADIENT_OF(totals + k * SHARED_SLOT, &triangles[begin + k], view.inverse_softness, value);
    }
#endif
}
