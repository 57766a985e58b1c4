/* Which cells of a run a table puts side by side.
 *
 * A line is the cells of one backend on one device that differ in a given set of keys only (for a crossover:
 * size and triangles); its first cell in the file stands for it. The reference is the line that ratios have
 * on top: the first OpenMP one, or the first of all where there is none. Everything borrows from the results.
 */
#ifndef GPUBENCH_REPORT_SELECT_H
#define GPUBENCH_REPORT_SELECT_H

#include <stdint.h>

#include "record/results.h"

/* Keys of render_spec as bits, by their position in spec_keys(). */
typedef uint64_t key_set;
/* Names separated by blanks; an unknown one adds nothing. */
key_set keys_named(const char *names);
key_set keys_of_point(void); /* mode, size, triangles, batch, sigma, source, upstream: what is computed */

/* Those of the point, and the call: cells that differ from the reference in these alone are its own, too. */
key_set keys_of_reference(void);

/* Same backend, same device, and equal in every key that matters for both, but those in `free`. */
bool cells_alike(const struct cell *a, const struct cell *b, key_set free);
/* Equal in the keys of `keys`, whatever backends they are of. */
bool specs_equal(const struct render_spec *a, const struct render_spec *b, key_set keys);

/* First cells of all lines in the order of the file, those of the reference `except` (may be NULL) left out, by whatever
 * call; modes as in table_kind. free() the array. An empty one is no error. */
bool select_lines(const struct results *results, unsigned modes, key_set free, const struct cell *except,
                  const struct cell ***out, size_t *count, struct err *err) GB_NODISCARD;
/* The first cell of the reference; NULL when no cell has such a mode. */
const struct cell *select_reference(const struct results *results, unsigned modes);
/* Of the line, the cell whose free keys are those of `at`; NULL when it has none. */
const struct cell *select_cell(const struct results *results, const struct cell *line, key_set free,
                               const struct render_spec *at);
/* The cell of the reference at the point of `at`, with the same call where it has several; or NULL. */
const struct cell *select_partner(const struct results *results, const struct cell *reference,
                                  const struct render_spec *at);
/* Keys that matter to some of the cells and in which they differ. */
key_set keys_varying(const struct cell *const *cells, size_t count);

/* Sizes and triangle counts of a line, ascending; those that sweep --refine added only where `refined`. */
struct plane {
    struct render_spec *sizes; /* owned; width and height are meant */
    size_t size_count;
    struct render_spec *triangles; /* owned; triangles is meant */
    size_t triangle_count;
};
bool plane_init(struct plane *plane, const struct results *results, const struct cell *line, key_set free,
                bool refined, struct err *err) GB_NODISCARD;
void plane_fini(struct plane *plane);
struct render_spec plane_at(const struct plane *plane, const struct cell *line, size_t size,
                            size_t triangles);

#endif
