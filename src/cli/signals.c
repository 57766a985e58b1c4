#include "cli/signals.h"

#include <fcntl.h>
#include <unistd.h>

/* A handler has nothing else to tell the program with. */
static volatile sig_atomic_t stop_requests;

static void count_stop(int signal)
{
    (void)signal;
    if (stop_requests < 2)
        stop_requests = stop_requests + 1;
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
