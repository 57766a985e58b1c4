#include "base/cgroup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the first line of a file; false when there is none. */
static bool read_line(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return false;
    bool ok = fgets(out, (int)size, f) != NULL;
    fclose(f);
    return ok;
}

static void keep_smaller(double *limit, double quota, double period)
{
    if (quota > 0 && period > 0 && (*limit <= 0 || quota / period < *limit))
        *limit = quota / period;
}

/* Version 2: "max 100000" or "150000 100000" in dir/cpu.max. */
static void quota_v2(const char *dir, double *limit)
{
    char path[4200], line[128], *end;
    snprintf(path, sizeof path, "%s/cpu.max", dir);
    if (!read_line(path, line, sizeof line) || strncmp(line, "max", 3) == 0)
        return;
    unsigned long quota = strtoul(line, &end, 10);
    keep_smaller(limit, (double)quota, (double)strtoul(end, NULL, 10));
}

/* Version 1: a quota of -1 is none. */
static void quota_v1(const char *dir, double *limit)
{
    char path[4200], line[128];
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", dir);
    if (!read_line(path, line, sizeof line))
        return;
    long quota = strtol(line, NULL, 10);
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", dir);
    if (read_line(path, line, sizeof line))
        keep_smaller(limit, (double)quota, (double)strtol(line, NULL, 10));
}

/* A figure so large that it means no limit, as version 1 has it, is none. */
static void memory_limit(const char *dir, const char *file, double *limit)
{
    char path[4200], line[128];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    if (read_line(path, line, sizeof line) && strncmp(line, "max", 3) != 0 && strtod(line, NULL) < 1e18)
        keep_smaller(limit, strtod(line, NULL), 1);
}

static void memory_v2(const char *dir, double *limit)
{
    memory_limit(dir, "memory.max", limit);
}

static void memory_v1(const char *dir, double *limit)
{
    memory_limit(dir, "memory.limit_in_bytes", limit);
}

/* Applies `read` to prefix/group and every ancestor of it down to prefix. */
static void each_ancestor(const char *prefix, const char *group, void (*read)(const char *, double *),
                          double *limit)
{
    char dir[4096];
    int base = snprintf(dir, sizeof dir, "%s", prefix);
    if (base < 0 || (size_t)base + strlen(group) >= sizeof dir)
        return;
    strcat(dir, group);
    for (;;) {
        read(dir, limit);
        char *slash = strrchr(dir + base, '/');
        if (slash == NULL)
            return;
        *slash = '\0';
    }
}

/* What a group and its ancestors say of one controller, in both versions. */
struct question {
    const char *controller; /* version 1's name for it */
    void (*v2)(const char *dir, double *limit);
    void (*v1)(const char *dir, double *limit);
};

static double ask(const char *cgroup_file, const char *root, const struct question *q)
{
    double limit = 0;
    char line[4096];
    FILE *f = fopen(cgroup_file, "r");
    if (f == NULL)
        return 0;
    /* Each line: hierarchy-id ":" controllers ":" path. */
    while (fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *controllers++ = '\0';
        *group++ = '\0';
        if (strcmp(line, "0") == 0 && *controllers == '\0') {
            each_ancestor(root, group, q->v2, &limit);
            continue;
        }
        char *save = NULL;
        for (char *c = strtok_r(controllers, ",", &save); c != NULL; c = strtok_r(NULL, ",", &save)) {
            if (strcmp(c, q->controller) == 0) {
                char prefix[512];
                snprintf(prefix, sizeof prefix, "%s/%s", root, q->controller);
                each_ancestor(prefix, group, q->v1, &limit);
            }
        }
    }
    fclose(f);
    return limit;
}

double cgroup_cpu_quota(const char *cgroup_file, const char *root)
{
    return ask(cgroup_file, root, &(struct question){"cpu", quota_v2, quota_v1});
}

uint64_t cgroup_memory_bytes(const char *cgroup_file, const char *root)
{
    return (uint64_t)ask(cgroup_file, root, &(struct question){"memory", memory_v2, memory_v1});
}
