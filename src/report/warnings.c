#include "report/warnings.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "bench/stats.h"
#include "report/drift.h"

/* Of the samples of a cell; fewer outliers are nothing unusual. */
#define OUTLIER_SHARE 0.1
/* A first sample is slow when no other is slower and it is this much over the median. */
#define SLOW_FIRST 1.25

struct teller {
    const struct results *results;
    const struct json *records; /* of the environment */
    void (*tell)(void *context, const char *text);
    void *context;
};

static void warn(const struct teller *t, const char *fmt, ...) GB_PRINTF(2, 3);

static void warn(const struct teller *t, const char *fmt, ...)
{
    struct strbuf text = STRBUF_INIT;
    va_list args;

    va_start(args, fmt);
    strbuf_addv(&text, fmt, args);
    va_end(args);
    t->tell(t->context, strbuf_str(&text));
    strbuf_fini(&text);
}

/* ---- canary ---- */

static double reading(const struct json *record, const char *on, const char *key)
{
    const struct json *list = json_get(record, "canary");

    for (size_t i = 0; i < json_count(list); i++)
        if (strcmp(json_string(json_get(json_at(list, i), "on")), on) == 0)
            return json_number(json_get(json_at(list, i), key));
    return 0;
}

struct range {
    double first, last, low, high;
};

static struct range range_of(const struct teller *t, const char *on, const char *key)
{
    struct range r = {0, 0, INFINITY, 0};

    for (size_t i = 0; i < json_count(t->records); i++) {
        const double ns = reading(json_at(t->records, i), on, key);
        if (!(ns > 0))
            continue;
        if (!(r.first > 0))
            r.first = ns;
        r.last = ns;
        r.low = fmin(r.low, ns);
        r.high = fmax(r.high, ns);
    }
    return r;
}

static const char *const canary_keys[] = {"arithmetic_ns", "memory_ns"};

static void canary(const struct teller *t, const char *on, const char *what)
{
    static const char *const words[] = {"arithmetic", "memory"};

    for (size_t i = 0; i < 2; i++) {
        const struct range r = range_of(t, on, canary_keys[i]);
        if (!(r.first > 0) || r.high <= r.low * (1 + DRIFT_TOLERATED))
            continue;
        if (fabs(r.last / r.first - 1) > DRIFT_TOLERATED)
            warn(t,
                 "%s became %.0f %% %s while this ran (canary, %s; it varied by %.0f %%): times drift with "
                 "it; "
                 "measure on an idle machine, or with fixed clocks",
                 what, fabs(r.last / r.first - 1) * 100, r.last > r.first ? "slower" : "faster", words[i],
                 (r.high / r.low - 1) * 100);
        else
            warn(t,
                 "%s varied by %.0f %% while this ran (canary, %s): close what else runs here, or raise "
                 "measure.max_seconds",
                 what, (r.high / r.low - 1) * 100, words[i]);
        return;
    }
}

#define READINGS_MAX 512u

/* A single slow reading, as while a driver starts its threads, says nothing of the others. */
static double unsteadiness_of(const struct teller *t, const char *on)
{
    const size_t records = json_count(t->records), step = records / READINGS_MAX + 1;
    double readings[READINGS_MAX], most = 0;

    for (size_t k = 0; k < 2; k++) {
        size_t count = 0;
        for (size_t i = 0; i < records; i += step) {
            const double ns = reading(json_at(t->records, i), on, canary_keys[k]);
            if (ns > 0)
                readings[count++] = ns;
        }
        qsort(readings, count, sizeof(*readings), order_double);
        if (count > 0)
            most = fmax(most, readings[(3 * count - 1) / 4] / readings[count / 4] - 1);
    }
    return most;
}

double warnings_unsteadiness(const struct results *results)
{
    const struct teller t = {results, json_get(results->head, "environment"), NULL, NULL};
    double most = unsteadiness_of(&t, "cpu");

    for (size_t i = 0; i < results->device_count; i++)
        if (results->devices[i].backend == BACKEND_OPENCL)
            most = fmax(most, unsteadiness_of(&t, results->devices[i].selector));
    return most;
}

