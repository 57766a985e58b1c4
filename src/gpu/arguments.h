/* Kernels' arguments: what the host sets, against what the kernels declare and use. */
#ifndef GPUBENCH_GPU_ARGUMENTS_H
#define GPUBENCH_GPU_ARGUMENTS_H

#include <CL/cl.h>

#include "base/err.h"

#define ARGUMENTS_MAX 16
struct kernel_argument {
    char name[32], type[48];
    const char *space; /* "global", "private", ...; "?" where the driver does not tell */
};

/* As the driver tells (programs built with -cl-kernel-arg-info). names may be missing: "". */
bool arguments_of(cl_kernel kernel, struct kernel_argument out[ARGUMENTS_MAX], size_t *count,
                  struct err *err) GB_NODISCARD;

/* Every argument is set by the host under that name, as what the kernel declares (a buffer or a value), and
 * used in the body of the kernel in `source`, in whichever variant. ERR_WRONG names the kernel, the argument
 * and what is wrong. */
bool arguments_check(const char *kernel, const struct kernel_argument *arguments, size_t count,
                     const char *source, struct err *err) GB_NODISCARD;

#endif
