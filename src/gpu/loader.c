/* Which OpenCL loader this is. */
#include <dlfcn.h>
#include <stdio.h>

#include "gpu/opencl.h"

/* Of ocl-icd's cl_icdl_info; not in every header. */
#define ICDL_VERSION 2

/* What dlsym finds is an object to C. */
union symbol {
    void *object;
    void *(*find)(const char *name);
    int32_t (*info)(uint32_t what, size_t size, void *value, size_t *size_ret);
};

void opencl_loader_file(char *out, size_t size)
{
    void *platforms = dlsym(RTLD_DEFAULT, "clGetPlatformIDs");
    Dl_info file = {0};

    if (!platforms || !dladdr(platforms, &file) || !file.dli_fname)
        file.dli_fname = "unknown file";
    snprintf(out, size, "%s", file.dli_fname);
}

void opencl_loader_version(char *out, size_t size)
{
    char version[64] = "";
    union symbol find = {.object = dlsym(RTLD_DEFAULT, "clGetExtensionFunctionAddress")};
    union symbol info = {.object = find.object ? find.find("clGetICDLoaderInfoOCLICD") : NULL};

    const bool told = info.object && info.info(ICDL_VERSION, sizeof version, version, NULL) == 0;
    snprintf(out, size, "%s", told ? version : "of unknown version");
}
