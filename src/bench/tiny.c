#include "bench/tiny.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "model/image.h"
#include "model/oracle.h"
#include "model/scene.h"

#define SEED 5
/* Of many triangles one in so many is seen, and one call has to do: where a kernel is interpreted, it takes
 * long. */
#define SEEN 97u

static size_t pixels_of(const struct render_job *job)
{
    return (size_t)job->spec.width * job->spec.height;
}

static void fill(const struct render_job *job)
{
    static const float ground[3] = {0.1f, 0.11f, 0.14f}, flat[3] = {0.4f, 0.5f, 0.6f};
    const struct render_io *io = &job->io;
    const uint32_t triangles = job->spec.triangles;
    const size_t pixels = pixels_of(job);

    for (uint32_t b = 0; b < job->spec.batch; b++) {
        float *params = io->params + (size_t)b * triangles * SCENE_STRIDE;
        scene_random(params, triangles, SEED, b, SCENE_DEFAULT_EXTENT);
        for (size_t v = 0; v < 6; v++)
            params[v] += b == 0 ? 7.0f : 0.0f;
        for (uint32_t i = TINY_TRIANGLES; i < triangles; i++)
            params[(size_t)i * SCENE_STRIDE + 9] *= i % SEEN == 0 ? 1.0f : 0.0f;
        memcpy(io->background + 3 * (size_t)b, ground, sizeof ground);
        if (io->target)
            image_fill(io->target + b * pixels * 3, job->spec.width, job->spec.height, flat);
        if (io->upstream)
            scene_random_upstream(io->upstream + b * pixels * 3, pixels * 3, SEED, b);
    }
}

static bool check_scene(const struct render_job *job, uint32_t b, struct agreement *errors, struct err *err)
{
    const struct render_io *io = &job->io;
    const uint32_t triangles = job->spec.triangles;
    const size_t values = pixels_of(job) * 3, first = (size_t)b * triangles * SCENE_STRIDE;
    double *image =
        mem_calloc(values + (uint64_t)triangles * SCENE_STRIDE, sizeof *image, "a reference", err);
    double *grads = image + values;
    struct agreement found, tolerance;
    enum agreement_group worst;
    const struct oracle_input in = {.width = job->spec.width,
                                    .height = job->spec.height,
                                    .triangles = triangles,
                                    .sigma = job->spec.sigma,
                                    .params = io->params + first,
                                    .background = io->background + 3 * (size_t)b,
                                    .target = io->target ? io->target + b * values : NULL,
                                    .upstream = io->upstream ? io->upstream + b * values : NULL};
    struct oracle_output out = {.image = image, .grads = io->grads ? grads : NULL};
    bool ok = image && oracle_render(&in, &out, err);

    if (!ok)
        goto out;
    agreement_init(&found);
    if (io->image)
        found.value[AGREE_IMAGE] = agreement_image(io->image + b * values, image, values);
    if (io->loss)
        found.value[AGREE_LOSS] = agreement_loss(io->loss[b], out.loss);
    if (io->grads)
        agreement_grads(&found, io->grads + first, grads, triangles, false);
    agreement_tolerance(&tolerance, job->spec.sigma, false, io->params + first, triangles);
    agreement_worst(errors, &found);
    ok = agreement_within(&found, &tolerance, &worst) ||
         err_set(err, ERR_WRONG, "scene %u: %s is off by %.1e, allowed are %.1e", (unsigned)b,
                 agreement_group_name(worst), found.value[worst], tolerance.value[worst]);
out:
    free(image);
    return ok;
}

static bool call(struct render_job *job, uint64_t *elapsed_ns, struct err *err)
{
    const struct renderer_ops *ops = job->renderer->ops;

    if (!ops->poison(job, err))
        return false;
    uint64_t start = clock_now_ns();
    bool ok = ops->call(job, err);
    *elapsed_ns = clock_now_ns() - start;
    return ok;
}

bool tiny_run(struct renderer *renderer, const struct render_spec *spec, struct tiny_result *out,
              struct err *err)
{
    const bool many = spec->triangles >= SPEC_MANY_TRIANGLES;
    struct render_spec small = *spec;
    struct render_job *job = NULL;
    bool ok;

    *out = (struct tiny_result){0};
    agreement_init(&out->errors);
    small.width = many ? TINY_MANY_WIDTH : TINY_WIDTH;
    small.height = TINY_HEIGHT;
    small.triangles = many ? SPEC_MANY_TRIANGLES : TINY_TRIANGLES;
    small.batch = many ? 1 : TINY_BATCH;
    if (!renderer->ops->open(renderer, &small, &job, err))
        return false;
    fill(job);
    ok = renderer->ops->inputs_changed(job, err) && call(job, &out->first_ns, err) &&
         (many || call(job, &out->second_ns, err));
    for (uint32_t b = 0; ok && b < job->spec.batch; b++)
        ok = check_scene(job, b, &out->errors, err);
    renderer->ops->close(job);
    return ok;
}
