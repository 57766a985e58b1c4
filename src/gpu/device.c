#include "gpu/device.h"

#include <CL/cl_ext.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu/driver_text.h"
#include "gpu/error.h"
#include "gpu/opencl.h"
#include "gpu/path.h"
#include "gpu/tuning.h"

#define MAX_PLATFORMS 64
#define MAX_DEVICES 64

/* From cl_nv_device_attribute_query, cl_khr_pci_bus_info and cl_ext_float_atomics; not in every header. */
#define DEVICE_KERNEL_EXEC_TIMEOUT_NV 0x4005
#define DEVICE_PCI_BUS_ID_NV 0x4008
#define DEVICE_PCI_SLOT_ID_NV 0x4009
#define DEVICE_PCI_DOMAIN_ID_NV 0x400A
#define DEVICE_PCI_BUS_INFO_KHR 0x410F
#define DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT 0x4231
#define GLOBAL_FP_ATOMIC_ADD_EXT 2u

static const char no_platform[] =
    "no OpenCL platform: install a driver, or pocl-opencl-icd for a device on the CPU (the OpenMP renderer "
    "needs none)";

/* What drivers tell of themselves is shorter; a longer length is nonsense. */
#define MAX_TEXT_BYTES ((size_t)1 << 20)

static void get_text(cl_device_id device, cl_device_info what, char *out, size_t size)
{
    size_t length = 0;
    char *text;

    out[0] = '\0';
    if (clGetDeviceInfo(device, what, 0, NULL, &length) != CL_SUCCESS || length > MAX_TEXT_BYTES)
        return;
    text = calloc(length + 1, 1);
    if (text && clGetDeviceInfo(device, what, length, text, NULL) == CL_SUCCESS)
        driver_text(out, size, text, length);
    free(text);
}

static void get_platform_name(cl_platform_id platform, char *out, size_t size)
{
    size_t length = 0;
    char *text;

    out[0] = '\0';
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, NULL, &length) != CL_SUCCESS || length > MAX_TEXT_BYTES)
        return;
    text = calloc(length + 1, 1);
    if (text && clGetPlatformInfo(platform, CL_PLATFORM_NAME, length, text, NULL) == CL_SUCCESS)
        driver_text(out, size, text, length);
    free(text);
}

/* Any integer property; 0 where the driver does not tell. */
static cl_int ask_number(cl_device_id device, cl_device_info what, uint64_t *out)
{
    uint64_t value = 0; /* the smaller types fill its low bytes: OpenCL hosts here are little-endian */
    size_t size = 0;
    cl_int code = clGetDeviceInfo(device, what, 0, NULL, &size);

    *out = 0;
    if (code == CL_SUCCESS && size <= sizeof(value))
        code = clGetDeviceInfo(device, what, size, &value, NULL);
    if (code == CL_SUCCESS)
        *out = value;
    return code;
}

static uint64_t get_number(cl_device_id device, cl_device_info what)
{
    uint64_t value;

    (void)ask_number(device, what, &value);
    return value;
}

/* A device of which this is 0 (then it `lacks` something) cannot be used, nor one that does not answer. */
static uint64_t need(cl_device_id device, cl_device_info what, const char *name, const char *lacks,
                 struct device_info *info)
{
    uint64_t has;
    cl_int code = ask_number(device, what, &has);

    if (info->trouble[0] != '\0')
        return has;
    if (code != CL_SUCCESS)
        snprintf(info->trouble, sizeof(info->trouble), "clGetDeviceInfo(%s): %s (%d)", name, opencl_code_name(code),
                 (int)code);
    else if (has == 0)
        snprintf(info->trouble, sizeof(info->trouble), "%s (%s is 0)", lacks, name);
    return has;
}
#define NEED(what, lacks) need(device, what, #what, lacks, info)

