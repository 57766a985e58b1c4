/* Central differences of a loss against the gradient that claims to be its derivative (docs/MODEL.md,
 * Agreement). The error over the step is U-shaped: curvature on the one side, rounding on the other. */
#ifndef GPUBENCH_MODEL_FINITE_DIFF_H
#define GPUBENCH_MODEL_FINITE_DIFF_H

#include <stddef.h>
#include <stdint.h>

#include "model/agreement.h"
#include "model/oracle.h"

/* The loss of one scene at params[T][10]; NAN when it could not be worked out (ctx then knows why). */
typedef double (*finite_diff_loss)(void *ctx, const float *params);

/* ctx: const struct oracle_input *, whose own params are not looked at. The reference's loss, in double. */
double finite_diff_oracle_loss(void *ctx, const float *params);

/* ||difference - grads||2 / ||grads||2 for one step: over each group of parameters, and over all of them.
 * A vertex' coordinate is left out where its move changes the triangle's padded bounds: the image jumps there
 * (coverage is still 2.5e-3 at the bounds), and a difference measures the jump, not the slope. */
struct finite_diff_error {
    double step;
    struct agreement groups; /* vertices, colour, alpha */
    double all;
    uint32_t left_out; /* parameters */
};

/* Fills errors[count], one for each step of steps[count] (> 0, in the parameters' units). `at` is the scene
 * (its target and background are not looked at), grads[T][10] the gradient there. Calls loss 20 T times a
 * step at most. False when memory cannot be had. */
bool finite_diff(finite_diff_loss loss, void *ctx, const struct oracle_input *at, const double *grads,
                 const double *steps, size_t count, struct finite_diff_error *errors,
                 struct err *err) GB_NODISCARD;

#endif
