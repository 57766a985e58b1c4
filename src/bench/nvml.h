/* What an NVIDIA driver tells of a GPU's state, through its management library, which is looked for when the
 * program runs: without it there is nothing to tell. */
#ifndef GPUBENCH_BENCH_NVML_H
#define GPUBENCH_BENCH_NVML_H

#include "base/json.h"

struct nvml;

/* NULL where there is no such library, or it does not work. */
struct nvml *nvml_open(void);
/* The same with functions found by `lookup` (for tests). */
struct nvml *nvml_open_with(void *(*lookup)(void *context, const char *name), void *context);
void nvml_close(struct nvml *nvml); /* accepts NULL */

/* Adds to object the state of the GPU at a PCI address ("0000:17:00.0"): clock_mhz, temperature_c, power_w,
 * throttle (reasons, "" for none); null where the driver does not tell. false: no such GPU. */
bool nvml_clocks(struct nvml *nvml, const char *pci, struct json *object);

/* The same and more: memory_clock_mhz, max_clock_mhz, power_limit_w, pcie_generation, pcie_width and their
 * maxima, processes: the others that compute on it, null where that cannot be known. */
bool nvml_describe(struct nvml *nvml, const char *pci, struct json *object);

#endif
