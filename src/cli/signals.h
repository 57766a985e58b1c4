/* SIGINT, SIGTERM and SIGHUP ask a run to stop; a pipe that nobody reads and a file that may not grow become
 * errors of write(). */
#ifndef GPUBENCH_CLI_SIGNALS_H
#define GPUBENCH_CLI_SIGNALS_H

#include <signal.h>

/* SIGINT, SIGTERM and SIGHUP, but for those that were ignored when this started: nohup sees to that, and
 * scripts do for what they start in the background. */
void signals_stops(sigset_t *set);
void signals_handle_stops(const struct sigaction *action);
/* Counts the requests from now on. */
const volatile sig_atomic_t *signals_catch_stop(void);
/* The same in a thread that waits for them, for a process that holds drivers, before it has other threads.
 * LLVM, in some drivers, handles these signals itself while it compiles: it removes its files, and dies of
 * two at once. */
const volatile sig_atomic_t *signals_await_stop(void);
/* For a handler: counts up to two. What follows the first request within 50 ms is the same one: timeout(1)
 * sends it to its command, and then to the group that the command is in. */
void signals_count(volatile sig_atomic_t *requests);
/* From begin to end a driver lists or opens devices, and has DRIVER_LIMIT_S (bench/worker.h) for it; a second
 * once a stop is requested. Then the process ends by SIGALRM: nothing else gets it out of a driver. */
void signals_driver_begin(void);
/* From begin to end a device works for as long as it takes, and has DRIVER_LIMIT_S for it once a stop
 * is requested. */
void signals_work_begin(void);
void signals_driver_end(void); /* of either */
void signals_ignore_write_failures(void);
/* A standard stream that is closed is opened, so that no other file takes its number; using it fails all the
 * same. */
void signals_keep_streams(void);

#endif
