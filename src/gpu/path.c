#include "gpu/path.h"

#include <stdio.h>
#include <string.h>

#include "gpu/device.h"
#include "gpu/error.h"
#include "gpu/opencl.h"
#include "gpu/teams.h"

/* From cl_nv_device_attribute_query and cl_intel_required_subgroup_size; not in every header. */
#define DEVICE_COMPUTE_CAPABILITY_MAJOR_NV 0x4000
#define DEVICE_WARP_SIZE_NV 0x4003
#define DEVICE_SUB_GROUP_SIZES_INTEL 0x4108

#define REQUIRE_LANES " -DREQUIRE_LANES"

/* Runs lanes.cl, which comes out wrong where a team is not what its text was built for. */
static bool try_team(struct opencl_renderer *r, struct err *err)
{
    if (r->compiling)
        r->compiling();
    return teams_check(&r->base, err);
}

/* ---- sub-groups ---- */

#define MAX_SIZES 32

/* Whether kernels may ask for sub-groups of this size. */
static bool can_require(const struct opencl_renderer *r, uint32_t lanes)
{
    size_t sizes[MAX_SIZES], bytes = 0;

    if (!device_has_extension(&r->base.info, "cl_intel_required_subgroup_size") ||
        clGetDeviceInfo(r->device, DEVICE_SUB_GROUP_SIZES_INTEL, sizeof(sizes), sizes, &bytes) != CL_SUCCESS)
        return false;
    for (size_t i = 0; i < bytes / sizeof(sizes[0]); i++)
        if (sizes[i] == lanes)
            return true;
    return false;
}

static bool try_lanes(struct opencl_renderer *r, uint32_t lanes, struct err *err)
{
    const size_t length = r->build_options.len;

    r->lanes = lanes;
    if (can_require(r, lanes))
        strbuf_add(&r->build_options, REQUIRE_LANES);
    if (strbuf_ok(&r->build_options, err) && try_team(r, err))
        return true;
    strbuf_cut(&r->build_options, length);
    return false;
}

/* At least 16 lanes: each of a slot's sums ends up in one of its own (team_sum_slot). What the device prefers
 * first; CPU devices have none of their own, and prefer what fits their vectors. */
static bool find_subgroups(struct opencl_renderer *r, struct err *err)
{
    const uint64_t preferred = r->base.info.preferred_group_multiple;
    uint32_t sizes[] = {32, 16, 64};

    for (size_t i = 1; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i] == preferred) {
            sizes[i] = sizes[0];
            sizes[0] = (uint32_t)preferred;
        }
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        err_fini(err);
        if (try_lanes(r, sizes[i], err))
            return true;
        if (err->code != ERR_WRONG)
            break;
    }
    return false;
}

bool path_fits(const struct opencl_renderer *r, cl_kernel kernel, const struct tile_shape *shape,
               struct err *err)
{
    const size_t local[2] = {shape->lanes, shape->teams};
    size_t lanes = 0;

    /* Older devices do not tell. */
    if (r->path != PATH_SUBGROUPS || !device_has_version(&r->base.info, 2, 1))
        return true;
    cl_int code = clGetKernelSubGroupInfo(kernel, r->device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
                                          sizeof(local), local, sizeof(lanes), &lanes, NULL);
    if (code != CL_SUCCESS)
        return opencl_fail(err, code, "clGetKernelSubGroupInfo", r->base.info.name);
    return lanes == shape->lanes ||
           err_set(err, ERR_UNSUPPORTED,
                   "%s runs a kernel in sub-groups of %zu work-items that needs %u: try --path local",
                   r->base.info.name, lanes, (unsigned)shape->lanes);
}

/* ---- the others ---- */

static bool has_warps(cl_device_id device, const struct device_info *info)
{
    cl_uint warp = 0;

    return device_has_extension(info, "cl_nv_device_attribute_query") &&
           clGetDeviceInfo(device, DEVICE_WARP_SIZE_NV, sizeof(warp), &warp, NULL) == CL_SUCCESS &&
           warp == 32;
}

/* Atomics that order other memory accesses are of PTX's memory model, which begins with compute capability 7. Before it,
 * fences would do for stores; but loads may find in a cache what was there before. */
