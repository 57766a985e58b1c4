#include "cli/supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/worker.h"
#include "cli/command.h"
#include "cli/signals.h"

#define MAX_NAP_NS UINT64_C(20000000)

/* A handler has nothing else to tell the program with. */
static volatile sig_atomic_t child, requests;

static void pass_on(int signal, siginfo_t *info, void *unused)
{
    (void)unused;
    signals_count(&requests);
    /* What a terminal sends has reached the child, too. */
    if (info->si_code <= 0)
        kill((pid_t)child, signal);
}

/* The child may have left a line of progress there. */
static void begin_line(void)
{
    if (isatty(STDERR_FILENO))
        fputc('\n', stderr);
}

static int end_of(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    const int number = WTERMSIG(status);
    sigset_t stops;
    signals_stops(&stops);
    if (sigismember(&stops, number) == 1) {
        signal(number, SIG_DFL);
        raise(number);
    }
    struct err err = ERR_INIT;
    const char *name = sigabbrev_np(number);
    begin_line();
    if (requests > 0 && number == SIGALRM)
        err_set(&err, ERR_INTERRUPTED,
                "interrupted, and an OpenCL driver did not come back: what it did is lost");
    else if (requests > 1)
        err_set(&err, ERR_INTERRUPTED, "interrupted: what was under way is lost");
    else if (number == SIGALRM)
        worker_driver_silent("it listed or opened its devices", &err);
    else
        err_set(&err, ERR_WORKER, "the process that runs the renderers ended (SIG%s)%s", name ? name : "?",
                number == SIGKILL ? ", perhaps for want of memory" : ": most likely a driver crashed");
    return report_error(&err);
}

static int wait_for_child(bool quiet)
{
    uint64_t asked_ns = 0, urgent_ns = 0; /* when the first request was seen, and the second */
    int status;

    for (uint64_t nap_ns = 100000;; nap_ns = nap_ns < MAX_NAP_NS ? 2 * nap_ns : nap_ns) {
        const pid_t ended = waitpid((pid_t)child, &status, WNOHANG);
        if (ended == (pid_t)child)
            return end_of(status);
        if (ended < 0 && errno != EINTR)
            return EXIT_FAILED;
        if (requests > 0 && asked_ns == 0)
            asked_ns = clock_now_ns();
        if (requests > 1 && urgent_ns == 0)
            urgent_ns = clock_now_ns();
        if (!quiet && requests == 1 && clock_now_ns() - asked_ns >= SUPERVISE_NOTE_NS) {
            begin_line();
            fprintf(stderr, "gpubench: finishing what is under way; a second interrupt ends it at once\n");
            quiet = true;
        }
        if (urgent_ns > 0 && clock_now_ns() - urgent_ns >= SUPERVISE_GRACE_NS)
            kill((pid_t)child, SIGKILL);
        clock_sleep_ns(nap_ns);
    }
}

bool supervise(bool quiet, int *code)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO};
    const pid_t parent = getpid();
    sigset_t held, old;

    /* No request comes before there is a child to pass it on to. */
    signals_stops(&held);
    sigprocmask(SIG_BLOCK, &held, &old);
    sigemptyset(&action.sa_mask);
    fflush(NULL);
    const pid_t pid = fork();
    child = pid;
    if (pid > 0)
        signals_handle_stops(&action);
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(EXIT_FAILED);
    }
    if (pid <= 0)
        return false;
    *code = wait_for_child(quiet);
    return true;
}
