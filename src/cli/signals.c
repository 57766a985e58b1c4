#include "cli/signals.h"

#include <fcntl.h>
#include <unistd.h>

#include "bench/worker.h"

/* A handler has nothing else to tell the program with. */
static volatile sig_atomic_t stop_requests, in_driver;

static void count_stop(int signal)
{
    (void)signal;
    if (stop_requests < 2)
        stop_requests = stop_requests + 1;
    if (in_driver)
        alarm(1);
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

void signals_driver_begin(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t set;

    /* Whoever started this may have ignored or blocked it. */
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    alarm(DRIVER_LIMIT_S);
    in_driver = 1;
    if (stop_requests > 0)
        alarm(1);
}

void signals_driver_end(void)
{
    in_driver = 0;
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
