/* The readable reference: one pixel and one triangle at a time, in float, with a tape. */
#ifndef GPUBENCH_CPU_SCALAR_H
#define GPUBENCH_CPU_SCALAR_H

#include "cpu/job.h"

/* Renders into canvas[H][W][3]. tape, where not NULL, receives the canvas below each triangle: one float3
 * for each pixel of each triangle's padded bounds, triangle after triangle, row-major. */
void scalar_forward(const struct cpu_scene *scene, float *canvas, float *tape);

/* Mean squared difference of canvas and scene->target; fills adjoint[H][W][3] with its gradient. */
double scalar_loss(const struct cpu_scene *scene, const float *canvas, float *adjoint);

/* Walks the triangles from last to first, given the tape that scalar_forward wrote and dL/dC in adjoint
 * (which is consumed); writes scene->grads. */
void scalar_backward(const struct cpu_scene *scene, const float *tape, float *adjoint);

#endif
