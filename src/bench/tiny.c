#include "bench/tiny.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "model/image.h"
#include "model/oracle.h"
#include "model/scene.h"

#define PIXELS ((size_t)TINY_WIDTH * TINY_HEIGHT)
#define SEED 5

static void fill(const struct render_io *io)
{
    static const float ground[3] = {0.1f, 0.11f, 0.14f}, flat[3] = {0.4f, 0.5f, 0.6f};

    for (uint32_t b = 0; b < TINY_BATCH; b++) {
        float *params = io->params + (size_t)b * TINY_TRIANGLES * SCENE_STRIDE;
        scene_random(params, TINY_TRIANGLES, SEED, b, SCENE_DEFAULT_EXTENT);
        for (size_t v = 0; v < 6; v++)
            params[v] += b == 0 ? 7.0f : 0.0f;
        memcpy(io->background + 3 * (size_t)b, ground, sizeof ground);
        if (io->target)
            image_fill(io->target + b * PIXELS * 3, TINY_WIDTH, TINY_HEIGHT, flat);
        if (io->upstream)
            scene_random_upstream(io->upstream + b * PIXELS * 3, PIXELS * 3, SEED, b);
    }
}

static bool check_scene(const struct render_job *job, uint32_t b, struct agreement *errors, struct err *err)
{
    const struct render_io *io = &job->io;
    const float *params = io->params + (size_t)b * TINY_TRIANGLES * SCENE_STRIDE;
    double image[PIXELS * 3], grads[TINY_TRIANGLES * SCENE_STRIDE];
    struct agreement found, tolerance;
    enum agreement_group worst;
    const struct oracle_input in = {.width = TINY_WIDTH,
                                    .height = TINY_HEIGHT,
                                    .triangles = TINY_TRIANGLES,
                                    .sigma = job->spec.sigma,
                                    .params = params,
                                    .background = io->background + 3 * (size_t)b,
                                    .target = io->target ? io->target + b * PIXELS * 3 : NULL,
                                    .upstream = io->upstream ? io->upstream + b * PIXELS * 3 : NULL};
    struct oracle_output out = {.image = image, .grads = io->grads ? grads : NULL};

    if (!oracle_render(&in, &out, err))
        return false;
    agreement_init(&found);
    if (io->image)
        found.value[AGREE_IMAGE] = agreement_image(io->image + b * PIXELS * 3, image, PIXELS * 3);
    if (io->loss)
        found.value[AGREE_LOSS] = agreement_loss(io->loss[b], out.loss);
    if (io->grads)
        agreement_grads(&found, io->grads + (size_t)b * TINY_TRIANGLES * SCENE_STRIDE, grads, TINY_TRIANGLES,
                        false);
    agreement_tolerance(&tolerance, job->spec.sigma, false, params, TINY_TRIANGLES);
    agreement_worst(errors, &found);
    return agreement_within(&found, &tolerance, &worst) ||
           err_set(err, ERR_WRONG, "scene %u: %s is off by %.1e, allowed are %.1e", (unsigned)b,
                   agreement_group_name(worst), found.value[worst], tolerance.value[worst]);
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
    struct render_spec small = *spec;
    struct render_job *job = NULL;
    bool ok;

    *out = (struct tiny_result){0};
    agreement_init(&out->errors);
    small.width = TINY_WIDTH;
    small.height = TINY_HEIGHT;
    small.triangles = TINY_TRIANGLES;
    small.batch = TINY_BATCH;
    if (!renderer->ops->open(renderer, &small, &job, err))
        return false;
    fill(&job->io);
    ok = renderer->ops->inputs_changed(job, err) && call(job, &out->first_ns, err) &&
         call(job, &out->second_ns, err);
    for (uint32_t b = 0; ok && b < TINY_BATCH; b++)
        ok = check_scene(job, b, &out->errors, err);
    renderer->ops->close(job);
    return ok;
}
