#include "cli/commands.h"

#define COMMAND_ROW(name) &command_##name,
const struct command *const commands[] = {COMMANDS(COMMAND_ROW) NULL};

const struct option global_options[] = {
    {.name = "help",
     .letter = 'h',
     .type = OPTION_FLAG,
     .help = "show this help",
     .offset = offsetof(struct global_values, help)},
    {.name = "version",
     .letter = 'V',
     .type = OPTION_FLAG,
     .help = "show the version",
     .offset = offsetof(struct global_values, version)},
    {.name = "verbose",
     .letter = 'v',
     .type = OPTION_FLAG,
     .help = "with --version: how the program was built, its libraries and the OpenCL drivers, too",
     .offset = offsetof(struct global_values, verbose)},
    {0},
};
