/* The CPU renderer: OpenMP over tiles and scenes (variant fast), or one thread a scene (variant scalar).
 * Implements model/renderer.h; spec.variant chooses per job. */
#ifndef GPUBENCH_CPU_OPENMP_H
#define GPUBENCH_CPU_OPENMP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/device.h"
#include "model/renderer.h"

/* threads: how many a call may use; 0: openmp_default_threads(). A job's spec.threads outranks it. A call
 * with little work uses fewer.
 * isa: "avx512", "avx2" or "portable" for variant fast; NULL: the widest that runs here. ERR_USAGE for an
 * unknown name (it lists the known), ERR_UNSUPPORTED for one that this CPU or this build lacks. */
bool openmp_create(uint32_t threads, const char *isa, struct renderer **out, struct err *err) GB_NODISCARD;

/* Describes the renderer that openmp_create would make: CPU name, threads, path; compute_units are the cores
 * that the process may use, `extensions` lists every instruction-set path that can run here, widest first,
 * separated by blanks. trouble says why it cannot be made. */
void openmp_info(uint32_t threads, const char *isa, struct device_info *out);

/* OMP_NUM_THREADS where it is set; else the physical cores that the process may use: hwloc's cores within
 * the affinity mask, at most the CPU quota of its control groups; at least 1. */
uint32_t openmp_default_threads(void);

/* Names of the instruction-set paths, widest first, and whether one runs on this CPU. */
const char *const *openmp_isa_names(size_t *count);
bool openmp_isa_runs(const char *name);

#endif
