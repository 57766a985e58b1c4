#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#define NS_PER_S 1000000000u

uint64_t clock_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

void clock_sleep_ns(uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
        continue;
}

void clock_stamp_file(char *out, size_t size)
{
    time_t now = time(NULL);
    struct tm tm;
    if (!localtime_r(&now, &tm) || strftime(out, size, "%Y%m%dT%H%M%S", &tm) == 0)
        snprintf(out, size, "00000000T000000");
}

void clock_stamp_rfc3339(char *out, size_t size)
{
    time_t now = time(NULL);
    struct tm tm;
    char date[24], zone[8];
    if (!localtime_r(&now, &tm) || strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm) == 0 ||
        strftime(zone, sizeof(zone), "%z", &tm) != 5)
        snprintf(out, size, "0000-00-00T00:00:00Z");
    else
        snprintf(out, size, "%s%.3s:%s", date, zone, zone + 3);
}
