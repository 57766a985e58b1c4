/* OpenCL's error codes as messages: the call, the device and the code's name. */
#ifndef GPUBENCH_GPU_ERROR_H
#define GPUBENCH_GPU_ERROR_H

#include <CL/cl.h>

#include "base/err.h"

/* "CL_OUT_OF_RESOURCES", or "an unknown code". */
const char *opencl_code_name(cl_int code);

/* Fills err: "clFinish on NVIDIA H200: CL_OUT_OF_RESOURCES (-5)"; with CL_SUCCESS, that the call gave nothing
 * all the same. Always returns false. */
bool opencl_fail(struct err *err, cl_int code, const char *call, const char *device);

#endif
