#include "bench/nvml.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"

/* The parts of nvml.h that are used; its ABI is stable, which is what _v2 and _v3 are for. */
typedef int nvml_return; /* 0: success */
typedef void *nvml_device;

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum { SENSOR_GPU = 0 };
#define MAX_PROCESSES 64

struct nvml_process {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
};

struct nvml {
    void *library; /* of dlopen; NULL in tests */
    nvml_return (*init)(void);
    nvml_return (*shutdown)(void);
    nvml_return (*by_pci)(const char *, nvml_device *);
    /* These may be missing. */
    nvml_return (*clock)(nvml_device, int, unsigned *);
    nvml_return (*max_clock)(nvml_device, int, unsigned *);
    nvml_return (*temperature)(nvml_device, int, unsigned *);
    nvml_return (*power)(nvml_device, unsigned *);
    nvml_return (*power_limit)(nvml_device, unsigned *);
    nvml_return (*throttle)(nvml_device, unsigned long long *);
    nvml_return (*pcie_generation)(nvml_device, unsigned *);
    nvml_return (*pcie_width)(nvml_device, unsigned *);
    nvml_return (*max_pcie_generation)(nvml_device, unsigned *);
    nvml_return (*max_pcie_width)(nvml_device, unsigned *);
    nvml_return (*processes)(nvml_device, unsigned *, struct nvml_process *);
    nvml_return (*process_name)(unsigned, char *, unsigned);
};

static const struct {
    const char *name;
    size_t offset;
    bool needed;
} functions[] = {
    {"nvmlInit_v2", offsetof(struct nvml, init), true},
    {"nvmlShutdown", offsetof(struct nvml, shutdown), true},
    {"nvmlDeviceGetHandleByPciBusId_v2", offsetof(struct nvml, by_pci), true},
    {"nvmlDeviceGetClockInfo", offsetof(struct nvml, clock), false},
    {"nvmlDeviceGetMaxClockInfo", offsetof(struct nvml, max_clock), false},
    {"nvmlDeviceGetTemperature", offsetof(struct nvml, temperature), false},
    {"nvmlDeviceGetPowerUsage", offsetof(struct nvml, power), false},
    {"nvmlDeviceGetEnforcedPowerLimit", offsetof(struct nvml, power_limit), false},
    {"nvmlDeviceGetCurrentClocksThrottleReasons", offsetof(struct nvml, throttle), false},
    {"nvmlDeviceGetCurrPcieLinkGeneration", offsetof(struct nvml, pcie_generation), false},
    {"nvmlDeviceGetCurrPcieLinkWidth", offsetof(struct nvml, pcie_width), false},
    {"nvmlDeviceGetMaxPcieLinkGeneration", offsetof(struct nvml, max_pcie_generation), false},
    {"nvmlDeviceGetMaxPcieLinkWidth", offsetof(struct nvml, max_pcie_width), false},
    {"nvmlDeviceGetComputeRunningProcesses_v3", offsetof(struct nvml, processes), false},
    {"nvmlSystemGetProcessName", offsetof(struct nvml, process_name), false},
};

struct nvml *nvml_open_with(void *(*lookup)(void *context, const char *name), void *context)
{
    struct err ignored = ERR_INIT;
    struct nvml *nvml = mem_calloc(1, sizeof *nvml, "nvml", &ignored);
    err_fini(&ignored);
    if (nvml == NULL)
        return NULL;
    bool ok = true;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = lookup(context, functions[i].name);
        memcpy((char *)nvml + functions[i].offset, &function, sizeof function);
        ok = ok && (function != NULL || !functions[i].needed);
    }
    if (!ok || nvml->init() != 0) {
        free(nvml);
        return NULL;
    }
    return nvml;
}

static void *lookup_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

struct nvml *nvml_open(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return NULL;
    struct nvml *nvml = nvml_open_with(lookup_symbol, library);
    if (nvml == NULL)
        dlclose(library);
    else
        nvml->library = library;
    return nvml;
}

void nvml_close(struct nvml *nvml)
{
    if (nvml == NULL)
        return;
    (void)nvml->shutdown();
    if (nvml->library != NULL)
        dlclose(nvml->library);
    free(nvml);
}

