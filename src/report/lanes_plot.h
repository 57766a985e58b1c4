/* Lanes as a drawing: a bar a lane, as high as its steps, and a box a group, as high as its slowest lane. */
#ifndef GPUBENCH_REPORT_LANES_PLOT_H
#define GPUBENCH_REPORT_LANES_PLOT_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Lanes that fit into a panel. */
#define LANES_PLOT_MAX 128u

struct lanes_panel {
    char title[96];
    uint32_t steps[LANES_PLOT_MAX]; /* of each lane; 0: idle */
    size_t lanes;
    uint32_t group;
};

/* Appends a whole SVG file. */
void lanes_plot(const struct lanes_panel *panels, size_t count, struct strbuf *out);

#endif
