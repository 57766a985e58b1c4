/* Printing a results file's tables on standard output. */
#ifndef GPUBENCH_CLI_TABLES_H
#define GPUBENCH_CLI_TABLES_H

#include "base/err.h"
#include "base/strbuf.h"
#include "record/results.h"
#include "report/table.h"

/* What -f takes, NULL-terminated; the first is the default. */
extern const char *const table_formats[];

/* Of each of the results [run_count]. names: the tables wanted; count 0: those that the results' own config
 * asks for. format: NULL or one of table_formats. Text fits the terminal's width, 80 columns elsewhere, with
 * colour on a terminal unless NO_COLOR is set; csv is the results themselves, a row a cell and quantity. */
bool tables_print(const struct results *results, size_t run_count, const char *const *names, size_t count,
                  const char *format, struct err *err) GB_NODISCARD;
/* The same, appended to out. */
bool tables_write(const struct results *results, size_t run_count, const char *const *names, size_t count,
                  const char *format, struct strbuf *out, struct err *err) GB_NODISCARD;

/* What -f takes where the results themselves are not what is shown: text, markdown, json. */
extern const char *const verdict_formats[];
/* Prints tables that are made already; format: NULL or one of those. */
bool tables_show(struct table *tables, size_t count, const char *format, struct err *err) GB_NODISCARD;

/* Whether there are tables of all these names; else as tables_unknown. */
bool tables_check_names(const char *const *names, size_t count, struct err *err) GB_NODISCARD;
/* ERR_CONFIG: there is no table of this name; says which there are, or a near one. Always false. */
bool tables_unknown(const char *name, struct err *err);

#endif
