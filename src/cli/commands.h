/* The commands, a file each. */
#ifndef GPUBENCH_CLI_COMMANDS_H
#define GPUBENCH_CLI_COMMANDS_H

#include "cli/command.h"

#endif
