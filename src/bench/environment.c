#include "bench/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "bench/canary.h"

static void add_reading(struct json *list, const char *on, const struct render_canary *reading)
{
    struct json *entry = json_add_object(list);
    json_set_string(entry, "on", on);
    json_set_u64(entry, "arithmetic_ns", reading->arithmetic_ns);
    json_set_u64(entry, "memory_ns", reading->memory_ns);
    json_set_u64(entry, "launch_ns", reading->launch_ns);
}

static void add_canaries(struct renderer *const *renderers, size_t count, struct json *object)
{
    struct json *list = json_set_array(object, "canary");
    struct render_canary reading;
    struct err ignored = ERR_INIT;
    if (canary_cpu(&reading, &ignored))
        add_reading(list, "cpu", &reading);
    err_fini(&ignored);
    for (size_t i = 0; i < count; i++) {
        struct renderer *r = renderers[i];
        if (r == NULL || r->ops->canary == NULL)
            continue;
        if (r->ops->canary(r, &reading, &ignored))
            add_reading(list, r->info.selector, &reading);
        err_fini(&ignored);
    }
}

/* The first line of a file; "" when it cannot be read. */
static void read_line(const char *path, char out[128])
{
    FILE *f = fopen(path, "r");
    out[0] = '\0';
    if (f != NULL) {
        if (fgets(out, 128, f) == NULL)
            out[0] = '\0';
        fclose(f);
    }
    out[strcspn(out, "\n")] = '\0';
}

/* The kernel's figure for the first CPU, now; 0 where there is none. */
static double cpu_mhz(void)
{
    char line[128];
    read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", line);
    if (line[0] != '\0')
        return (double)strtoul(line, NULL, 10) / 1000;
    FILE *f = fopen("/proc/cpuinfo", "r");
    unsigned long whole = 0;
    while (f != NULL && whole == 0 && fgets(line, sizeof line, f) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "cpu MHz", 7) == 0 && colon != NULL)
            whole = strtoul(colon + 1, NULL, 10);
    }
    if (f != NULL)
        fclose(f);
    return (double)whole;
}

static void set_or_null(struct json *object, const char *key, double value)
{
    if (value > 0)
        json_set_number(object, key, value);
    else
        json_set_null(object, key);
}

static void add_host(struct json *object)
{
    char governor[128];
    double load[1];
    if (getloadavg(load, 1) == 1)
        json_set_number(object, "load", load[0]);
    else
        json_set_null(object, "load");
    set_or_null(object, "cpu_mhz", cpu_mhz());
    read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor);
    json_set_string(object, "governor", governor[0] != '\0' ? governor : NULL);
    set_or_null(object, "cpu_quota", cgroup_cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup"));
}

static void add_gpus(struct renderer *const *renderers, size_t count, struct nvml *nvml, struct json *object)
{
    struct json *list = json_set_array(object, "gpus");
    for (size_t i = 0; i < count && nvml != NULL; i++) {
        if (renderers[i] == NULL || renderers[i]->info.pci[0] == '\0')
            continue;
        struct json *gpu = json_new_object();
        json_set_string(gpu, "on", renderers[i]->info.selector);
        if (nvml_describe(nvml, renderers[i]->info.pci, gpu))
            json_add(list, gpu);
        else
            json_free(gpu);
    }
}

void environment_record(struct renderer *const *renderers, size_t count, struct nvml *nvml,
                        struct json *object)
{
    add_host(object);
    /* Clocks while the canary has just kept the device busy. */
    add_canaries(renderers, count, object);
    add_gpus(renderers, count, nvml, object);
}
