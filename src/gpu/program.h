/* Kernels' sources, variants and builds. */
#ifndef GPUBENCH_GPU_PROGRAM_H
#define GPUBENCH_GPU_PROGRAM_H

#include <CL/cl.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"

/* The source of "tile.cl" with what it includes put in its place, once each, and #line directives, so that
 * a build log names kernels/tile.cl:12. kernel_dir: NULL for the sources in the program. An empty one is ERR_BUILD. */
bool program_source(const char *file, const char *kernel_dir, struct strbuf *out, struct err *err) GB_NODISCARD;

/* Whether a folder has every kernel that the program has, and what they include there. The error names the first file
 * that is missing or empty. */
bool program_check_dir(const char *kernel_dir, struct err *err) GB_NODISCARD;

/* A compiler's log of such a source. Compilers that take no notice of #line (NVIDIA's) count the lines of the whole:
 * "<kernel>:1551:42" becomes "kernels/tile.cl:12:42". */
void program_log_lines(const char *log, const char *source, struct strbuf *out);

/* Builds it. ERR_BUILD: err->log holds the compiler's whole output. *out is released by clReleaseProgram. */
bool program_build(cl_context context, cl_device_id device, const char *device_name, const char *file,
                   const char *kernel_dir, const char *options, cl_program *out, struct err *err) GB_NODISCARD;

/* What the compiler said when it was built; the caller's to free. NULL where the driver does not tell. */
char *program_log(cl_program program, cl_device_id device);

/* Built programs by file and options; a renderer builds each variant once. */
struct program_cache {
    struct program_entry *entries; /* owned */
    size_t count, capacity;
};

/* *out is borrowed from the cache. */
bool program_cache_get(struct program_cache *cache, cl_context context, cl_device_id device,
                       const char *device_name, const char *file, const char *kernel_dir, const char *options,
                       cl_program *out, struct err *err) GB_NODISCARD;
void program_cache_fini(struct program_cache *cache);

#endif