static void set_figure(struct json *object, const char *key, nvml_return (*get)(nvml_device, unsigned *),
                       nvml_device device, double scale)
{
    unsigned value = 0;
    if (get != NULL && get(device, &value) == 0)
        json_set_number(object, key, (double)value * scale);
    else
        json_set_null(object, key);
}

static void set_kind(struct json *object, const char *key, nvml_return (*get)(nvml_device, int, unsigned *),
                     nvml_device device, int kind)
{
    unsigned value = 0;
    if (get != NULL && get(device, kind, &value) == 0)
        json_set_u64(object, key, value);
    else
        json_set_null(object, key);
}

/* Bits of nvmlClocksThrottleReasons. Being idle and having clocks set by the user are none. */
static void set_throttle(struct nvml *nvml, nvml_device device, struct json *object)
{
    static const struct {
        unsigned long long bit;
        const char *name;
    } reasons[] = {{0x04, "power cap"},        {0x08, "hardware slowdown"}, {0x10, "sync boost"},
                   {0x20, "software thermal"}, {0x40, "hardware thermal"},  {0x80, "power brake"}};
    unsigned long long bits = 0;
    struct strbuf text = STRBUF_INIT;
    if (nvml->throttle == NULL || nvml->throttle(device, &bits) != 0) {
        json_set_null(object, "throttle");
        return;
    }
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (bits & reasons[i].bit)
            strbuf_addf(&text, "%s%s", text.len > 0 ? ", " : "", reasons[i].name);
    json_set_string(object, "throttle", strbuf_str(&text));
    strbuf_fini(&text);
}

/* This process holds the device too. Where others are listed and it is not, process numbers are those of
 * another name space (a container), and who is who cannot be known. */
static void set_processes(struct nvml *nvml, nvml_device device, struct json *object)
{
    struct nvml_process list[MAX_PROCESSES];
    unsigned count = MAX_PROCESSES;
    bool self = false;
    memset(list, 0, sizeof list);
    if (nvml->processes == NULL || nvml->processes(device, &count, list) != 0 || count > MAX_PROCESSES) {
        json_set_null(object, "processes");
        return;
    }
    for (unsigned i = 0; i < count; i++)
        self = self || list[i].pid == (unsigned)getpid();
    if (count > 0 && !self) {
        json_set_null(object, "processes");
        return;
    }
    struct json *out = json_set_array(object, "processes");
    for (unsigned i = 0; i < count; i++) {
        char name[256] = "";
        if (list[i].pid == (unsigned)getpid())
            continue;
        if (nvml->process_name == NULL || nvml->process_name(list[i].pid, name, sizeof name) != 0)
            name[0] = '\0';
        struct json *process = json_add_object(out);
        json_set_u64(process, "pid", list[i].pid);
        json_set_string(process, "name", name[0] != '\0' ? name : NULL);
    }
}

bool nvml_clocks(struct nvml *nvml, const char *pci, struct json *object)
{
    nvml_device device = NULL;
    if (nvml->by_pci(pci, &device) != 0)
        return false;
    set_kind(object, "clock_mhz", nvml->clock, device, CLOCK_SM);
    set_kind(object, "temperature_c", nvml->temperature, device, SENSOR_GPU);
    set_figure(object, "power_w", nvml->power, device, 1e-3);
    set_throttle(nvml, device, object);
    return true;
}

bool nvml_describe(struct nvml *nvml, const char *pci, struct json *object)
{
    nvml_device device = NULL;
    if (!nvml_clocks(nvml, pci, object) || nvml->by_pci(pci, &device) != 0)
        return false;
    set_kind(object, "memory_clock_mhz", nvml->clock, device, CLOCK_MEMORY);
    set_kind(object, "max_clock_mhz", nvml->max_clock, device, CLOCK_SM);
    set_figure(object, "power_limit_w", nvml->power_limit, device, 1e-3);
    set_figure(object, "pcie_generation", nvml->pcie_generation, device, 1);
    set_figure(object, "pcie_width", nvml->pcie_width, device, 1);
    set_figure(object, "max_pcie_generation", nvml->max_pcie_generation, device, 1);
    set_figure(object, "max_pcie_width", nvml->max_pcie_width, device, 1);
    set_processes(nvml, device, object);
    return true;
}
