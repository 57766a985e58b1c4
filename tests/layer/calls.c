/* Every OpenCL function that gpubench calls (tests/cli/test_driver_faults.py holds the list against the program's
 * imports). */
#include "layer/fault.h"

#include <string.h>

#define GARBAGE 0xA5

static const struct _cl_icd_dispatch *next;

static void scramble(void *value, size_t size)
{
    if (value)
        memset(value, GARBAGE, size);
}

/* Of calls that return a code: whether they go wrong, and with which. */
#define GOES_WRONG(name, code) (fault_enter(#name, &(code)) != ACT_PASS)

/* ---- finding out ---- */

static cl_int CL_API_CALL get_platform_ids(cl_uint room, cl_platform_id *out, cl_uint *count)
{
    cl_int code;
    const enum act act = fault_enter("clGetPlatformIDs", &code);
    if (act == ACT_GARBAGE && count) /* more than there are */
        return code = next->clGetPlatformIDs(room, out, count), *count = 0xA5A5, code;
    if (act != ACT_PASS)
        return code;
    if (fault_device("no-platform"))
        return -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
    return next->clGetPlatformIDs(room, out, count);
}

static cl_int CL_API_CALL get_platform_info(cl_platform_id platform, cl_platform_info what, size_t size, void *value,
                                            size_t *size_ret)
{
    cl_int code;
    const enum act act = fault_enter("clGetPlatformInfo", &code);
    if (act == ACT_GARBAGE) {
        scramble(value, size);
        scramble(size_ret, sizeof *size_ret);
    }
    if (act != ACT_PASS || devices_platform_info(what, size, value, size_ret, &code))
        return code;
    return next->clGetPlatformInfo(platform, what, size, value, size_ret);
}

static cl_int CL_API_CALL get_device_ids(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *out,
                                         cl_uint *count)
{
    cl_int code;
    const enum act act = fault_enter("clGetDeviceIDs", &code);
    if (act == ACT_GARBAGE && count) {
        code = next->clGetDeviceIDs(platform, type, room, out, count);
        for (cl_uint i = 1; code == CL_SUCCESS && i < room; i++)
            out[i] = out[0];
        *count = 0xA5A5;
        return code;
    }
    if (act != ACT_PASS)
        return code;
    if (fault_device("none"))
        return CL_DEVICE_NOT_FOUND;
    if (fault_device("no-count"))
        return CL_SUCCESS;
    return next->clGetDeviceIDs(platform, type, room, out, count);
}

static cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info what, size_t size, void *value,
                                          size_t *size_ret)
{
    cl_int code;
    const enum act act = fault_enter("clGetDeviceInfo", &code);
    if (act == ACT_GARBAGE) {
        scramble(value, size);
        scramble(size_ret, sizeof *size_ret);
    }
    if (act != ACT_PASS || devices_info(what, size, value, size_ret, &code))
        return code;
    return next->clGetDeviceInfo(device, what, size, value, size_ret);
}

