/* Kernels with their arguments and ranges. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
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

/* Work-items, and the dimensions that scenes and rows of tiles lie in. */
struct range {
    size_t global[3], local[3];
    int scenes_in, rows_in; /* rows_in is 3 where a scene is not cut */
    cl_uint tiles;          /* that a work-group spans along rows_in */
};

static bool submit(struct opencl_job *job, struct watch *watch, struct launch *l, const char *name,
                   const struct range *range, struct err *err)
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
    l->code =
        clEnqueueNDRangeKernel(watch->queue, l->kernel, 3, NULL, range->global, range->local, 0, NULL, event);
    if (l->code != CL_SUCCESS)
        return opencl_fail(err, l->code, "clEnqueueNDRangeKernel", device) ||
               err_wrap(err, "kernel %s", name);
    if (event)
        watch->launch_count++;
    job->counts.submissions++;
    return true;
}

/* Waits, so that the time of a submission is its own. */
static bool finish(struct opencl_job *job, struct watch *watch, struct err *err)
{
    cl_int code = clFinish(watch->queue);

    watch_collect(watch);
    return code == CL_SUCCESS || opencl_fail(err, code, "clFinish", job->r->base.info.name);
}

/* In submissions under the device's limit. The kernel's first argument is its view, which says where each
 * begins. */
static bool run_in_parts(struct opencl_job *job, struct watch *watch, struct launch *l, const char *name,
                         const struct shared_view *whole, const struct range *range, struct cut *cut,
                         struct err *err)
{
    const size_t scene_items = range->local[range->scenes_in];
    const size_t row_items = range->rows_in < 3 ? range->local[range->rows_in] : 1;
    const size_t rows = range->rows_in < 3 ? range->global[range->rows_in] / row_items : 1;
    struct cut_piece piece;

    cut_begin(cut, (uint32_t)(range->global[range->scenes_in] / scene_items), (uint32_t)rows);
    if (!finish(job, watch, err))
        return false;
    while (cut_next(cut, job->r->base.info.max_submit_ns, &piece)) {
        struct shared_view view = *whole;
        struct range part = *range;
        view.first_scene = piece.first_scene;
        part.global[range->scenes_in] = piece.scenes * scene_items;
        if (range->rows_in < 3) {
            view.first_row = piece.first_row * range->tiles;
            part.global[range->rows_in] = piece.rows * row_items;
        }
        l->next = 0;
        set_bytes(l, &view, sizeof(view));
        const uint64_t start = clock_now_ns();
        if (!submit(job, watch, l, name, &part, err) || !finish(job, watch, err))
            return false;
        const uint64_t took = clock_now_ns() - start;
        cut_took(cut, took);
        job->longest_submission_ns = took > job->longest_submission_ns ? took : job->longest_submission_ns;
        l->bytes = 0; /* each array counts once a launch */
    }
    return true;
}

static bool run(struct opencl_job *job, struct watch *watch, struct launch *l, const char *name,
                const struct shared_view *view, const struct range *range, struct cut *cut, struct err *err)
{
    job->counts.dispatches++;
    return job->r->base.info.max_submit_ns == 0 ? submit(job, watch, l, name, range, err)
                                                : run_in_parts(job, watch, l, name, view, range, cut, err);
}

static bool launch_bin(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err)
{
    const struct render_spec *spec = &job->base.spec;
    const size_t groups = (bin_count(&job->shape, spec->width, spec->height) + BIN_GROUP - 1) / BIN_GROUP;
    struct launch l = {.kernel = job->bin, .profiled = watch->profile != NULL};

    set_bytes(&l, &s->view, sizeof(s->view));
    set_buffer(&l, s->buffers.bounds);
    set_buffer(&l, s->buffers.bins);
    return run(job, watch, &l, "bin", &s->view,
               &(struct range){
                   {groups * BIN_GROUP, BIN_WORDS(spec->triangles), s->scenes}, {BIN_GROUP, 1, 1}, 2, 3, 0},
               &job->cuts.bin, err);
}

