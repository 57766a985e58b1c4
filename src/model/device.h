/* What a device is, as reports show it. Filled by cpu/ and gpu/, written by record/, read by everybody. */
#ifndef GPUBENCH_MODEL_DEVICE_H
#define GPUBENCH_MODEL_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/spec.h"

enum device_kind { DEVICE_CPU, DEVICE_GPU, DEVICE_ACCELERATOR, DEVICE_OTHER };

#define DEVICE_NAME_MAX 256

/* A figure of 0, or an empty string, is one that the driver did not tell. Sizes in bytes. */
struct device_info {
    enum backend_kind backend;
    enum device_kind kind;      /* an OpenCL device of a CPU is DEVICE_CPU: never called a GPU */
    char selector[32];          /* what -d takes: "openmp", "ocl:0:0" */
    char name[DEVICE_NAME_MAX]; /* as the driver (or /proc/cpuinfo) gives it, trimmed */
    char short_name[32];        /* for table columns: "H200", "PoCL", "CPU" */
    char vendor[DEVICE_NAME_MAX];
    char platform[DEVICE_NAME_MAX]; /* OpenCL platform; "OpenMP" for the CPU renderer */
    char device_version[DEVICE_NAME_MAX];
    char driver_version[DEVICE_NAME_MAX];
    char language_version[DEVICE_NAME_MAX];
    char extensions[8192];
    char path[64];  /* code path chosen: "avx512", "avx2", "portable"; "ptx", "subgroups", "local", "cpu" */
    char path_note[64]; /* OpenCL: why not a better one; "" where there is none to tell */
    char tiles[64]; /* OpenCL: how many pixels tiles have, and by what: "32, 64, 128 pixels (rule)"; "" where
                     * there is one shape */
    uint32_t compute_units;
    uint32_t threads;   /* openmp: threads a call uses */
    uint32_t clock_mhz; /* the driver's maximum */
    uint32_t address_bits;
    uint32_t max_work_item_dims;
    uint64_t max_work_item_sizes[3];
    uint64_t max_work_group_size;
    uint64_t preferred_group_multiple;
    uint64_t global_bytes;
    uint64_t max_alloc_bytes;
    uint64_t local_bytes;
    uint64_t constant_bytes;
    uint64_t max_parameter_bytes;
    uint64_t timer_resolution_ns;
    uint64_t max_submit_ns; /* long kernels are cut into submissions under this; 0: they are not */
    bool host_unified;      /* shares the host's memory: nothing needs to be copied */
    bool local_is_real;     /* CL_DEVICE_LOCAL_MEM_TYPE is CL_LOCAL */
    bool has_double;
    bool has_subgroups;
    bool has_float_atomics;
    bool has_watchdog;   /* a kernel that runs too long is ended */
    bool drives_display; /* which stands still while a kernel runs */
    char pci[32];        /* "0000:17:00.0" */
    char trouble[512];   /* why it cannot be used ("" when it can) */
};

/* Whether -d TEXT means this device, ASCII case ignored: "openmp"; "ocl:P:D"; "ocl:P", all of a platform;
 * "ocl", all; "gpu", every OpenCL GPU; or part of an OpenCL device's name, short name or platform. */
bool device_matches(const struct device_info *device, const char *selector);

/* Whether one of several means it. */
bool device_is_asked(const struct device_info *device, const char *const *selectors, size_t count);

/* The device of a backend to take when none is named: usable, GPU before accelerator before CPU device, more
 * compute units before fewer, the first of equals. Its index; count when there is none. */
size_t device_best(const struct device_info *devices, size_t count, enum backend_kind backend);

#endif
