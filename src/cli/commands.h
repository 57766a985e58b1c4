/* The commands, a file each. */
#ifndef GPUBENCH_CLI_COMMANDS_H
#define GPUBENCH_CLI_COMMANDS_H

#include "cli/command.h"

/* In the order in which help lists them. */
#define COMMANDS(X)                                                                                          \
    X(sweep)                                                                                                 \
    X(profile)                                                                                               \
    X(check)                                                                                                 \
    X(compare)                                                                                               \
    X(report)                                                                                                \
    X(decide)                                                                                                \
    X(verify)                                                                                                \
    X(devices)                                                                                               \
    X(kernels)                                                                                               \
    X(lanes)                                                                                                 \
    X(layout)                                                                                                \
    X(fit)                                                                                                   \
    X(scene)                                                                                                 \
    X(worker)

#define COMMAND_DECLARATION(name) extern const struct command command_##name;
COMMANDS(COMMAND_DECLARATION)

#endif
