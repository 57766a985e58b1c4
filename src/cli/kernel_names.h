/* Kernel files by the names that a user gives them. */
#ifndef GPUBENCH_CLI_KERNEL_NAMES_H
#define GPUBENCH_CLI_KERNEL_NAMES_H

#include "cli/command.h"

/* Whether a name, with ".cl" or without, is that of a file ("tile.cl"). */
bool kernel_is_called(const char *file, const char *name);
/* Each name is one of the program's kernel files; ERR_USAGE, with the nearest, where one is not. */
bool kernel_names_check(const struct text_list *names, struct err *err) GB_NODISCARD;

#endif
