/* Keeps what a driver does to its process from happening to the program. */
#ifndef GPUBENCH_CLI_SUPERVISE_H
#define GPUBENCH_CLI_SUPERVISE_H

#include <stdbool.h>

/* Splits in two, before anything used OpenMP or OpenCL. The child gets false and goes on; its exit code is
 * that of the program. The parent gets true and *code once the child has ended: when a signal ended it,
 * EXIT_FAILED after a message, or its own end by the same signal where that asks a program to stop. Requests
 * to stop are passed on; SUPERVISE_NOTE_NS after the first one standard error says, unless quiet, what a
 * second one does; and SUPERVISE_GRACE_NS after that the child is killed, as a driver that hangs is deaf to
 * them. When there can be no child the parent goes on in its place. */
#define SUPERVISE_NOTE_NS UINT64_C(2000000000)
#define SUPERVISE_GRACE_NS UINT64_C(1000000000)
bool supervise(bool quiet, int *code);

#endif
