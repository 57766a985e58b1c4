#include "cli/opencl_devices.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cli/backends.h"

static bool is_wanted(const struct measure_options *options, enum opencl_default which,
                      const struct device_info *devices, size_t count, size_t index)
{
    const struct text_list *asked = &options->devices;

    if (asked->count == 0)
        return which == OPENCL_ALL ? devices[index].trouble[0] == '\0'
                                   : index == device_best(devices, count, BACKEND_OPENCL);
    for (size_t i = 0; i < asked->count; i++)
        if (device_matches(&devices[index], asked->items[i]))
            return true;
    return false;
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
static void none_usable(const struct device_info *devices, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (devices[i].trouble[0] != '\0')
            err_set(err, ERR_NO_DEVICE, "no OpenCL device can be used: %s: %s", devices[i].selector,
                    devices[i].trouble);
    err_set(err, ERR_NO_DEVICE, "no OpenCL device can be used; gpubench devices lists them");
}

bool opencl_devices_choose(const struct measure_options *options, enum opencl_default which,
                           struct device_info **out, size_t *count, struct err *err)
{
    struct device_info *devices = NULL, *wanted = NULL;
    size_t all = 0;

    *count = 0;
    if (!backend_factories[BACKEND_OPENCL].list(NULL, &devices, &all, err) ||
        !check_asked(&options->devices, devices, all, err))
        goto out;
    wanted = mem_calloc(all, sizeof(*wanted), "devices", err);
    if (!wanted)
        goto out;
    for (size_t i = 0; i < all; i++) {
        if (!is_wanted(options, which, devices, all, i))
            continue;
        if (devices[i].trouble[0] == '\0')
            wanted[(*count)++] = devices[i];
        else
            say(&options->base, "%s (%s) is left out: %s", devices[i].selector, devices[i].name,
                devices[i].trouble);
    }
    if (*count == 0) {
        none_usable(devices, all, err);
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
