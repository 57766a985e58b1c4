/* Where the program's own files are: installed beside it, or in the tree that it was built in. */
#ifndef GPUBENCH_CLI_PATHS_H
#define GPUBENCH_CLI_PATHS_H

#include <stddef.h>

#include "base/err.h"

/* Finds share/gpubench/NAME ("golden", "configs/photo.json") of the installation that the running program
 * belongs to, else the same in its source tree (tests/golden, configs/...). false when there is none. */
bool paths_find(const char *name, char *out, size_t size) GB_NODISCARD;

#endif
