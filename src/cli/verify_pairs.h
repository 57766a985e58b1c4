/* Results against each other: every variant against the first device's default one, and every device against
 * every other. The golden cases say who is right; this says how far apart two are. */
#ifndef GPUBENCH_CLI_VERIFY_PAIRS_H
#define GPUBENCH_CLI_VERIFY_PAIRS_H

#include <stddef.h>

#include "bench/verify.h"

struct verify_pair {
    size_t row, base;       /* places among the rows of a case */
    struct agreement worst; /* of all cases that both have */
    bool compared, wrong;   /* wrong: further apart than twice a case's tolerance */
};

struct verify_pairs {
    struct verify_pair *pairs; /* owned */
    size_t count, capacity;
};

/* A row: a variant on a device. subject: the device's place; is_default: its first gradient variant. */
struct verify_row {
    char name[96];
    size_t subject;
    bool gradient, is_default;
};

bool verify_pairs_init(struct verify_pairs *p, const struct verify_row *rows, size_t count,
                       struct err *err) GB_NODISCARD;
/* Takes a case's results in, one a row. */
bool verify_pairs_add(struct verify_pairs *p, const struct golden_case *c,
                      const struct verify_result *results, struct err *err) GB_NODISCARD;
/* Prints them, a table a base; returns how many are right and wrong. */
void verify_pairs_print(const struct verify_pairs *p, const struct verify_row *rows, size_t *right,
                        size_t *wrong);
void verify_pairs_fini(struct verify_pairs *p);

#endif
