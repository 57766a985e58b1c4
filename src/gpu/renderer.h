/* The renderer's own state; what the files of this folder share. */
#ifndef GPUBENCH_GPU_RENDERER_H
#define GPUBENCH_GPU_RENDERER_H

#include <CL/cl.h>

#include "gpu/canary.h"
#include "gpu/pool.h"
#include "gpu/program.h"
#include "gpu/stall.h"
#include "gpu/variant.h"
#include "model/renderer.h"

struct opencl_renderer {
    struct renderer base;
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_command_queue profiling_queue; /* opened with the first profiled call */
    enum gpu_path path;
    uint32_t lanes; /* PATH_SUBGROUPS: work-items a sub-group; PATH_CPU: pixels of a vector */
    char *kernel_dir;        /* owned; NULL: the program's own kernels */
    struct strbuf build_options; /* what every program of this device is built with */
    void (*compiling)(void);     /* opencl_options' */
    struct tile_request tile;    /* what was asked for */
    uint64_t budget_bytes;
    struct program_cache programs;
    struct pool pool;
    struct canary canary;
    struct stall stall;
};

/* A program of this renderer, built with the device's options and these. Borrowed from the cache. */
bool renderer_program(struct opencl_renderer *r, const char *file, const char *defines, cl_program *out,
                      struct err *err) GB_NODISCARD;

/* The tile for a spec. ERR_UNSUPPORTED when spec.workgroup cannot be had. */
bool renderer_shape(const struct opencl_renderer *r, const struct render_spec *spec, struct tile_shape *out,
                    struct err *err) GB_NODISCARD;

bool renderer_queue(struct opencl_renderer *r, cl_command_queue_properties properties, cl_command_queue *out,
                    struct err *err) GB_NODISCARD;

/* Runs one work-group of a kernel whose only argument is a buffer that it fills, and waits for that: out[bytes]. */
bool renderer_ask(struct opencl_renderer *r, cl_program program, const char *kernel, size_t lanes, void *out,
                  size_t bytes, struct err *err) GB_NODISCARD;

extern const struct renderer_ops opencl_ops;

#endif
