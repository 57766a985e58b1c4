/* The workloads of `lanes`: how many steps each lane needs, and in which orders lanes are laid. */
#ifndef GPUBENCH_CLI_LANES_WORK_H
#define GPUBENCH_CLI_LANES_WORK_H

#include "model/lanes.h"
#include "model/march.h"
#include "model/scene.h"
#include "model/spec.h"

struct lanes_work {
    const char *name;
    uint32_t width, height;
    uint32_t *steps;                        /* owned; [height][width] */
    struct lane_order orders[LANE_LAYOUTS]; /* of no lanes where a layout makes no sense */
};

/* A random scene, its triangles tested and composited a pixel, and marched rays. */
struct lanes_set {
    uint64_t seed;
    struct render_spec spec;
    float background[3];
    float *params;            /* owned; [T][10] */
    double *image;            /* owned; [H][W][3], by the reference */
    struct pixel_lists lists; /* what is tested */
    float directions[MARCH_RAYS][2];
    struct lanes_work tested, covered, rays;
};

/* set->seed is given. Size, triangles and sigma are spec's. */
bool lanes_set_init(struct lanes_set *set, const struct render_spec *spec, struct err *err) GB_NODISCARD;
void lanes_set_fini(struct lanes_set *set); /* accepts one that only has a seed */

#endif
