/* Where to measure more, so that crossings are known more narrowly. */
#ifndef GPUBENCH_REPORT_REFINE_H
#define GPUBENCH_REPORT_REFINE_H

#include "record/results.h"

/* The most places in one row or column. */
#define REFINE_POINTS 3

struct refine_place {
    uint32_t width, height, triangles;
};

/* For every line of every crossover, each row and column in which the winner changes once between two
 * measured points: where it is expected to, and the geometric means of that and the two points; none that is
 * in the grid already. Sizes are squares, and only between squares. The array is the caller's to free; none
 * is no error. */
bool refine_places(const struct results *results, struct refine_place **out, size_t *count,
                   struct err *err) GB_NODISCARD;

#endif
