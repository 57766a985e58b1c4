/* Work that a driver may take a minute for, and that nothing ends. */
#ifndef GPUBENCH_CLI_PATIENCE_H
#define GPUBENCH_CLI_PATIENCE_H

#include <signal.h>
#include <stdbool.h>

/* Does it in a thread, and waits. false: a stop was requested, and a second later the thread was still at it. It
 * is left there: nothing that it uses may be released, and the process must end by _exit. */
bool patience_run(void *(*work)(void *), void *context, const volatile sig_atomic_t *stop);

#endif
