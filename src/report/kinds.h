/* The tables that there are. Each is made by a function NAME_make in a file of its own. */
#ifndef GPUBENCH_REPORT_KINDS_H
#define GPUBENCH_REPORT_KINDS_H

#include "report/table.h"

#define TABLE_FORWARD (1u << MODE_FORWARD)
#define TABLE_GRADIENT (1u << MODE_GRADIENT)
#define TABLE_BOTH (TABLE_FORWARD | TABLE_GRADIENT)

/* A row a table: what makes it, its name, what it shows, and of which modes. */
#define TABLE_KINDS(X)                                                                                       \
    X(speedup_make, "speedup", "any grid: CPU time, device time, speedup, worst error", TABLE_BOTH)          \
    X(forward_make, "forward", "the same for forward cells alone", TABLE_FORWARD)                            \
    X(gradient_make, "gradient", "taped, recompute and fused side by side, with error and tape",             \
      TABLE_GRADIENT)                                                                                        \
    X(batch_make, "batch", "one scene after the other against all at once", TABLE_BOTH)                      \
    X(crossover_make, "crossover", "size by triangles: CPU time / device time, the winner, both times",      \
      TABLE_GRADIENT)                                                                                        \
    X(scenes_make, "scenes", "scenes from files beside random ones: who wins on each, and why", TABLE_BOTH)  \
    X(reduction_make, "reduction", "direct, local and ordered sums side by side", TABLE_GRADIENT)            \
    X(phases_make, "phases", "where a call's time goes, and what each phase could gain", TABLE_BOTH)         \
    X(kernels_make, "kernels", "each kernel's time on the device, its share and bytes", TABLE_BOTH)          \
    X(what_if_make, "what-if", "what remedies were expected to gain, and what they gained", TABLE_BOTH)      \
    X(scaling_make, "scaling", "cost of four times the pixels and the triangles, of a triangle, of a pair",  \
      TABLE_BOTH)                                                                                            \
    X(roofline_make, "roofline", "pairs, FLOP and bytes a second beside the device's measured ceilings",     \
      TABLE_BOTH)

#define TABLE_DECLARATION(make, name, help, modes)                                                           \
    bool make(const struct results *results, struct table **tables, size_t *count, struct err *err)          \
        GB_NODISCARD;
TABLE_KINDS(TABLE_DECLARATION)

/* "speedup, forward, ..., roofline, " */
#define TABLE_NAME(make, name, help, modes) name ", "
#define TABLE_NAMES TABLE_KINDS(TABLE_NAME)

#endif
