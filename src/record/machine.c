#include "record/machine.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/version.h"

/* ---- what hwloc knows ---- */

/* Parts of hwloc that would load a driver into this process, and its PCI library, which leaks: without it
 * hwloc reads /sys. */
static const char *const drivers[] = {"opencl", "cuda", "nvml", "rsmi", "levelzero", "gl", "pci"};

static bool load_topology(hwloc_topology_t *out)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return false;
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
        hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, drivers[i]);
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    /* Processors that this process may not use are part of the machine too. */
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc_topology_load(topology) != 0) {
        hwloc_topology_destroy(topology);
        return false;
    }
    *out = topology;
    return true;
}

/* Not known is null. */
static void set_count(struct json *object, const char *key, int count)
{
    if (count > 0)
        json_set_u64(object, key, (uint64_t)count);
    else
        json_set_null(object, key);
}

static void write_caches(hwloc_topology_t topology, struct json *cpu)
{
    static const struct {
        const char *name;
        hwloc_obj_type_t type;
    } levels[] = {{"L1d", HWLOC_OBJ_L1CACHE}, {"L2", HWLOC_OBJ_L2CACHE}, {"L3", HWLOC_OBJ_L3CACHE}};
    struct json *caches = json_set_array(cpu, "caches");
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        hwloc_obj_t first = hwloc_get_obj_by_type(topology, levels[i].type, 0);
        if (first == NULL)
            continue;
        struct json *cache = json_add_object(caches);
        json_set_string(cache, "name", levels[i].name);
        json_set_u64(cache, "bytes", first->attr->cache.size);
        set_count(cache, "count", hwloc_get_nbobjs_by_type(topology, levels[i].type));
    }
}

/* GPUs and accelerators with the NUMA nodes that are near them. */
static void write_gpus(hwloc_topology_t topology, struct json *machine)
{
    struct json *gpus = json_set_array(machine, "gpus");
    for (hwloc_obj_t pci = hwloc_get_next_pcidev(topology, NULL); pci != NULL;
         pci = hwloc_get_next_pcidev(topology, pci)) {
        const unsigned device_class = pci->attr->pcidev.class_id >> 8;
        if (device_class != 0x03 && device_class != 0x12) /* display, processing accelerator */
            continue;
        struct json *gpu = json_add_object(gpus);
        char address[32], nodes[64] = "";
        snprintf(address, sizeof address, "%04x:%02x:%02x.%01x", pci->attr->pcidev.domain,
                 pci->attr->pcidev.bus, pci->attr->pcidev.dev, pci->attr->pcidev.func);
        hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, pci);
        if (near != NULL && near->nodeset != NULL)
            hwloc_bitmap_list_snprintf(nodes, sizeof nodes, near->nodeset);
        json_set_string(gpu, "pci", address);
        json_set_string(gpu, "name", hwloc_obj_get_info_by_name(pci, "PCIDevice"));
        json_set_string(gpu, "vendor", hwloc_obj_get_info_by_name(pci, "PCIVendor"));
        json_set_string(gpu, "numa_nodes", nodes[0] != '\0' ? nodes : NULL);
    }
}

static void write_affinity(hwloc_topology_t topology, struct json *machine)
{
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    char text[1024] = "";
    int count = 0;
    if (set != NULL && hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) == 0) {
        hwloc_bitmap_list_snprintf(text, sizeof text, set);
        count = hwloc_bitmap_weight(set);
    }
    hwloc_bitmap_free(set);
    json_set_string(machine, "affinity", text[0] != '\0' ? text : NULL);
    set_count(machine, "affinity_cpus", count);
}

static void write_topology(struct json *machine)
{
    hwloc_topology_t topology;
    struct json *cpu = json_set_object(machine, "cpu");
    if (!load_topology(&topology))
        return;
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    hwloc_obj_t from = package != NULL ? package : hwloc_get_root_obj(topology);
    json_set_string(cpu, "model", hwloc_obj_get_info_by_name(from, "CPUModel"));
    json_set_string(cpu, "vendor", hwloc_obj_get_info_by_name(from, "CPUVendor"));
    set_count(cpu, "sockets", hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE));
    set_count(cpu, "cores", hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE));
    set_count(cpu, "threads", hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU));
    write_caches(topology, cpu);
    set_count(machine, "numa_nodes", hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE));
    write_gpus(topology, machine);
    write_affinity(topology, machine);
    hwloc_topology_destroy(topology);
}

