/* A command is a row in commands.c: a name, one line of help, an option table and a function. The option
 * table parses, prints help, and feeds man page and completion. */
#ifndef GPUBENCH_CLI_COMMAND_H
#define GPUBENCH_CLI_COMMAND_H

#include "base/err.h"

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

struct option;

struct command {
    const char *name;
    const char *help;                 /* one line, lower case, no full stop */
    const char *arguments;            /* "CONFIG", "A B", "" */
    const struct option *options;     /* ends with a zeroed one */
    const char *const *examples;      /* command lines, NULL-terminated; the tests run them */
    bool hidden;                      /* the worker: not in help, man or completion */
    int (*run)(int argc, char **argv); /* parsed by options_parse inside; returns an exit code */
};

/* All commands, ending with a zeroed one. */
extern const struct command *const commands[];

#endif
