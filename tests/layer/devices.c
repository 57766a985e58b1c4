/* What a driver of FAULT_DEVICE says of itself. */
#include "layer/fault.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_BYTES 10240

/* OpenCL 3.0, table 5, full profile. */
#define MINIMUM_GLOBAL ((cl_ulong)128 << 20)
#define MINIMUM_ALLOC ((cl_ulong)32 << 20)

static const char odd[] = "Odd\n\t\"quoted\" \\back\\ <b>&amp;</b> \x1b[31m,=+;' \xff\xfe\xc3( caf\xc3\xa9 \xe2\x82\xac\r|pipe|";

static const char subgroups[] = "cl_khr_subgroups";

static cl_int answer(const void *bytes, size_t length, size_t size, void *value, size_t *size_ret)
{
    if (size_ret)
        *size_ret = length;
    if (value && size < length)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, bytes, length);
    return CL_SUCCESS;
}

static bool text(size_t size, void *value, size_t *size_ret, cl_int *code)
{
    if (fault_device("odd-strings")) {
        *code = answer(odd, sizeof odd, size, value, size_ret);
    } else if (fault_device("empty-strings")) {
        *code = answer("", 0, size, value, size_ret);
    } else if (fault_device("long-strings") || fault_device("no-end")) {
        static char longest[LONG_BYTES];
        memset(longest, 'x', sizeof longest);
        longest[sizeof longest - 1] = fault_device("no-end") ? 'y' : '\0';
        if (value && size < sizeof longest && fault_device("no-end")) {
            memset(value, 'x', size); /* this driver cuts */
            *code = CL_SUCCESS;
        } else {
            *code = answer(longest, sizeof longest, size, value, size_ret);
        }
    } else {
        return false;
    }
    return true;
}

bool devices_platform_info(cl_platform_info what, size_t size, void *value, size_t *size_ret, cl_int *code)
{
    return (what == CL_PLATFORM_NAME || what == CL_PLATFORM_VENDOR || what == CL_PLATFORM_VERSION) &&
           text(size, value, size_ret, code);
}

static bool is_text(cl_device_info what)
{
    return what == CL_DEVICE_NAME || what == CL_DEVICE_VENDOR || what == CL_DEVICE_VERSION ||
           what == CL_DRIVER_VERSION || what == CL_DEVICE_OPENCL_C_VERSION || what == CL_DEVICE_EXTENSIONS;
}

/* Numbers as little as is promised; SIZE_MAX: not one that is changed. */
static uint64_t minimum_of(cl_device_info what)
{
    switch (what) {
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
    case CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return 1;
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return 32768;
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE:
        return 65536;
    case CL_DEVICE_MAX_PARAMETER_SIZE:
        return 1024;
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return MINIMUM_GLOBAL;
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return MINIMUM_ALLOC;
    case CL_DEVICE_DOUBLE_FP_CONFIG:
    case CL_DEVICE_MAX_NUM_SUB_GROUPS:
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        return 0;
    default:
        return UINT64_MAX;
    }
}

static bool is_limit(cl_device_info what)
{
    return minimum_of(what) != UINT64_MAX || what == CL_DEVICE_ADDRESS_BITS || what == CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS ||
           what == CL_DEVICE_PROFILING_TIMER_RESOLUTION;
}

static size_t width_of(cl_device_info what)
{
    switch (what) {
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
    case CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
    case CL_DEVICE_MAX_PARAMETER_SIZE:
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
        return sizeof(size_t);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
    case CL_DEVICE_MAX_NUM_SUB_GROUPS:
    case CL_DEVICE_ADDRESS_BITS:
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
        return sizeof(cl_uint);
    default:
        return sizeof(cl_ulong);
    }
}

static cl_int number(cl_device_info what, uint64_t is, size_t size, void *value, size_t *size_ret)
{
    return answer(&is, width_of(what), size, value, size_ret); /* little-endian, as gpubench's hosts are */
}

static bool sizes(size_t of, size_t size, void *value, size_t *size_ret, cl_int *code)
{
    const size_t all[3] = {of, of, of};
    *code = answer(all, sizeof all, size, value, size_ret);
    return true;
}

bool devices_info(cl_device_info what, size_t size, void *value, size_t *size_ret, cl_int *code)
{
    const cl_bool no = CL_FALSE;
    const cl_device_type gpu = CL_DEVICE_TYPE_GPU;

    if (is_text(what) && text(size, value, size_ret, code))
        return true;
    if (fault_device("gpu") && what == CL_DEVICE_TYPE)
        return *code = answer(&gpu, sizeof gpu, size, value, size_ret), true;
    if ((fault_device("gpu") || fault_device("discrete")) && what == CL_DEVICE_HOST_UNIFIED_MEMORY)
        return *code = answer(&no, sizeof no, size, value, size_ret), true;
    if (fault_device("minimum") && what == CL_DEVICE_MAX_WORK_ITEM_SIZES)
        return sizes(1, size, value, size_ret, code);
    if (fault_device("zero-limits") && what == CL_DEVICE_MAX_WORK_ITEM_SIZES)
        return sizes(0, size, value, size_ret, code);
    if (fault_device("subgroups") && what == CL_DEVICE_EXTENSIONS)
        return *code = answer(subgroups, sizeof subgroups, size, value, size_ret), true;
    if (fault_device("minimum") && what == CL_DEVICE_EXTENSIONS)
        return *code = answer("", 1, size, value, size_ret), true;
    if (fault_device("minimum") && minimum_of(what) != UINT64_MAX)
        return *code = number(what, minimum_of(what), size, value, size_ret), true;
    if (fault_device("zero-limits") && is_limit(what))
        return *code = number(what, 0, size, value, size_ret), true;
    return false;
}

cl_int devices_allow_launch(cl_uint dimensions, const size_t *local)
{
    size_t items = 1;
    for (cl_uint i = 0; local && i < dimensions; i++)
        items *= local[i];
    return fault_device("minimum") && items > 1 ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

cl_int devices_allow_buffer(size_t bytes)
{
    return fault_device("minimum") && bytes > MINIMUM_ALLOC ? CL_INVALID_BUFFER_SIZE : CL_SUCCESS;
}
