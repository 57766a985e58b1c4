/* One step of gradient descent on a scene (src/model/fit.h), and the best scene so far. */
#include "shared.h"

#pragma OPENCL FP_CONTRACT OFF

/* As in src/model/fit.h, which says why. */
#define FIT_BETA1 0.9f
#define FIT_BETA2 0.999f
#define FIT_EPSILON 1e-8f
#define FIT_MIN_COORD -0.25f
#define FIT_MAX_COORD 1.25f
#define FIT_MIN_ALPHA 0.001f
#define FIT_MAX_ALPHA 0.999f

/* state: two rows, read and written in turn, so that no work-item sees what another one writes: the least loss
 * so far (as float), the first step that had too little room for its partial sums (1: the block's first; 0: none),
 * the most room that any wanted. */
#define STATE_BEST 0
#define STATE_STALLED 1
#define STATE_NEEDED 2
#define STATE_ROW 3

/* A work-item a parameter. out: [T][10] gradients, the loss, the slots needed. A step that had too little room,
 * and all behind it, change nothing: the host makes them again. */
kernel void adam(uint values, uint capacity, uint index, uint turn, float rate_position, float rate_colour,
                 float rate_alpha, float correction1, float correction2, global float *params, global const float *out,
                 global float *moments, global float *best, global uint *state, global float *losses)
{
    const uint i = (uint)get_global_id(0);
    global const uint *before = state + turn * STATE_ROW;
    global uint *after = state + (1 - turn) * STATE_ROW;
    const float loss = out[values], least = as_float(before[STATE_BEST]);
    const uint needed = as_uint(out[values + 1]);
    const uint stalled = before[STATE_STALLED] ? before[STATE_STALLED] : needed > capacity ? index + 1 : 0;
    const bool better = !stalled && loss < least;
    if (i == 0) {
        after[STATE_BEST] = better ? as_uint(loss) : before[STATE_BEST];
        after[STATE_STALLED] = stalled;
        after[STATE_NEEDED] = max(needed, before[STATE_NEEDED]);
        losses[index] = loss;
    }
    if (stalled || i >= values)
        return;
    const uint of = i % SHARED_STRIDE;
    const float rate = of < 6 ? rate_position : of < 9 ? rate_colour : rate_alpha;
    const float low = of < 6 ? FIT_MIN_COORD : of < 9 ? 0.0f : FIT_MIN_ALPHA;
    const float high = of < 6 ? FIT_MAX_COORD : of < 9 ? 1.0f : FIT_MAX_ALPHA;
    const float p = params[i], g = out[i];
    const float m = FIT_BETA1 * moments[i] + (1.0f - FIT_BETA1) * g;
    const float v = FIT_BETA2 * moments[values + i] + (1.0f - FIT_BETA2) * g * g;
    moments[i] = m;
    moments[values + i] = v;
    if (better)
        best[i] = p;
    const float to = p - rate * (m * correction1) / (sqrt(v * correction2) + FIT_EPSILON);
    params[i] = fmin(fmax(to, low), high);
}
