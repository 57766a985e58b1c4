/* The shared structures as the device's compiler lays them out; compared with the host's by
 * src/gpu/layout.c, which has the fields in the same order. */
#include "shared.h"

#define OFFSET(type, field) (uint)((size_t)&((global type *)0)->field)

/* Offsets in the order of the structures' fields, each structure's size behind its own. */
kernel void layout(global uint *out)
{
    uint i = 0;
    out[i++] = OFFSET(struct shared_view, width);
    out[i++] = OFFSET(struct shared_view, height);
    out[i++] = OFFSET(struct shared_view, triangles);
    out[i++] = OFFSET(struct shared_view, tiles_x);
    out[i++] = OFFSET(struct shared_view, tiles_y);
    out[i++] = OFFSET(struct shared_view, slot_capacity);
    out[i++] = OFFSET(struct shared_view, in_first);
    out[i++] = OFFSET(struct shared_view, in_scenes);
    out[i++] = OFFSET(struct shared_view, out_first);
    out[i++] = OFFSET(struct shared_view, out_scenes);
    out[i++] = OFFSET(struct shared_view, goal_first);
    out[i++] = OFFSET(struct shared_view, image_first);
    out[i++] = OFFSET(struct shared_view, sigma);
    out[i++] = OFFSET(struct shared_view, softness);
    out[i++] = OFFSET(struct shared_view, exp2_scale);
    out[i++] = OFFSET(struct shared_view, loss_scale);
    out[i++] = sizeof(struct shared_view);
    out[i++] = OFFSET(struct shared_triangle, edge);
    out[i++] = OFFSET(struct shared_triangle, length);
    out[i++] = OFFSET(struct shared_triangle, reach);
    out[i++] = OFFSET(struct shared_triangle, inverse);
    out[i++] = OFFSET(struct shared_triangle, opacity);
    out[i++] = OFFSET(struct shared_triangle, colour);
    out[i++] = OFFSET(struct shared_triangle, alpha);
    out[i++] = OFFSET(struct shared_triangle, columns);
    out[i++] = OFFSET(struct shared_triangle, rows);
    out[i++] = OFFSET(struct shared_triangle, slot);
    out[i++] = OFFSET(struct shared_triangle, flags);
    out[i++] = sizeof(struct shared_triangle);
}
