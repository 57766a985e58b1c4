/* A layer of the OpenCL loader that makes the driver below it a bad one, on demand.
 *
 *   OPENCL_LAYERS=fault.so FAULT_CALL=17 FAULT_CODE=-5 gpubench ...
 *
 * Environment (each process counts for itself):
 *   FAULT_CALL=N      the N-th call goes wrong, counted from 1; 0 or none: no call does
 *   FAULT_NAME=NAME   calls of this function alone are counted ("clFinish")
 *   FAULT_MODE=MODE   how: error (the default; returns FAULT_CODE), lie (does nothing and says CL_SUCCESS),
 *                     garbage (as lie, and what is returned is 0xA5 bytes), hang, crash, kill
 *   FAULT_CODE=CODE   -5, CL_OUT_OF_RESOURCES, unless said otherwise
 *   FAULT_ALWAYS=1    that call and all after it
 *   FAULT_SLOW=MS[:N] each launch of a kernel takes so many milliseconds longer; with N, the N-th alone does
 *   FAULT_TIMES=KIND  events' times: zero, equal, reversed, far
 *   FAULT_DEVICE=KIND what there is: no-platform, none, no-count, odd-strings, long-strings, empty-strings,
 *                     no-end (strings without one), zero-limits, minimum (as little as OpenCL promises, and no
 *                     more is taken), discrete (says that its memory is its own), gpu (says that it is a GPU, and
 *                     discrete), subgroups (says that it has them, and no other extension); kinds are joined with
 *                     a comma
 *   FAULT_LOG=FILE    appends to FILE.PID "acted NAME" as a call goes wrong, and at the end of the process
 *                     "call NAME SITE" for each call, "wraps NAME" and "leak TYPE COUNT" of objects never
 *                     released
 *
 * Releases that "go wrong" are made all the same: a driver that complains has let go.
 */
#ifndef GPUBENCH_TESTS_LAYER_FAULT_H
#define GPUBENCH_TESTS_LAYER_FAULT_H

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>
#include <stdbool.h>
#include <stddef.h>

/* What a call is to do. */
enum act { ACT_PASS, ACT_FAIL, ACT_LIE, ACT_GARBAGE };

enum object { OBJECT_CONTEXT, OBJECT_QUEUE, OBJECT_PROGRAM, OBJECT_KERNEL, OBJECT_BUFFER, OBJECT_EVENT, OBJECT_MAP, OBJECTS };

/* fault.c: reads the environment; counts a call, and hangs or crashes in it; *code is set for all but ACT_PASS. */
void fault_init(void);
enum act fault_enter(const char *name, cl_int *code);
/* delta: objects made (positive) or released. */
void fault_count(enum object type, int delta);
/* Before a kernel is launched. */
void fault_launch(void);
bool fault_times(const char *kind);
bool fault_device(const char *kind);

/* devices.c: what a driver of FAULT_DEVICE says. true when it said it: *code is the answer. */
bool devices_platform_info(cl_platform_info what, size_t size, void *value, size_t *size_ret, cl_int *code);
bool devices_info(cl_device_info what, size_t size, void *value, size_t *size_ret, cl_int *code);
/* Whether `minimum` lets it through; otherwise the code. */
cl_int devices_allow_launch(cl_uint dimensions, const size_t *local);
cl_int devices_allow_buffer(size_t bytes);

/* calls.c: fills the entries of calls that are wrapped. */
void calls_wrap(struct _cl_icd_dispatch *dispatch, const struct _cl_icd_dispatch *next);
extern const char *const calls_names[]; /* those wrapped; NULL at the end */

#endif
