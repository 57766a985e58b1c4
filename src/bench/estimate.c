#include "bench/estimate.h"

#include <inttypes.h>
#include <math.h>

#include "base/units.h"

/* A part has no more than about this much, and a whole of fewer than LARGE parts is not worth the trouble. */
#define PART_PAIRS 2e7
#define PART_PIXELS 4194304.0
#define LARGE 8
/* Below this a picture does not shrink: its tiles would be too few to keep a device busy. */
#define LEAST_PIXELS 65536.0
/* An estimate this much over the limit may still be wrong; one further over is not. */
#define MARGIN 1.2

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* value / times, rounded up. *times becomes what is still to be saved, *saved what has been. */
static uint32_t shrink(uint32_t value, double *times, double *saved)
{
    const double least = (double)value / *times;
    uint32_t part = least > 1 ? (uint32_t)least : 1;

    part = part > value ? value : part;
    if (part == 0)
        return value;
    *saved *= (double)value / part;
    *times = larger(1, *times * part / value);
    return part;
}

double estimate_part(const struct inputs *whole, uint64_t pairs, struct inputs *part)
{
    const double pixels = (double)whole->spec.width * whole->spec.height;
    double times = larger((double)pairs / PART_PAIRS, pixels * whole->spec.batch / PART_PIXELS), saved = 1;
    struct render_spec *spec = &part->spec;

    /* Without picture and targets of their own, inputs have flat ones. */
    *part = (struct inputs){.files = whole->files, .spec = whole->spec};
    if (!(times >= LARGE))
        return 1;
    spec->batch = shrink(spec->batch, &times, &saved);
    const bool least = pixels / times < LEAST_PIXELS;
    const double side = least ? larger(1, floor(sqrt(pixels / LEAST_PIXELS))) : ceil(sqrt(times));
    double wide = side, high = side;
    spec->width = shrink(spec->width, &wide, &saved);
    spec->height = shrink(spec->height, &high, &saved);
    times = larger(1, times / (pixels / ((double)spec->width * spec->height)));
    if (whole->files->scene_count == 0)
        spec->triangles = shrink(spec->triangles, &times, &saved);
    return saved;
}

static bool fill_and_call(struct render_job *job, const struct inputs *in, struct err *err)
{
    const struct renderer_ops *ops = job->renderer->ops;

    inputs_fill(in, &job->io);
    return ops->inputs_changed(job, err) && ops->poison(job, err) && ops->call(job, err);
}

bool estimate_measure(struct renderer *renderer, const struct render_spec *spec, const struct inputs *part,
                      double times, const struct sample_clock *clock, struct estimate *out, struct err *err)
{
    const struct renderer_ops *ops = renderer->ops;
    struct render_spec small = *spec;
    struct render_job *job = NULL;
    uint64_t prepare_ns = UINT64_MAX, call_ns = UINT64_MAX;
    bool ok = true;

    small.batch = part->spec.batch;
    small.width = part->spec.width;
    small.height = part->spec.height;
    small.triangles = part->spec.triangles;
    /* The first time builds kernels. */
    for (int i = 0; ok && i < 3; i++) {
        const uint64_t start = clock->now_ns(clock->context);
        ok = ops->open(renderer, &small, &job, err) && fill_and_call(job, part, err);
        const uint64_t prepared = clock->now_ns(clock->context);
        ok = ok && ops->call(job, err);
        const uint64_t called = clock->now_ns(clock->context);
        ops->close(job);
        job = NULL;
        prepare_ns = prepared - start < prepare_ns ? prepared - start : prepare_ns;
        call_ns = called - prepared < call_ns ? called - prepared : call_ns;
    }
    /* The pictures of what is large are verified in a job of their own, twice. */
    *out =
        (struct estimate){.call_ns = times * (double)call_ns, .prepare_ns = 3 * times * (double)prepare_ns};
    return ok;
}

bool estimate_fits(const struct estimate *e, const struct measure_config *rules, struct err *err)
{
    const uint64_t calls = sample_least_calls(rules);
    const double all_ns = e->prepare_ns + (double)calls * e->call_ns;
    char call[UNITS_MAX], all[UNITS_MAX];

    if (all_ns <= MARGIN * rules->timeout_seconds * 1e9)
        return true;
    units_time(call, e->call_ns < 1e18 ? (uint64_t)e->call_ns : UINT64_C(1000000000000000000));
    units_duration(all, all_ns < 1e18 ? (uint64_t)all_ns : UINT64_C(1000000000000000000));
    return err_set(
        err, ERR_LIMIT,
        "a call would take about %s, and %" PRIu64 " of them with all that comes before about %s: over its %g s "
        "(measure.timeout_seconds)",
        call, calls, all, rules->timeout_seconds);
}
