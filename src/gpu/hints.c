#include "gpu/hints.h"

#include <dirent.h>
#include <dlfcn.h>
#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HINT_PATH_MAX 1024
#define PCI_CLASS_DISPLAY 0x03

/* Vendors whose GPUs have an OpenCL driver on Linux. Others on the bus are a server's or a virtual machine's
 * picture. */
struct vendor {
    uint32_t pci;
    const char *name;
    const char *device_name; /* what its OpenCL devices' vendor begins with */
    const char *packages;
    const char *kernel_driver;
    const char *nodes[2]; /* /dev/FOLDER/PREFIX..., by which its driver is reached */
    const char *library;  /* its OpenCL driver, where containers get that without its .icd file; or NULL */
};

static const struct vendor vendors[] = {
    {0x10de,
     "NVIDIA",
     "NVIDIA",
     "nvidia-opencl-icd (Ubuntu: libnvidia-compute-VERSION)",
     "nvidia-driver",
     {"nvidia", NULL},
     "libnvidia-opencl.so.1"},
    {0x8086, "Intel", "Intel", "intel-opencl-icd", "i915 or xe", {"dri/renderD", NULL}, NULL},
    {0x1002,
     "AMD",
     "A",
     "mesa-opencl-icd, or rocm-opencl from AMD's repository",
     "amdgpu",
     {"dri/renderD", "kfd"},
     NULL},
};
#define VENDORS (sizeof vendors / sizeof vendors[0])

static bool may_open(const char *path)
{
    return access(path, R_OK | W_OK) == 0;
}

static bool can_load(const char *library)
{
    void *loaded = dlopen(library, RTLD_LAZY | RTLD_LOCAL);

    if (loaded)
        dlclose(loaded);
    return loaded != NULL;
}

struct hint_sources hint_sources_here(void)
{
    const char *folder = getenv("OCL_ICD_VENDORS");

    return (struct hint_sources){.root = "",
                                 .vendors = folder && *folder ? folder : "/etc/OpenCL/vendors",
                                 .may_open = may_open,
                                 .can_load = can_load};
}

/* ---- .icd files ---- */

/* The first line of a file, without blanks at its end; "" when there is none. */
static void read_line(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "r");

    out[0] = '\0';
    if (!file)
        return;
    if (!fgets(out, (int)size, file))
        out[0] = '\0';
    out[strcspn(out, " \r\n")] = '\0';
    fclose(file);
}

static void hint_icd(const struct hint_sources *from, const char *path, struct strbuf *out)
{
    char library[HINT_PATH_MAX];

    read_line(path, library, sizeof library);
    if (strchr(library, '/') ? access(library, R_OK) != 0 : !from->can_load(library))
        strbuf_addf(
            out,
            "%s names the driver \"%s\", which cannot be loaded. Install its package again, or remove "
            "that file\n",
            path, library);
}

static bool is_icd_name(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".icd") == 0;
}

static int is_icd(const struct dirent *entry)
{
    return is_icd_name(entry->d_name);
}

/* Platforms "ocl:P" or "ocl:P:D" of the list. */
static size_t platforms_in(const struct device_info *devices, size_t count)
{
    size_t platforms = 0;

    for (size_t i = 0; i < count; i++)
        if (strncmp(devices[i].selector, "ocl:", 4) == 0) {
            const size_t platform = strtoul(devices[i].selector + 4, NULL, 10) + 1;
            platforms = platform > platforms ? platform : platforms;
        }
    return platforms;
}

