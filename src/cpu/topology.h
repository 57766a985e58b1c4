/* Which cores there are, how many threads to start, and pinning them. */
#ifndef GPUBENCH_CPU_TOPOLOGY_H
#define GPUBENCH_CPU_TOPOLOGY_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define TOPOLOGY_MAX_CORES 1024u

struct topology {
    char cpu_name[256];
    char vendor[64];
    uint32_t usable_cores;              /* within the affinity mask */
    double quota_cpus;                  /* of the control groups; 0: none */
    uint32_t cores;                     /* entries of core[]; 0: threads are not pinned */
    cpu_set_t core[TOPOLOGY_MAX_CORES]; /* hardware threads of each usable core, in hwloc's order */
};

/* Asks hwloc; where it fails the machine is one core that nobody is pinned to. */
void topology_init(struct topology *t);

/* usable cores, cut to the quota (rounded down), at least 1. */
uint32_t topology_threads(const struct topology *t);

/* Called by every thread of a parallel region: moves it to the core of its number, unless it runs there
 * already or there are more threads than cores. True for the master when its mask was changed: it must put it
 * back, from *saved, by topology_leave at the region's end. */
bool topology_enter(const struct topology *t, cpu_set_t *saved);
void topology_leave(const cpu_set_t *saved);

/* Version of the interface of hwloc, as it is loaded: 2.9.0. */
void topology_library_version(unsigned out[3]);

#endif
