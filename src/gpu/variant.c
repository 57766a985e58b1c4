#include "gpu/variant.h"

#include <stdio.h>
#include <string.h>

#include "base/suggest.h"

static const char *const path_names[PATH_COUNT + 1] = {"ptx", "subgroups", "local", "cpu", NULL};
static const char *const path_macros[PATH_COUNT] = {"PATH_PTX", "PATH_SUBGROUPS", "PATH_LOCAL", "PATH_CPU"};

const char *path_name(enum gpu_path path)
{
    return path_names[path];
}

bool path_parse(const char *name, enum gpu_path *out, struct err *err)
{
    for (int i = 0; i < PATH_COUNT; i++) {
        if (strcmp(name, path_names[i]) == 0) {
            *out = (enum gpu_path)i;
            return true;
        }
    }
    return err_set(err, ERR_USAGE,
                   "no OpenCL code path is called '%s'; there are ptx, subgroups, local and cpu", name);
}

uint32_t tile_lanes(enum gpu_path path, uint32_t subgroup_lanes)
{
    switch (path) {
    case PATH_PTX:
        return 32;
    case PATH_SUBGROUPS:
        return subgroup_lanes;
    case PATH_LOCAL:
        return 64;
    case PATH_CPU:
        break;
    }
    return 1;
}

uint32_t tile_width(const struct tile_shape *shape)
{
    return shape->block_w * shape->blocks_x;
}

uint32_t tile_height(const struct tile_shape *shape)
{
    return shape->block_h * shape->blocks_y;
}

static uint32_t parts_of(uint32_t whole, uint32_t part)
{
    return (whole + part - 1) / part;
}

uint64_t bin_count(const struct tile_shape *shape, uint32_t width, uint32_t height)
{
    if (shape->bin_tiles == 0)
        return 0;
    return (uint64_t)parts_of(width, shape->bin_tiles * tile_width(shape)) *
           parts_of(height, shape->bin_tiles * tile_height(shape));
}

uint32_t group_tiles(const struct tile_shape *shape)
{
    return shape->shared ? 1 : shape->teams;
}

uint64_t tile_count(const struct tile_shape *shape, uint32_t width, uint32_t height)
{
    return (uint64_t)parts_of(width, tile_width(shape)) * parts_of(height, tile_height(shape));
}

uint64_t group_count(const struct tile_shape *shape, uint32_t width, uint32_t height)
{
    return (uint64_t)parts_of(width, tile_width(shape)) * parts_of(height, tile_height(shape) * group_tiles(shape));
}

/* A block's bit in an entry of a team's list. */
#define MAX_BLOCKS 16u

bool tile_parse(const char *text, struct tile_request *out, struct err *err)
{
    unsigned x = 0, y = 0, teams = 1;
    int end = 0;

    if (strcmp(text, "whole") == 0) {
        *out = (struct tile_request){.whole = true};
        return true;
    }
    const bool read = (sscanf(text, "%ux%u%n", &x, &y, &end) == 2 && !text[end]) ||
                      (sscanf(text, "%ux%ux%u%n", &x, &y, &teams, &end) == 3 && !text[end]);

    if (!read || x < 1 || y < 1 || x > MAX_BLOCKS || y > MAX_BLOCKS || x * y > MAX_BLOCKS || teams < 1 || teams > 8)
        return err_set(
            err, ERR_USAGE,
            "'%s' is no tile: blocks across x blocks down (at most %u together), such as 2x4, or with "
            "teams a work-group (at most 8), 2x4x2; or 'whole'",
            text, MAX_BLOCKS);
    *out = (struct tile_request){.blocks_x = x, .blocks_y = y, .teams = teams};
    return true;
}