/* Where each file has its platform no driver is loaded to see whether it can be. */
static void hint_icds(const struct hint_sources *from, size_t platforms, struct strbuf *out)
{
    const char *where = from->vendors;
    struct dirent **entries;

    if (is_icd_name(where)) {
        if (platforms == 0)
            hint_icd(from, where, out);
        return;
    }
    const int count = scandir(where, &entries, is_icd, alphasort);
    for (int i = 0; i < count; i++) {
        char path[HINT_PATH_MAX];
        if ((size_t)count > platforms &&
            snprintf(path, sizeof path, "%s/%s", where, entries[i]->d_name) < (int)sizeof path)
            hint_icd(from, path, out);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* ---- device files ---- */

static void hint_node(const char *path, const char *shown, struct strbuf *out)
{
    struct stat file;

    if (stat(path, &file) != 0)
        return;
    const struct group *group = getgrgid(file.st_gid);
    if (file.st_gid != 0 && group && (file.st_mode & S_IRGRP) && (file.st_mode & S_IWGRP))
        strbuf_addf(
            out,
            "%s may not be opened: it belongs to the group %s. Run sudo usermod -aG %s $USER, and log "
            "in again\n",
            shown, group->gr_name, group->gr_name);
    else
        strbuf_addf(out,
                    "%s may not be opened, and no group may: ask who runs this machine; a container must be "
                    "started with the GPU\n",
                    shown);
}

/* Nodes /dev/WHICH...; *closed: those that may not be opened, each with its hint. */
static size_t look_at_nodes(const struct hint_sources *from, const char *which, size_t *closed,
                            struct strbuf *out)
{
    char folder[HINT_PATH_MAX], path[HINT_PATH_MAX];
    const char *slash = strchr(which, '/'), *prefix = slash ? slash + 1 : which;
    struct dirent **entries;
    size_t found = 0;

    snprintf(folder, sizeof folder, "%s/dev/%.*s", from->root, slash ? (int)(slash - which) : 0, which);
    const int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_type != DT_DIR && strncmp(entries[i]->d_name, prefix, strlen(prefix)) == 0 &&
            snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) < (int)sizeof path) {
            found++;
            if (!from->may_open(path)) {
                ++*closed;
                hint_node(path, path + strlen(from->root), out);
            }
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return found;
}

/* ---- the PCI bus ---- */

static uint32_t read_hex(const struct hint_sources *from, const char *address, const char *what)
{
    char path[HINT_PATH_MAX], text[32];

    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s/%s", from->root, address, what);
    read_line(path, text, sizeof text);
    return (uint32_t)strtoul(text, NULL, 16);
}

static bool is_used(const struct vendor *vendor, const struct device_info *devices, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (devices[i].kind == DEVICE_GPU && !*devices[i].trouble &&
            strncmp(devices[i].vendor, vendor->device_name, strlen(vendor->device_name)) == 0)
            return true;
    return false;
}

static void hint_vendor(const struct hint_sources *from, const struct vendor *vendor, const char *address,
                        struct strbuf *out)
{
    size_t nodes = 0, closed = 0;

    strbuf_addf(out, "the %s GPU at PCI %s is not used: ", vendor->name, address);
    struct strbuf more = STRBUF_INIT;
    for (size_t i = 0; i < 2 && vendor->nodes[i]; i++)
        nodes += look_at_nodes(from, vendor->nodes[i], &closed, &more);
    if (nodes == 0)
        strbuf_addf(
            out,
            "there is no /dev/%s*: its kernel driver (%s) is not loaded, or this is a container that was "
            "started without the GPU\n",
            vendor->nodes[0], vendor->kernel_driver);
    else if (closed == nodes)
        strbuf_addf(out, "%s", strbuf_str(&more));
    else if (vendor->library && from->can_load(vendor->library))
        strbuf_addf(
            out, "its driver %s is there, but no file in %s names it. Run echo %s | sudo tee %s/gpu.icd\n%s",
            vendor->library, from->vendors, vendor->library, from->vendors, strbuf_str(&more));
    else
        strbuf_addf(out, "no OpenCL driver has it. Install %s\n%s", vendor->packages, strbuf_str(&more));
    strbuf_fini(&more);
}

static void hint_bus(const struct hint_sources *from, const struct device_info *devices, size_t count,
                     struct strbuf *out)
{
    char folder[HINT_PATH_MAX];
    struct dirent **entries;
    bool seen[VENDORS] = {false};
    size_t gpus = 0;

    snprintf(folder, sizeof folder, "%s/sys/bus/pci/devices", from->root);
    const int found = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < found; i++) {
        const char *address = entries[i]->d_name;
        const uint32_t id = read_hex(from, address, "vendor");
        for (size_t v = 0; v < VENDORS; v++) {
            if (id != vendors[v].pci || read_hex(from, address, "class") >> 16 != PCI_CLASS_DISPLAY)
                continue;
            gpus++;
            if (!seen[v] && !is_used(&vendors[v], devices, count))
                hint_vendor(from, &vendors[v], address, out);
            seen[v] = true;
        }
        free(entries[i]);
    }
    if (found >= 0)
        free(entries);
    for (size_t i = 0; i < count; i++)
        gpus += devices[i].kind == DEVICE_GPU;
    if (gpus == 0)
        strbuf_add(out, "this machine has no GPU of NVIDIA, Intel or AMD\n");
}

void gpu_hints(const struct hint_sources *from, const struct device_info *devices, size_t count,
               struct strbuf *out)
{
    hint_icds(from, platforms_in(devices, count), out);
    hint_bus(from, devices, count, out);
}
