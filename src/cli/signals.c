#include "cli/signals.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/worker.h"

#define SAME_REQUEST_MS 50u
#define NS_PER_MS 1000000u

/* A handler has nothing else to tell the program with. */
static volatile sig_atomic_t stop_requests, counted_ms;
static volatile sig_atomic_t stop_limit_s; /* from a request to SIGALRM; 0: none comes */

static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
#define STOPS (sizeof stops / sizeof stops[0])

void signals_stops(sigset_t *set)
{
    struct sigaction now;

    sigemptyset(set);
    for (size_t i = 0; i < STOPS; i++)
        if (sigaction(stops[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(set, stops[i]);
}

void signals_handle_stops(const struct sigaction *action)
{
    sigset_t set;

    signals_stops(&set);
    for (size_t i = 0; i < STOPS; i++)
        if (sigismember(&set, stops[i]) == 1)
            sigaction(stops[i], action, NULL);
}

void signals_count(volatile sig_atomic_t *requests)
{
    const unsigned now_ms = (unsigned)(clock_now_ns() / NS_PER_MS);

    if (*requests > 1 || (*requests == 1 && now_ms - (unsigned)counted_ms < SAME_REQUEST_MS))
        return;
    counted_ms = (sig_atomic_t)now_ms;
    *requests = *requests + 1;
}

static void count_stop(int signal)
{
    (void)signal;
    signals_count(&stop_requests);
    if (stop_limit_s)
        alarm((unsigned)stop_limit_s);
}

const volatile sig_atomic_t *signals_catch_stop(void)
{
    /* No SA_RESTART: waiting for the worker must come back. */
    struct sigaction action = {.sa_handler = count_stop};

    sigemptyset(&action.sa_mask);
    signals_handle_stops(&action);
    return &stop_requests;
}

static void *await_stops(void *unused)
{
    sigset_t set;
    int signal;

    (void)unused;
    for (signals_stops(&set);;)
        if (sigwait(&set, &signal) == 0)
            count_stop(signal);
    return NULL;
}

const volatile sig_atomic_t *signals_await_stop(void)
{
    pthread_t thread;
    sigset_t set, old;

    signals_stops(&set);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    if (pthread_create(&thread, NULL, await_stops, NULL) == 0) {
        pthread_detach(thread);
        return &stop_requests;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return signals_catch_stop();
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
