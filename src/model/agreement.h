/* How two results are compared, and how far apart they may be (docs/MODEL.md, Agreement). */
#ifndef GPUBENCH_MODEL_AGREEMENT_H
#define GPUBENCH_MODEL_AGREEMENT_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

enum agreement_group { AGREE_IMAGE, AGREE_LOSS, AGREE_VERTICES, AGREE_COLOUR, AGREE_ALPHA, AGREE_GROUPS };
const char *agreement_group_name(enum agreement_group group); /* "image", "loss", ... */

/* Errors or tolerances. NAN: this group was not compared (no image in a gradient call, no loss upstream). */
struct agreement {
    double value[AGREE_GROUPS];
};

void agreement_init(struct agreement *a); /* all NAN */
/* Keeps the larger of each group: the worst of several scenes. A NaN error that was compared is kept as
 * INFINITY by the comparisons below, so that it cannot get lost here. */
void agreement_worst(struct agreement *into, const struct agreement *other);

/* max |a-b|; INFINITY when either holds a NaN. */
double agreement_image(const float *got, const double *want, uint64_t count);
/* |got-want|/|want|, absolute where want is 0. */
double agreement_loss(double got, double want);
/* Fills vertices, colour and alpha: ||got-want||2/||want||2 for each group over one scene, absolute where
 * want's norm is 0. summed: the three vertices' gradients are added before comparing. */
void agreement_grads(struct agreement *out, const float *got, const double *want, uint32_t triangles,
                     bool summed);

/* What a sweep's cell is allowed: image 1e-5 m, loss 1e-5, colour 5e-5 m, alpha 1e-4 m, vertices 2e-3 m
 * (5e-3 m on scenes from files), m = max(1, 0.002/sigma) * max(1, largest |coordinate| of a triangle that reaches
 * the canvas). */
void agreement_tolerance(struct agreement *out, float sigma, bool from_file, const float *params,
                         uint64_t triangles);

/* true when every compared group is within its tolerance (so also when none was compared: see to it that one
 * was); else *worst is the group furthest over. */
bool agreement_within(const struct agreement *errors, const struct agreement *tolerance,
                      enum agreement_group *worst);

/* Groups not compared are left out; INFINITY is null. */
void agreement_to_json(const struct agreement *a, struct json *object);
void agreement_from_json(struct agreement *a, const struct json *object);

#endif
