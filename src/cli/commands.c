#include "cli/commands.h"

const struct command *const commands[] = {
    &command_sweep,
    &command_profile,
    &command_check,
    &command_compare,
    &command_report,
    &command_decide,
    &command_verify,
    &command_devices,
    &command_kernels,
    &command_lanes,
    &command_layout,
    &command_fit,
    &command_scene,
    &command_worker,
    NULL,
};

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
