/* The tables of a Markdown file, made anew from results files. */
#ifndef GPUBENCH_CLI_UPDATE_H
#define GPUBENCH_CLI_UPDATE_H

#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"

/* What stands between a line "<!-- gpubench report RESULTS TABLE... -->" and the line "<!-- end -->" is
 * replaced by those tables of that file, whose name counts from the Markdown file's folder; without TABLE by
 * the config's own. Everything else stays as it is, fenced code blocks too. ERR_CONFIG: there is no such
 * place; with file and line: no such table, or an end is missing. *count: how many places there were. */
bool update_text(const char *path, const char *text, struct strbuf *out, size_t *count,
                 struct err *err) GB_NODISCARD;
/* The same in place. A file in which nothing changes is not written. */
bool update_file(const char *path, size_t *count, struct err *err) GB_NODISCARD;

#endif
