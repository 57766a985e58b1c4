#include "bench/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define TICK_MS 50
/* A process that hangs in a driver's system call cannot even be killed; nobody waits for it longer than this.
 */
#define REAP_NS UINT64_C(5000000000)

/* ---- starting ---- */

/* Runs between fork and exec: only what is safe there. */
static void become_worker(pid_t parent, int in_fd, int out_fd, const char *const *argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    fcntl(in_fd, F_SETFD, 0);
    fcntl(out_fd, F_SETFD, 0);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

static const char **with_descriptors(const char *const *argv, const char *last, struct err *err)
{
    size_t count = 0;
    while (argv[count] != NULL)
        count++;
    const char **all = mem_calloc(count + 2, sizeof *all, "a command line", err);
    if (all != NULL) {
        memcpy(all, argv, count * sizeof *all);
        all[count] = last;
    }
    return all;
}

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
}

bool session_start(struct session *session, const char *const *argv, struct err *err)
{
    int down[2] = {-1, -1}, up[2] = {-1, -1};
    char descriptors[32];
    const char **all = NULL;
    *session = (struct session){0};
    /* down[1] is this process's end, down[0] the worker's; sockets, since a pipe that nobody reads any more
     * would cost this process its life. */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, down) != 0 || pipe2(up, O_CLOEXEC) != 0) {
        err_set_native(err, ERR_IO, errno, "making pipes to the worker");
        goto failed;
    }
    snprintf(descriptors, sizeof descriptors, "%d,%d", down[0], up[1]);
    all = with_descriptors(argv, descriptors, err);
    if (all == NULL)
        goto failed;
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0)
        become_worker(parent, down[0], up[1], all);
    if (pid < 0) {
        err_set_native(err, ERR_IO, errno, "starting the worker");
        goto failed;
    }
    free(all);
    close(down[0]);
    close(up[1]);
    session->pid = pid;
    session->to_fd = down[1];
    session->from_fd = up[0];
    channel_init(&session->channel, up[0], down[1]);
    return true;
failed:
    free(all);
    close_pair(down);
    close_pair(up);
    return false;
}

/* ---- talking ---- */

static int until_ms(uint64_t deadline_ns)
{
    uint64_t now = clock_now_ns();
    if (now >= deadline_ns)
        return 0;
    uint64_t left_ms = (deadline_ns - now) / 1000000 + 1;
    return left_ms > TICK_MS ? TICK_MS : (int)left_ms;
}

enum session_result session_receive(struct session *session, uint64_t deadline_ns,
                                    const volatile sig_atomic_t *stop, struct json **message)
{
    for (;;) {
        struct err ignored = ERR_INIT;
        if (stop != NULL && *stop != 0)
            return SESSION_STOP;
        enum channel_result got =
            channel_receive(&session->channel, until_ms(deadline_ns), message, &ignored);
        err_fini(&ignored);
        if (got == CHANNEL_MESSAGE)
            return SESSION_MESSAGE;
        if (got != CHANNEL_TIMEOUT)
            return SESSION_ENDED;
        if (clock_now_ns() >= deadline_ns)
            return SESSION_LATE;
    }
}

/* ---- ending ---- */

static bool reap(pid_t pid, uint64_t within_ns, const volatile sig_atomic_t *stop, int *status)
{
    const uint64_t start = clock_now_ns();
    for (uint64_t nap = 100000;; nap = nap < 10000000 ? nap * 2 : nap) {
        pid_t got = waitpid(pid, status, WNOHANG);
        if (got == pid)
            return true;
        if (got < 0 && errno != EINTR) {
            *status = 0;
            return true;
        }
        if (clock_now_ns() - start >= within_ns || (stop != NULL && *stop > 1))
            return false;
        clock_sleep_ns(nap);
    }
}

static void describe(int status, char how[SESSION_HOW_MAX])
{
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        if (name != NULL)
            snprintf(how, SESSION_HOW_MAX, "SIG%s", name);
        else
            snprintf(how, SESSION_HOW_MAX, "signal %d", WTERMSIG(status));
    } else if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
        snprintf(how, SESSION_HOW_MAX, "exit code %d", WEXITSTATUS(status));
    }
}

void session_end(struct session *session, uint64_t grace_ns, const volatile sig_atomic_t *stop,
                 char how[SESSION_HOW_MAX])
{
    if (how != NULL)
        how[0] = '\0';
    if (session->pid <= 0)
        return;
    int status = 0;
    close(session->to_fd);
    if (reap(session->pid, grace_ns, stop, &status)) {
        if (how != NULL)
            describe(status, how);
    } else {
        kill(session->pid, SIGKILL);
        (void)reap(session->pid, REAP_NS, NULL, &status);
    }
    close(session->from_fd);
    channel_fini(&session->channel);
    *session = (struct session){0};
}
