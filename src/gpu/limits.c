#include "gpu/limits.h"

#include <string.h>

#include "gpu/arguments.h"
#include "gpu/error.h"
#include "gpu/job.h"
#include "gpu/renderer.h"
#include "model/scene.h"
#include "shared.h"

#define GATHER_GROUP 64u

static const struct limit_row blank_rows[LIMITS] = {
    [LIMIT_ITEMS_X] = {"work-items a group, x", false, 1, 0, false},
    [LIMIT_ITEMS_Y] = {"work-items a group, y", false, 1, 0, false},
    [LIMIT_ITEMS_Z] = {"work-items a group, z", false, 1, 0, false},
    [LIMIT_GROUP_SIZE] = {"work-items a group", false, 1, 0, false},
    [LIMIT_GROUPS_X] = {"groups, x", false, 0, 0, false},
    [LIMIT_GROUPS_Y] = {"groups, y", false, 0, 0, false},
    [LIMIT_GROUPS_Z] = {"groups, z", false, 0, 0, false},
    [LIMIT_LOCAL_BYTES] = {"local memory", true, 32768, 0, false},
    [LIMIT_ARGUMENTS] = {"arguments", false, 128, 0, false}, /* pointers of 8 bytes in the 1024 */
    [LIMIT_ARGUMENT_BYTES] = {"arguments' size", true, 1024, 0, false},
    [LIMIT_CONSTANT_BYTES] = {"constant buffer", true, 65536, 0, false},
    [LIMIT_ALLOC_BYTES] = {"largest buffer", true, 0, 0, false},
    [LIMIT_TOTAL_BYTES] = {"all buffers", true, 0, 0, false},
};

/* CL_DEVICE_MAX_MEM_ALLOC_SIZE is at least max(min(1 GiB, a quarter of global memory), 32 MiB). */
static uint64_t promised_alloc(uint64_t global_bytes)
{
    uint64_t quarter = global_bytes / 4 < (1u << 30) ? global_bytes / 4 : 1u << 30;

    return quarter > (32u << 20) ? quarter : 32u << 20;
}

void limits_of(const struct renderer *renderer, struct limit_row rows[LIMITS])
{
    const struct opencl_renderer *r = (const struct opencl_renderer *)renderer;
    const struct device_info *info = &renderer->info;

    memcpy(rows, blank_rows, sizeof(blank_rows));
    for (int i = 0; i < 3; i++)
        rows[LIMIT_ITEMS_X + i].has = info->max_work_item_sizes[i];
    rows[LIMIT_GROUP_SIZE].has = info->max_work_group_size;
    rows[LIMIT_LOCAL_BYTES].has = info->local_bytes;
    rows[LIMIT_ARGUMENTS].has = info->max_parameter_bytes / sizeof(cl_mem);
    rows[LIMIT_ARGUMENT_BYTES].has = info->max_parameter_bytes;
    rows[LIMIT_CONSTANT_BYTES].has = info->constant_bytes;
    rows[LIMIT_ALLOC_BYTES].promised = promised_alloc(info->global_bytes);
    rows[LIMIT_ALLOC_BYTES].has = info->max_alloc_bytes;
    rows[LIMIT_TOTAL_BYTES].has = r->budget_bytes;
}

/* ---- group counts ---- */

/* What several devices take in a dimension, one more, and the most that this program ever launches in one. */
static const size_t group_counts[] = {1, 65535, 65536, SCENE_MAX_TRIANGLES + 1};
#define GROUP_COUNTS (sizeof(group_counts) / sizeof(group_counts[0]))

