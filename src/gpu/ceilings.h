/* The device's ceilings: small kernels (kernels/ceilings.cl, kernels/canary.cl) and copies across the bus. */
#ifndef GPUBENCH_GPU_CEILINGS_H
#define GPUBENCH_GPU_CEILINGS_H

#include "base/err.h"
#include "model/renderer.h"

/* renderer_ops.ceilings */
bool ceilings_measure(struct renderer *renderer, struct render_ceilings *out, struct err *err) GB_NODISCARD;

#endif
