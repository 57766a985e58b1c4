/* Correctness alone: a golden case on a renderer, in one variant, compared with the case's own tolerances. */
#ifndef GPUBENCH_BENCH_VERIFY_H
#define GPUBENCH_BENCH_VERIFY_H

#include <stddef.h>

#include "base/err.h"
#include "model/agreement.h"
#include "model/finite_diff.h"
#include "model/golden.h"
#include "model/renderer.h"

enum verify_verdict { VERIFY_OK, VERIFY_WRONG, VERIFY_SKIPPED, VERIFY_FAILED };

/* One way to compute a case: "fast", "fused + ordered", "forward". */
struct verify_variant {
    char name[48];
    struct render_spec spec; /* mode and the backend's own keys; the case gives the rest */
};

/* Every variant that a backend has; *out is the caller's to free. */
bool verify_variants(enum backend_kind kind, struct verify_variant **out, size_t *count,
                     struct err *err) GB_NODISCARD;

struct verify_result {
    enum verify_verdict verdict;
    struct agreement errors;    /* groups that the variant does not compute: NAN */
    enum agreement_group worst; /* VERIFY_WRONG: the group furthest over its tolerance */
    struct err err;             /* VERIFY_SKIPPED (what the device cannot do) and VERIFY_FAILED */
    float *image, *grads;       /* owned; what was computed, [H][W][3] and [T][10]; NULL where nothing was */
    double loss;
};
void verify_result_fini(struct verify_result *result); /* accepts a zeroed one */

/* Poisons the outputs, renders the case, compares. The verdict is in *out; nothing else can fail. */
void verify_case(struct renderer *renderer, const struct golden_case *c, const struct verify_variant *variant,
                 struct verify_result *out);

/* How far two results of a case are apart, as the golden case compares; b is taken for right. Groups that one
 * of them lacks: NAN. */
bool verify_compare(const struct golden_case *c, const struct verify_result *a, const struct verify_result *b,
                    struct agreement *errors, struct err *err) GB_NODISCARD;

/* Central differences of the loss of the renderer's own images (worked out in double) against its gradient,
 * for each step of steps[count] (model/finite_diff.h). variant is a gradient one. */
bool verify_finite_differences(struct renderer *renderer, const struct golden_case *c,
                               const struct verify_variant *variant, const double *steps, size_t count,
                               struct finite_diff_error *errors, struct err *err) GB_NODISCARD;

/* How far the gradients and the loss of repeated calls are from those of the first one. */
struct verify_spread {
    uint64_t values;    /* gradients and losses compared */
    uint64_t differing; /* of them those that were not the same to the bit in every call */
    uint32_t units;     /* the largest difference, in units in the last place of a float; UINT32_MAX: not finite */
    double relative;    /* the largest ||difference||2 / ||first||2 over a call's gradients, or its loss */
};

/* Calls a gradient variant `repeats` times on the same case. ERR_UNSUPPORTED, ERR_LIMIT: the device cannot. */
bool verify_repeats(struct renderer *renderer, const struct golden_case *c, const struct verify_variant *variant,
                    uint64_t repeats, struct verify_spread *out, struct err *err) GB_NODISCARD;

/* Whether the variant promises the same bits in every call: ordered sums, and the OpenMP renderer. */
bool verify_reproducible(enum backend_kind kind, const struct verify_variant *variant);

#endif
