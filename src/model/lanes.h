/* Lock-step groups: a device runs some lanes together, and a group takes as long as its slowest lane. How
 * full the lanes are follows from how many steps each one needs, which lanes share a group, and nothing else.
 */
#ifndef GPUBENCH_MODEL_LANES_H
#define GPUBENCH_MODEL_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* How the pixels of a picture are laid into lanes. */
enum lane_layout { LANES_ROWS, LANES_8X4, LANES_8X8, LANES_MORTON, LANES_SHUFFLED };
#define LANE_LAYOUTS 5
const char *lane_layout_name(enum lane_layout layout); /* "rows", "8x4 blocks", ... */

#define LANES_IDLE UINT32_MAX /* a lane without a pixel, where blocks hang over the edge */
#define LANES_MAX_GROUP 64u

/* Pixels (y * width + x), lane by lane; count is a multiple of LANES_MAX_GROUP. */
struct lane_order {
    uint32_t *pixels; /* owned */
    size_t count;
};

/* seed: of the shuffle. */
bool lane_order_init(enum lane_layout layout, uint32_t width, uint32_t height, uint64_t seed,
                     struct lane_order *out, struct err *err) GB_NODISCARD;
void lane_order_fini(struct lane_order *order); /* accepts a zeroed one */

/* Lane-steps: those that lanes need, and those that they are held for, which is the most steps of any lane in
 * a group, times its width. */
struct occupancy {
    uint64_t used, held;
};
/* steps: of each pixel; group: lanes, at most LANES_MAX_GROUP; cap: a lane stops after so many steps (0:
 * never). */
struct occupancy lanes_occupancy(const uint32_t *steps, const struct lane_order *order, uint32_t group,
                                 uint32_t cap);
double occupancy_full(const struct occupancy *o); /* used / held; 1 where nothing is held */

/* The triangles whose padded bounds hold each pixel, from back to front: those of pixel p are
 * list[first[p] ... first[p + 1]). */
struct pixel_lists {
    uint32_t *first; /* owned; [pixels + 1] */
    uint32_t *list;  /* owned */
};
/* ERR_LIMIT when there are 2^32 pairs and more. */
bool pixel_lists_init(const float *params, uint32_t triangles, float sigma, uint32_t width, uint32_t height,
                      struct pixel_lists *out, struct err *err) GB_NODISCARD;
/* Lists of one length, the mean of the given ones, each going round its own triangles; empty ones stay so. What
 * lanes read is as uneven as before, and how many steps they take is not. */
bool pixel_lists_even(const struct pixel_lists *lists, size_t pixels, struct pixel_lists *out,
                      struct err *err) GB_NODISCARD;
void pixel_lists_fini(struct pixel_lists *lists); /* accepts a zeroed one */

#endif
