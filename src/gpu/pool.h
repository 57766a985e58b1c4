/* Device buffers kept between calls, keyed on usage and size. */
#ifndef GPUBENCH_GPU_POOL_H
#define GPUBENCH_GPU_POOL_H

#include <CL/cl.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Where buffers come from: OpenCL, or a test. */
struct pool_source {
    cl_mem (*create)(void *context, cl_mem_flags usage, size_t bytes, cl_int *code);
    void (*release)(void *context, cl_mem buffer);
    void *context;
};

struct pool {
    struct pool_source source;
    const char *device_name; /* borrowed; for messages */
    uint64_t limit_bytes;    /* what the pool may hold; busy buffers count, too */
    bool keeps;              /* false: every buffer is new, and released when it is given back */
    struct pool_buffer *buffers; /* owned */
    size_t count, capacity;
    uint64_t clock; /* orders uses, for eviction of the one idle longest */
    uint64_t bytes; /* held: busy and idle */
    uint64_t hits, misses;
};

void pool_init(struct pool *pool, const struct pool_source *source, const char *device_name,
               uint64_t limit_bytes);
/* Accepts NULL and a zeroed pool. Buffers still taken are released, too. */
void pool_fini(struct pool *pool);

/* A buffer of exactly this usage and of `bytes` rounded up to pool_round; its contents are whatever its
 * last user left. A kept one is a hit; a new one a miss, for which idle buffers are evicted, those idle
 * longest first, until it fits the limit. ERR_LIMIT when it cannot. */
bool pool_take(struct pool *pool, cl_mem_flags usage, uint64_t bytes, cl_mem *out, struct err *err) GB_NODISCARD;
/* Gives it back. NULL is accepted. */
void pool_give(struct pool *pool, cl_mem buffer);
/* Releases all idle buffers. */
void pool_trim(struct pool *pool);

/* Sizes are rounded up to this many bytes, at least one such unit. */
#define POOL_GRANULE 4096u
uint64_t pool_round(uint64_t bytes);

#endif
