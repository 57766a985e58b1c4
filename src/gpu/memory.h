/* How much a spec takes on a device, and into how many slices its batch goes. */
#ifndef GPUBENCH_GPU_MEMORY_H
#define GPUBENCH_GPU_MEMORY_H

#include <stdint.h>

#include "base/err.h"
#include "gpu/variant.h"
#include "model/renderer.h"

/* Bytes of each buffer for one scene; 0 for those that the spec does not use on the device. */
struct scene_bytes {
    uint64_t in, goal, image, out, triangles, bounds, bins, slots, tape, loss, group_counts;
};

struct memory_plan {
    struct scene_bytes scene;
    uint64_t resident_bytes; /* targets of the whole batch, for CALL_RESIDENT */
    uint32_t slice_scenes;   /* scenes a dispatch */
    struct render_footprint footprint;
};

struct memory_limits {
    uint64_t budget_bytes, max_alloc_bytes;
    bool shared; /* the device works in the caller's arrays */
};

#define MAX_SLICE_SCENES 65535u /* what devices take as the third dimension of a launch */

/* Whether the image comes to the host in a call. */
bool image_to_host(const struct render_spec *spec);
/* Whether any pass reads or writes an image in memory. */
bool image_in_memory(const struct render_spec *spec);
bool uses_slots(const struct render_spec *spec);
/* Partial sums that a scene may have, where the shape has a place for each (kernels/scene.cl). */
uint64_t whole_slots(const struct render_spec *spec, const struct tile_shape *shape);

/* slot_capacity: partial sums a scene, where the spec has any. Fills out even when it does not fit, which
 * is ERR_LIMIT with both figures. A tape is not split: what does not fit is refused. */
bool memory_plan(const struct render_spec *spec, const struct tile_shape *shape, uint64_t slot_capacity,
                 const struct memory_limits *limits, struct memory_plan *out, struct err *err) GB_NODISCARD;

#endif
