#include "model/finite_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/scene.h"

double finite_diff_oracle_loss(void *ctx, const float *params)
{
    struct oracle_input in = *(const struct oracle_input *)ctx;
    struct oracle_output out = {0};
    struct err err = ERR_INIT;

    in.params = params;
    bool ok = oracle_render(&in, &out, &err);
    err_fini(&err);
    return ok ? out.loss : NAN;
}

struct walk {
    finite_diff_loss loss;
    void *ctx;
    const struct oracle_input *at;
    float *params; /* a copy to move in */
};

static struct bounds bounds_with(const struct walk *walk, size_t i, float value)
{
    float verts[6];

    memcpy(verts, walk->params + i - i % SCENE_STRIDE, sizeof(verts));
    verts[i % SCENE_STRIDE] = value;
    return bounds_of(verts, walk->at->sigma, walk->at->width, walk->at->height);
}

static bool bounds_move(const struct walk *walk, size_t i, float below, float above)
{
    if (i % SCENE_STRIDE >= 6)
        return false;
    struct bounds a = bounds_with(walk, i, below), b = bounds_with(walk, i, above);
    return a.left != b.left || a.right != b.right || a.top != b.top || a.bottom != b.bottom;
}

/* The slope of the loss along params[i]; false where the function jumps between the two ends. */
static bool central_difference(const struct walk *walk, size_t i, double step, float *slope)
{
    float at = walk->params[i];
    float above = (float)((double)at + step), below = (float)((double)at - step);

    if (bounds_move(walk, i, below, above))
        return false;
    walk->params[i] = above;
    double high = walk->loss(walk->ctx, walk->params);
    walk->params[i] = below;
    double low = walk->loss(walk->ctx, walk->params);
    walk->params[i] = at;
    /* The step that was taken, not the one that was asked for: float32 next to 1 moves by 6e-8 at least. */
    *slope = (float)((high - low) / ((double)above - (double)below));
    return true;
}

static double relative_norm(const float *got, const double *want, size_t count)
{
    double difference = 0.0, norm = 0.0;

    for (size_t i = 0; i < count; i++) {
        difference += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        norm += want[i] * want[i];
    }
    double error = norm > 0.0 ? sqrt(difference / norm) : sqrt(difference);
    return isnan(error) ? INFINITY : error;
}

static void compare(const struct walk *walk, const double *grads, double step, float *slopes,
                    struct finite_diff_error *out)
{
    size_t values = (size_t)walk->at->triangles * SCENE_STRIDE;

    *out = (struct finite_diff_error){.step = step};
    for (size_t i = 0; i < values; i++) {
        if (central_difference(walk, i, step, &slopes[i]))
            continue;
        slopes[i] = (float)grads[i];
        out->left_out++;
    }
    agreement_init(&out->groups);
    agreement_grads(&out->groups, slopes, grads, walk->at->triangles, false);
    out->all = relative_norm(slopes, grads, values);
}

bool finite_diff(finite_diff_loss loss, void *ctx, const struct oracle_input *at, const double *grads,
                 const double *steps, size_t count, struct finite_diff_error *errors, struct err *err)
{
    size_t values = (size_t)at->triangles * SCENE_STRIDE;
    float *params = mem_calloc(values, sizeof(*params), "finite differences", err);
    float *slopes = mem_calloc(values, sizeof(*slopes), "finite differences", err);
    const struct walk walk = {loss, ctx, at, params};
    bool ok = params && slopes;

    if (ok && values > 0)
        memcpy(params, at->params, values * sizeof(*params));
    for (size_t s = 0; ok && s < count; s++)
        compare(&walk, grads, steps[s], slopes, &errors[s]);
    free(params);
    free(slopes);
    return ok;
}
