/* What keeps this machine's GPUs from being OpenCL devices, and what to do about it. Reads files; touches no
 * driver. */
#ifndef GPUBENCH_GPU_HINTS_H
#define GPUBENCH_GPU_HINTS_H

#include <stddef.h>

#include "base/strbuf.h"
#include "model/device.h"

struct hint_sources {
    const char *root;                      /* stands before /sys and /dev: "" is this machine */
    const char *vendors;                   /* the folder of .icd files, or one of them */
    bool (*may_open)(const char *path);    /* for reading and writing, by this user */
    bool (*can_load)(const char *library); /* whether the dynamic linker finds it */
};

/* This machine's; vendors is where the loader looks (OCL_ICD_VENDORS). */
struct hint_sources hint_sources_here(void);

/* Appends a line, ended by \n, for each .icd file whose driver is not there, each GPU on the PCI bus that no
 * usable device is of, and each device file that may not be opened; one line where there is no GPU at all.
 * Nothing where every GPU can be used. */
void gpu_hints(const struct hint_sources *from, const struct device_info *devices, size_t count,
               struct strbuf *out);

#endif
