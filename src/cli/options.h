/* Option tables: one table a command parses its arguments, prints its help, and feeds man page and
 * completion. */
#ifndef GPUBENCH_CLI_OPTIONS_H
#define GPUBENCH_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum option_type {
    OPTION_FLAG, /* bool */
    OPTION_TEXT, /* const char *: the last one given */
    OPTION_LIST, /* struct text_list: every one given; may repeat */
    OPTION_U64,  /* struct option_u64 */
    OPTION_BYTES /* struct option_u64; takes K, M, G, Ki, Mi, Gi */
};

struct option_u64 {
    bool given;
    uint64_t value;
};

struct text_list {
    const char **items; /* owned; the texts are argv's */
    size_t count, capacity;
};

struct option {
    const char *name; /* "dry-run": --dry-run */
    char letter;      /* 'd': -d; 0: none */
    enum option_type type;
    const char *argument;       /* "FILE"; NULL for a flag */
    const char *help;           /* wrapped to the page's width when printed */
    const char *const *choices; /* OPTION_TEXT: what it may be, NULL-terminated; NULL: anything */
    uint64_t min, max;          /* OPTION_U64, OPTION_BYTES: inclusive */
    size_t offset;              /* of the value in the command's struct */
};

/* Fills values (the struct that the table's offsets mean, zeroed before) and collects the arguments that are
 * not options. `--name VALUE`, `--name=VALUE`, `-nVALUE`, `-n VALUE`, `-qv`; `--` ends the options; `-` is an
 * argument. argv[0] is passed over. ERR_USAGE names the option, and a near one where it is unknown. */
bool options_parse(const struct option *table, int argc, char **argv, void *values,
                   struct text_list *arguments, struct err *err) GB_NODISCARD;

/* Releases the lists that options_parse made. */
void options_fini(const struct option *table, void *values, struct text_list *arguments);

#endif
