/* A device's description as JSON: what the worker sends and what results files hold. */
#ifndef GPUBENCH_BENCH_DEVICE_JSON_H
#define GPUBENCH_BENCH_DEVICE_JSON_H

#include "base/err.h"
#include "base/json.h"
#include "model/device.h"

const char *device_kind_name(enum device_kind kind); /* "cpu", "gpu", "accelerator", "other" */

/* Figures and strings that the driver did not tell (0 and "") become null. */
void device_to_json(const struct device_info *device, struct json *object);
/* Passes over unknown keys; null and absent ones are 0 and "". Too long a string is cut. */
bool device_from_json(struct device_info *device, const struct json *object, struct err *err) GB_NODISCARD;

#endif