static cl_int poison_ids(struct opencl_renderer *r, cl_mem buffer)
{
    const cl_uint ids[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

    return clEnqueueWriteBuffer(r->queue, buffer, CL_TRUE, 0, sizeof(ids), ids, 0, NULL, NULL);
}

/* Whether the last of `groups` groups in a dimension ran. */
static cl_int probe(struct opencl_renderer *r, cl_kernel kernel, cl_mem buffer, int dimension, size_t groups)
{
    const size_t local[3] = {1, 1, 1};
    size_t global[3] = {1, 1, 1};
    cl_uint ids[3];
    cl_int code;

    global[dimension] = groups;
    code = clEnqueueNDRangeKernel(r->queue, kernel, 3, NULL, global, local, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clEnqueueReadBuffer(r->queue, buffer, CL_TRUE, 0, sizeof(ids), ids, 0, NULL, NULL);
    if (code == CL_SUCCESS && ids[dimension] != groups - 1)
        code = CL_INVALID_VALUE;
    return code;
}

bool limits_probe(struct renderer *renderer, struct limit_row rows[LIMITS], struct err *err)
{
    struct opencl_renderer *r = (struct opencl_renderer *)renderer;
    const char *name = renderer->info.name;
    cl_kernel kernel = NULL;
    cl_mem buffer = NULL;
    cl_program program;
    bool ok = false;
    cl_int code;

    if (!renderer_program(r, "probe.cl", "", &program, err))
        return false;
    kernel = clCreateKernel(program, "probe", &code);
    if (kernel)
        buffer = clCreateBuffer(r->context, CL_MEM_READ_WRITE, 3 * sizeof(cl_uint), NULL, &code);
    if (buffer)
        code = clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
    for (size_t i = 0; buffer && code == CL_SUCCESS && i < GROUP_COUNTS; i++) {
        for (int d = 0; d < 3 && code == CL_SUCCESS; d++) {
            struct limit_row *row = &rows[LIMIT_GROUPS_X + d];
            if (i > 0 && row->has != group_counts[i - 1])
                continue;
            code = poison_ids(r, buffer);
            cl_int got = code == CL_SUCCESS ? probe(r, kernel, buffer, d, group_counts[i]) : code;
            if (i == 0 && got != CL_SUCCESS)
                code = got;
            if (got == CL_SUCCESS)
                row->has = group_counts[i];
            row->at_least = row->has == group_counts[GROUP_COUNTS - 1];
        }
    }
    ok = (buffer && code == CL_SUCCESS) || opencl_fail(err, code, "launching an empty kernel", name);
    if (buffer)
        clReleaseMemObject(buffer);
    if (kernel)
        clReleaseKernel(kernel);
    return ok;
}

/* ---- needs ---- */

static void raise(uint64_t *need, uint64_t to)
{
    *need = to > *need ? to : *need;
}

static void need_launch(uint64_t needs[LIMITS], const uint64_t groups[3], const uint64_t local[3])
{
    for (int d = 0; d < 3; d++) {
        raise(&needs[LIMIT_GROUPS_X + d], groups[d]);
        raise(&needs[LIMIT_ITEMS_X + d], local[d]);
    }
    raise(&needs[LIMIT_GROUP_SIZE], local[0] * local[1] * local[2]);
}

static void need_launches(const struct opencl_renderer *r, const struct render_spec *spec,
                          const struct tile_shape *shape, uint64_t scenes, uint64_t needs[LIMITS])
{
    const uint64_t tiles_x = (spec->width - 1) / tile_width(shape) + 1;
    const uint64_t tiles_y = (spec->height - 1) / tile_height(shape) + 1;
    const uint64_t gather = r->path == PATH_CPU ? 1 : GATHER_GROUP;

    if (!shape->whole)
        need_launch(needs, (const uint64_t[]){scenes, 1, 1}, (const uint64_t[]){shape->setup_group, 1, 1});
    if (shape->bin_tiles > 0)
        need_launch(needs,
                    (const uint64_t[]){(bin_count(shape, spec->width, spec->height) + BIN_GROUP - 1) / BIN_GROUP,
                                       BIN_WORDS(spec->triangles), scenes},
                    (const uint64_t[]){BIN_GROUP, 1, 1});
    need_launch(needs, (const uint64_t[]){tiles_x, (tiles_y + group_tiles(shape) - 1) / group_tiles(shape), scenes},
                (const uint64_t[]){shape->lanes, shape->teams, 1});
    if (spec->mode == MODE_GRADIENT && !shape->whole)
        need_launch(needs, (const uint64_t[]){(uint64_t)spec->triangles + 1, 1, scenes},
                    (const uint64_t[]){gather, 1, 1});
}

static bool need_kernel(struct opencl_renderer *r, const char *file, const char *name, const char *defines,
                        uint64_t needs[LIMITS], struct err *err)
{
    cl_program program;
    cl_kernel kernel;
    cl_ulong local = 0;
    cl_uint arguments = 0;
    cl_int code;

    if (!renderer_program(r, file, defines, &program, err))
        return false;
    kernel = clCreateKernel(program, name, &code);
    if (!kernel)
        return opencl_fail(err, code, "clCreateKernel", r->base.info.name);
    code = clGetKernelWorkGroupInfo(kernel, r->device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(local), &local, NULL);
    if (code == CL_SUCCESS)
        code = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(arguments), &arguments, NULL);
    clReleaseKernel(kernel);
    if (code != CL_SUCCESS || arguments == 0)
        return opencl_fail(err, code, "asking a kernel", r->base.info.name);
    raise(&needs[LIMIT_LOCAL_BYTES], local);
    raise(&needs[LIMIT_ARGUMENTS], arguments);
    /* The first is the sizes, by value; pointers have the host's width on all devices here. */
    raise(&needs[LIMIT_ARGUMENT_BYTES], sizeof(struct shared_view) + (arguments - 1) * sizeof(cl_mem));
    return true;
}

static bool need_kernels(struct opencl_renderer *r, const struct render_spec *spec,
                         const struct tile_shape *shape, uint64_t needs[LIMITS], struct err *err)
{
    struct strbuf defines = STRBUF_INIT;
    struct pass passes[MAX_PASSES];
    size_t count = passes_of(spec, passes), shape_length;
    bool ok;

    shape_defines(r->path, shape, &defines);
    ok = strbuf_ok(&defines, err) &&
         (shape->whole || (need_kernel(r, "setup.cl", "setup", strbuf_str(&defines), needs, err) &&
                           need_kernel(r, "gather.cl", "gather", strbuf_str(&defines), needs, err)));
    bin_defines(shape, &defines);
    shape_length = defines.len;
    ok = ok && strbuf_ok(&defines, err) &&
         (shape->bin_tiles == 0 || need_kernel(r, "bin.cl", "bin", strbuf_str(&defines), needs, err));
    for (size_t i = 0; ok && i < count; i++) {
        strbuf_cut(&defines, shape_length);
        pass_defines(spec, &passes[i], &defines);
        ok = strbuf_ok(&defines, err) &&
             need_kernel(r, pass_file(r->path, shape), pass_kernel(shape), strbuf_str(&defines), needs, err);
    }
    strbuf_fini(&defines);
    return ok;
}

bool limits_need(struct renderer *renderer, const struct render_spec *spec, bool kernels,
                 uint64_t needs[LIMITS], struct err *err)
{
    struct opencl_renderer *r = (struct opencl_renderer *)renderer;
    struct render_footprint footprint;
    struct err too_much = ERR_INIT;
    struct tile_shape shape;
    uint64_t scenes;

    if (!spec_check(spec, BACKEND_OPENCL, err) ||
        !renderer_shape(r, spec, &shape, err))
        return false;
    if (!renderer->ops->footprint(renderer, spec, &footprint, &too_much))
        err_fini(&too_much); /* its figures are there all the same */
    scenes = footprint.split ? (spec->batch + footprint.split - 1) / footprint.split : 1;
    if (spec->dispatch == DISPATCH_SINGLE && scenes > 1)
        scenes = 1;
    need_launches(r, spec, &shape, scenes, needs);
    raise(&needs[LIMIT_ALLOC_BYTES], footprint.largest_alloc_bytes);
    raise(&needs[LIMIT_TOTAL_BYTES], footprint.device_bytes);
    return !kernels || need_kernels(r, spec, &shape, needs, err);
}

bool limits_allow(struct renderer *renderer, const struct render_spec *spec, const struct tile_shape *shape,
                  struct err *err)
{
    struct limit_row rows[LIMITS];
    uint64_t needs[LIMITS] = {0};

    limits_of(renderer, rows);
    need_launches((const struct opencl_renderer *)renderer, spec, shape, 1, needs);
    needs[LIMIT_ARGUMENT_BYTES] = sizeof(struct shared_view) + (ARGUMENTS_MAX - 1) * sizeof(cl_mem);
    const enum limit_kind breaks = limits_exceeded(rows, needs);
    if (breaks == LIMITS)
        return true;
    return err_set(err, ERR_LIMIT, "%s: this call needs %llu, %s has %llu", rows[breaks].name,
                   (unsigned long long)needs[breaks], renderer->info.name, (unsigned long long)rows[breaks].has);
}

enum limit_kind limits_exceeded(const struct limit_row rows[LIMITS], const uint64_t needs[LIMITS])
{
    for (int i = 0; i < LIMITS; i++)
        if (rows[i].has && !rows[i].at_least && needs[i] > rows[i].has)
            return (enum limit_kind)i;
    return LIMITS;
}

static bool exceeded_at(struct renderer *renderer, const struct render_spec *spec, uint32_t side,
                        const struct limit_row rows[LIMITS], enum limit_kind *breaks, struct err *err)
{
    struct render_spec square = *spec;
    uint64_t needs[LIMITS] = {0};

    square.width = square.height = side;
    if (!limits_need(renderer, &square, false, needs, err))
        return false;
    *breaks = limits_exceeded(rows, needs);
    return true;
}

bool limits_largest(struct renderer *renderer, const struct render_spec *spec,
                    const struct limit_row rows[LIMITS], uint32_t *side, enum limit_kind *breaks,
                    struct err *err)
{
    uint32_t low = 0, high = SPEC_MAX_SIZE + 1;

    *breaks = LIMITS;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        enum limit_kind found;
        if (!exceeded_at(renderer, spec, middle, rows, &found, err))
            return false;
        if (found == LIMITS) {
            low = middle;
        } else {
            high = middle;
            *breaks = found;
        }
    }
    *side = low;
    return true;
}
