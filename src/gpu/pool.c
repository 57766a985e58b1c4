#include "gpu/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "gpu/error.h"

struct pool_buffer {
    cl_mem memory;
    cl_mem_flags usage;
    uint64_t bytes;
    uint64_t last_use;
    bool busy;
};

uint64_t pool_round(uint64_t bytes)
{
    if (bytes > UINT64_MAX - POOL_GRANULE)
        return bytes;
    bytes = bytes > 0 ? bytes : 1;
    return (bytes + POOL_GRANULE - 1) / POOL_GRANULE * POOL_GRANULE;
}

void pool_init(struct pool *pool, const struct pool_source *source, const char *device_name,
               uint64_t limit_bytes)
{
    *pool = (struct pool){.source = *source, .device_name = device_name, .limit_bytes = limit_bytes, .keeps = true};
}

static void drop(struct pool *pool, size_t index)
{
    pool->source.release(pool->source.context, pool->buffers[index].memory);
    pool->bytes -= pool->buffers[index].bytes;
    pool->buffers[index] = pool->buffers[--pool->count];
}

void pool_fini(struct pool *pool)
{
    if (!pool)
        return;
    while (pool->count > 0)
        drop(pool, pool->count - 1);
    free(pool->buffers);
    *pool = (struct pool){0};
}

/* false when no idle buffer is left. */
static bool evict_one(struct pool *pool)
{
    size_t oldest = pool->count;

    for (size_t i = 0; i < pool->count; i++)
        if (!pool->buffers[i].busy &&
            (oldest == pool->count || pool->buffers[i].last_use < pool->buffers[oldest].last_use))
            oldest = i;
    if (oldest == pool->count)
        return false;
    drop(pool, oldest);
    return true;
}

void pool_trim(struct pool *pool)
{
    while (evict_one(pool))
        continue;
}

static bool create(struct pool *pool, cl_mem_flags usage, uint64_t bytes, cl_mem *out, struct err *err)
{
    cl_int code = CL_SUCCESS;

    while (bytes > pool->limit_bytes || pool->bytes > pool->limit_bytes - bytes) {
        if (!evict_one(pool)) {
            char want[UNITS_MAX], held[UNITS_MAX], limit[UNITS_MAX];
            units_bytes(want, bytes);
            units_bytes(held, pool->bytes);
            units_bytes(limit, pool->limit_bytes);
            return err_set(err, ERR_LIMIT, "a buffer of %s on %s: %s are in use and the budget is %s", want,
                           pool->device_name, held, limit);
        }
    }
    do
        *out = pool->source.create(pool->source.context, usage, (size_t)bytes, &code);
    while (!*out && evict_one(pool));
    if (!*out) {
        opencl_fail(err, code, "clCreateBuffer", pool->device_name);
        char want[UNITS_MAX];
        units_bytes(want, bytes);
        return err_wrap(err, "a buffer of %s", want);
    }
    return true;
}

bool pool_take(struct pool *pool, cl_mem_flags usage, uint64_t bytes, cl_mem *out, struct err *err)
{
    uint64_t rounded = pool_round(bytes);

    *out = NULL;
    for (size_t i = 0; pool->keeps && i < pool->count; i++) {
        struct pool_buffer *b = &pool->buffers[i];
        if (!b->busy && b->usage == usage && b->bytes == rounded) {
            b->busy = true;
            b->last_use = ++pool->clock;
            pool->hits++;
            *out = b->memory;
            return true;
        }
    }
    if (!mem_grow((void **)&pool->buffers, &pool->capacity, pool->count + 1, sizeof(*pool->buffers),
                  "the buffer pool", err) ||
        !create(pool, usage, rounded, out, err))
        return false;
    pool->misses++;
    pool->bytes += rounded;
    pool->buffers[pool->count++] = (struct pool_buffer){
        .memory = *out, .usage = usage, .bytes = rounded, .last_use = ++pool->clock, .busy = true};
    return true;
}

void pool_give(struct pool *pool, cl_mem buffer)
{
    for (size_t i = 0; buffer && i < pool->count; i++) {
        if (pool->buffers[i].memory != buffer)
            continue;
        pool->buffers[i].busy = false;
        if (!pool->keeps)
            drop(pool, i);
        return;
    }
}
