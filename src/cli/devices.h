/* What there is to run on. */
#ifndef GPUBENCH_CLI_DEVICES_H
#define GPUBENCH_CLI_DEVICES_H

#include "cli/measure_options.h"

/* true when -d list was given: the command then prints the devices instead. */
bool devices_asked(const struct text_list *selectors);
/* Prints them; returns an exit code. */
int devices_print(const struct measure_options *options);

#endif
