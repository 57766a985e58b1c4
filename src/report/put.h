/* Fields and columns that several tables have. Figures that are not there are "-", never a blank. */
#ifndef GPUBENCH_REPORT_PUT_H
#define GPUBENCH_REPORT_PUT_H

#include "report/label.h"
#include "report/ratio.h"
#include "report/table.h"

enum table_mark mark_status(const struct cell *cell);
/* A unit in which the times of all cells that are ok are near 1; or those of a line. */
struct time_unit unit_of_cells(const struct cell *const *cells, size_t count);
struct time_unit unit_of_line(const struct results *results, const struct cell *line, key_set free);
/* A cell's median and its split mark ("8.59÷4"), or its status; never a time of a cell that is not ok. */
void put_time(struct table *t, const struct cell *cell, struct time_unit unit);
/* A factor with two or three digits ("3.4"); "-" where it is NAN. */
void put_factor(struct table *t, enum table_mark mark, double value);
/* Bytes with their unit; "-" where there are none. */
void put_bytes(struct table *t, uint64_t bytes);
/* Puts "3.4 [3.3,3.5] H200" or "1.02 [0.97,1.06] tie", with a question mark where there is no interval behind
 * it; "-" where the ratio is not valid. first and second: what the two sides are called. */
void put_ratio(struct table *t, const struct ratio *ratio, const char *first, const char *second);
/* The same without names, for a column that says what is compared: "3.4 [3.3,3.5]", "1.02 [0.97,1.06] tie".
 */
void put_interval(struct table *t, const struct ratio *ratio);
/* Of a cell's errors the one that is the largest part of what it may be on a scene within the unit square:
 * "vertices 2.2e-5". */
void put_worst_error(struct table *t, const struct cell *cell);
/* The same of gradients alone and over several cells (NULL ones are passed over): "2.2e-5". */
void put_gradient_error(struct table *t, const struct cell *const *cells, size_t count);

/* A column for each of these keys, and a cell's values in them. Those of options are dropped before times. */
void key_columns(struct table *t, key_set keys);
void put_keys(struct table *t, key_set keys, const struct cell *cell);

/* A footer line with the reason of each cell that is not ok, each once; after some of them a count. NULL
 * cells are passed over. */
void foot_reasons(struct table *t, const struct results *results, const struct cell *const *cells,
                  size_t count);
/* What the question mark means, where one of the ratios has it. */
#define FOOT_GUESS "?: under 6 samples, so no interval: by the medians alone"

#endif
