/* The second pass of the ordered reduction: adds each triangle's partial sums, and each scene's losses,
 * in an order that never changes. */
#include "lanes.h"

#pragma OPENCL FP_CONTRACT OFF

#ifdef PATH_CPU
#define GATHER_GROUP 1u
#define GATHER_PARTS 1u
#else
#define GATHER_GROUP 64u
#define GATHER_PARTS (GATHER_GROUP / SUMS)
#endif

/* Adds every GATHER_GROUP-th loss partial, with the rounding error carried along (Kahan): a scene's loss has
 * a partial for each tile. */
static float part_of_loss(global const float *partials, uint count, uint lane)
{
    float sum = 0.0f, carry = 0.0f;
    for (uint i = lane; i < count; i += GATHER_GROUP) {
        float value = partials[i] - carry, next = sum + value;
        carry = (next - sum) - value;
        sum = next;
    }
    return sum;
}

/* Adds every GATHER_PARTS-th partial sum of one of the ten values. */
static float part_of_sum(global const float *slots, uint count, uint value, uint part)
{
    float sum = 0.0f;
    uint s = part;
    for (; s + 3u * GATHER_PARTS < count; s += 4u * GATHER_PARTS) { /* four loads under way at a time */
        float a = slots[(size_t)s * SUMS + value], b = slots[(size_t)(s + GATHER_PARTS) * SUMS + value];
        float c = slots[(size_t)(s + 2u * GATHER_PARTS) * SUMS + value];
        float d = slots[(size_t)(s + 3u * GATHER_PARTS) * SUMS + value];
        sum += (a + b) + (c + d);
    }
    for (; s < count; s += GATHER_PARTS)
        sum += slots[(size_t)s * SUMS + value];
    return sum;
}

/* Group (i, 0, scene): triangle first + i of the scene; beyond the last triangle, the scene's loss.
 * loss_partials: [scenes][tiles]. */
kernel __attribute__((reqd_work_group_size(GATHER_GROUP, 1, 1))) void
gather(const struct shared_view view, global const struct shared_triangle *triangles,
       global const float *slots, global const float *loss_partials, global float *out, uint first)
{
#ifndef PATH_CPU
    local float parts[GATHER_GROUP];
#endif
    const uint lane = (uint)get_local_id(0), i = first + (uint)get_group_id(0);
    const uint tiles = view.tiles_x * view.tiles_y;
    const size_t scene = view.first_scene + get_global_id(2), out_scene = view.out_first + scene;
    const bool is_loss = i >= view.triangles;
    global float *losses = out + (size_t)view.out_scenes * view.triangles * SUMS;
    global float *grads = out + (out_scene * view.triangles + i) * SUMS;
    uint count = 0;
    float sum = 0.0f;
    if (is_loss) {
        sum = part_of_loss(loss_partials + scene * tiles, tiles, lane);
    } else {
        global const struct shared_triangle *t = triangles + scene * view.triangles + i;
        uint left = t->columns & 0xffffu, right = t->columns >> 16;
        uint top = t->rows & 0xffffu, bottom = t->rows >> 16;
        if (left < right && t->slot != SHARED_NO_SLOT) {
            count = ((right - 1) / TILE_W - left / TILE_W + 1) * ((bottom - 1) / TILE_H - top / TILE_H + 1);
            slots += (scene * view.slot_capacity + t->slot) * SUMS;
        }
#ifndef PATH_CPU
        if (lane / SUMS < GATHER_PARTS)
            sum = part_of_sum(slots, count, lane % SUMS, lane / SUMS);
#endif
    }
#ifdef PATH_CPU
    if (is_loss)
        losses[out_scene] = sum * view.loss_scale;
    for (uint value = 0; !is_loss && value < SUMS; ++value)
        grads[value] = part_of_sum(slots, count, value, 0);
#else
    parts[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_loss && lane == 0) {
        for (uint part = 1; part < GATHER_GROUP; ++part)
            sum += parts[part];
        losses[out_scene] = sum * view.loss_scale;
    } else if (!is_loss && lane < SUMS) {
        for (uint part = 1; part < GATHER_PARTS; ++part)
            sum += parts[part * SUMS + lane];
        grads[lane] = sum;
    }
#endif
}
