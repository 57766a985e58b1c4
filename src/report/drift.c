#include "report/drift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"

static double median_of(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof(*values), order_double);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / (double)count : 0;
}

/* By the median's absolute deviation where there are enough, since one disturbed reading is no unsteady
 * machine. */
static double relative_spread(double *values, size_t count)
{
    const double median = median_of(values, count);

    if (count < 2 || !(median > 0))
        return 0;
    for (size_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - median);
    return 1.4826 * median_of(values, count) / median;
}

/* The entry of one record for a device; NULL when it has none. */
static const struct json *entry_of(const struct json *record, const char *name)
{
    const struct json *canary = json_get(record, "canary");

    for (size_t i = 0; i < json_count(canary); i++)
        if (strcmp(json_string(json_get(json_at(canary, i), "on")), name) == 0)
            return json_at(canary, i);
    return NULL;
}

static size_t collect(const struct json *records, const char *name, const char *key, double *out)
{
    size_t count = 0;

    for (size_t i = 0; i < json_count(records); i++) {
        const double ns = json_number(json_get(entry_of(json_at(records, i), name), key));
        if (ns > 0)
            out[count++] = ns;
    }
    return count;
}

/* What one fixed loop took in one run, in nanoseconds; 0 where it was not measured. */
struct loop {
    /* Not the median: a machine that is busy now and then makes a run slower by as much. */
    double mean, slowest;
    double spread; /* relative */
};

static bool loop_of(const struct results *results, const char *name, const char *key, struct loop *out,
                    struct err *err)
{
    const struct json *records = results->head ? json_get(results->head, "environment") : NULL;
    double *values = mem_calloc(records ? json_count(records) : 0, sizeof(*values), "canary", err);

    *out = (struct loop){0};
    if (!values)
        return false;
    const size_t count = records ? collect(records, name, key, values) : 0;
    for (size_t i = 0; i < count; i++)
        out->slowest = fmax(out->slowest, values[i]);
    out->mean = mean_of(values, count);
    out->spread = relative_spread(values, count);
    free(values);
    return true;
}

static bool add_loop(struct drift *drift, const struct results *was, const char *was_name,
                     const struct results *now, const char *now_name, const char *key, struct err *err)
{
    struct loop before, after;

    if (!loop_of(was, was_name, key, &before, err) || !loop_of(now, now_name, key, &after, err))
        return false;
    if (!(before.mean > 0 && after.mean > 0))
        return true;
    drift->known = true;
    drift->slower = fmax(drift->slower, after.mean / before.mean - 1);
    drift->faster = fmax(drift->faster, before.mean / after.mean - 1);
    drift->worst = fmax(drift->worst, after.slowest / before.mean - 1);
    drift->noise = fmax(drift->noise, hypot(before.spread, after.spread));
    return true;
}

static bool add_canary(struct drift *drift, const struct results *was, const char *was_name,
                       const struct results *now, const char *now_name, struct err *err)
{
    return add_loop(drift, was, was_name, now, now_name, "arithmetic_ns", err) &&
           add_loop(drift, was, was_name, now, now_name, "memory_ns", err);
}

bool drift_between(const struct results *was, const struct device_info *was_device, const struct results *now,
                   const struct device_info *now_device, struct drift *out, struct err *err)
{
    const bool opencl = was_device && now_device && now_device->backend == BACKEND_OPENCL;

    *out = (struct drift){0};
    if (opencl && !add_canary(out, was, was_device->selector, now, now_device->selector, err))
        return false;
    return (opencl && now_device->kind != DEVICE_CPU) || add_canary(out, was, "cpu", now, "cpu", err);
}
