#include "cli/patience.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "base/clock.h"

#define GRACE_NS UINT64_C(1000000000)
#define LOOK_NS 50000000 /* at `stop` */
#define SECOND_NS 1000000000

bool patience_run(void *(*work)(void *), void *context, const volatile sig_atomic_t *stop)
{
    uint64_t asked_ns = 0;
    struct timespec until;
    pthread_t thread;

    if (pthread_create(&thread, NULL, work, context) != 0) {
        work(context);
        return true;
    }
    do {
        if (asked_ns == 0 && *stop)
            asked_ns = clock_now_ns();
        if (asked_ns > 0 && clock_now_ns() - asked_ns >= GRACE_NS)
            return false;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_NS;
        until.tv_sec += until.tv_nsec / SECOND_NS;
        until.tv_nsec %= SECOND_NS;
    } while (pthread_timedjoin_np(thread, NULL, &until) != 0);
    return true;
}
