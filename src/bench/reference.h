/* The right answer of a point, once, by the double-precision oracle; and how far a job's outputs are from it.
 *
 * Whole while the point has at most 10^7 pairs in bounds; above that, scenes evenly spread over the batch
 * while they stay below; where a single scene has more, pixels of the first and the last scene, with all
 * their triangles. What is not compared is looked at for NaN and infinity. No backend takes part.
 */
#ifndef GPUBENCH_BENCH_REFERENCE_H
#define GPUBENCH_BENCH_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "bench/inputs.h"
#include "model/agreement.h"
#include "model/renderer.h"

/* How much is compared. */
struct reference_limits {
    uint64_t pairs;   /* in bounds, of all compared scenes */
    uint64_t pixels;  /* of all compared scenes: 24 bytes each are held */
    uint64_t counted; /* pairs in bounds of the batch; above it covered pairs are estimated */
};
extern const struct reference_limits reference_limits; /* 10^7 pairs, 2^24 pixels, 10^8 counted */

struct reference_scene {
    uint32_t index; /* in the batch */
    double loss;
    double *image; /* owned; [H][W][3], or [pixel_count][3] where pixels are sampled; NULL: not compared */
    double *grads; /* owned; [T][10]; NULL in forward mode */
    struct agreement tolerance;
};

struct reference {
    struct render_spec spec;
    struct reference_scene *scenes; /* owned; those that are compared */
    size_t scene_count;
    uint64_t *pixels;   /* owned; ascending, y * W + x; NULL: pictures are compared whole */
    size_t pixel_count; /* W * H where they are whole */
    uint64_t pairs;     /* covered, of the whole batch */
    uint64_t opaque;    /* of them, those of ORACLE_OPAQUE and more */
    uint64_t in_bounds;
    bool pairs_estimated;
    /* Covering triangles of the pixels of all rendered scenes: 99 % have at most so many, none more than most. */
    uint32_t layers_p99, layers_most;
    uint64_t tape_touched_bytes; /* of the whole batch */
};

/* Pairs in bounds of the whole batch; a small part of what reference_init does. Pictures and targets are not needed. */
bool reference_pairs(const struct inputs *in, uint64_t *pairs, struct err *err) GB_NODISCARD;

bool reference_init(struct reference *ref, const struct inputs *in, const struct reference_limits *limits,
                    struct err *err) GB_NODISCARD;
void reference_fini(struct reference *ref); /* accepts NULL and a zeroed one */

/* Compares what io holds with the reference and widens *errors to the worst of all scenes: images where both
 * have them; losses and gradients unless only_images. false, with ERR_WRONG saying what is how far off in
 * which scene, when a tolerance is exceeded or an element was not written. */
bool reference_check(const struct reference *ref, const struct render_io *io, bool only_images,
                     struct agreement *errors, struct err *err);

/* Where pixels are sampled, losses and gradients of whole pictures are not known. This makes them those of
 * the sampled pixels: at every other pixel of a compared scene the target becomes what io->image holds, so
 * that it adds exactly nothing (upstream gradients become 0). io is a job's that has just been called. */
void reference_narrow(const struct reference *ref, const struct render_io *io);

/* Losses and gradients that a verified job gave, for checking later calls of the same cell where pixels are
 * sampled: the same scenes and tolerances, no images. */
bool reference_from_outputs(struct reference *out, const struct reference *ref, const struct render_io *io,
                            struct err *err) GB_NODISCARD;

#endif
