/* Times loops of uneven lanes on a device, laid out as asked for (kernels/groups.cl). */
#ifndef GPUBENCH_GPU_GROUPS_H
#define GPUBENCH_GPU_GROUPS_H

#include <stdint.h>

#include "model/lanes.h"
#include "model/march.h"
#include "model/renderer.h"

/* How much is launched, and how often. */
struct groups_effort {
    uint32_t repeats; /* of the whole work in one launch: a device has to be full */
    uint32_t rounds;  /* launches that are timed; the median counts */
    uint32_t local;   /* work-items a work-group: as many as run in lock step, so that none waits for another group */
};

struct groups_scene {
    uint32_t width, height, triangles;
    float sigma;
    const float *params;     /* [T][10] */
    const float *background; /* [3] */
    const struct pixel_lists *lists;
};

/* image: [H][W][3], of the last repeat. device_ns: of one launch, by the device's events. */
bool groups_walk(struct renderer *renderer, const struct groups_scene *scene, const struct lane_order *order,
                 const struct groups_effort *effort, float *image, uint64_t *device_ns,
                 struct err *err) GB_NODISCARD;

/* each: steps that every ray takes, whatever it meets; 0: as far as it goes. steps: [MARCH_RAYS], of the last
 * repeat. */
bool groups_march(struct renderer *renderer, const float directions[MARCH_RAYS][2],
                  const struct lane_order *order, const struct groups_effort *effort, uint32_t each,
                  uint32_t *steps, uint64_t *device_ns, struct err *err) GB_NODISCARD;

#endif
