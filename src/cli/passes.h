/* --repeat: the points of a grid several times in turn, so that what the first ones pay for (cold caches, low
 * clocks) shows, and slow changes of the machine meet every cell. */
#ifndef GPUBENCH_CLI_PASSES_H
#define GPUBENCH_CLI_PASSES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "record/results.h"

struct passes {
    size_t count, now; /* in all; the one that runs, from 0 */
    size_t cells;      /* of the grid */
    uint64_t *medians; /* owned; [cells][count]; 0: not ok in that pass */
};

bool passes_init(struct passes *p, size_t count, size_t cells, struct err *err) GB_NODISCARD;
void passes_fini(struct passes *p); /* accepts a zeroed one */

/* A cell is finished in this pass. */
void passes_note(struct passes *p, size_t index, const struct cell *cell);
/* Whether this pass leaves it out: it is there already, or it was not ok in the pass before. */
bool passes_skip(const struct passes *p, size_t index);
/* Takes over what "passes" in the head of an earlier, interrupted run says. ids [cells]. */
void passes_restore(struct passes *p, const char *const *ids, const struct json *head);
/* Adds what a later pass measured to the cell that is in results; *merged is that cell. */
bool passes_merge(struct results *results, const struct cell *cell, const struct cell **merged,
                  struct err *err) GB_NODISCARD;
/* Puts "passes" into the results' head: each cell's median in each pass. ids [cells]. */
void passes_record(const struct passes *p, const char *const *ids, struct results *results);
/* By how much the first `cells` of the grid (its first point) were slower in the first pass than in the
 * median of the later ones, on average: 0.02 is 2 %. NAN with fewer than two passes. */
double passes_first_penalty(const struct passes *p, size_t cells);

#endif
