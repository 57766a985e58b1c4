/* The machine and the program as a results file describes them. What cannot be found out is null. */
#ifndef GPUBENCH_RECORD_MACHINE_H
#define GPUBENCH_RECORD_MACHINE_H

#include "base/err.h"
#include "base/json.h"
#include "record/results.h"

/* CPU model, sockets, cores, threads, caches and NUMA nodes (hwloc; HWLOC_SYNTHETIC is honoured), CPU quota
 * of the cgroup (v2, then v1), memory, kernel, governor, load average, OMP_* and GOMP_*, affinity. */
bool machine_to_json(struct json *object, struct err *err) GB_NODISCARD;

/* Fills results->head of a run that starts now: schema, version, tool, created (RFC 3339), command (argv),
 * config and machine. config is copied. */
bool machine_head(struct results *results, int argc, const char *const *argv, const struct json *config,
                  struct err *err) GB_NODISCARD;

#endif
