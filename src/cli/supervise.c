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

#define MAX_NAP_NS UINT64_C(20000000)

/* A handler has nothing else to tell the program with. */
static volatile sig_atomic_t child, requests;

static void pass_on(int signal, siginfo_t *info, void *unused)
{
    (void)unused;
    requests = requests + 1;
    /* What a terminal sends has reached the child, too. */
    if (info->si_code <= 0)
        kill((pid_t)child, signal);
}

static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
#define STOPS (sizeof stops / sizeof stops[0])

static int end_of(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    const int number = WTERMSIG(status);
    for (size_t i = 0; i < STOPS; i++) {
        if (stops[i] == number) {
            signal(number, SIG_DFL);
            raise(number);
        }
    }
    struct err err = ERR_INIT;
    if (requests > 1 || (requests > 0 && number == SIGALRM))
        return EXIT_INTERRUPTED;
    if (number == SIGALRM) {
        worker_driver_silent("it listed or opened its devices", &err);
        return report_error(&err);
    }
    const char *name = sigabbrev_np(number);
    err_set(&err, ERR_WORKER, "the process that runs the renderers ended (SIG%s)%s", name ? name : "?",
            number == SIGKILL ? ", perhaps for want of memory" : ": most likely a driver crashed");
    return report_error(&err);
}

static int wait_for_child(void)
{
    uint64_t urgent_ns = 0; /* when the second request was seen */
    int status;

    for (uint64_t nap_ns = 100000;; nap_ns = nap_ns < MAX_NAP_NS ? 2 * nap_ns : nap_ns) {
        const pid_t ended = waitpid((pid_t)child, &status, WNOHANG);
        if (ended == (pid_t)child)
            return end_of(status);
        if (ended < 0 && errno != EINTR)
            return EXIT_FAILED;
        if (requests > 1 && urgent_ns == 0)
            urgent_ns = clock_now_ns();
        if (urgent_ns > 0 && clock_now_ns() - urgent_ns >= SUPERVISE_GRACE_NS)
            kill((pid_t)child, SIGKILL);
        clock_sleep_ns(nap_ns);
    }
}

bool supervise(int *code)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO}, before;
    const pid_t parent = getpid();
    sigset_t held, old;

    /* No request comes before there is a child to pass it on to. */
    sigemptyset(&held);
    for (size_t i = 0; i < STOPS; i++)
        sigaddset(&held, stops[i]);
    sigprocmask(SIG_BLOCK, &held, &old);
    sigemptyset(&action.sa_mask);
    fflush(NULL);
    const pid_t pid = fork();
    child = pid;
    for (size_t i = 0; i < STOPS && pid > 0; i++)
        if (sigaction(stops[i], &action, &before) == 0 && before.sa_handler == SIG_IGN)
            sigaction(stops[i], &before, NULL);
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(EXIT_FAILED);
    }
    if (pid <= 0)
        return false;
    *code = wait_for_child();
    return true;
}
