/* Platforms and devices as the ICD loader shows them. */
#ifndef GPUBENCH_GPU_DEVICE_H
#define GPUBENCH_GPU_DEVICE_H

#include <CL/cl.h>

#include "model/device.h"

/* Fills info from the driver. trouble is set when the device cannot be used. */
void device_describe(cl_platform_id platform, cl_device_id device, unsigned platform_index,
                     unsigned device_index, struct device_info *info);

/* Finds "ocl:P:D" and describes it. ERR_NO_DEVICE when it is not there or has trouble. */
bool device_open(const char *selector, cl_platform_id *platform, cl_device_id *device,
                 struct device_info *info, struct err *err) GB_NODISCARD;

/* A whole word of the space-separated extension list. */
bool device_has_extension(const struct device_info *info, const char *name);

/* Whether it is a device of OpenCL `major`.`minor` or later. */
bool device_has_version(const struct device_info *info, unsigned major, unsigned minor);

/* Whether a connector of the device at a PCI address shows a picture, as the kernel's folder `sysfs` (/sys) tells. */
bool device_drives_display(const char *sysfs, const char *pci);

/* A column heading of at most 31 characters: the name without vendor and trade marks. */
void device_short_name(const struct device_info *info, char out[32]);

#endif
