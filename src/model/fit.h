/* Fitting a scene to a picture by gradient descent: Adam (Kingma, Ba: "Adam: a method for stochastic
 * optimization", ICLR 2015) on all ten parameters of each triangle. */
#ifndef GPUBENCH_MODEL_FIT_H
#define GPUBENCH_MODEL_FIT_H

#include <stdint.h>

#define FIT_BETA1 0.9f
#define FIT_BETA2 0.999f
#define FIT_EPSILON 1e-8f

/* Where parameters are kept. At opacity 0 or 1 the clamp of the model is flat: a triangle there would never
 * move again. A vertex may leave the picture by a quarter of its side. */
#define FIT_MIN_COORD (-0.25f)
#define FIT_MAX_COORD 1.25f
#define FIT_MIN_ALPHA 0.001f
#define FIT_MAX_ALPHA 0.999f

/* One step: the gradient at this softness, then an update. */
struct fit_step {
    float sigma;
    float rate_position, rate_colour, rate_alpha;
    float correction1, correction2; /* 1/(1 - beta^n) of step n, counted from 1 */
};

/* Step `index` of `count`, with the given rates: sigma goes from `first` to `last` geometrically. */
struct fit_step fit_step_at(uint32_t index, uint32_t count, float first, float last, const float rates[3]);

/* Updates params[T][10] by grads[T][10]. moments: [2][T][10], zero before the first step. Every operation is
 * rounded to float32, here as in kernels/adam.cl. */
void fit_update(float *params, const float *grads, float *moments, uint32_t triangles,
                const struct fit_step *step);

#endif
