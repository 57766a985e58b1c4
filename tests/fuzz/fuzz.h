/* A fuzz target is one file fuzz_NAME.c with this function. `make check-fuzz` links it with mutate.c and
 * sanitizers, `make fuzz` with libFuzzer. */
#ifndef GPUBENCH_TESTS_FUZZ_FUZZ_H
#define GPUBENCH_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Aborts when a promise is broken; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
