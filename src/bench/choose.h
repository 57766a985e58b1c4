/* Which devices a run uses: -d, else what the config's backends name, else the best there is. Pure. */
#ifndef GPUBENCH_BENCH_CHOOSE_H
#define GPUBENCH_BENCH_CHOOSE_H

#include <stddef.h>

#include "base/err.h"
#include "model/device.h"
#include "plan/config.h"
#include "plan/grid.h"

struct choice {
    /* Selectors are borrowed from the list of all devices. */
    size_t *used; /* owned; the devices in use, as places in the list of all; ascending */
    size_t used_count;
    struct grid_devices *of_backend; /* owned; [config->backend_count]; indices into used */
    char **notes;                    /* owned; what to tell the user */
    size_t note_count;
};

void choice_fini(struct choice *choice); /* accepts NULL and a zeroed one */

/* ERR_NO_DEVICE, naming what there is, when a selector matches no usable device, or nothing is left to run
 * on. A backend without a device of its own kind gets none, and a note; so does each device that a selector matches
 * beside others and that cannot be used. path: the code path that OpenCL devices were listed for, or NULL; with one, an
 * OpenCL backend that no device is left for is an error. */
bool choose_devices(const struct device_info *all, size_t count, const struct config *config,
                    const char *const *selectors, size_t selector_count, const char *path, struct choice *out,
                    struct err *err) GB_NODISCARD;

#endif
