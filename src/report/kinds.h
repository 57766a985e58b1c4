/* The tables that kinds.c registers. */
#ifndef GPUBENCH_REPORT_KINDS_H
#define GPUBENCH_REPORT_KINDS_H

#include "report/table.h"

bool batch_make(const struct results *results, struct table **tables, size_t *count, struct err *err);
bool crossover_make(const struct results *results, struct table **tables, size_t *count, struct err *err);
bool forward_make(const struct results *results, struct table **tables, size_t *count, struct err *err);
bool gradient_make(const struct results *results, struct table **tables, size_t *count, struct err *err);
bool kernels_make(const struct results *results, struct table **tables, size_t *count, struct err *err);
bool phases_make(const struct results *results, struct table **tables, size_t *count, struct err *err);
bool reduction_make(const struct results *results, struct table **tables, size_t *count, struct err *err);
bool roofline_make(const struct results *results, struct table **tables, size_t *count, struct err *err);
bool scaling_make(const struct results *results, struct table **tables, size_t *count, struct err *err);
bool speedup_make(const struct results *results, struct table **tables, size_t *count, struct err *err);
bool what_if_make(const struct results *results, struct table **tables, size_t *count, struct err *err);

#endif
