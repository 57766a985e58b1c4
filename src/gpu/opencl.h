/* The OpenCL renderer: the one door into this folder. */
#ifndef GPUBENCH_GPU_OPENCL_H
#define GPUBENCH_GPU_OPENCL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/device.h"
#include "model/renderer.h"

/* What a renderer is made with. Strings are borrowed for the call. */
struct opencl_options {
    const char *kernel_dir;       /* kernels are read from this folder; NULL: those in the program */
    const char *path;             /* "ptx", "subgroups", "local" or "cpu"; NULL: the best the device can */
    uint64_t memory_budget_bytes; /* device memory; 0: a share of what the device has */
    uint64_t max_submit_ns;       /* 0: OPENCL_SUBMIT_NS where the device drives a display or has a watchdog, else
                                   * no limit; UINT64_MAX: no limit */
    const char *tile;             /* "2x4" or "2x4x2": blocks a tile across and down, teams a work-group; NULL:
                                   * the renderer's own choice for each size */
    const char *build_options;    /* added to every build; NULL: none. For tuning. */
    void (*compiling)(void);      /* called before kernels are compiled to find out what the device can do; may be NULL */
};

#define OPENCL_SUBMIT_NS UINT64_C(150000000)

/* Every OpenCL device, in the order of platforms and devices. What cannot be used is listed, too: broken
 * or empty platforms, devices that another platform has already shown, and those that cannot run `path` (as in
 * opencl_options; NULL: none is asked for), with the reason in `trouble`.
 * *out is the caller's to free. No platform at all: false, ERR_NO_DEVICE, with how to get one. */
bool opencl_list(const char *path, struct device_info **out, size_t *count, struct err *err) GB_NODISCARD;

/* Opens the device with this selector ("ocl:P:D"). ERR_NO_DEVICE when there is none or it has trouble;
 * ERR_UNSUPPORTED when it cannot run the path asked for. renderer->ops->destroy releases it. */
bool opencl_create(const char *selector, const struct opencl_options *options, struct renderer **out,
                   struct err *err) GB_NODISCARD;

/* The file of the OpenCL loader, without touching a driver; and its version, where it tells (ocl-icd's
 * extension clGetICDLoaderInfoOCLICD), which loads the drivers. */
void opencl_loader_file(char *out, size_t size);
void opencl_loader_version(char *out, size_t size);

#endif
