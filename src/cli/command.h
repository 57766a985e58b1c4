/* A command is a row in commands.c: a name, one line of help, an option table and a function. The option
 * table parses, prints help, and feeds man page and completion. */
#ifndef GPUBENCH_CLI_COMMAND_H
#define GPUBENCH_CLI_COMMAND_H

#include <stdio.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "cli/options.h"

enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1,       /* could not do it, or a cell failed or timed out */
    EXIT_BAD_USAGE = 2,    /* bad usage or config */
    EXIT_SLOWER = 3,       /* slower than the baseline */
    EXIT_INCOMPARABLE = 4, /* no baseline, other version, other machine with --strict */
    EXIT_WRONG_RESULT = 5, /* a result was wrong */
    EXIT_NOTHING = 6,      /* nothing was measured */
    EXIT_INTERRUPTED = 130
};

/* The first member of every command's struct of option values. */
struct base_options {
    bool help;
    bool quiet;
    bool verbose;
};

struct command {
    const char *name;
    const char *help;        /* one line, lower case, no full stop */
    const char *description; /* a paragraph for its --help and man page */
    const char *arguments;   /* "CONFIG", "A B", "" */
    size_t min_arguments, max_arguments;
    const struct option *options; /* ends with a zeroed one */
    const char *const *examples;  /* command lines, NULL-terminated; the tests run them */
    bool supervised;              /* runs drivers in its own process, a child of the program's (cli/supervise.h) */
    bool hidden;                  /* the worker: not in help, man or completion */
    size_t values_size;           /* of the struct that the options fill; begins with struct base_options */
    /* values are filled and arguments counted; returns an exit code. argc and argv are the whole program's.
     */
    int (*run)(const void *values, const struct text_list *arguments, int argc, char **argv);
};

/* All commands, ending with NULL. */
extern const struct command *const commands[];

/* Prints a command's help, or that of the program: its commands and global options. */
void help_command(const struct command *command, FILE *out);
void help_program(FILE *out);

/* The options that stand in a command's place; ends with a zeroed one. */
struct global_values {
    bool help, version, verbose;
};
extern const struct option global_options[];

/* "gpubench: error: TEXT" on standard error, with the log below; returns the exit code for its kind. err is
 * released. */
int report_error(struct err *err);
/* "gpubench: TEXT" on standard error unless quiet. */
void say(const struct base_options *options, const char *fmt, ...) GB_PRINTF(2, 3);
/* Writes to standard output, now. */
bool print_text(const struct strbuf *text, struct err *err) GB_NODISCARD;
/* Flushes standard output; a write that failed is an error and an exit code of its own. */
int finish_output(int code);
/* The more important of two exit codes: 130, 5, 1, 3, 4, 6 (2 before all: nothing ran). */
int worse_exit(int a, int b);

#endif