/* ---- what the kernel knows ---- */

/* The first line of a file, or null. */
static void set_line(struct json *object, const char *key, const char *path)
{
    char line[256] = "";
    FILE *f = fopen(path, "r");
    bool have = f != NULL && fgets(line, sizeof line, f) != NULL;
    if (f != NULL)
        fclose(f);
    line[strcspn(line, "\n")] = '\0';
    json_set_string(object, key, have ? line : NULL);
}

static void write_kernel(struct json *machine)
{
    struct utsname name;
    struct strbuf text = STRBUF_INIT;
    if (uname(&name) == 0)
        strbuf_addf(&text, "%s %s %s", name.sysname, name.release, name.machine);
    json_set_string(machine, "kernel", text.len > 0 ? strbuf_str(&text) : NULL);
    strbuf_fini(&text);
}

static void write_state(struct json *machine)
{
    /* Not hwloc's sum over NUMA nodes, which misses memory that was plugged in later. */
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
        json_set_u64(machine, "memory_bytes", (uint64_t)pages * (uint64_t)page);
    else
        json_set_null(machine, "memory_bytes");
    double load[3], quota = cgroup_cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    if (quota > 0)
        json_set_number(machine, "cpu_quota", quota);
    else
        json_set_null(machine, "cpu_quota");
    set_line(machine, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (getloadavg(load, 3) == 3) {
        struct json *list = json_set_array(machine, "load_average");
        for (size_t i = 0; i < 3; i++)
            json_add_number(list, load[i]);
    } else {
        json_set_null(machine, "load_average");
    }
}

/* Variables that change how OpenMP or a driver runs. */
static void write_environment(struct json *machine)
{
    static const char *const prefixes[] = {"OMP_",       "GOMP_", "KMP_",    "POCL_", "CUDA_VISIBLE",
                                           "CUDA_CACHE", "OCL_",  "OPENCL_", "HWLOC_"};
    struct json *out = json_set_object(machine, "environment");
    for (char **entry = environ; *entry != NULL; entry++) {
        const char *equals = strchr(*entry, '=');
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && equals != NULL; i++) {
            if (strncmp(*entry, prefixes[i], strlen(prefixes[i])) != 0)
                continue;
            struct strbuf name = STRBUF_INIT;
            strbuf_add_bytes(&name, *entry, (size_t)(equals - *entry));
            if (json_get(out, strbuf_str(&name)) == NULL)
                json_set_string(out, strbuf_str(&name), equals + 1);
            strbuf_fini(&name);
        }
    }
}

bool machine_to_json(struct json *object, struct err *err)
{
    if (object == NULL)
        return err_set(err, ERR_MEMORY, "out of memory while describing the machine");
    write_topology(object);
    write_kernel(object);
    write_state(object);
    write_environment(object);
    return true;
}

/* ---- the head of a results file ---- */

bool machine_head(struct results *results, int argc, const char *const *argv, const struct json *config,
                  struct err *err)
{
    char stamp[32];
    struct json *head = json_new_object(), *copy = json_copy(config, err);
    if (head == NULL || copy == NULL) {
        json_free(head);
        json_free(copy);
        return err_set(err, ERR_MEMORY, "out of memory while describing the run");
    }
    json_set_string(head, "schema", RESULTS_SCHEMA);
    json_set_u64(head, "version", RESULTS_VERSION);
    struct json *tool = json_set_object(head, "tool");
    json_set_string(tool, "name", "gpubench");
    json_set_string(tool, "version", version_number());
    json_set_string(tool, "revision", version_revision());
    json_set_string(tool, "compiler", version_compiler());
    json_set_string(tool, "flags", version_flags());
    clock_stamp_rfc3339(stamp, sizeof stamp);
    json_set_string(head, "created", stamp);
    struct json *command = json_set_array(head, "command");
    for (int i = 0; i < argc; i++)
        json_add_string(command, argv[i]);
    json_set(head, "config", copy);
    results->head = head;
    return machine_to_json(json_set_object(head, "machine"), err);
}
