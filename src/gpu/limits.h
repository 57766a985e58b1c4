/* What a device guarantees, what a spec needs of it, and what the OpenCL specification promises at least. */
#ifndef GPUBENCH_GPU_LIMITS_H
#define GPUBENCH_GPU_LIMITS_H

#include <stdint.h>

#include "gpu/variant.h"
#include "model/renderer.h"

enum limit_kind {
    LIMIT_ITEMS_X, /* work-items of a work-group */
    LIMIT_ITEMS_Y,
    LIMIT_ITEMS_Z,
    LIMIT_GROUP_SIZE,
    LIMIT_GROUPS_X, /* work-groups of a launch */
    LIMIT_GROUPS_Y,
    LIMIT_GROUPS_Z,
    LIMIT_LOCAL_BYTES,
    LIMIT_ARGUMENTS,
    LIMIT_ARGUMENT_BYTES,
    LIMIT_CONSTANT_BYTES,
    LIMIT_ALLOC_BYTES,
    LIMIT_TOTAL_BYTES,
    LIMITS
};

struct limit_row {
    const char *name;
    bool is_bytes;
    uint64_t promised; /* by OpenCL 3.0, table 5 (full profile); 0: nothing */
    uint64_t has;      /* 0: the driver does not tell */
    bool at_least;     /* has was found by trying: more may work */
};

/* What the driver tells of an OpenCL renderer's device. Work-group counts are 0: limits_probe finds them. */
void limits_of(const struct renderer *renderer, struct limit_row rows[LIMITS]);

/* Launches an empty kernel in more and more groups, and fills rows of the group counts. A launch that fails
 * may leave the renderer unusable: it should be destroyed afterwards. ERR_OPENCL only when not even one group
 * runs. */
bool limits_probe(struct renderer *renderer, struct limit_row rows[LIMITS], struct err *err) GB_NODISCARD;

/* Raises needs[] to what a call of this spec takes, in the slices that it is cut into; kernels: also builds
 * its kernels and asks them for local memory and arguments (without it these two stay as they are). Memory
 * that does not fit is no error: needs are then those of the smallest slice. ERR_UNSUPPORTED, ERR_BUILD:
 * there is no such call. */
bool limits_need(struct renderer *renderer, const struct render_spec *spec, bool kernels,
                 uint64_t needs[LIMITS], struct err *err) GB_NODISCARD;

/* Whether a spec's launches and their arguments are within what the device tells, memory aside; otherwise
 * ERR_LIMIT with both figures. */
bool limits_allow(struct renderer *renderer, const struct render_spec *spec, const struct tile_shape *shape,
                  struct err *err) GB_NODISCARD;

/* The first that is too small; LIMITS when none is, as far as the device tells. */
enum limit_kind limits_exceeded(const struct limit_row rows[LIMITS], const uint64_t needs[LIMITS]);

/* The largest square picture that a spec can have with all else as it is, up to SPEC_MAX_SIZE, and what the
 * next larger one breaks (LIMITS: nothing but SPEC_MAX_SIZE). *side is 0 when not even one pixel fits. */
bool limits_largest(struct renderer *renderer, const struct render_spec *spec,
                    const struct limit_row rows[LIMITS], uint32_t *side, enum limit_kind *breaks,
                    struct err *err) GB_NODISCARD;

#endif
