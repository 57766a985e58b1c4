/* sweep --refine: more sizes near each crossing. */
#ifndef GPUBENCH_CLI_REFINE_H
#define GPUBENCH_CLI_REFINE_H

#include "cli/measurement.h"

/* Measures what refine_places names on the devices and backends of m, which has run and whose runner is
 * ended, and adds it to m's results. Says what it does, or that nothing crosses. */
bool refine_measure(struct measurement *m, int argc, char **argv, struct err *err) GB_NODISCARD;

/* For --dry-run: a line with the most that refine_measure could add to this grid. */
void refine_print_plan(const struct grid *grid);

#endif
