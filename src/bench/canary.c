#include "bench/canary.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "bench/stats.h"

#define MAX_THREADS 1024
/* Milliseconds, longer than a scheduler's slice on a busy machine: a thread that must share its CPU shows it. */
#define ARITHMETIC_ROUNDS 1500000u
#define MEMORY_PASSES 20
/* Larger than a core's own caches. */
#define MEMORY_DOUBLES ((size_t)1 << 19)

enum work { WORK_LAUNCH, WORK_ARITHMETIC, WORK_MEMORY, WORKS };

/* Threads that sleep until there is work for all of them. */
struct crew {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    enum work work;
    unsigned turn; /* counts what was handed out */
    size_t busy;
    bool over;
};

struct member {
    struct crew *crew;
    pthread_t thread;
    double *memory; /* [MEMORY_DOUBLES] */
    double sum;     /* so that no loop is left out by the compiler */
};

/* Four chains that do not wait for each other. */
static double arithmetic(double x)
{
    double a = x, b = x + 1, c = x + 2, d = x + 3;
    for (unsigned i = 0; i < ARITHMETIC_ROUNDS; i++) {
        a = a * 0.999 + 1e-3;
        b = b * 0.998 + 2e-3;
        c = c * 0.997 + 3e-3;
        d = d * 0.996 + 4e-3;
    }
    return a + b + c + d;
}

static double stream(double *memory)
{
    for (int pass = 0; pass < MEMORY_PASSES; pass++)
        for (size_t i = 0; i < MEMORY_DOUBLES; i++)
            memory[i] += 1;
    return memory[MEMORY_DOUBLES / 2];
}

static void *member_run(void *argument)
{
    struct member *m = argument;
    struct crew *crew = m->crew;
    for (unsigned turn = 1;; turn++) {
        pthread_mutex_lock(&crew->lock);
        while (crew->turn != turn && !crew->over)
            pthread_cond_wait(&crew->wake, &crew->lock);
        const bool over = crew->over;
        const enum work work = crew->work;
        pthread_mutex_unlock(&crew->lock);
        if (over)
            return NULL;
        if (work == WORK_ARITHMETIC)
            m->sum = arithmetic(m->sum);
        else if (work == WORK_MEMORY)
            m->sum = stream(m->memory);
        pthread_mutex_lock(&crew->lock);
        if (--crew->busy == 0)
            pthread_cond_signal(&crew->done);
        pthread_mutex_unlock(&crew->lock);
    }
}

/* Until the last thread has done it. */
static uint64_t time_work(struct crew *crew, enum work work, size_t threads)
{
    const uint64_t start = clock_now_ns();
    pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->busy = threads;
    crew->turn++;
    pthread_cond_broadcast(&crew->wake);
    while (crew->busy > 0)
        pthread_cond_wait(&crew->done, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
    return clock_now_ns() - start;
}

static bool measure(struct crew *crew, size_t threads, struct render_canary *out, struct err *err)
{
    uint64_t *const results[WORKS] = {&out->launch_ns, &out->arithmetic_ns, &out->memory_ns};
    for (int work = 0; work < WORKS; work++) {
        uint64_t times[CANARY_REPEATS];
        for (int i = 0; i < CANARY_REPEATS; i++)
            times[i] = time_work(crew, (enum work)work, threads);
        if (!stats_median(times, CANARY_REPEATS, results[work], err))
            return false;
    }
    return true;
}

/* CPUs that the affinity and the control group leave. */
static size_t thread_count(void)
{
    cpu_set_t set;
    size_t count = 1;
    const double quota = cgroup_cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        count = (size_t)CPU_COUNT(&set);
    if (quota > 0 && ceil(quota) < (double)count)
        count = (size_t)ceil(quota);
    return count < MAX_THREADS ? count : MAX_THREADS;
}

bool canary_cpu(struct render_canary *out, struct err *err)
{
    const size_t count = thread_count();
    struct crew crew = {.lock = PTHREAD_MUTEX_INITIALIZER,
                        .wake = PTHREAD_COND_INITIALIZER,
                        .done = PTHREAD_COND_INITIALIZER};
    size_t started = 0;
    *out = (struct render_canary){0};
    struct member *members = mem_calloc(count, sizeof *members, "the canary", err);
    double *memory = mem_calloc(count * MEMORY_DOUBLES, sizeof *memory, "the canary", err);
    bool ok = members != NULL && memory != NULL;
    for (; ok && started < count; started++) {
        members[started] = (struct member){.crew = &crew, .memory = memory + started * MEMORY_DOUBLES};
        const int code = pthread_create(&members[started].thread, NULL, member_run, &members[started]);
        if (code != 0) {
            ok = err_set_native(err, ERR_MEMORY, code, "starting thread %zu of the canary", started + 1);
            break;
        }
    }
    ok = ok && measure(&crew, count, out, err);
    pthread_mutex_lock(&crew.lock);
    crew.over = true;
    pthread_cond_broadcast(&crew.wake);
    pthread_mutex_unlock(&crew.lock);
    for (size_t i = 0; i < started; i++)
        pthread_join(members[i].thread, NULL);
    free(members);
    free(memory);
    return ok;
}
