#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cgroup.h"

#define CACHE_LINE 64

bool mem_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

bool mem_add(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

/* Total bytes, at least 1, that an allocator can be asked for with room to round up. */
static bool array_bytes(uint64_t count, size_t elem_size, const char *what, size_t *out, struct err *err)
{
    uint64_t bytes;
    if (!mem_mul(count, elem_size, &bytes) || bytes > PTRDIFF_MAX - CACHE_LINE)
        return err_set(err, ERR_MEMORY, "%s: %" PRIu64 " elements of %zu bytes are more than memory can hold",
                       what, count, elem_size);
    *out = bytes ? (size_t)bytes : 1;
    return true;
}

static void *no_memory(size_t bytes, const char *what, struct err *err)
{
    err_set(err, ERR_MEMORY, "%s: no memory for %zu bytes", what, bytes);
    return NULL;
}

void *mem_calloc(uint64_t count, size_t elem_size, const char *what, struct err *err)
{
    size_t bytes = 0;
    if (!array_bytes(count, elem_size, what, &bytes, err))
        return NULL;
    void *p = calloc(bytes, 1);
    return p ? p : no_memory(bytes, what, err);
}

void *mem_alloc_aligned(uint64_t count, size_t elem_size, const char *what, struct err *err)
{
    size_t bytes = 0;
    if (!array_bytes(count, elem_size, what, &bytes, err))
        return NULL;
    void *p = aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    return p ? p : no_memory(bytes, what, err);
}

bool mem_grow(void **array, size_t *capacity, size_t need, size_t elem_size, const char *what,
              struct err *err)
{
    if (need <= *capacity)
        return true;
    size_t grown = *capacity < 8 ? 8 : *capacity + *capacity / 2;
    if (grown < need)
        grown = need;
    size_t bytes = 0;
    if (!array_bytes(grown, elem_size, what, &bytes, err))
        return false;
    void *p = realloc(*array, bytes);
    if (!p)
        return no_memory(bytes, what, err) != NULL;
    *array = p;
    *capacity = grown;
    return true;
}

char *mem_strdup(const char *s, struct err *err)
{
    size_t bytes = strlen(s) + 1;
    char *copy = malloc(bytes);
    if (!copy)
        return no_memory(bytes, "string", err);
    return memcpy(copy, s, bytes);
}

void mem_poison(void *p, size_t bytes)
{
    if (bytes > 0)
        memset(p, 0xFF, bytes); /* all bits set is a NaN in float and in double */
}

uint64_t mem_machine_bytes(void)
{
    const uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t limit = cgroup_memory_bytes("/proc/self/cgroup", "/sys/fs/cgroup");

    return limit > 0 && limit < all ? limit : all;
}

uint64_t mem_free_bytes(void)
{
    const uint64_t all = mem_machine_bytes(), page = (uint64_t)sysconf(_SC_PAGESIZE);
    unsigned long long kb = 0, size, resident = 0;
    bool told = false;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "re");

    while (f && !told && fgets(line, sizeof(line), f))
        told = sscanf(line, "MemAvailable: %llu", &kb) == 1;
    if (f)
        fclose(f);
    if (!told)
        return all;
    f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%llu %llu", &size, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    const uint64_t there = kb * 1024 + resident * page;
    return there < all ? there : all;
}
