/* A device's ceilings in the results: written with the machine's state ("environment"), read by reports. */
#ifndef GPUBENCH_BENCH_CEILINGS_H
#define GPUBENCH_BENCH_CEILINGS_H

#include <stddef.h>

#include "base/json.h"
#include "model/device.h"
#include "model/renderer.h"

/* Adds {on: the device's selector, flop_per_s, exp_per_s, ...} to list for each renderer that has ceilings; a
 * figure that was not measured is null, and "trouble" says why one that failed has none. renderers [count],
 * each may be NULL. */
void ceilings_record(struct renderer *const *renderers, size_t count, struct json *list);

/* The device's ceilings among the records of a run's "environment" (may be NULL). false: there are none.
 * trouble (borrowed from the records) is NULL unless measuring failed. */
bool ceilings_find(const struct json *records, const struct device_info *device, struct render_ceilings *out,
                   const char **trouble);

#endif
