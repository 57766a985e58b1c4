/* SIGINT, SIGTERM and SIGHUP ask a run to stop; a pipe that nobody reads and a file that may not grow become
 * errors of write(). */
#ifndef GPUBENCH_CLI_SIGNALS_H
#define GPUBENCH_CLI_SIGNALS_H

#include <signal.h>

/* Counts the requests from now on. */
const volatile sig_atomic_t *signals_catch_stop(void);
void signals_ignore_write_failures(void);

#endif