static void canaries(const struct teller *t)
{
    canary(t, "cpu", "the CPU");
    for (size_t i = 0; i < t->results->device_count; i++) {
        const struct device_info *d = &t->results->devices[i];
        char name[DEVICE_NAME_MAX + 40];
        snprintf(name, sizeof(name), "%s [%s]", *d->short_name ? d->short_name : d->name, d->selector);
        if (d->backend == BACKEND_OPENCL)
            canary(t, d->selector, name);
    }
}

/* ---- host ---- */

static uint32_t threads_of(const struct results *results)
{
    uint32_t threads = 0;

    for (size_t i = 0; i < results->device_count; i++)
        if (results->devices[i].threads > threads)
            threads = results->devices[i].threads;
    return threads;
}

static void host(const struct teller *t)
{
    const struct json *machine = json_get(t->results->head, "machine");
    const char *governor = json_string(json_get(machine, "governor"));
    const double load = json_number(json_at(json_get(machine, "load_average"), 0));
    const double cpus = json_number(json_get(machine, "affinity_cpus"));
    const double quota = json_number(json_get(machine, "cpu_quota"));
    const uint32_t threads = threads_of(t->results);

    if (cpus > 0 && load > 0.25 * cpus && load > 0.5)
        warn(t,
             "the load average was %.1f on %.0f CPUs when this began: other programs take CPU time; wait for "
             "them to "
             "end",
             load, cpus);
    if (*governor && strcmp(governor, "performance") != 0)
        warn(t,
             "the CPU's governor is %s: clocks follow the load; cpupower frequency-set -g performance fixes "
             "them",
             governor);
    if (quota > 0 && quota < threads)
        warn(t,
             "the control group grants %.3g CPUs to %" PRIu32
             " threads, which are stopped when it is used up: give "
             "-t %.0f",
             quota, threads, fmax(1, floor(quota)));
}

/* ---- devices ---- */

/* A path that a device says it can and cannot: the driver may be what is to be looked at. */
static void paths(const struct teller *t)
{
    for (size_t i = 0; i < t->results->device_count; i++) {
        const struct device_info *d = &t->results->devices[i];
        if (*d->path_note)
            warn(t, "%s took the code path %s, not a faster one: %s", d->selector, d->path, d->path_note);
    }
}

/* ---- GPUs ---- */

static void processes(const struct teller *t, const struct json *gpu, const char *on)
{
    const struct json *list = json_get(gpu, "processes"), *first = json_at(list, 0);

    if (first)
        warn(t, "%zu other process%s on %s (%s): end %s, or times are of a shared device", json_count(list),
             json_count(list) == 1 ? " computes" : "es compute", on, json_string(json_get(first, "name")),
             json_count(list) == 1 ? "it" : "them");
}

/* The state of one GPU in all records: each warning once. */
static void gpu(const struct teller *t, const char *on)
{
    double low = INFINITY, high = 0;
    const char *throttle = "";
    const struct json *last = NULL;

    for (size_t i = 0; i < json_count(t->records); i++) {
        const struct json *list = json_get(json_at(t->records, i), "gpus");
        for (size_t k = 0; k < json_count(list); k++) {
            const struct json *state = json_at(list, k);
            const double mhz = json_number(json_get(state, "clock_mhz"));
            if (strcmp(json_string(json_get(state, "on")), on) != 0)
                continue;
            if (json_get(state, "processes"))
                last = state;
            if (*json_string(json_get(state, "throttle")))
                throttle = json_string(json_get(state, "throttle"));
            /* Between blocks a GPU may rest. */
            if (mhz > 0 && strcmp(json_string(json_get(json_at(t->records, i), "when")), "block") != 0) {
                low = fmin(low, mhz);
                high = fmax(high, mhz);
            }
        }
    }
    if (!last)
        return;
    if (*throttle)
        warn(t, "%s was throttled (%s): cool it, or fix a clock that it holds (nvidia-smi -lgc MHZ)", on,
             throttle);
    else if (high > low * (1 + DRIFT_TOLERATED))
        warn(t, "the clock of %s went from %.0f to %.0f MHz: nvidia-smi -lgc MHZ fixes it", on, low, high);
    processes(t, last, on);
    const double width = json_number(json_get(last, "pcie_width"));
    const double max_width = json_number(json_get(last, "max_pcie_width"));
    if (width > 0 && width < max_width)
        warn(t, "%s has %.0f of its %.0f PCIe lanes: copies are slower than they could be; look at its slot",
             on, width, max_width);
}

