/* Which OpenCL loader this is. */
#include <dlfcn.h>
#include <stdio.h>

#include "gpu/opencl.h"

/* Values of ocl-icd's cl_icdl_info; not in every header. */
#define ICDL_NAME 2
#define ICDL_VERSION 4

typedef int32_t loader_info(uint32_t what, size_t size, void *value, size_t *size_ret);

void opencl_loader(char *out, size_t size)
{
    char name[64] = "", version[64] = "";
    Dl_info file = {0};
    void *platforms = dlsym(RTLD_DEFAULT, "clGetPlatformIDs"),
         *info = dlsym(RTLD_DEFAULT, "clGetICDLoaderInfoOCLICD");
    union {
        void *object;
        loader_info *function;
    } query = {.object = info};

    if (info && (query.function(ICDL_NAME, sizeof(name), name, NULL) != 0 ||
                 query.function(ICDL_VERSION, sizeof(version), version, NULL) != 0))
        name[0] = version[0] = '\0';
    if (!platforms || !dladdr(platforms, &file) || !file.dli_fname)
        file.dli_fname = "unknown file";
    if (*name)
        snprintf(out, size, "%s %s (%s)", name, version, file.dli_fname);
    else
        snprintf(out, size, "%s", file.dli_fname);
}
