#include "cli/signals.h"

#include <fcntl.h>
#include <unistd.h>

#include "bench/worker.h"

/* A handler has nothing else to tell the program with. */
static volatile sig_atomic_t stop_requests;
static volatile sig_atomic_t stop_limit_s; /* from a request to SIGALRM; 0: none comes */

static void count_stop(int signal)
{
    (void)signal;
    if (stop_requests < 2)
        stop_requests = stop_requests + 1;
    if (stop_limit_s)
        alarm((unsigned)stop_limit_s);
}

const volatile sig_atomic_t *signals_catch_stop(void)
{
    /* No SA_RESTART: waiting for the worker must come back. */
    struct sigaction action = {.sa_handler = count_stop};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    return &stop_requests;
}

/* SIGALRM now_s from now (0: never), and stop_s after a request. */
static void limit(unsigned now_s, unsigned stop_s)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t set;

    /* Whoever started this may have ignored or blocked it. */
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    alarm(now_s);
    stop_limit_s = (sig_atomic_t)stop_s;
    if (stop_requests > 0)
        alarm(stop_s);
}

void signals_driver_begin(void)
{
    limit(DRIVER_LIMIT_S, 1);
}

void signals_work_begin(void)
{
    limit(0, DRIVER_LIMIT_S);
}

void signals_driver_end(void)
{
    stop_limit_s = 0;
    alarm(0);
}

void signals_ignore_write_failures(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};

    sigemptyset(&action.sa_mask);
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
}

void signals_keep_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) == -1)
            return;
}
