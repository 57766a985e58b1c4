#include "bench/canary.h"

#include <string.h>

#include "bench/stats.h"

#define WARM_UP 3
#define CALLS 9

static const struct {
    const char *name;
    uint32_t size, triangles, batch;
} work[CANARY_KINDS] = {{"arithmetic", 64, 128, 4}, {"memory", 512, 0, 4}, {"launch", 1, 0, 1}};

const char *canary_name(enum canary_kind kind)
{
    return work[kind].name;
}

static void fill(struct render_job *job)
{
    const struct render_spec *s = &job->spec;
    memset(job->io.background, 0, (size_t)s->batch * 3 * sizeof(float));
    memset(job->io.target, 0, (size_t)s->batch * s->width * s->height * 3 * sizeof(float));
    for (uint32_t b = 0; b < s->batch; b++)
        scene_random(job->io.params + (size_t)b * s->triangles * SCENE_STRIDE, s->triangles, 1, b,
                     SCENE_DEFAULT_EXTENT);
}

static bool time_job(struct render_job *job, const struct sample_clock *clock, uint64_t *median,
                     struct err *err)
{
    const struct renderer_ops *ops = job->renderer->ops;
    uint64_t samples[CALLS];
    if (!ops->inputs_changed(job, err))
        return false;
    for (size_t i = 0; i < WARM_UP + CALLS; i++) {
        uint64_t start = clock->now_ns(clock->context);
        if (!ops->call(job, err))
            return false;
        if (i >= WARM_UP)
            samples[i - WARM_UP] = clock->now_ns(clock->context) - start;
    }
    return stats_median(samples, CALLS, median, err);
}

bool canary_run(struct renderer *renderer, const struct sample_clock *clock, struct canary *out,
                struct err *err)
{
    for (size_t k = 0; k < CANARY_KINDS; k++) {
        struct render_spec spec;
        struct render_job *job = NULL;
        spec_init(&spec);
        spec.width = spec.height = work[k].size;
        spec.triangles = work[k].triangles;
        spec.batch = work[k].batch;
        if (!renderer->ops->open(renderer, &spec, &job, err))
            return false;
        fill(job);
        bool ok = time_job(job, clock, &out->ns[k], err);
        renderer->ops->close(job);
        if (!ok)
            return false;
    }
    return true;
}

double canary_drift(const struct canary *list, size_t count, size_t device, enum canary_kind kind,
                    uint64_t *fastest, uint64_t *slowest)
{
    size_t found = 0;
    *fastest = UINT64_MAX;
    *slowest = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].device != device)
            continue;
        found++;
        *fastest = list[i].ns[kind] < *fastest ? list[i].ns[kind] : *fastest;
        *slowest = list[i].ns[kind] > *slowest ? list[i].ns[kind] : *slowest;
    }
    return found < 2 || *fastest == 0 ? 0 : (double)*slowest / (double)*fastest - 1;
}

void canary_to_json(const struct canary *canary, struct json *object)
{
    json_set_u64(object, "device", canary->device);
    json_set_u64(object, "at_ns", canary->at_ns);
    for (size_t k = 0; k < CANARY_KINDS; k++) {
        char key[32];
        strcpy(key, work[k].name);
        strcat(key, "_ns");
        json_set_u64(object, key, canary->ns[k]);
    }
}
