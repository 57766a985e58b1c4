/* What a table of one line looks at: its cells over size and triangles, and the reference at the same points.
 */
#ifndef GPUBENCH_REPORT_VIEW_H
#define GPUBENCH_REPORT_VIEW_H

#include "report/crossing.h"
#include "report/put.h"

struct view {
    const struct results *results;
    const struct cell *reference; /* its first cell */
    const struct cell *line;      /* likewise */
    key_set free;          /* keys in which the line's cells differ; size and triangles are among them */
    struct plane plane;    /* without what sweep --refine added */
    struct time_unit unit; /* in which the line's times are near 1 */
};

/* The line's cell at a place of the plane, its other free keys as in *at; or NULL. NULL for at: those of the
 * line. */
const struct cell *view_cell(const struct view *v, size_t size, size_t triangles,
                             const struct render_spec *at);
const struct cell *view_partner(const struct view *v, size_t size, size_t triangles);
/* "CPU: ...    device: ...    call: loader, 1 in flight"; without the reference where it has no part. */
void view_note(const struct view *v, struct table *t, bool reference);
/* "NVIDIA H200 [0:0 ptx], fused + ordered, call: loader": the line as a heading. */
void view_heading(const struct view *v, char out[LABEL_MAX]);
/* Whether the reference is the OpenMP renderer. */
bool view_has_cpu(const struct view *v);
/* Columns for size and triangles, and a place's values in them. */
void view_columns(struct table *t);
void view_put_place(const struct view *v, struct table *t, size_t size, size_t triangles);

/* The line's spec at `point` of one axis of `along`, and at `index` of the other axis of the view's plane. */
struct render_spec view_along(const struct view *v, const struct plane *along, bool over_sizes, size_t index,
                              size_t point);

/* Where the line and the reference change places in a column (over sizes) or a row (over triangles) of the
 * plane, by its points and, where `refined`, those that sweep --refine added. Released in any case. */
struct view_crossing {
    struct crossing crossing;
    double *x; /* owned; the axis: sides of squares, or triangles */
};
bool view_crossing(const struct view *v, bool over_sizes, size_t index, bool refined,
                   struct view_crossing *out, struct err *err) GB_NODISCARD;
void view_crossing_fini(struct view_crossing *crossing);

enum view_lines {
    VIEW_OTHERS, /* every line but the reference */
    VIEW_OPENCL, /* every OpenCL line */
    VIEW_ALL     /* every line, an OpenMP reference last */
};

/* Calls for each line in turn; false from one ends it. */
typedef bool view_visit(void *context, const struct view *v, struct err *err);
bool view_each(const struct results *results, unsigned modes, enum view_lines lines, key_set free,
               view_visit *call, void *context, struct err *err) GB_NODISCARD;

/* Titles an empty table with why it is empty. */
void view_nothing(struct table *t, const struct results *results, unsigned modes);

/* Appends a table for each line, filled by `fill`; where there is no line, one whose title says so. */
typedef bool view_fill(const struct view *v, struct table *t, struct err *err);
bool view_tables(const char *name, const struct results *results, unsigned modes, enum view_lines lines,
                 key_set free, view_fill *fill, struct table **tables, size_t *count,
                 struct err *err) GB_NODISCARD;

#endif