#define GET_INFO(function, clName, subject, subject_type, what_type)                                                   \
    static cl_int CL_API_CALL function(subject_type subject, what_type what, size_t size, void *value,                 \
                                       size_t *size_ret)                                                               \
    {                                                                                                                  \
        cl_int code;                                                                                                   \
        const enum act act = fault_enter(#clName, &code);                                                              \
        if (act == ACT_GARBAGE) {                                                                                      \
            scramble(value, size);                                                                                     \
            scramble(size_ret, sizeof *size_ret);                                                                      \
        }                                                                                                              \
        return act != ACT_PASS ? code : next->clName(subject, what, size, value, size_ret);                            \
    }
#define GET_INFO_OF(function, clName, subject_type, of_type, what_type)                                                \
    static cl_int CL_API_CALL function(subject_type subject, of_type of, what_type what, size_t size, void *value,     \
                                       size_t *size_ret)                                                               \
    {                                                                                                                  \
        cl_int code;                                                                                                   \
        const enum act act = fault_enter(#clName, &code);                                                              \
        if (act == ACT_GARBAGE) {                                                                                      \
            scramble(value, size);                                                                                     \
            scramble(size_ret, sizeof *size_ret);                                                                      \
        }                                                                                                              \
        return act != ACT_PASS ? code : next->clName(subject, of, what, size, value, size_ret);                        \
    }

GET_INFO(get_kernel_info, clGetKernelInfo, kernel, cl_kernel, cl_kernel_info)
GET_INFO(get_mem_object_info, clGetMemObjectInfo, buffer, cl_mem, cl_mem_info)
GET_INFO_OF(get_kernel_arg_info, clGetKernelArgInfo, cl_kernel, cl_uint, cl_kernel_arg_info)
GET_INFO_OF(get_kernel_group_info, clGetKernelWorkGroupInfo, cl_kernel, cl_device_id, cl_kernel_work_group_info)
GET_INFO_OF(get_build_info, clGetProgramBuildInfo, cl_program, cl_device_id, cl_program_build_info)

static cl_int CL_API_CALL get_sub_group_info(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info what,
                                             size_t in_size, const void *in, size_t size, void *value, size_t *size_ret)
{
    cl_int code;
    const enum act act = fault_enter("clGetKernelSubGroupInfo", &code);
    if (act == ACT_GARBAGE)
        scramble(value, size);
    return act != ACT_PASS ? code
                           : next->clGetKernelSubGroupInfo(kernel, device, what, in_size, in, size, value, size_ret);
}

static cl_int CL_API_CALL get_event_times(cl_event event, cl_profiling_info what, size_t size, void *value,
                                          size_t *size_ret)
{
    cl_int code;
    cl_profiling_info asked = what;
    const enum act act = fault_enter("clGetEventProfilingInfo", &code);
    if (act == ACT_GARBAGE)
        scramble(value, size);
    if (act != ACT_PASS)
        return code;
    if (fault_times("reversed"))
        asked = what == CL_PROFILING_COMMAND_START ? CL_PROFILING_COMMAND_END
                : what == CL_PROFILING_COMMAND_END ? CL_PROFILING_COMMAND_START
                                                   : what;
    if (fault_times("equal") && what == CL_PROFILING_COMMAND_END)
        asked = CL_PROFILING_COMMAND_START;
    code = next->clGetEventProfilingInfo(event, asked, size, value, size_ret);
    if (code == CL_SUCCESS && fault_times("zero"))
        memset(value, 0, size);
    if (code == CL_SUCCESS && fault_times("far") && what == CL_PROFILING_COMMAND_END)
        *(cl_ulong *)value += (cl_ulong)1 << 62;
    return code;
}

/* ---- making and releasing ---- */

static void set_code(cl_int *out, cl_int code)
{
    if (out)
        *out = code;
}

#define MADE(object, type) ((object) ? (fault_count(type, 1), (object)) : NULL)

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                             const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                             void *data, cl_int *code_ret)
{
    cl_int code;
    if (GOES_WRONG(clCreateContext, code))
        return set_code(code_ret, code), NULL;
    cl_context made = next->clCreateContext(properties, count, devices, notify, data, code_ret);
    return MADE(made, OBJECT_CONTEXT);
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                                 cl_command_queue_properties properties, cl_int *code_ret)
{
    cl_int code;
    if (GOES_WRONG(clCreateCommandQueue, code))
        return set_code(code_ret, code), NULL;
    cl_command_queue made = next->clCreateCommandQueue(context, device, properties, code_ret);
    return MADE(made, OBJECT_QUEUE);
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code_ret)
{
    cl_int code;
    if (GOES_WRONG(clCreateBuffer, code) || (code = devices_allow_buffer(size)) != CL_SUCCESS)
        return set_code(code_ret, code), NULL;
    cl_mem made = next->clCreateBuffer(context, flags, size, host, code_ret);
    return MADE(made, OBJECT_BUFFER);
}

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char **strings, const size_t *lengths,
                                             cl_int *code_ret)
{
    cl_int code;
    if (GOES_WRONG(clCreateProgramWithSource, code))
        return set_code(code_ret, code), NULL;
    cl_program made = next->clCreateProgramWithSource(context, count, strings, lengths, code_ret);
    return MADE(made, OBJECT_PROGRAM);
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                        void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    cl_int code;
    if (GOES_WRONG(clBuildProgram, code))
        return code;
    return next->clBuildProgram(program, count, devices, options, notify, data);
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *code_ret)
{
    cl_int code;
    if (GOES_WRONG(clCreateKernel, code))
        return set_code(code_ret, code), NULL;
    cl_kernel made = next->clCreateKernel(program, name, code_ret);
    return MADE(made, OBJECT_KERNEL);
}