static bool is_power_of_two(uint32_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* What spec.workgroup means on each path. */
static bool apply_workgroup(enum gpu_path path, const struct device_info *info, uint32_t workgroup,
                            struct tile_shape *shape, struct err *err)
{
    if (workgroup == 0)
        return true;
    if (workgroup > info->max_work_group_size)
        return err_set(err, ERR_UNSUPPORTED, "workgroup=%u: %s takes at most %llu work-items a group",
                       workgroup, info->name, (unsigned long long)info->max_work_group_size);
    switch (path) {
    case PATH_CPU:
        if (workgroup != 1)
            return err_set(err, ERR_UNSUPPORTED, "workgroup=%u: on a CPU device a tile is one work-item's",
                           workgroup);
        return true;
    case PATH_LOCAL:
        if (!is_power_of_two(workgroup) || workgroup < 16 || workgroup > 256)
            return err_set(err, ERR_UNSUPPORTED, "workgroup=%u: one of 16, 32, 64, 128 and 256", workgroup);
        shape->lanes = workgroup;
        shape->block_h = workgroup / shape->block_w;
        return true;
    case PATH_PTX:
    case PATH_SUBGROUPS:
        break;
    }
    if (workgroup % shape->lanes != 0 || workgroup / shape->lanes > 8 ||
        (path == PATH_SUBGROUPS && workgroup != shape->lanes))
        return err_set(err, ERR_UNSUPPORTED, "workgroup=%u: %s", workgroup,
                       path == PATH_PTX ? "a multiple of the warp's 32 work-items, at most 256"
                                        : "on this device a work-group is one sub-group");
    shape->teams = workgroup / shape->lanes;
    return true;
}

size_t tile_class(const struct render_spec *spec)
{
    return (uint64_t)spec->width * spec->height >= 8192 ? TILE_LARGE
           : spec->triangles >= 256                     ? TILE_DEEP
                                                        : TILE_SMALL;
}

uint32_t tile_rule(enum gpu_path path, size_t class)
{
    return class == TILE_LARGE ? 128 : class == TILE_DEEP && path == PATH_PTX ? 64 : 32;
}

/* Large tiles share what a triangle costs among more pixels; small ones make enough of them to fill a device,
 * and so do teams that share a tile. 16 scenes on an NVIDIA H200, the main kernel in us; tiles of 1x1, 2x1
 * and 2x2 blocks of 8x4, and of teams that share one:
 *
 *                             1x1  1x1x4  2x1  2x1x2  2x1x4  2x2  2x2x2  2x2x4
 *   64x64, 32 triangles        15     21   18     16     18   22     19     17
 *   64x64, 512 triangles       73     69   89     69     65  120     77     65
 *   128x128, 128 triangles     52     84   49     51     65   44     49     58
 *   256x256, 512 triangles    474    636  378    396    489  350    353    399
 *
 * (Tiles that are walked by one edge alone came after it, and lists that are dealt out: 2x2 now takes 37 and 242 us in
 * the last two rows, 2x1x4 50 us in the second. More registers than 128 a lane cost warps; the driver's
 * -cl-nv-maxrregcount says nothing to kernels that require their size of work-group, and without that they are slower.)
 *
 * 64x64 with 64, 128 and 255 triangles, all kernels: 30, 38 and 55 us by 1x1, 28, 35 and 47 by 2x1x2. But recomputed and
 * taped passes, which do not share, and forward ones, are faster by 1x1.
 *
 * The batch has no say: a scene's sums are the same to the bit in every batch. */
static void choose_blocks(enum gpu_path path, const struct tile_request *request,
                          const struct render_spec *spec, struct tile_shape *out)
{
    const size_t class = tile_class(spec);
    const bool teams_open = path == PATH_PTX && spec->workgroup == 0;
    uint32_t pixels_wanted = request->pixels[class] > 0 ? request->pixels[class] : tile_rule(path, class);

    if (teams_open && class == TILE_DEEP) {
        out->teams = 4;
    } else if (teams_open && class == TILE_SMALL && spec->mode == MODE_GRADIENT &&
               spec->strategy == STRATEGY_FUSED) {
        out->teams = 2;
        pixels_wanted *= 2; /* what the two share */
    }
    out->blocks_x = out->blocks_y = 1;
    while (out->lanes * out->blocks_x * out->blocks_y < pixels_wanted) {
        if (out->block_h * out->blocks_y < out->block_w * out->blocks_x)
            out->blocks_y *= 2;
        else
            out->blocks_x *= 2;
    }
}

/* Small bins leave tiles less to look at; more than 1024 of them take more memory than the triangles do. */
#define MOST_BINS 1024u

static void choose_bins(const struct render_spec *spec, struct tile_shape *out)
{
    if (spec->triangles < SPEC_MANY_TRIANGLES)
        return;
    for (out->bin_tiles = 4; bin_count(out, spec->width, spec->height) > MOST_BINS;)
        out->bin_tiles *= 2;
    if (bin_count(out, spec->width, spec->height) == 1)
        out->bin_tiles = 0;
}

static bool choose_tile(enum gpu_path path, const struct device_info *info, uint32_t lanes,
                        const struct tile_request *request, const struct render_spec *spec,
                        struct tile_shape *out, struct err *err)
{
    *out = (struct tile_shape){.teams = 1, .block_w = 8, .blocks_x = 2, .blocks_y = 2, .list_room = 256};
    switch (path) {
    case PATH_CPU:
        out->lanes = 1;
        out->block_w = out->blocks_x = 4;
        out->block_h = lanes / out->block_w;
        out->blocks_y = 16 / out->block_h;
        out->list_room = 1024;
        out->setup_group = 1;
        return apply_workgroup(path, info, spec->workgroup, out, err);
    case PATH_LOCAL:
    case PATH_PTX:
    case PATH_SUBGROUPS:
        out->lanes = tile_lanes(path, lanes);
        break;
    }
    out->block_h = out->lanes / out->block_w;
    if (!apply_workgroup(path, info, spec->workgroup, out, err))
        return false;
    if (request->blocks_x > 0) {
        out->blocks_x = request->blocks_x;
        out->blocks_y = request->blocks_y;
        out->teams = path == PATH_PTX ? request->teams : out->teams;
    } else if (info->kind == DEVICE_CPU) {
        out->blocks_x = out->blocks_y = 1; /* a path forced on it: what compiles soonest */
    } else {
        choose_blocks(path, request, spec, out);
    }
    /* Many small groups: what they write is spread over the device. */
    out->setup_group = spec->triangles > 32 ? 64 : 32;
    return true;
}

/* Images of so many pixels take less time by scene.cl alone than by three launches. One launch, and three, of 16 scenes
 * with 32 triangles on an NVIDIA H200, in us: 128x128: 19 and 31, 192x192: 33 and 40, 256x256: 53 and 53. */
#define WHOLE_PIXELS (192u * 192u)
#define WHOLE_TRIANGLES 32u /* a lane each */
#define WHOLE_TEAMS 4u

bool can_be_whole(enum gpu_path path, const struct device_info *info, const struct tile_request *request)
{
    return path == PATH_PTX ? !request->apart
                            : request->whole && path == PATH_LOCAL && info->kind == DEVICE_CPU; /* tests do so */
}

static bool is_whole(enum gpu_path path, const struct device_info *info, const struct tile_request *request,
                     const struct render_spec *spec)
{
    const bool fits = spec->mode == MODE_GRADIENT && spec->strategy == STRATEGY_FUSED &&
                      spec->reduction == REDUCTION_ORDERED && spec->workgroup == 0 && spec->triangles > 0 &&
                      spec->triangles <= WHOLE_TRIANGLES;

    return fits && can_be_whole(path, info, request) &&
           (request->whole || (request->blocks_x == 0 && spec->width * spec->height <= WHOLE_PIXELS));
}

bool shape_choose(enum gpu_path path, const struct device_info *info, uint32_t lanes,
                  const struct tile_request *request, const struct render_spec *spec, struct tile_shape *out,
                  struct err *err)
{
    if (!choose_tile(path, info, lanes, request, spec, out, err))
        return false;
    /* Other strategies walk their passes apart, and need the canvas of all teams. */
    const bool may_share = path == PATH_PTX && out->teams > 1 &&
                           (spec->mode == MODE_FORWARD || spec->strategy == STRATEGY_FUSED);
    /* Bins are of no use to teams that share one of few tiles: 64x64 with 2048 to 65536 triangles take 0.66 to 0.36 of
     * the time that they take with bins, where each team has a tile of its own (NVIDIA H200). */
    if (!may_share || tile_class(spec) != TILE_DEEP)
        choose_bins(spec, out);
    out->shared = may_share && out->bin_tiles == 0;
    out->whole = is_whole(path, info, request, spec);
    if (out->whole) {
        out->shared = false;
        out->lanes = WHOLE_TRIANGLES;
        out->block_h = out->lanes / out->block_w;
        out->blocks_x = out->blocks_y = 1;
        out->teams = path == PATH_PTX ? WHOLE_TEAMS : 1;
    }
    return true;
}

const char *pass_file(enum gpu_path path, const struct tile_shape *shape)
{
    return path == PATH_CPU ? "tile_cpu.cl" : shape->whole ? "scene.cl" : "tile.cl";
}

const char *pass_kernel(const struct tile_shape *shape)
{
    return shape->whole ? "scene_pass" : "tile_pass";
}

void shape_defines(enum gpu_path path, const struct tile_shape *shape, struct strbuf *out)
{
    strbuf_addf(out, " -D%s -DTILE_W=%uu -DTILE_H=%uu -DSETUP_GROUP=%uu", path_macros[path],
                (unsigned)tile_width(shape), (unsigned)tile_height(shape), (unsigned)shape->setup_group);
    strbuf_addf(out, " -DBLOCK_W=%uu -DBLOCKS_X=%uu -DBLOCKS_Y=%uu -DLIST_ROOM=%uu", (unsigned)shape->block_w,
                (unsigned)shape->blocks_x, (unsigned)shape->blocks_y, (unsigned)shape->list_room);
    if (shape->walk_unroll > 0)
        strbuf_addf(out, " -DWALK_UNROLL=%u", (unsigned)shape->walk_unroll);
    if (path == PATH_CPU)
        strbuf_addf(out, " -DWIDTH=%uu", (unsigned)(shape->block_w * shape->block_h));
    else
        strbuf_addf(out, " -DLANES=%uu -DTEAMS=%uu%s", (unsigned)shape->lanes, (unsigned)shape->teams,
                    shape->shared ? " -DSHARED_TILE" : "");
}

void bin_defines(const struct tile_shape *shape, struct strbuf *out)
{
    if (shape->bin_tiles > 0)
        strbuf_addf(out, " -DBIN_TILES=%uu -DBIN_GROUP=%uu", (unsigned)shape->bin_tiles, BIN_GROUP);
}

size_t passes_of(const struct render_spec *spec, struct pass out[MAX_PASSES])
{
    bool device_loss = spec->mode == MODE_GRADIENT && !spec->upstream && spec->loss == LOSS_DEVICE;

    if (spec->mode == MODE_FORWARD) {
        out[0] = (struct pass){.forward = true, .image = true};
        return 1;
    }
    if (spec->strategy == STRATEGY_FUSED) {
        out[0] =
            (struct pass){.forward = true, .backward = true, .loss = device_loss, .image = spec->keep_images};
        return 1;
    }
    out[0] = (struct pass){.forward = true, .loss = device_loss, .image = true};
    out[1] = (struct pass){.backward = true};
    return 2;
}

void pass_defines(const struct render_spec *spec, const struct pass *pass, struct strbuf *out)
{
    static const char *const strategies[] = {"STRATEGY_FUSED", "STRATEGY_RECOMPUTE", "STRATEGY_TAPED"};
    static const char *const reductions[] = {"REDUCTION_ORDERED", "REDUCTION_LOCAL", "REDUCTION_DIRECT"};

    if (pass->forward)
        strbuf_add(out, " -DPASS_FORWARD");
    if (pass->loss)
        strbuf_add(out, " -DWITH_LOSS");
    if (pass->image)
        strbuf_add(out, " -DWITH_IMAGE");
    if (spec->mode == MODE_FORWARD)
        return;
    strbuf_addf(out, " -D%s", strategies[spec->strategy]);
    if (pass->backward)
        strbuf_addf(out, " -DPASS_BACKWARD -D%s%s", reductions[spec->reduction],
                    spec->upstream ? " -DUPSTREAM" : "");
}
