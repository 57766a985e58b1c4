/* Runs what no call of a spec runs: the kernels of fits, lanes, layouts, limits, canaries and ceilings. */
#ifndef GPUBENCH_CLI_KERNELS_OWN_H
#define GPUBENCH_CLI_KERNELS_OWN_H

#include "base/err.h"
#include "model/renderer.h"

/* Runs a kernel file's kernels once, small where they can be, and checks what they give. ERR_WRONG: it is not
 * right. ERR_INTERNAL: no such file. A failure may leave the renderer unusable. */
bool kernels_own_run(struct renderer *renderer, const char *file, struct err *err) GB_NODISCARD;

#endif
