/* What the control groups leave a process of the machine. */
#ifndef GPUBENCH_BASE_CGROUP_H
#define GPUBENCH_BASE_CGROUP_H

#include <stdint.h>

/* CPUs' worth of time that the control groups allow the process, 0 where there is no limit. cgroup_file is
 * /proc/self/cgroup, root is /sys/fs/cgroup (others in tests). Version 2 (cpu.max, every ancestor counts)
 * and version 1 (cpu.cfs_quota_us). */
double cgroup_cpu_quota(const char *cgroup_file, const char *root);

/* Likewise bytes of memory: memory.max, and version 1's memory.limit_in_bytes. */
uint64_t cgroup_memory_bytes(const char *cgroup_file, const char *root);

#endif
