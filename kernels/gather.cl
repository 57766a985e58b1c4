/* The second pass of the ordered reduction: adds each triangle's partial sums, and each scene's losses,
 * in an order that never changes. */
#include "edge_sums.h"

#pragma OPENCL FP_CONTRACT OFF

#ifdef PATH_CPU
#define GATHER_GROUP 1u
#define GATHER_PARTS 1u
#else
#define GATHER_GROUP 64u
#define GATHER_PARTS (4u * GATHER_GROUP / SHARED_SLOT) /* a lane adds four values */
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

#ifdef PATH_CPU
typedef float some;
#else
typedef float4 some;
#endif

/* Adds every GATHER_PARTS-th partial sum, of the value (or four of them) that `slots` points at. */
static some part_of_sum(global const some *slots, uint count, uint part)
{
    const uint stride = SHARED_SLOT * sizeof(float) / sizeof(some);
    some sum = (some)(0.0f);
    uint s = part;
    for (; s + 3u * GATHER_PARTS < count; s += 4u * GATHER_PARTS) { /* four loads under way at a time */
        global const some *at = slots + (size_t)s * stride;
        some a = at[0], b = at[GATHER_PARTS * stride], c = at[2u * GATHER_PARTS * stride];
        some d = at[3u * GATHER_PARTS * stride];
        sum += (a + b) + (c + d);
    }
    for (; s < count; s += GATHER_PARTS)
        sum += slots[(size_t)s * stride];
    return sum;
}

/* Group (i, 0, scene): triangle first + i of the scene; beyond the last triangle, the scene's loss.
 * loss_partials: [scenes][tiles]. */
kernel __attribute__((reqd_work_group_size(GATHER_GROUP, 1, 1))) void
gather(const struct shared_view view, global const struct shared_triangle *triangles,
       global const float *slots, global const float *loss_partials, global float *out, uint first)
{
#ifndef PATH_CPU
    local float parts[4 * GATHER_GROUP]; /* [GATHER_PARTS][SHARED_SLOT] */
    some four = (some)(0.0f);
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
            slots += (scene * view.slot_capacity + t->slot) * SHARED_SLOT;
        }
#ifndef PATH_CPU
        four = part_of_sum((global const some *)slots + lane % 4u, count, lane / 4u);
#endif
    }
#ifdef PATH_CPU
    if (is_loss)
        losses[out_scene] = sum * view.loss_scale;
    for (uint value = 0; !is_loss && value < SUMS; ++value)
        grads[value] = part_of_sum(slots + value, count, 0);
#else
    if (is_loss)
        parts[lane] = sum;
    else
        vstore4(four, lane, parts);
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = 0.0f;
    for (uint part = 0; !is_loss && lane < SHARED_SLOT && part < GATHER_PARTS; ++part)
        sum += parts[part * SHARED_SLOT + lane];
    for (uint part = 0; is_loss && lane == 0 && part < GATHER_GROUP; ++part)
        sum += parts[part];
    barrier(CLK_LOCAL_MEM_FENCE);
    parts[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_loss && lane == 0)
        losses[out_scene] = sum * view.loss_scale;
    else if (!is_loss && lane < SUMS)
        grads[lane] = GRADIENT_OF(parts, triangles + scene * view.triangles + i, view.inverse_softness, lane);
#endif
}
