/* Gradient descent on the device; kernels/adam.cl has the step. */
#ifndef GPUBENCH_GPU_FIT_H
#define GPUBENCH_GPU_FIT_H

#include "gpu/job.h"

/* renderer_ops.fit */
bool job_fit(struct render_job *job, const struct fit_block *block, struct err *err);
void fit_close(struct fit *fit); /* accepts NULL */

#endif
