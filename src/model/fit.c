#include "model/fit.h"

#include <math.h>

#include "model/scene.h"

struct fit_step fit_step_at(uint32_t index, uint32_t count, float first, float last, const float rates[3])
{
    const double at = count > 1 ? (double)index / (count - 1) : 1.0, n = (double)index + 1;

    return (struct fit_step){
        .sigma = (float)((double)first * pow((double)last / (double)first, at)),
        .rate_position = rates[0],
        .rate_colour = rates[1],
        .rate_alpha = rates[2],
        .correction1 = (float)(1 / (1 - pow((double)FIT_BETA1, n))),
        .correction2 = (float)(1 / (1 - pow((double)FIT_BETA2, n))),
    };
}

/* One parameter's two moments, and its way down. */
static float descend(float g, float *m, float *v, float rate, const struct fit_step *step)
{
    *m = FIT_BETA1 * *m + (1.0f - FIT_BETA1) * g;
    *v = FIT_BETA2 * *v + (1.0f - FIT_BETA2) * g * g;
    return rate * (*m * step->correction1) / (sqrtf(*v * step->correction2) + FIT_EPSILON);
}

void fit_update(float *params, const float *grads, float *moments, uint32_t triangles,
                const struct fit_step *step)
{
    const uint64_t values = (uint64_t)triangles * SCENE_STRIDE;

    for (uint64_t i = 0; i < values; i++) {
        const uint64_t of = i % SCENE_STRIDE;
        const float rate = of < 6 ? step->rate_position : of < 9 ? step->rate_colour : step->rate_alpha;
        const float low = of < 6 ? FIT_MIN_COORD : of < 9 ? 0.0f : FIT_MIN_ALPHA;
        const float high = of < 6 ? FIT_MAX_COORD : of < 9 ? 1.0f : FIT_MAX_ALPHA;
        const float to = params[i] - descend(grads[i], &moments[i], &moments[values + i], rate, step);
        params[i] = fminf(fmaxf(to, low), high);
    }
}
