/* A line's times over size, triangles, batch and sigma, and what lies between its points.
 *
 * Logarithms of figures are taken to be linear in the logarithms of the axes within a box of measured points;
 * a question gets the smallest box around it, and outside of all boxes there is nothing. */
#ifndef GPUBENCH_REPORT_SURFACE_H
#define GPUBENCH_REPORT_SURFACE_H

#include "report/select.h"

enum surface_axis { SURFACE_SIZE, SURFACE_TRIANGLES, SURFACE_BATCH, SURFACE_SIGMA, SURFACE_AXES };
#define SURFACE_CORNERS (1u << SURFACE_AXES)

struct surface {
    const struct cell **cells, **others; /* [count], borrowed; others: NULLs where there is no other line */
    size_t count;
    double *values[SURFACE_AXES]; /* ascending, one of each */
    size_t value_count[SURFACE_AXES];
};

struct surface_box {
    size_t corners[SURFACE_CORNERS]; /* indices of cells; bit `axis` set: the high end */
    double weight[SURFACE_CORNERS];  /* of a corner's logarithm at the question; they add up to 1 */
    double extent;                   /* sum of log(high / low); 0: the question is a point itself */
};

/* size triangles batch sigma: in these alone a line's cells differ. */
key_set surface_keys(void);
/* A value on an axis: side of a square of as many pixels, triangles, batch, sigma; 0.5 for 0, which has no
 * logarithm. */
double surface_value(const struct render_spec *spec, enum surface_axis axis);

/* The points of a line, or those that it has in common with another one (which may be NULL). The surface is
 * released by surface_fini, unless this fails. */
bool surface_init(struct surface *s, const struct results *results, const struct cell *line,
                  const struct cell *other, struct err *err) GB_NODISCARD;
void surface_fini(struct surface *s);
/* *found: whether measured points surround the place. Grids may have gaps, which a larger box bridges. */
bool surface_box(const struct surface *s, const double at[SURFACE_AXES], struct surface_box *box, bool *found,
                 struct err *err) GB_NODISCARD;
/* A figure of the cells, interpolated. */
double surface_interpolate(const struct surface *s, const struct surface_box *box,
                           double (*figure)(const struct cell *cell));

#endif
