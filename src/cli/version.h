/* gpubench --version. */
#ifndef GPUBENCH_CLI_VERSION_H
#define GPUBENCH_CLI_VERSION_H

#include <stdbool.h>
#include <stdio.h>

/* One line; verbose: how the program was built, its libraries and the OpenCL drivers, too. */
void version_print(bool verbose, FILE *out);

#endif
