/* What a gradient call of a scene would take, by the cells of a results file: a line's times as a fixed part and
 * one that goes with the covered pairs. */
#ifndef GPUBENCH_REPORT_COST_H
#define GPUBENCH_REPORT_COST_H

#include "report/select.h"

struct cost {
    const struct cell *line; /* its first cell; borrowed from the results */
    size_t cells;            /* with times and pairs, that it was worked out from */
    double fixed_ns, pair_ns;
    double error; /* median of |estimate / time - 1| over these cells */
};

/* Of every line of gradient calls with scenes of its own targets, in the file's order. free() the array. */
bool costs_of(const struct results *results, struct cost **out, size_t *count, struct err *err) GB_NODISCARD;
double cost_ns(const struct cost *cost, double pairs);

#endif
