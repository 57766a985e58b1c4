#include "report/drift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof(*values), compare_double);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / (double)count : NAN;
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

bool canary_summary_of(const struct results *results, const struct device_info *device,
                       struct canary_summary *out, struct err *err)
{
    const struct json *records = results->head ? json_get(results->head, "environment") : NULL;
    const char *name = device && device->backend == BACKEND_OPENCL ? device->selector : "cpu";
    double *values = mem_calloc(records ? json_count(records) : 0, sizeof(*values), "canary", err);

    *out = (struct canary_summary){.arithmetic_ns = NAN, .memory_ns = NAN, .launch_ns = NAN};
    if (!values)
        return false;
    if (records) {
        size_t count = collect(records, name, "launch_ns", values);
        out->launch_ns = mean_of(values, count);
        count = collect(records, name, "memory_ns", values);
        out->memory_ns = mean_of(values, count);
        out->spread = relative_spread(values, count);
        count = collect(records, name, "arithmetic_ns", values);
        out->arithmetic_ns = mean_of(values, count);
        out->spread = fmax(out->spread, relative_spread(values, count));
        out->records = count;
    }
    free(values);
    return true;
}

static void widen(struct drift *drift, double was, double now)
{
    if (!(was > 0 && now > 0))
        return;
    drift->slower = fmax(drift->slower, now / was - 1);
    drift->faster = fmax(drift->faster, was / now - 1);
}

bool drift_between(const struct results *was, const struct device_info *was_device, const struct results *now,
                   const struct device_info *now_device, struct drift *out, struct err *err)
{
    struct canary_summary before, after;

    *out = (struct drift){0};
    if (!canary_summary_of(was, was_device, &before, err) || !canary_summary_of(now, now_device, &after, err))
        return false;
    out->known = before.records > 0 && after.records > 0;
    if (!out->known)
        return true;
    widen(out, before.arithmetic_ns, after.arithmetic_ns);
    widen(out, before.memory_ns, after.memory_ns);
    out->noise = sqrt(before.spread * before.spread + after.spread * after.spread);
    return true;
}
