/* The devices that verify runs on, each opened once. */
#ifndef GPUBENCH_CLI_VERIFY_SUBJECTS_H
#define GPUBENCH_CLI_VERIFY_SUBJECTS_H

#include "bench/verify.h"
#include "cli/measure_options.h"
#include "cli/verify_pairs.h"

struct subject {
    struct renderer *renderer;       /* owned */
    struct verify_variant *variants; /* owned; every one of its backend */
    size_t variant_count;
    size_t default_variant; /* the first gradient one */
};

struct subjects {
    struct subject *list; /* owned */
    size_t count;
    struct verify_row *rows; /* owned; every variant of every subject, in order */
    size_t row_count;
};

/* Those that -d names, else the OpenMP renderer and the best OpenCL device; what there is to remark is said.
 */
bool subjects_open(struct subjects *s, const struct measure_options *options, struct err *err) GB_NODISCARD;
void subjects_close(struct subjects *s); /* accepts a zeroed one */

#endif
