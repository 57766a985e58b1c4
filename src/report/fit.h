/* How wide text is on a terminal, and which columns of a table fit. */
#ifndef GPUBENCH_REPORT_FIT_H
#define GPUBENCH_REPORT_FIT_H

#include <stdbool.h>
#include <stddef.h>

/* Columns that UTF-8 text takes on a terminal: combining marks none, East Asian wide characters two, an
 * invalid byte one. Independent of the locale. */
size_t text_width(const char *s);

/* Chooses which of count columns to show in `width` columns: the gap between two shrinks to 1 before the
 * column with the lowest keep (of equals the rightmost) is dropped. Columns with KEEP_ALWAYS and the last
 * one left stay, even where they are too wide. Fills shown[count] and returns the gap. */
size_t fit_columns(const size_t *widths, const int *keep, size_t count, size_t width, bool *shown);

#endif
