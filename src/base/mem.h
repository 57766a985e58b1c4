/* Sizes that cannot overflow, and memory for arrays. */
#ifndef GPUBENCH_BASE_MEM_H
#define GPUBENCH_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* *out = a*b, or a+b; false on overflow, with *out untouched. */
bool mem_mul(uint64_t a, uint64_t b, uint64_t *out) GB_NODISCARD;
bool mem_add(uint64_t a, uint64_t b, uint64_t *out) GB_NODISCARD;

/* Zeroed memory for count elements of elem_size bytes; NULL with err filled when it overflows or
 * cannot be had; `what` names it in the message. A count of 0 gives a valid pointer. free() releases. */
void *mem_calloc(uint64_t count, size_t elem_size, const char *what, struct err *err) GB_NODISCARD;

/* The same, aligned to a cache line (64 bytes) and NOT touched, so that the thread that first writes a
 * page decides where it lives. free() releases. */
void *mem_alloc_aligned(uint64_t count, size_t elem_size, const char *what, struct err *err) GB_NODISCARD;

/* Grows *array (elements of elem_size bytes, *capacity of them) to hold at least `need`. */
bool mem_grow(void **array, size_t *capacity, size_t need, size_t elem_size, const char *what,
              struct err *err) GB_NODISCARD;

/* The machine's memory, or what control groups leave this process of it. */
uint64_t mem_machine_bytes(void);
/* What is free of it now, with what this process holds; all of it where the kernel does not tell. */
uint64_t mem_free_bytes(void);

/* A copy of a string; free() releases. */
char *mem_strdup(const char *s, struct err *err) GB_NODISCARD;

/* Fills memory with the pattern that every float reading shows as NaN: an output nobody wrote must show. */
void mem_poison(void *p, size_t bytes);

#endif
