/* Kernels with their arguments and ranges. */
#include <stdio.h>
#include <string.h>

#include "gpu/error.h"
#include "gpu/slice.h"

#define MAX_SETUP_GROUPS 64u /* a scene */

/* A launch under construction: the first failure is kept, so that arguments are set in a row. */
struct launch {
    cl_kernel kernel;
    cl_uint next;
    cl_int code;
    bool profiled;
    uint64_t bytes; /* profiled: of the arrays among the arguments */
};

static void set_bytes(struct launch *l, const void *value, size_t size)
{
    if (l->code == CL_SUCCESS)
        l->code = clSetKernelArg(l->kernel, l->next, size, value);
    l->next++;
}

/* NULL for arrays that a variant does not use. */
static void set_buffer(struct launch *l, cl_mem buffer)
{
    size_t size = 0;

    set_bytes(l, buffer ? &buffer : NULL, sizeof(buffer));
    if (l->profiled && buffer &&
        clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof(size), &size, NULL) == CL_SUCCESS)
        l->bytes += size;
}

static bool run(struct opencl_job *job, struct watch *watch, struct launch *l, const char *name,
                const size_t global[3], const size_t local[3], struct err *err)
{
    const char *device = job->r->base.info.name;
    cl_event *event = NULL;

    if (l->code != CL_SUCCESS)
        return opencl_fail(err, l->code, "clSetKernelArg", device) || err_wrap(err, "kernel %s", name);
    if (watch->profile) {
        if (watch->launch_count == MAX_LAUNCHES)
            return err_set(err, ERR_INTERNAL, "a slice has more launches than there is room for");
        watch->launches[watch->launch_count].name = name;
        watch->launches[watch->launch_count].bytes = l->bytes;
        event = &watch->launches[watch->launch_count].event;
    }
    l->code = clEnqueueNDRangeKernel(watch->queue, l->kernel, 3, NULL, global, local, 0, NULL, event);
    if (l->code != CL_SUCCESS)
        return opencl_fail(err, l->code, "clEnqueueNDRangeKernel", device) || err_wrap(err, "kernel %s", name);
    if (event)
        watch->launch_count++;
    job->counts.dispatches++;
    return true;
}

bool launch_setup(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err)
{
    const struct slice_buffers *b = &s->buffers;
    const size_t group = job->shape.setup_group;
    /* Partial sums need their places counted by one group a scene. */
    const size_t wanted = (job->base.spec.triangles + group - 1) / group;
    const size_t most = uses_slots(&job->base.spec) ? 1 : MAX_SETUP_GROUPS;
    const size_t groups = wanted < 1 ? 1 : wanted < most ? wanted : most;
    const cl_uint clear = job->base.spec.mode == MODE_GRADIENT && !uses_slots(&job->base.spec);
    struct launch l = {.kernel = job->setup, .profiled = watch->profile != NULL};

    set_bytes(&l, &s->view, sizeof(s->view));
    set_buffer(&l, b->in);
    set_buffer(&l, b->triangles);
    set_buffer(&l, b->bounds);
    set_buffer(&l, b->out);
    set_bytes(&l, &clear, sizeof(clear));
    return run(job, watch, &l, "setup", (const size_t[]){group * s->scenes, groups, 1}, (const size_t[]){group, 1, 1},
               err);
}

bool launch_pass(struct opencl_job *job, struct watch *watch, const struct slice *s, size_t pass, struct err *err)
{
    const struct slice_buffers *b = &s->buffers;
    const size_t lanes = job->shape.lanes, teams = job->shape.teams;
    const char *name = job->pass_count == 1 ? (job->passes[0].backward ? "fused" : "forward")
                                            : (pass == 0 ? "forward" : "backward");
    struct launch l = {.kernel = job->pass_kernels[pass], .profiled = watch->profile != NULL};

    set_bytes(&l, &s->view, sizeof(s->view));
    set_buffer(&l, b->triangles);
    set_buffer(&l, b->bounds);
    set_buffer(&l, b->in);
    set_buffer(&l, b->goal);
    set_buffer(&l, b->image);
    set_buffer(&l, b->tape);
    set_buffer(&l, b->slots);
    set_buffer(&l, b->out);
    set_buffer(&l, b->loss);
    return run(job, watch, &l, name,
               (const size_t[]){job->tiles_x * lanes, (job->tiles_y + teams - 1) / teams * teams, s->scenes},
               (const size_t[]){lanes, teams, 1}, err);
}

bool launch_gather(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err)
{
    const struct slice_buffers *b = &s->buffers;
    const bool sums = uses_slots(&job->base.spec);
    const cl_uint first = sums ? 0 : job->base.spec.triangles;
    const size_t groups = job->base.spec.triangles - first + (b->loss ? 1 : 0);
    const size_t group = job->r->path == PATH_CPU ? 1 : 64; /* GATHER_GROUP */
    struct launch l = {.kernel = job->gather, .profiled = watch->profile != NULL};

    if (groups == 0)
        return true;
    set_bytes(&l, &s->view, sizeof(s->view));
    set_buffer(&l, b->triangles);
    set_buffer(&l, b->slots);
    set_buffer(&l, b->loss);
    set_buffer(&l, b->out);
    set_bytes(&l, &first, sizeof(first));
    return run(job, watch, &l, "gather", (const size_t[]){groups * group, 1, s->scenes},
               (const size_t[]){group, 1, 1}, err);
}

static struct kernel_time *kernel_row(struct render_profile *profile, const char *name)
{
    for (uint32_t i = 0; i < profile->kernels; i++)
        if (strcmp(profile->kernel[i].name, name) == 0)
            return &profile->kernel[i];
    if (profile->kernels == PROFILE_MAX_KERNELS)
        return NULL;
    struct kernel_time *row = &profile->kernel[profile->kernels++];
    *row = (struct kernel_time){.launches = 0};
    snprintf(row->name, sizeof(row->name), "%s", name);
    return row;
}

void watch_collect(struct watch *watch)
{
    struct render_profile *profile = watch->profile;

    for (size_t i = 0; i < watch->launch_count; i++) {
        cl_event event = watch->launches[i].event;
        cl_ulong submit = 0, start = 0, end = 0;
        cl_int code = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(start), &start, NULL);
        if (code == CL_SUCCESS)
            code = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_SUBMIT, sizeof(submit), &submit, NULL);
        if (code == CL_SUCCESS)
            code = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL);
        clReleaseEvent(event);
        if (code != CL_SUCCESS || start == 0 || end < start || start < submit) {
            profile->valid = false;
            snprintf(profile->note, sizeof(profile->note), "the driver's times of kernel %s: %s",
                     watch->launches[i].name, code != CL_SUCCESS ? opencl_code_name(code)
                     : start == 0       ? "a start at 0"
                     : end < start      ? "end before start"
                                        : "start before submission");
            continue;
        }
        if (watch->first_start == 0 || start < watch->first_start)
            watch->first_start = start;
        if (end > watch->last_end)
            watch->last_end = end;
        struct kernel_time *row = kernel_row(profile, watch->launches[i].name);
        if (row) {
            row->launches++;
            row->device_ns += end - start;
            row->bytes += watch->launches[i].bytes;
        }
    }
    watch->launch_count = 0;
}