bool launch_setup(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err)
{
    const struct slice_buffers *b = &s->buffers;
    const size_t group = job->shape.setup_group;
    const size_t wanted = (job->base.spec.triangles + group - 1) / group;
    const bool gradient = job->base.spec.mode == MODE_GRADIENT,
               clear = gradient && !uses_slots(&job->base.spec);
    /* Where partial sums are counted, each group counts the triangles before its own: for single work-items
     * too much. */
    const size_t most = gradient && group == 1 ? 1 : MAX_SETUP_GROUPS;
    const size_t groups = wanted < 1 ? 1 : wanted < most ? wanted : most;
    const cl_uint flags = (gradient ? SHARED_SETUP_PLACES : 0) | (clear ? SHARED_SETUP_CLEAR : 0);
    if (job->shape.whole)
        return true;
    struct launch l = {.kernel = job->setup, .profiled = watch->profile != NULL};

    set_bytes(&l, &s->view, sizeof(s->view));
    set_buffer(&l, b->in);
    set_buffer(&l, b->triangles);
    set_buffer(&l, b->bounds);
    set_buffer(&l, b->out);
    set_bytes(&l, &flags, sizeof(flags));
    return run(job, watch, &l, "setup", &s->view,
               &(struct range){{group * s->scenes, groups, 1}, {group, 1, 1}, 0, 3, 0}, &job->cuts.setup,
               err) &&
           (!job->bin || launch_bin(job, watch, s, err));
}

/* A work-group for the tiles that it spans, along rows_in (3: whole scenes). */
static struct range range_of_tiles(const struct opencl_job *job, const struct slice *s, int rows_in)
{
    const struct tile_shape *shape = &job->shape;
    const size_t tiles = group_tiles(shape), groups_y = (job->tiles_y + tiles - 1) / tiles;

    return (struct range){{job->tiles_x * (size_t)shape->lanes, groups_y * shape->teams, s->scenes},
                          {shape->lanes, shape->teams, 1},
                          2,
                          rows_in,
                          (cl_uint)tiles};
}

/* All of shape.whole's work. */
static bool launch_scene(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err)
{
    const struct slice_buffers *b = &s->buffers;
    const struct range range = range_of_tiles(job, s, 3);
    struct launch l = {.kernel = job->pass_kernels[0], .profiled = watch->profile != NULL};

    set_bytes(&l, &s->view, sizeof(s->view));
    set_buffer(&l, b->in);
    set_buffer(&l, b->goal);
    set_buffer(&l, b->image);
    set_buffer(&l, b->slots);
    set_buffer(&l, b->out);
    set_buffer(&l, b->loss);
    set_buffer(&l, job->group_counts);
    return run(job, watch, &l, "scene", &s->view, &range, &job->cuts.passes[0], err);
}

bool launch_pass(struct opencl_job *job, struct watch *watch, const struct slice *s, size_t pass,
                 struct err *err)
{
    if (job->shape.whole)
        return launch_scene(job, watch, s, err);
    const struct slice_buffers *b = &s->buffers;
    const struct range range = range_of_tiles(job, s, 1);
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
    set_buffer(&l, b->bins);
    return run(job, watch, &l, name, &s->view, &range, &job->cuts.passes[pass], err);
}

bool launch_gather(struct opencl_job *job, struct watch *watch, const struct slice *s, struct err *err)
{
    const struct slice_buffers *b = &s->buffers;
    const cl_uint triangles = job->base.spec.triangles;
    const size_t group = job->r->path == PATH_CPU ? 1 : 4 * SHARED_GATHER_FOURS;
    const size_t each =
        job->r->path == PATH_CPU ? 1 : SHARED_GATHER_FOURS / SHARED_GATHER_PARTS(job->tiles_x * job->tiles_y);
    const cl_uint sums = (cl_uint)((triangles + each - 1) / each),
                  first = uses_slots(&job->base.spec) ? 0 : sums;
    const size_t groups = sums - first + (b->loss ? 1 : 0);
    struct launch l = {.kernel = job->gather, .profiled = watch->profile != NULL};

    if (groups == 0 || job->shape.whole)
        return true;
    set_bytes(&l, &s->view, sizeof(s->view));
    set_buffer(&l, b->triangles);
    set_buffer(&l, b->slots);
    set_buffer(&l, b->loss);
    set_buffer(&l, b->out);
    set_bytes(&l, &first, sizeof(first));
    return run(job, watch, &l, "gather", &s->view,
               &(struct range){{groups * group, 1, s->scenes}, {group, 1, 1}, 2, 3, 0}, &job->cuts.gather,
               err);
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
                     watch->launches[i].name,
                     code != CL_SUCCESS ? opencl_code_name(code)
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
