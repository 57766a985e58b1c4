#include "gpu/groups.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/order.h"
#include "gpu/error.h"
#include "gpu/renderer.h"
#include "model/scene.h"

#define MAX_BUFFERS 5
#define MAX_ROUNDS 101u

/* A kernel with its arrays. The first failure is kept, so that arguments are set in a row. */
struct bench {
    struct opencl_renderer *r;
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem buffers[MAX_BUFFERS];
    size_t buffer_count;
    cl_uint next;
    cl_int code;
    bool no_time; /* the driver's times of a launch cannot be */
};

static bool bench_init(struct bench *b, struct renderer *renderer, const char *kernel, struct err *err)
{
    cl_program program;

    *b = (struct bench){.r = (struct opencl_renderer *)renderer};
    if (!renderer_program(b->r, "groups.cl", "", &program, err) ||
        !renderer_queue(b->r, CL_QUEUE_PROFILING_ENABLE, &b->queue, err))
        return false;
    b->kernel = clCreateKernel(program, kernel, &b->code);
    return b->kernel || opencl_fail(err, b->code, "clCreateKernel", renderer->info.name);
}

static void bench_fini(struct bench *b)
{
    for (size_t i = 0; i < b->buffer_count; i++)
        clReleaseMemObject(b->buffers[i]);
    if (b->kernel)
        clReleaseKernel(b->kernel);
    if (b->queue)
        clReleaseCommandQueue(b->queue);
}

static void set_value(struct bench *b, const void *value, size_t size)
{
    if (b->code == CL_SUCCESS)
        b->code = clSetKernelArg(b->kernel, b->next, size, value);
    b->next++;
}

/* data NULL: an output, poisoned. */
static cl_mem set_array(struct bench *b, const void *data, size_t bytes)
{
    static const cl_uint poison = UINT32_MAX;
    cl_mem buffer = NULL;

    bytes = bytes ? bytes : sizeof(poison);
    if (b->code == CL_SUCCESS)
        buffer = clCreateBuffer(b->r->context, CL_MEM_READ_WRITE, bytes, NULL, &b->code);
    if (!buffer)
        return NULL;
    b->buffers[b->buffer_count++] = buffer;
    if (data)
        b->code = clEnqueueWriteBuffer(b->queue, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
    else
        b->code = clEnqueueFillBuffer(b->queue, buffer, &poison, sizeof(poison), 0, bytes, 0, NULL, NULL);
    set_value(b, &buffer, sizeof(buffer));
    return buffer;
}

static cl_int launch(struct bench *b, const size_t global[2], size_t lanes, uint64_t *elapsed_ns)
{
    const size_t local[2] = {lanes, 1};
    cl_ulong start = 0, end = 0;
    cl_event event = NULL;
    const uint64_t host_start = clock_now_ns();
    cl_int code = clEnqueueNDRangeKernel(b->queue, b->kernel, 2, NULL, global, local, 0, NULL, &event);

    if (code == CL_SUCCESS)
        code = clFinish(b->queue);
    const uint64_t host_ns = clock_now_ns() - host_start;
    if (code == CL_SUCCESS)
        code = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(start), &start, NULL);
    if (code == CL_SUCCESS)
        code = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL);
    if (event)
        clReleaseEvent(event);
    if (code == CL_SUCCESS && (start == 0 || end <= start || end - start > host_ns)) {
        b->no_time = true;
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    }
    *elapsed_ns = end - start;
    return code;
}

