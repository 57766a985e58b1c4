/* OpenCL devices for the commands that look into the devices themselves, in this process. */
#ifndef GPUBENCH_CLI_OPENCL_DEVICES_H
#define GPUBENCH_CLI_OPENCL_DEVICES_H

#include "cli/measure_options.h"
#include "model/renderer.h"

#define OPENCL_OPTIONS(which)                                                                                \
    {.name = "device",                                                                                       \
     .letter = 'd',                                                                                          \
     .type = OPTION_LIST,                                                                                    \
     .argument = "WHICH",                                                                                    \
     .help = "ocl:P:D, gpu (every OpenCL GPU), or part of a device's name; may repeat; -d list shows "       \
             "them. Default: " which,                                                                        \
     .offset = offsetof(struct measure_options, devices)},                                                   \
        KERNEL_OPTIONS,                                                                                      \
    {                                                                                                        \
        .name = "format", .letter = 'f', .type = OPTION_TEXT, .argument = "FORMAT",                          \
        .help = "text, markdown or json", .choices = verdict_formats,                                           \
        .offset = offsetof(struct measure_options, format)                                                   \
    }

/* Which devices are taken when none is named. */
enum opencl_default { OPENCL_BEST, OPENCL_ALL };

/* The devices that can be used: those that -d names, else the default. *out is the caller's to free. ERR_NO_DEVICE
 * when there is none, or when -d names something else. */
bool opencl_devices_choose(const struct measure_options *options, enum opencl_default which,
                           struct device_info **out, size_t *count, struct err *err) GB_NODISCARD;

/* Opens one of them. path: NULL for the one that options name, or the best. */
bool opencl_devices_open(const struct measure_options *options, const struct device_info *device, const char *path,
                         struct renderer **out, struct err *err) GB_NODISCARD;

#endif