/* ---- samples ---- */

static bool slow_first(const struct cell *c, double *factor)
{
    if (c->status != CELL_OK || c->sample_count < 3 || !c->median_ns)
        return false;
    for (size_t i = 1; i < c->sample_count; i++)
        if (c->samples_ns[i] > c->samples_ns[0])
            return false;
    *factor = (double)c->samples_ns[0] / (double)c->median_ns;
    return *factor >= SLOW_FIRST;
}

static void few_samples(const struct teller *t)
{
    const struct cell *first = NULL;
    size_t few = 0;

    for (size_t i = 0; i < t->results->cell_count; i++) {
        const struct cell *c = &t->results->cells[i];
        if (c->status != CELL_OK || c->has_ci)
            continue;
        few++;
        first = first ? first : c;
    }
    if (first)
        warn(t,
             "under %d samples, and so no interval, in %zu of %zu cells (%s: %zu): raise measure.timeout_seconds or "
             "measure.max_samples",
             STATS_MIN_SAMPLES, few, t->results->cell_count, first->id, first->sample_count);
}

static void samples(const struct teller *t)
{
    const struct cell *worst = NULL, *slowest = NULL;
    double share = 0, factor = 0;
    size_t outliers = 0, slow = 0;

    for (size_t i = 0; i < t->results->cell_count; i++) {
        const struct cell *c = &t->results->cells[i];
        double part = c->sample_count ? (double)c->outliers / (double)c->sample_count : 0, times;
        if (c->status == CELL_OK && part > OUTLIER_SHARE) {
            outliers++;
            if (part > share) {
                share = part;
                worst = c;
            }
        }
        if (slow_first(c, &times)) {
            slow++;
            if (times > factor) {
                factor = times;
                slowest = c;
            }
        }
    }
    if (worst)
        warn(t,
             "over %.0f %% outliers in %zu of %zu cells (%s: %" PRIu32
             " of %zu samples): something else ran, and "
             "medians bear it better than means",
             OUTLIER_SHARE * 100, outliers, t->results->cell_count, worst->id, worst->outliers,
             worst->sample_count);
    if (slowest)
        warn(t,
             "the first sample is the slowest in %zu of %zu cells (%s: %.1f times its median): raise "
             "measure.warmup",
             slow, t->results->cell_count, slowest->id, factor);
}

/* ---- submissions ---- */

/* What watchdogs usually allow, halved. */
#define LONG_SUBMISSION_NS UINT64_C(1000000000)

static void submissions(const struct teller *t)
{
    const struct cell *longest = NULL;

    for (size_t i = 0; i < t->results->cell_count; i++) {
        const struct cell *c = &t->results->cells[i];
        if (!longest || c->counts.longest_submission_ns > longest->counts.longest_submission_ns)
            longest = c;
    }
    if (longest)
        warnings_submission(longest->counts.longest_submission_ns, longest->id, t->tell, t->context);
}

void warnings_submission(uint64_t longest_ns, const char *of, void (*tell)(void *context, const char *text),
                         void *context)
{
    const struct teller t = {.tell = tell, .context = context};
    char took[UNITS_MAX];

    if (longest_ns < LONG_SUBMISSION_NS)
        return;
    units_time(took, longest_ns);
    warn(&t,
         "a submission took %s (%s): watchdogs often end kernels after 2 s; lower --max-submit-ms, or take "
         "smaller pictures with fewer triangles there",
         took, of);
}

void warnings_tell(const struct results *results, void (*tell)(void *context, const char *text),
                   void *context)
{
    const struct teller t = {results, json_get(results->head, "environment"), tell, context};

    host(&t);
    paths(&t);
    canaries(&t);
    for (size_t i = 0; i < results->device_count; i++)
        if (results->devices[i].backend == BACKEND_OPENCL)
            gpu(&t, results->devices[i].selector);
    few_samples(&t);
    samples(&t);
    submissions(&t);
}
