#include "cli/opencl_devices.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cli/backends.h"

static bool is_wanted(const struct measure_options *options, enum opencl_default which,
                      const struct device_info *devices, size_t count, size_t index)
{
    if (options->devices.count > 0)
        return device_is_asked(&devices[index], options->devices.items, options->devices.count);
    return which == OPENCL_ALL ? devices[index].trouble[0] == '\0'
                               : index == device_best(devices, count, BACKEND_OPENCL);
}

static bool check_asked(const struct text_list *asked, const struct device_info *devices, size_t count,
                        struct err *err)
{
    for (size_t i = 0; i < asked->count; i++) {
        size_t found = 0;
        for (size_t d = 0; d < count; d++)
            found += device_matches(&devices[d], asked->items[i]);
        if (!found)
            return err_set(err, ERR_NO_DEVICE, "no OpenCL device is \"%s\"; gpubench devices lists them",
                           asked->items[i]);
    }
    return true;
}

/* With the first reason there is. */
static void none_usable(const struct text_list *asked, const struct device_info *devices, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (devices[i].trouble[0] != '\0' &&
            (asked->count == 0 || device_is_asked(&devices[i], asked->items, asked->count)))
            err_set(err, ERR_NO_DEVICE, "%s cannot be used: %s", devices[i].selector,
                    devices[i].trouble);
    err_set(err, ERR_NO_DEVICE, "no OpenCL device can be used; gpubench devices lists them");
}

bool opencl_devices_choose(const struct measure_options *options, enum opencl_default which,
                           struct device_info **out, size_t *count, struct err *err)
{
    struct device_info *devices = NULL, *wanted = NULL;
    struct backend_options backend;
    size_t all = 0;

    *count = 0;
    if (!measure_backend_options(options, &backend, err) ||
        !backend_factories[BACKEND_OPENCL].list(&backend, &devices, &all, err) ||
        !check_asked(&options->devices, devices, all, err))
        goto out;
    wanted = mem_calloc(all, sizeof(*wanted), "devices", err);
    if (!wanted)
        goto out;
    for (size_t i = 0; i < all; i++)
        if (devices[i].trouble[0] == '\0' && is_wanted(options, which, devices, all, i))
            wanted[(*count)++] = devices[i];
    for (size_t i = 0; i < all && *count > 0; i++)
        if (devices[i].trouble[0] != '\0' && is_wanted(options, which, devices, all, i))
            say(&options->base, "%s (%s) is left out: %s", devices[i].selector, devices[i].name, devices[i].trouble);
    if (*count == 0) {
        none_usable(&options->devices, devices, all, err);
        free(wanted);
        wanted = NULL;
    }
out:
    free(devices);
    *out = wanted;
    return wanted != NULL;
}

bool opencl_devices_open(const struct measure_options *options, const struct device_info *device,
                         const char *path, struct renderer **out, struct err *err)
{
    struct backend_options backend;

    if (!measure_backend_options(options, &backend, err))
        return false;
    if (path)
        backend.path = path;
    return backend_factories[BACKEND_OPENCL].create(device->selector, &backend, out, err) ||
           err_wrap(err, "%s", device->selector);
}