bool device_has_extension(const struct device_info *info, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = info->extensions; (at = strstr(at, name)) != NULL; at += length)
        if ((at == info->extensions || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

bool device_has_version(const struct device_info *info, unsigned major, unsigned minor)
{
    unsigned has_major, has_minor;

    return sscanf(info->device_version, "OpenCL %u.%u", &has_major, &has_minor) == 2 &&
           (has_major > major || (has_major == major && has_minor >= minor));
}

static void describe_pci(cl_device_id device, struct device_info *info)
{
    struct {
        cl_uint domain, bus, slot, function;
    } pci = {0};

    if (device_has_extension(info, "cl_khr_pci_bus_info") &&
        clGetDeviceInfo(device, DEVICE_PCI_BUS_INFO_KHR, sizeof(pci), &pci, NULL) == CL_SUCCESS) {
        snprintf(info->pci, sizeof(info->pci), "%04x:%02x:%02x.%x", pci.domain, pci.bus, pci.slot, pci.function);
    } else if (device_has_extension(info, "cl_nv_device_attribute_query")) {
        uint64_t slot = get_number(device, DEVICE_PCI_SLOT_ID_NV);
        snprintf(info->pci, sizeof(info->pci), "%04x:%02x:%02x.%x",
                 (unsigned)get_number(device, DEVICE_PCI_DOMAIN_ID_NV) & 0xffffu,
                 (unsigned)get_number(device, DEVICE_PCI_BUS_ID_NV) & 0xffu, (unsigned)(slot >> 3) & 0x1fu,
                 (unsigned)slot & 7u);
    }
}

bool device_drives_display(const char *sysfs, const char *pci)
{
    char pattern[512], word[16] = "";
    glob_t found;
    bool enabled = false;

    if (pci[0] == '\0')
        return false;
    snprintf(pattern, sizeof(pattern), "%s/bus/pci/devices/%s/drm/card*/card*-*/enabled", sysfs, pci);
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc && !enabled; i++) {
        FILE *file = fopen(found.gl_pathv[i], "re");
        enabled = file && fgets(word, sizeof(word), file) && strncmp(word, "enabled", 7) == 0;
        if (file)
            fclose(file);
    }
    globfree(&found);
    return enabled;
}

void device_short_name(const struct device_info *info, char out[32])
{
    static const char *const noise[] = {"NVIDIA ", "GeForce ", "Tesla ", "AMD ",   "Radeon ", "Intel(R) ",
                                        "Intel ",  "(R)",      "(TM)",   "Apple ", " Graphics"};
    char name[DEVICE_NAME_MAX];

    if (strstr(info->platform, "Portable Computing Language")) {
        snprintf(out, 32, "PoCL");
        return;
    }
    snprintf(name, sizeof(name), "%s", info->name);
    for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++) {
        char *at = strstr(name, noise[i]);
        if (at && strlen(name) > strlen(noise[i]))
            memmove(at, at + strlen(noise[i]), strlen(at + strlen(noise[i])) + 1);
    }
    driver_text(out, 32, name, strlen(name));
}

static enum device_kind kind_of(cl_device_id device, struct device_info *info)
{
    uint64_t type = NEED(CL_DEVICE_TYPE, "its driver does not tell what it is");

    if (type & CL_DEVICE_TYPE_GPU)
        return DEVICE_GPU;
    if (type & CL_DEVICE_TYPE_ACCELERATOR)
        return DEVICE_ACCELERATOR;
    return type & CL_DEVICE_TYPE_CPU ? DEVICE_CPU : DEVICE_OTHER;
}

