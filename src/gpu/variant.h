/* Which kernel text runs: the code path of a device, the shape of a tile, and the macros for both. */
#ifndef GPUBENCH_GPU_VARIANT_H
#define GPUBENCH_GPU_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "model/device.h"
#include "model/spec.h"

/* kernels/lanes.h says what each is. */
enum gpu_path { PATH_PTX, PATH_SUBGROUPS, PATH_LOCAL, PATH_CPU };
#define PATH_COUNT 4
const char *path_name(enum gpu_path path);
/* false, ERR_USAGE with the names there are, for an unknown one. */
bool path_parse(const char *name, enum gpu_path *out, struct err *err) GB_NODISCARD;

/* A tile is blocks_x x blocks_y blocks of block_w x block_h pixels; a lane has a pixel (on PATH_CPU, a
 * vector of block_w x block_h pixels) in each block. */
struct tile_shape {
    uint32_t lanes; /* work-items a team */
    uint32_t teams; /* teams a work-group; each has a tile of its own, or all of them share one: */
    bool shared;    /* then each walks its part of the triangles */
    uint32_t block_w, block_h;
    uint32_t blocks_x, blocks_y;
    uint32_t list_room;   /* entries of a team's list of triangles */
    uint32_t setup_group; /* work-items of the setup kernel's work-groups */
    uint32_t bin_tiles;   /* tiles a bin, across and down (kernels/bin.cl); 0: no bins */
    bool whole;           /* scenes whole, in one launch (kernels/scene.cl) */
    uint32_t walk_unroll; /* triangles that the walks take at a time; 0: the compiler's choice */
};

/* Images of less than 2^13 pixels with less than 256 triangles, and with more; larger images. What a tile
 * should have is decided for each. */
enum tile_class { TILE_SMALL, TILE_DEEP, TILE_LARGE };
#define TILE_CLASSES 3
size_t tile_class(const struct render_spec *spec);

/* Pixels a tile: the rule's. */
uint32_t tile_rule(enum gpu_path path, size_t class);
#define TILE_LEAST_PIXELS 32u
#define TILE_MOST_PIXELS 256u

/* What is asked for, by hand or by what suits the device; zeros: choose. */
struct tile_request {
    bool whole; /* for specs that can be */
    bool apart; /* none can be: groups of the device cannot order what they write for each other */
    uint32_t blocks_x, blocks_y, teams;
    uint32_t pixels[TILE_CLASSES]; /* a tile: powers of two */
};
/* Whether specs that can be rendered whole are, on this path of a device, where that is asked for. */
bool can_be_whole(enum gpu_path path, const struct device_info *info, const struct tile_request *request);
/* "2x4", "2x4x2" or "whole"; ERR_USAGE for anything else. */
bool tile_parse(const char *text, struct tile_request *out, struct err *err) GB_NODISCARD;

/* Work-items a team on a path; subgroup_lanes: for PATH_SUBGROUPS. */
uint32_t tile_lanes(enum gpu_path path, uint32_t subgroup_lanes);
uint32_t tile_width(const struct tile_shape *shape);
uint32_t tile_height(const struct tile_shape *shape);
/* Tiles that a work-group spans, one above the other. */
uint32_t group_tiles(const struct tile_shape *shape);
uint64_t tile_count(const struct tile_shape *shape, uint32_t width, uint32_t height);
/* Work-groups that share an image's tiles. */
uint64_t group_count(const struct tile_shape *shape, uint32_t width, uint32_t height);

#define BIN_GROUP 64u /* work-items of the bin kernel's work-groups */
/* Bins of an image; 0 where the shape has none. */
uint64_t bin_count(const struct tile_shape *shape, uint32_t width, uint32_t height);

/* The shape for a spec on a device. lanes: of a sub-group, for PATH_SUBGROUPS; of a vector,
 * for PATH_CPU. ERR_UNSUPPORTED when spec.workgroup cannot be had. */
bool shape_choose(enum gpu_path path, const struct device_info *info, uint32_t lanes,
                  const struct tile_request *request, const struct render_spec *spec, struct tile_shape *out,
                  struct err *err) GB_NODISCARD;

/* The kernel file of the passes over tiles, and the kernel's name. */
const char *pass_file(enum gpu_path path, const struct tile_shape *shape);
const char *pass_kernel(const struct tile_shape *shape);
/* The macros of a path and shape; and those that bin.cl and tile.cl need beside them, none without bins. */
void shape_defines(enum gpu_path path, const struct tile_shape *shape, struct strbuf *out);
void bin_defines(const struct tile_shape *shape, struct strbuf *out);

/* The passes over tiles that a spec's call makes: one, or forward and backward. */
#define MAX_PASSES 2
struct pass {
    bool forward, backward;
    bool loss;  /* writes loss partials */
    bool image; /* writes the image */
};
size_t passes_of(const struct render_spec *spec, struct pass out[MAX_PASSES]);
void pass_defines(const struct render_spec *spec, const struct pass *pass, struct strbuf *out);

#endif