static cl_int CL_API_CALL create_kernels(cl_program program, cl_uint room, cl_kernel *out, cl_uint *count)
{
    cl_int code;
    cl_uint made = 0;
    const enum act act = fault_enter("clCreateKernelsInProgram", &code);
    if (act != ACT_PASS)
        return code;
    code = next->clCreateKernelsInProgram(program, room, out, &made);
    if (code == CL_SUCCESS && out)
        fault_count(OBJECT_KERNEL, (int)made);
    if (count)
        *count = made;
    return code;
}

#define RELEASE(function, clName, type, object)                                                                        \
    static cl_int CL_API_CALL function(type what)                                                                      \
    {                                                                                                                  \
        cl_int code;                                                                                                   \
        const bool wrong = GOES_WRONG(clName, code);                                                                   \
        const cl_int released = next->clName(what);                                                                    \
        if (released == CL_SUCCESS)                                                                                    \
            fault_count(object, -1);                                                                                   \
        return wrong ? code : released;                                                                                \
    }

RELEASE(release_context, clReleaseContext, cl_context, OBJECT_CONTEXT)
RELEASE(release_queue, clReleaseCommandQueue, cl_command_queue, OBJECT_QUEUE)
RELEASE(release_program, clReleaseProgram, cl_program, OBJECT_PROGRAM)
RELEASE(release_kernel, clReleaseKernel, cl_kernel, OBJECT_KERNEL)
RELEASE(release_buffer, clReleaseMemObject, cl_mem, OBJECT_BUFFER)
RELEASE(release_event, clReleaseEvent, cl_event, OBJECT_EVENT)

/* ---- running ---- */

static cl_int CL_API_CALL set_kernel_arg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    cl_int code;
    return GOES_WRONG(clSetKernelArg, code) ? code : next->clSetKernelArg(kernel, index, size, value);
}

static cl_int count_event(cl_int code, const cl_event *event)
{
    if (code == CL_SUCCESS && event)
        fault_count(OBJECT_EVENT, 1);
    return code;
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                         const size_t *global, const size_t *local, cl_uint wait_count,
                                         const cl_event *wait, cl_event *event)
{
    cl_int code;
    if (GOES_WRONG(clEnqueueNDRangeKernel, code))
        return code;
    fault_launch();
    code = devices_allow_launch(dimensions, local);
    return code != CL_SUCCESS ? code
                              : count_event(next->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                                                         wait_count, wait, event),
                                            event);
}

static cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size,
                                      size_t offset, size_t size, cl_uint wait_count, const cl_event *wait, cl_event *event)
{
    cl_int code;
    return GOES_WRONG(clEnqueueFillBuffer, code)
               ? code
               : count_event(next->clEnqueueFillBuffer(queue, buffer, pattern, pattern_size, offset, size, wait_count, wait,
                                                       event),
                             event);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                                      void *data, cl_uint wait_count, const cl_event *wait, cl_event *event)
{
    cl_int code;
    const enum act act = fault_enter("clEnqueueReadBuffer", &code);
    if (act == ACT_GARBAGE)
        scramble(data, size);
    return act != ACT_PASS
               ? code
               : count_event(next->clEnqueueReadBuffer(queue, buffer, blocking, offset, size, data, wait_count, wait, event),
                             event);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                                       const void *data, cl_uint wait_count, const cl_event *wait, cl_event *event)
{
    cl_int code;
    return GOES_WRONG(clEnqueueWriteBuffer, code)
               ? code
               : count_event(next->clEnqueueWriteBuffer(queue, buffer, blocking, offset, size, data, wait_count, wait,
                                                        event),
                             event);
}

