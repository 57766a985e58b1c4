/* gpubench --version. */
#ifndef GPUBENCH_CLI_VERSION_H
#define GPUBENCH_CLI_VERSION_H

#include <stdbool.h>
#include <stdio.h>

/* One line; verbose: how the program was built and its libraries, too. */
void version_print(bool verbose, FILE *out);

#endif
