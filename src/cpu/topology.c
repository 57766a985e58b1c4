#include "cpu/topology.h"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"

static uint32_t count_of(hwloc_topology_t topo, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(topo, type);
    return n > 0 ? (uint32_t)n : 0;
}

static void copy_info(hwloc_obj_t obj, const char *key, char *out, size_t size)
{
    const char *value = obj != NULL ? hwloc_obj_get_info_by_name(obj, key) : NULL;
    if (value != NULL)
        snprintf(out, size, "%s", value);
}

/* Fills core[] with the cores that have a hardware thread in `allowed`. */
static void collect_cores(struct topology *t, hwloc_topology_t topo, hwloc_const_cpuset_t allowed, bool pin)
{
    hwloc_obj_type_t type = count_of(topo, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    uint32_t usable = 0;
    for (hwloc_obj_t obj = NULL; (obj = hwloc_get_next_obj_by_type(topo, type, obj)) != NULL;) {
        hwloc_cpuset_t own = hwloc_bitmap_dup(obj->cpuset);
        if (own == NULL)
            continue;
        hwloc_bitmap_and(own, own, allowed);
        if (!hwloc_bitmap_iszero(own)) {
            if (pin && usable < TOPOLOGY_MAX_CORES) {
                hwloc_cpuset_to_glibc_sched_affinity(topo, own, &t->core[usable], sizeof t->core[usable]);
                t->cores = usable + 1;
            }
            usable++;
        }
        hwloc_bitmap_free(own);
    }
    t->usable_cores = usable;
}

void topology_init(struct topology *t)
{
    hwloc_topology_t topo;
    memset(t, 0, sizeof *t);
    snprintf(t->cpu_name, sizeof t->cpu_name, "CPU");
    t->quota_cpus = cgroup_cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    if (hwloc_topology_init(&topo) != 0)
        return;
    if (hwloc_topology_load(topo) == 0) {
        hwloc_obj_t package = hwloc_get_obj_by_type(topo, HWLOC_OBJ_PACKAGE, 0);
        copy_info(package, "CPUModel", t->cpu_name, sizeof t->cpu_name);
        copy_info(package, "CPUVendor", t->vendor, sizeof t->vendor);

        hwloc_cpuset_t allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topo));
        hwloc_cpuset_t bound = hwloc_bitmap_alloc();
        bool real = hwloc_topology_is_thissystem(topo) != 0;
        if (allowed != NULL && bound != NULL) {
            /* A synthetic topology has no thread of ours in it. */
            if (real && hwloc_get_cpubind(topo, bound, HWLOC_CPUBIND_THREAD) == 0)
                hwloc_bitmap_and(allowed, allowed, bound);
            collect_cores(t, topo, allowed, real);
        }
        hwloc_bitmap_free(bound);
        hwloc_bitmap_free(allowed);
    }
    hwloc_topology_destroy(topo);
}

uint32_t topology_threads(const struct topology *t)
{
    uint32_t n = t->usable_cores;
    double quota = t->quota_cpus;
    if (quota > 0 && quota < (double)n)
        n = (uint32_t)quota;
    return n > 0 ? n : 1;
}

/* ---- pinning ---- */

bool topology_enter(const struct topology *t, cpu_set_t *saved)
{
    uint32_t index = (uint32_t)omp_get_thread_num(), threads = (uint32_t)omp_get_num_threads();
    if (threads < 2 || threads > t->cores)
        return false;
    /* sched_getcpu needs no system call, and a thread that stays on its core needs no other. */
    int cpu = sched_getcpu();
    if (cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET((size_t)cpu, &t->core[index]))
        return false;
    bool master = index == 0 && sched_getaffinity(0, sizeof *saved, saved) == 0;
    if (index == 0 && !master)
        return false;
    return sched_setaffinity(0, sizeof t->core[index], &t->core[index]) == 0 && master;
}

void topology_leave(const cpu_set_t *saved)
{
    sched_setaffinity(0, sizeof *saved, saved);
}

void topology_library_version(unsigned out[3])
{
    const unsigned version = hwloc_get_api_version();

    out[0] = version >> 16;
    out[1] = version >> 8 & 0xff;
    out[2] = version & 0xff;
}