static void *CL_API_CALL map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                    size_t offset, size_t size, cl_uint wait_count, const cl_event *wait, cl_event *event,
                                    cl_int *code_ret)
{
    cl_int code;
    if (GOES_WRONG(clEnqueueMapBuffer, code))
        return set_code(code_ret, code), NULL;
    void *mapped = next->clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, wait_count, wait, event, code_ret);
    if (mapped)
        (void)count_event(CL_SUCCESS, event);
    return MADE(mapped, OBJECT_MAP);
}

static cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem buffer, void *mapped, cl_uint wait_count,
                                const cl_event *wait, cl_event *event)
{
    cl_int code;
    if (GOES_WRONG(clEnqueueUnmapMemObject, code))
        return code;
    code = count_event(next->clEnqueueUnmapMemObject(queue, buffer, mapped, wait_count, wait, event), event);
    if (code == CL_SUCCESS)
        fault_count(OBJECT_MAP, -1);
    return code;
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
    cl_int code;
    const enum act act = fault_enter("clFinish", &code);
    if (act == ACT_FAIL) /* what was enqueued must not run on while the program goes its way */
        (void)next->clFinish(queue);
    return act != ACT_PASS ? code : next->clFinish(queue);
}

#define WRAPPED(wrap)                                                                                                  \
    wrap(clGetPlatformIDs, get_platform_ids) wrap(clGetPlatformInfo, get_platform_info)                                \
    wrap(clGetDeviceIDs, get_device_ids) wrap(clGetDeviceInfo, get_device_info)                                        \
    wrap(clGetKernelInfo, get_kernel_info) wrap(clGetMemObjectInfo, get_mem_object_info)                               \
    wrap(clGetKernelArgInfo, get_kernel_arg_info) wrap(clGetKernelWorkGroupInfo, get_kernel_group_info)                \
    wrap(clGetKernelSubGroupInfo, get_sub_group_info)                                                                  \
    wrap(clGetProgramBuildInfo, get_build_info) wrap(clGetEventProfilingInfo, get_event_times)                         \
    wrap(clCreateContext, create_context) wrap(clCreateCommandQueue, create_queue)                                     \
    wrap(clCreateBuffer, create_buffer) wrap(clCreateProgramWithSource, create_program)                                \
    wrap(clBuildProgram, build_program) wrap(clCreateKernel, create_kernel)                                            \
    wrap(clCreateKernelsInProgram, create_kernels) wrap(clReleaseContext, release_context)                             \
    wrap(clReleaseCommandQueue, release_queue) wrap(clReleaseProgram, release_program)                                 \
    wrap(clReleaseKernel, release_kernel) wrap(clReleaseMemObject, release_buffer)                                     \
    wrap(clReleaseEvent, release_event) wrap(clSetKernelArg, set_kernel_arg)                                           \
    wrap(clEnqueueNDRangeKernel, enqueue_kernel) wrap(clEnqueueFillBuffer, fill_buffer)                                \
    wrap(clEnqueueReadBuffer, read_buffer) wrap(clEnqueueWriteBuffer, write_buffer)                                    \
    wrap(clEnqueueMapBuffer, map_buffer) wrap(clEnqueueUnmapMemObject, unmap) wrap(clFinish, finish)

#define NAME(name, function) #name,
const char *const calls_names[] = {WRAPPED(NAME) NULL};

#define SET(name, function) dispatch->name = function;
void calls_wrap(struct _cl_icd_dispatch *dispatch, const struct _cl_icd_dispatch *target)
{
    next = target;
    WRAPPED(SET)
}
