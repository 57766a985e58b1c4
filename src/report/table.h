/* A table as data: one file a table makes it from results, the writers (text, md, csv, json, html) only print
 * it. */
#ifndef GPUBENCH_REPORT_TABLE_H
#define GPUBENCH_REPORT_TABLE_H

#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "record/results.h"

enum table_align { ALIGN_LEFT, ALIGN_RIGHT };
enum table_mark { MARK_NONE, MARK_WINNER, MARK_LOSER, MARK_TIE, MARK_BAD, MARK_DIM };

struct table_column {
    char *title; /* owned; with its unit: "call ms"; may have two lines: "recompute\nms" */
    enum table_align align;
    int keep; /* the lowest are dropped first when a line does not fit; dropped ones are named */
};

struct table_field {
    char *text;           /* owned; "" is an empty field */
    enum table_mark mark; /* highlighted, never by colour alone: the text says it too */
    double value;         /* the figure behind the text for csv and json; NAN where there is none */
};

struct table {
    char name[32]; /* "crossover" */
    char *title;   /* owned; one line */
    char **notes;  /* owned; lines under the title (what the columns mean, devices) */
    size_t note_count;
    struct table_column *columns;
    size_t column_count;
    struct table_field *fields; /* [row_count][column_count] */
    size_t row_count;
    char **footer; /* owned; lines below (where it crosses, warnings) */
    size_t footer_count;
    size_t next_field; /* of the row being filled */
    bool failed;       /* an allocation did; or a row got more fields than there are columns */
};

/* Between the parts of a title, a note or a remark: where a line is broken first. */
#define TABLE_PART "    "

/* Columns that no width drops. */
#define KEEP_ALWAYS 1000

void table_init(struct table *t, const char *name);
void table_fini(struct table *t); /* accepts NULL and a zeroed table */
/* Builders; a failed allocation is remembered and reported by table_ok. */
void table_title(struct table *t, const char *fmt, ...) GB_PRINTF(2, 3);
void table_note(struct table *t, const char *fmt, ...) GB_PRINTF(2, 3);
void table_foot(struct table *t, const char *fmt, ...) GB_PRINTF(2, 3);
void table_column(struct table *t, enum table_align align, int keep, const char *fmt, ...) GB_PRINTF(4, 5);
/* All columns come before the first row. */
void table_row(struct table *t); /* starts a new row of empty fields; fields follow from the left */
void table_put(struct table *t, enum table_mark mark, double value, const char *fmt, ...) GB_PRINTF(4, 5);
bool table_ok(const struct table *t, struct err *err) GB_NODISCARD;

/* Appends an initialised table to an array; NULL when there is no memory. Valid until the next append. */
struct table *tables_append(struct table **tables, size_t *count, const char *name,
                            struct err *err) GB_NODISCARD;
void tables_free(struct table *tables, size_t count); /* accepts NULL */

/* The tables that exist: a row each in kinds.c. */
struct table_kind {
    const char *name;
    const char *help;
    unsigned modes; /* bit MODE_FORWARD, bit MODE_GRADIENT */
    /* Appends one table or more (crossover: one a call shape) to tables[]. */
    bool (*make)(const struct results *results, struct table **tables, size_t *count,
                 struct err *err) GB_NODISCARD;
};
const struct table_kind *table_kinds(size_t *count);
const struct table_kind *table_kind_find(const char *name);

/* ---- writers: they append to out ---- */

/* For a terminal. width: its columns (80 where unknown); colour: ANSI highlights besides the text. */
bool table_write_text(const struct table *t, size_t width, bool colour, struct strbuf *out,
                      struct err *err) GB_NODISCARD;
/* A bold title, a list of notes, a pipe table, a list of remarks. */
bool table_write_markdown(const struct table *t, struct strbuf *out, struct err *err) GB_NODISCARD;
/* The tables of one results file. */
struct table_run {
    const struct results *results; /* borrowed; NULL: tables of something else */
    struct table *tables;          /* owned by who made them */
    size_t count;
};
/* {"tables": [{"name", "results", "title", "notes", "columns", "rows": [[{"text", "value", "mark"}]],
 * "remarks"}]}; results: the file, null where there is none. */
bool tables_write_json(const struct table_run *runs, size_t count, struct strbuf *out,
                       struct err *err) GB_NODISCARD;
/* One page to read in a browser, self-contained; of each run the verdict, charts, its tables, warnings, the
 * machine, the command. */
bool results_write_html(const struct table_run *runs, size_t count, struct strbuf *out,
                        struct err *err) GB_NODISCARD;
/* The results themselves, a row a cell and quantity, under one header whatever there is (RFC 4180). */
bool results_write_csv(const struct table_run *runs, size_t count, struct strbuf *out,
                       struct err *err) GB_NODISCARD;

#endif