static void describe_limits(cl_device_id device, struct device_info *info)
{
    size_t sizes[3] = {0};

    info->compute_units = (uint32_t)get_number(device, CL_DEVICE_MAX_COMPUTE_UNITS);
    info->clock_mhz = (uint32_t)get_number(device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
    info->address_bits = (uint32_t)get_number(device, CL_DEVICE_ADDRESS_BITS);
    info->max_work_item_dims = (uint32_t)get_number(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
    if (info->max_work_item_dims == 3 &&
        clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(sizes), sizes, NULL) == CL_SUCCESS)
        for (int i = 0; i < 3; i++)
            info->max_work_item_sizes[i] = sizes[i];
    info->max_work_group_size =
        NEED(CL_DEVICE_MAX_WORK_GROUP_SIZE, "its driver does not tell how many work-items a group may have");
    info->preferred_group_multiple = get_number(device, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
    info->global_bytes = NEED(CL_DEVICE_GLOBAL_MEM_SIZE, "its driver does not tell how much memory it has");
    info->max_alloc_bytes = NEED(CL_DEVICE_MAX_MEM_ALLOC_SIZE, "its driver does not tell how large a buffer may be");
    info->local_bytes = get_number(device, CL_DEVICE_LOCAL_MEM_SIZE);
    info->constant_bytes = get_number(device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
    info->max_parameter_bytes = get_number(device, CL_DEVICE_MAX_PARAMETER_SIZE);
    info->timer_resolution_ns = get_number(device, CL_DEVICE_PROFILING_TIMER_RESOLUTION);
    info->host_unified = get_number(device, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    info->local_is_real = get_number(device, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL;
    info->has_double = get_number(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    info->has_subgroups = device_has_extension(info, "cl_khr_subgroups") ||
                          get_number(device, CL_DEVICE_MAX_NUM_SUB_GROUPS) > 0;
    info->has_float_atomics = device_has_extension(info, "cl_ext_float_atomics") &&
                              (get_number(device, DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT) & GLOBAL_FP_ATOMIC_ADD_EXT);
}

void device_describe(cl_platform_id platform, cl_device_id device, unsigned platform_index,
                     unsigned device_index, struct device_info *info)
{
    memset(info, 0, sizeof(*info));
    info->backend = BACKEND_OPENCL;
    snprintf(info->selector, sizeof(info->selector), "ocl:%u:%u", platform_index, device_index);
    get_platform_name(platform, info->platform, sizeof(info->platform));
    info->kind = kind_of(device, info);
    get_text(device, CL_DEVICE_NAME, info->name, sizeof(info->name));
    if (info->name[0] == '\0')
        snprintf(info->name, sizeof(info->name), "unnamed device");
    get_text(device, CL_DEVICE_VENDOR, info->vendor, sizeof(info->vendor));
    get_text(device, CL_DEVICE_VERSION, info->device_version, sizeof(info->device_version));
    get_text(device, CL_DRIVER_VERSION, info->driver_version, sizeof(info->driver_version));
    get_text(device, CL_DEVICE_OPENCL_C_VERSION, info->language_version, sizeof(info->language_version));
    get_text(device, CL_DEVICE_EXTENSIONS, info->extensions, sizeof(info->extensions));
    device_short_name(info, info->short_name);
    NEED(CL_DEVICE_AVAILABLE, "the driver says that it is not available");
    NEED(CL_DEVICE_COMPILER_AVAILABLE, "its driver has no compiler for kernels");
    describe_limits(device, info);
    describe_pci(device, info);
    info->has_watchdog = device_has_extension(info, "cl_nv_device_attribute_query") &&
                         get_number(device, DEVICE_KERNEL_EXEC_TIMEOUT_NV) != 0;
    info->drives_display = device_drives_display("/sys", info->pci);
}

/* A row that stands for a platform without a usable device. */
static void describe_empty(cl_platform_id platform, unsigned index, cl_int code, struct device_info *info)
{
    memset(info, 0, sizeof(*info));
    info->backend = BACKEND_OPENCL;
    info->kind = DEVICE_OTHER;
    snprintf(info->selector, sizeof(info->selector), "ocl:%u", index);
    get_platform_name(platform, info->platform, sizeof(info->platform));
    snprintf(info->name, sizeof(info->name), "(no device)");
    snprintf(info->short_name, sizeof(info->short_name), "none");
    if (code == CL_DEVICE_NOT_FOUND || code == CL_SUCCESS)
        snprintf(info->trouble, sizeof(info->trouble), "the platform has no device");
    else
        snprintf(info->trouble, sizeof(info->trouble), "clGetDeviceIDs on the platform: %s (%d)",
                 opencl_code_name(code), (int)code);
}

/* One piece of hardware behind two platforms (a driver registered twice, two drivers for one card). */
static void mark_duplicate(struct device_info *devices, size_t count, struct device_info *added)
{
    for (size_t i = 0; i < count && added->trouble[0] == '\0'; i++) {
        const struct device_info *d = &devices[i];
        bool same_slot = added->pci[0] != '\0' && strcmp(d->pci, added->pci) == 0;
        bool same_driver = strcmp(d->platform, added->platform) == 0 && strcmp(d->name, added->name) == 0 &&
                           strcmp(d->driver_version, added->driver_version) == 0 &&
                           strncmp(d->selector, added->selector, 5) != 0 && added->pci[0] == '\0';
        if (d->trouble[0] == '\0' && (same_slot || same_driver))
            snprintf(added->trouble, sizeof(added->trouble), "the same device as %s", d->selector);
    }
}

/* The count that is told may be larger than what was filled in. */
static bool get_platforms(cl_platform_id platforms[MAX_PLATFORMS], cl_uint *count, struct err *err)
{
    memset(platforms, 0, MAX_PLATFORMS * sizeof(*platforms));
    cl_int code = clGetPlatformIDs(MAX_PLATFORMS, platforms, count);

    if (code == CL_PLATFORM_NOT_FOUND_KHR || (code == CL_SUCCESS && *count == 0))
        return err_set_native(err, ERR_NO_DEVICE, code, "%s", no_platform);
    if (code != CL_SUCCESS)
        return err_set_native(err, ERR_NO_DEVICE, code, "clGetPlatformIDs: %s (%d); is an ICD broken?",
                              opencl_code_name(code), (int)code);
    cl_uint told = *count < MAX_PLATFORMS ? *count : MAX_PLATFORMS;
    for (*count = 0; *count < told && platforms[*count]; ++*count)
        continue;
    return true;
}

static cl_int get_devices(cl_platform_id platform, cl_device_id ids[MAX_DEVICES], cl_uint *count)
{
    cl_uint told = 0;

    memset(ids, 0, MAX_DEVICES * sizeof(*ids));
    cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &told);
    for (*count = 0; code == CL_SUCCESS && *count < told && *count < MAX_DEVICES && ids[*count]; ++*count)
        continue;
    return code;
}

bool opencl_list(const char *path, struct device_info **out, size_t *count, struct err *err)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint platform_count = 0;
    struct device_info *list = NULL;
    size_t used = 0, capacity = 0;

    *out = NULL;
    *count = 0;
    if (!get_platforms(platforms, &platform_count, err))
        return false;
    for (cl_uint p = 0; p < platform_count; p++) {
        cl_device_id ids[MAX_DEVICES];
        cl_uint found = 0;
        cl_int code = get_devices(platforms[p], ids, &found);
        if (!mem_grow((void **)&list, &capacity, used + found + 1, sizeof(*list), "the list of devices", err)) {
            free(list);
            return false;
        }
        if (found == 0)
            describe_empty(platforms[p], p, code, &list[used++]);
        for (cl_uint d = 0; d < found; d++) {
            device_describe(platforms[p], ids[d], p, d, &list[used]);
            mark_duplicate(list, used, &list[used]);
            path_describe(ids[d], path, &list[used]);
            tuning_describe(&list[used]);
            used++;
        }
    }
    *out = list;
    *count = used;
    return true;
}

bool device_open(const char *selector, cl_platform_id *platform, cl_device_id *device,
                 struct device_info *info, struct err *err)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_device_id ids[MAX_DEVICES];
    cl_uint platform_count = 0, device_count = 0;
    unsigned p, d;
    char rest;
    cl_int code;

    if (sscanf(selector, "ocl:%u:%u%c", &p, &d, &rest) != 2)
        return err_set(err, ERR_NO_DEVICE, "%s does not name an OpenCL device as ocl:PLATFORM:DEVICE", selector);
    if (!get_platforms(platforms, &platform_count, err))
        return false;
    if (p >= platform_count)
        return err_set(err, ERR_NO_DEVICE, "%s: there are %u OpenCL platforms, counted from 0", selector,
                       (unsigned)platform_count);
    code = get_devices(platforms[p], ids, &device_count);
    if (code != CL_SUCCESS && code != CL_DEVICE_NOT_FOUND)
        return err_set_native(err, ERR_NO_DEVICE, code, "%s: clGetDeviceIDs: %s (%d)", selector,
                              opencl_code_name(code), (int)code);
    if (d >= device_count)
        return err_set_native(err, ERR_NO_DEVICE, code, "%s: the platform has %u devices, counted from 0",
                              selector, (unsigned)device_count);
    *platform = platforms[p];
    *device = ids[d];
    device_describe(platforms[p], ids[d], p, d, info);
    if (info->trouble[0] != '\0')
        return err_set(err, ERR_NO_DEVICE, "%s (%s) cannot be used: %s", selector, info->name, info->trouble);
    return true;
}
