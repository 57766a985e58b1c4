/* A config's grid: the list of points and cells that a run measures. Pure: the same config and devices
 * give the same list, which is how parent and worker agree without sending it. */
#ifndef GPUBENCH_PLAN_GRID_H
#define GPUBENCH_PLAN_GRID_H

#include <stddef.h>

#include "base/err.h"
#include "plan/config.h"

/* A point's values are those that decide what is computed (mode, size, triangles, batch, sigma, upstream):
 * the reference is worked out once a point, and the samples of its cells alternate. */
struct grid_point {
    struct render_spec spec;
    size_t first_cell, cell_count;
};

struct grid_cell {
    size_t point;
    size_t backend; /* index into config->backends */
    size_t device;  /* index into the run's list of devices */
    struct render_spec spec;
    char *id;     /* owned; "device/256x256/t512/b16/call=loader" */
    char *refuse; /* owned; NULL, or why spec_check refuses it: a skipped cell with that reason */
};

struct grid {
    struct grid_point *points;
    size_t point_count;
    struct grid_cell *cells;
    size_t cell_count;
    char **notes; /* what collapsed along which axis, and what was not applied: shown by --dry-run */
    size_t note_count;
};

/* A backend may run on several devices (-d given twice): devices_of[backend] lists indices. With more than
 * one device an id ends in "/device=SELECTOR". */
struct grid_devices {
    const size_t *indices;
    const char *const *selectors; /* by position in indices */
    size_t count;
};

bool grid_build(const struct config *config, const struct grid_devices *devices_of, struct grid *out,
                struct err *err) GB_NODISCARD;
void grid_fini(struct grid *grid);

#endif
