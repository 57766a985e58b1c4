/* The host's clock: CLOCK_MONOTONIC in nanoseconds. Only differences mean anything. */
#ifndef GPUBENCH_BASE_CLOCK_H
#define GPUBENCH_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

uint64_t clock_now_ns(void);
void clock_sleep_ns(uint64_t ns);

/* Local wall-clock time as YYYYMMDDThhmmss (for file names) and as RFC 3339 with offset (for records).
 * size is the buffer's; 32 bytes are enough for both. */
void clock_stamp_file(char *out, size_t size);
void clock_stamp_rfc3339(char *out, size_t size);

#endif
