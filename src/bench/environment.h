/* The state of the machine at one moment of a run: its canary on the CPU and on each device, load, clocks,
 * and what the GPUs' driver tells. Records of these are the results' "environment". */
#ifndef GPUBENCH_BENCH_ENVIRONMENT_H
#define GPUBENCH_BENCH_ENVIRONMENT_H

#include <stddef.h>

#include "base/json.h"
#include "bench/nvml.h"
#include "model/renderer.h"

/* Fills object: "canary" [{on: "cpu" or a device's selector, arithmetic_ns, memory_ns, launch_ns}], "load",
 * "cpu_mhz", "governor", "cpu_quota", "gpus" [{on, ...: nvml_describe}]. What fails is left out. nvml may be
 * NULL; renderers [count], each may be NULL. */
void environment_record(struct renderer *const *renderers, size_t count, struct nvml *nvml,
                        struct json *object);

#endif