/* The first launch is not counted: a driver may compile in it. */
static bool time_launches(struct bench *b, const struct lane_order *order, const struct groups_effort *effort,
                          uint64_t *device_ns, struct err *err)
{
    const size_t global[2] = {order->count, effort->repeats};
    uint32_t rounds = effort->rounds < MAX_ROUNDS ? effort->rounds : MAX_ROUNDS;
    uint64_t times[MAX_ROUNDS], warmup;

    if (b->code == CL_SUCCESS)
        b->code = launch(b, global, effort->local, &warmup);
    for (uint32_t i = 0; b->code == CL_SUCCESS && i < rounds; i++)
        b->code = launch(b, global, effort->local, &times[i]);
    if (b->no_time)
        return err_set(err, ERR_OPENCL, "running uneven lanes on %s: the driver's times of a launch cannot be",
                       b->r->base.info.name);
    if (b->code != CL_SUCCESS)
        return opencl_fail(err, b->code, "running uneven lanes", b->r->base.info.name);
    qsort(times, rounds, sizeof(times[0]), order_u64);
    *device_ns = times[rounds / 2];
    return true;
}

static bool read_last(struct bench *b, cl_mem from, const struct groups_effort *effort, void *out,
                      size_t bytes, struct err *err)
{
    cl_int code = clEnqueueReadBuffer(b->queue, from, CL_TRUE, (effort->repeats - 1) * bytes, bytes, out, 0,
                                      NULL, NULL);

    return code == CL_SUCCESS || opencl_fail(err, code, "clEnqueueReadBuffer", b->r->base.info.name);
}

bool groups_walk(struct renderer *renderer, const struct groups_scene *scene, const struct lane_order *order,
                 const struct groups_effort *effort, float *image, uint64_t *device_ns, struct err *err)
{
    const size_t pixels = (size_t)scene->width * scene->height, bytes = pixels * 3 * sizeof(float);
    const float softness = fmaxf(scene->sigma, 1e-8f), *ground = scene->background;
    const cl_float4 background = {{ground[0], ground[1], ground[2], 0}};
    struct bench b;
    bool ok = bench_init(&b, renderer, "walk_lists", err);

    if (ok) {
        const uint32_t *first = scene->lists->first;
        set_array(&b, order->pixels, order->count * sizeof(*order->pixels));
        set_array(&b, first, (pixels + 1) * sizeof(*first));
        set_array(&b, scene->lists->list, first[pixels] * sizeof(*first));
        set_array(&b, scene->params, (size_t)scene->triangles * SCENE_STRIDE * sizeof(float));
        cl_mem out = set_array(&b, NULL, bytes * effort->repeats);
        set_value(&b, &scene->width, sizeof(scene->width));
        set_value(&b, &scene->height, sizeof(scene->height));
        set_value(&b, &softness, sizeof(softness));
        set_value(&b, &background, sizeof(background));
        ok =
            time_launches(&b, order, effort, device_ns, err) && read_last(&b, out, effort, image, bytes, err);
    }
    bench_fini(&b);
    return ok;
}

bool groups_march(struct renderer *renderer, const float directions[MARCH_RAYS][2],
                  const struct lane_order *order, const struct groups_effort *effort, uint32_t each,
                  uint32_t *steps, uint64_t *device_ns, struct err *err)
{
    const size_t bytes = MARCH_RAYS * sizeof(*steps);
    /* Where all take as many, nothing is near and nothing is far. */
    const cl_float4 limits = {{each ? -FLT_MAX : MARCH_NEAR, MARCH_WALL, each ? FLT_MAX : MARCH_FAR, 0}};
    const cl_uint4 counts = {{each ? each : MARCH_MAX_STEPS, MARCH_CIRCLES, MARCH_RAYS, 0}};
    struct bench b;
    bool ok = bench_init(&b, renderer, "march_rays", err);

    if (ok) {
        set_array(&b, order->pixels, order->count * sizeof(*order->pixels));
        set_array(&b, directions, sizeof(float[MARCH_RAYS][2]));
        set_array(&b, march_circles, sizeof(march_circles));
        cl_mem out = set_array(&b, NULL, bytes * effort->repeats);
        set_value(&b, &limits, sizeof(limits));
        set_value(&b, &counts, sizeof(counts));
        ok =
            time_launches(&b, order, effort, device_ns, err) && read_last(&b, out, effort, steps, bytes, err);
    }
    bench_fini(&b);
    return ok;
}
