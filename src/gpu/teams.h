/* What the lanes of a team do together (kernels/lanes.h), tried by itself. */
#ifndef GPUBENCH_GPU_TEAMS_H
#define GPUBENCH_GPU_TEAMS_H

#include "model/renderer.h"

/* Runs kernels/lanes.cl on an OpenCL renderer's path and compares ranks and sums with what they must be, exactly.
 * ERR_WRONG names the first that differs. */
bool teams_check(struct renderer *renderer, struct err *err) GB_NODISCARD;

#endif
