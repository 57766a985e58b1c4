/* Sums over pixels in the frames of a triangle's edges, and the gradient that they make.
 *
 * A pixel pulls at the two ends of its nearest edge with pull (1 - t) (p - closest) and pull t (p - closest),
 * t from 0 to 1 along the edge, p - closest = normal (-ty, tx) + beyond (tx, ty). Normal and tangent are the
 * triangle's, so four sums an edge will do: of pull and of pull t, times normal and times beyond. */
#ifndef GPUBENCH_KERNELS_EDGE_SUMS_H
#define GPUBENCH_KERNELS_EDGE_SUMS_H

#include "lanes.h"

#define EDGE_NORMAL(k) (4u * (k))
#define EDGE_NORMAL_END(k) (4u * (k) + 1u)
#define EDGE_BEYOND(k) (4u * (k) + 2u)
#define EDGE_BEYOND_END(k) (4u * (k) + 3u)
#define SUM_COLOUR 12u
#define SUM_ALPHA 15u

/* Along x (axis 0) or y, what an edge's sums give to the vertex at its start, or at its end. */
static inline float end_pull(float4 sums, bool end, float x, float y, uint axis)
{
    const float normal = end ? sums.y : sums.x - sums.y, beyond = end ? sums.w : sums.z - sums.w;
    return axis ? normal * x + beyond * y : beyond * x - normal * y;
}

/* leaving: of the edge from the vertex to the next; arriving: of the one before it. */
static inline float vertex_gradient(RECORD_SPACE const struct shared_triangle *t, float scale, float4 leaving,
                                    float4 arriving, uint vertex, uint axis)
{
    RECORD_SPACE const float *out = t->edge[vertex], *in = t->edge[(vertex + 2u) % 3u];
    const bool clockwise = t->flags & SHARED_FLAG_CLOCKWISE; /* edges run the other way */
    return scale * (end_pull(leaving, clockwise, out[2], out[3], axis) +
                    end_pull(arriving, !clockwise, in[2], in[3], axis));
}

static inline float alpha_gradient(RECORD_SPACE const struct shared_triangle *t, float sum)
{
    return t->alpha > 0.0f && t->alpha < 1.0f ? sum : 0.0f; /* outside, the clamp is flat */
}

#define SUMS_OF_EDGE(sums, k)                                                                                \
    (float4)((sums)[EDGE_NORMAL(k)], (sums)[EDGE_NORMAL_END(k)], (sums)[EDGE_BEYOND(k)],                     \
             (sums)[EDGE_BEYOND_END(k)])

/* The gradient of parameter i of triangle t. scale: 1/s. (A macro: sums lie in private or in local memory.)
 */
#define GRADIENT_OF(sums, t, scale, i)                                                                       \
    ((i) < 6u   ? vertex_gradient(t, scale, SUMS_OF_EDGE(sums, (i) / 2u % 3u),                               \
                                  SUMS_OF_EDGE(sums, ((i) / 2u + 2u) % 3u), (i) / 2u % 3u, (i) % 2u)         \
     : (i) < 9u ? (sums)[SUM_COLOUR + ((i)-6u) % 3u]                                                         \
                : alpha_gradient(t, (sums)[SUM_ALPHA]))

/* Adds every parts-th loss partial from a lane's first on, with the rounding error carried along (Kahan): a scene's loss
 * has many. */
static inline float part_of_loss(global const float *partials, uint count, uint part, uint parts)
{
    float sum = part < count ? partials[part] : 0.0f, carry = 0.0f;
    ROLLED for (uint i = part + parts; i < count; i += parts)
    {
        float value = partials[i] - carry, next = sum + value;
        carry = (next - sum) - value;
        sum = next;
    }
    return sum;
}

#endif
