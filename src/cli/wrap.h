/* Prose on pages of 80 columns. */
#ifndef GPUBENCH_CLI_WRAP_H
#define GPUBENCH_CLI_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* Prints the words of a text, broken at 80 columns, and a newline. The first line goes on at `column`; the
 * others are indented. */
void wrap_text(FILE *out, const char *text, size_t column, size_t indent);

#endif