static bool has_ordering_atomics(cl_device_id device)
{
    cl_uint major = 0;

    return clGetDeviceInfo(device, DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, sizeof(major), &major, NULL) == CL_SUCCESS &&
           major >= 7;
}

/* Pixels that a CPU device's kernel holds in a vector. */
static uint32_t vector_lanes(const struct opencl_renderer *r)
{
    cl_uint floats = 0;

    return clGetDeviceInfo(r->device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof(floats), &floats, NULL) ==
                       CL_SUCCESS &&
                   floats >= 16
               ? 16
               : 8;
}

/* Why a device need not be tried; NULL: nothing that the path takes is missing. */
static const char *missing_for(enum gpu_path path, cl_device_id device, const struct device_info *info)
{
    if (path == PATH_PTX && !has_warps(device, info))
        return "it has no warps of NVIDIA's";
    return path == PATH_SUBGROUPS && !info->has_subgroups ? "it has no sub-groups" : NULL;
}

/* Whether r->path works: it is tried where it takes more than every device must have. */
static bool path_works(struct opencl_renderer *r, struct err *err)
{
    const char *missing = missing_for(r->path, r->device, &r->base.info);

    if (missing)
        return err_set(err, ERR_UNSUPPORTED, "%s", missing);
    switch (r->path) {
    case PATH_PTX:
        if (!try_team(r, err))
            return false;
        r->tile.apart = !has_ordering_atomics(r->device);
        return true;
    case PATH_SUBGROUPS:
        return find_subgroups(r, err);
    case PATH_CPU:
        r->lanes = vector_lanes(r);
        break;
    case PATH_LOCAL:
        break;
    }
    return true;
}

#define CANNOT_RUN "it cannot run the code path '%s': %s"

bool path_choose(struct opencl_renderer *r, const char *forced, struct err *err)
{
    struct device_info *info = &r->base.info;
    struct err why = ERR_INIT;
    bool works;

    r->path = info->kind == DEVICE_CPU ? PATH_CPU : PATH_PTX;
    if (forced && !path_parse(forced, &r->path, err))
        return false;
    while (!(works = path_works(r, &why)) && !forced) {
        if (r->path == PATH_SUBGROUPS && info->has_subgroups)
            snprintf(info->path_note, sizeof(info->path_note), "%s",
                     why.code == ERR_WRONG ? "its sub-groups do not have 16, 32 or 64 work-items"
                                           : "kernels with its sub-groups do not build or run");
        err_fini(&why);
        r->path++;
    }
    if (!works)
        err_set(err, ERR_UNSUPPORTED, CANNOT_RUN, path_name(r->path), why.text);
    err_fini(&why);
    snprintf(info->path, sizeof(info->path), "%s", path_name(r->path));
    return works && strbuf_ok(&r->build_options, err);
}

static void describe_opened(const char *forced, struct device_info *info)
{
    const struct opencl_options options = {.path = forced};
    struct renderer *renderer = NULL;
    struct err err = ERR_INIT;

    if (opencl_create(info->selector, &options, &renderer, &err)) {
        snprintf(info->path, sizeof(info->path), "%s", renderer->info.path);
        snprintf(info->path_note, sizeof(info->path_note), "%s", renderer->info.path_note);
        renderer->ops->destroy(renderer);
    } else if (forced && err.code == ERR_UNSUPPORTED) {
        snprintf(info->trouble, sizeof(info->trouble), "%.500s", err.text);
    }
    err_fini(&err);
}

void path_describe(cl_device_id device, const char *forced, struct device_info *info)
{
    struct err unknown = ERR_INIT;
    enum gpu_path path;

    if (info->trouble[0] != '\0')
        return;
    path = info->kind == DEVICE_CPU  ? PATH_CPU
           : has_warps(device, info) ? PATH_PTX
           : info->has_subgroups     ? PATH_SUBGROUPS
                                     : PATH_LOCAL;
    if (forced && !path_parse(forced, &path, &unknown))
        err_fini(&unknown); /* who opens the device is told */
    const char *missing = missing_for(path, device, info);
    if (missing)
        snprintf(info->trouble, sizeof(info->trouble), CANNOT_RUN, path_name(path), missing);
    else if (path == PATH_SUBGROUPS)
        describe_opened(forced, info);
    else
        snprintf(info->path, sizeof(info->path), "%s", path_name(path));
}
