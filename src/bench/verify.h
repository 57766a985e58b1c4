/* Correctness alone: a golden case on a renderer, in one variant, compared with the case's own tolerances. */
#ifndef GPUBENCH_BENCH_VERIFY_H
#define GPUBENCH_BENCH_VERIFY_H

#include <stddef.h>

#include "base/err.h"
#include "model/agreement.h"
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
    struct err err;             /* VERIFY_SKIPPED (what the device cannot do) and VERIFY_FAILED; err_fini */
};

/* Poisons the outputs, renders the case, compares. The verdict is in *out; nothing else can fail. */
void verify_case(struct renderer *renderer, const struct golden_case *c, const struct verify_variant *variant,
                 struct verify_result *out);

#endif
