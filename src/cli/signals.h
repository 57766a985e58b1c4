/* SIGINT, SIGTERM and SIGHUP ask a run to stop; a pipe that nobody reads and a file that may not grow become
 * errors of write(). */
#ifndef GPUBENCH_CLI_SIGNALS_H
#define GPUBENCH_CLI_SIGNALS_H

#include <signal.h>

/* Counts the requests from now on. */
const volatile sig_atomic_t *signals_catch_stop(void);
/* From begin to end a driver lists or opens devices, and has DRIVER_LIMIT_S (bench/worker.h) for it; a second once a
 * stop is requested. Then the process ends by SIGALRM: nothing else gets it out of a driver. */
void signals_driver_begin(void);
/* From begin to end a device works for as long as it takes, and has DRIVER_LIMIT_S once a stop is requested. */
void signals_work_begin(void);
void signals_driver_end(void); /* of either */
void signals_ignore_write_failures(void);
/* A standard stream that is closed is opened, so that no other file takes its number; using it fails all the
 * same. */
void signals_keep_streams(void);

#endif
