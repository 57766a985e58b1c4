/* A worker process and the pipes to it: started by fork and exec of the program itself, and always reaped. */
#ifndef GPUBENCH_BENCH_SESSION_H
#define GPUBENCH_BENCH_SESSION_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "bench/protocol.h"

struct session {
    pid_t pid; /* 0: none is running */
    int to_fd, from_fd;
    struct channel channel;
};

/* argv is NULL-terminated; "IN,OUT" is added to it. The worker dies with this process, ignores SIGINT and
 * SIGHUP (which a terminal sends to both) and inherits no descriptor but the standard ones and its pipes. */
bool session_start(struct session *session, const char *const *argv, struct err *err) GB_NODISCARD;

enum session_result { SESSION_MESSAGE, SESSION_ENDED, SESSION_LATE, SESSION_STOP };

/* The next message. SESSION_LATE at deadline_ns (base/clock.h), SESSION_STOP when *stop (may be NULL) is not
 * 0, SESSION_ENDED when the worker is gone or talks nonsense. */
enum session_result session_receive(struct session *session, uint64_t deadline_ns,
                                    const volatile sig_atomic_t *stop, struct json **message);

/* Closes the pipes, waits grace_ns for the worker to end, or until *stop (may be NULL) is over 1, then kills it. how (may be NULL): "SIGSEGV", "exit
 * code 1", or "" when it ended well or had to be killed. Harmless when none is running. */
#define SESSION_HOW_MAX 64
void session_end(struct session *session, uint64_t grace_ns, const volatile sig_atomic_t *stop,
                 char how[SESSION_HOW_MAX]);

#endif
