/* The commands, a file each. */
#ifndef GPUBENCH_CLI_COMMANDS_H
#define GPUBENCH_CLI_COMMANDS_H

#include "cli/command.h"

extern const struct command command_sweep, command_profile, command_check, command_compare, command_report,
    command_decide, command_verify, command_devices, command_kernels, command_lanes, command_layout,
    command_fit, command_scene, command_worker;

#endif
