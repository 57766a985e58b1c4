#include "bench/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "model/fit.h"
#include "model/oracle.h"
#include "model/scene.h"

/* A loss that many times the first one is no way to a picture any more. */
#define DIVERGED 4.0
/* Pairs of pixel and triangle a block: waiting for the device should be little beside it, and Ctrl-C soon
 * heard. A step of 512x512 pixels and 2048 triangles is 2^29 of them: about 1 ms of an NVIDIA H200, 0.2 s of two
 * cores. */
#define BLOCK_PAIRS_CPU (UINT64_C(1) << 29)
#define BLOCK_PAIRS_GPU (UINT64_C(1) << 31)
#define BLOCK_STEPS_MAX 32u

const char *fit_end_text(enum fit_end end)
{
    static const char *const texts[] = {"all steps", "loss reached", "patience", "diverged", "stopped"};

    return texts[end];
}

void fit_run_fini(struct fit_run *run)
{
    if (run == NULL)
        return;
    free(run->loss);
    free(run->sigma);
    free(run->at_ns);
    free(run->params);
    *run = (struct fit_run){0};
}

/* What a run is made with, and where it stands. */
struct training {
    struct render_job *job;
    const struct fit_options *options;
    struct fit_run *run;
    uint32_t block;         /* steps at once */
    struct fit_step *steps; /* owned; [block] */
    float *moments;         /* owned; [2][T][10]: where the host takes the steps */
    uint64_t start_ns;
};

static uint64_t values_of(const struct training *t)
{
    return (uint64_t)t->job->spec.triangles * SCENE_STRIDE;
}

/* The step on the host, for renderers that cannot take it. */
static bool host_step(struct training *t, const struct fit_step *step, double *loss, struct err *err)
{
    struct render_job *job = t->job;

    job->spec.sigma = step->sigma;
    if (!job->renderer->ops->call(job, err))
        return false;
    *loss = job->io.loss[0];
    if (t->run->count == 0 || *loss < t->run->loss[t->run->best])
        memcpy(t->run->params, job->io.params, values_of(t) * sizeof(float));
    fit_update(job->io.params, job->io.grads, t->moments, job->spec.triangles, step);
    return true;
}

static bool take_block(struct training *t, uint32_t count, struct err *err)
{
    const struct fit_options *o = t->options;
    const uint32_t first = t->run->count;
    const struct fit_block block = {
        .steps = t->steps, .count = count, .start = first == 0, .loss = t->run->loss + first};

    for (uint32_t i = 0; i < count; i++) {
        t->steps[i] = fit_step_at(first + i, o->steps, o->first_sigma, o->last_sigma, o->rates);
        t->run->sigma[first + i] = t->steps[i].sigma;
    }
    return t->moments ? host_step(t, t->steps, &t->run->loss[first], err)
                      : t->job->renderer->ops->fit(t->job, &block, err);
}

/* Why the run ends after this step; FIT_STEPS: it does not. */
static enum fit_end end_after(const struct training *t, uint32_t step)
{
    const struct fit_options *o = t->options;
    const struct fit_run *run = t->run;

    if (!isfinite(run->loss[step]) || run->loss[step] > DIVERGED * run->loss[0])
        return FIT_DIVERGED;
    if (o->until > 0 && run->loss[step] <= o->until)
        return FIT_UNTIL;
    return o->patience > 0 && step - run->best >= o->patience ? FIT_PATIENCE : FIT_STEPS;
}

/* Counts a block's steps. The run ends with a whole block, whose size no clock decides: where depends on its
 * losses alone, and the device's best scene is the best of the losses here. true: it ended. */
static bool count_steps(struct training *t, uint32_t count, uint64_t from_ns, uint64_t to_ns)
{
    struct fit_run *run = t->run;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t step = run->count++;
        run->at_ns[step] = from_ns + (to_ns - from_ns) * (i + 1) / count;
        if (step == 0 || run->loss[step] < run->loss[run->best])
            run->best = step;
        if (run->end == FIT_STEPS)
            run->end = end_after(t, step);
    }
    if (run->end == FIT_STEPS && t->options->stop && *t->options->stop)
        run->end = FIT_STOPPED;
    return run->end != FIT_STEPS || run->count == t->options->steps;
}

static bool train(struct training *t, struct err *err)
{
    uint64_t from_ns = 0;

    t->start_ns = clock_now_ns();
    for (bool ended = t->options->steps == 0; !ended;) {
        const uint32_t left = t->options->steps - t->run->count, count = left < t->block ? left : t->block;
        if (!take_block(t, count, err))
            return false;
        const uint64_t to_ns = clock_now_ns() - t->start_ns;
        ended = count_steps(t, count, from_ns, to_ns);
        from_ns = to_ns;
        if (t->options->tell)
            t->options->tell(t->options->context, t->run);
    }
    return true;
}

/* The best scene from the device, and the first step's whatever it is where none was finite. */
static bool fetch_best(struct training *t, struct err *err)
{
    const struct fit_block none = {.best = t->run->params};

    return t->moments || t->run->count == 0 || t->job->renderer->ops->fit(t->job, &none, err);
}

static bool prepare(struct training *t, const float *params, const float background[3], const float *target,
                    struct err *err)
{
    const struct render_spec *spec = &t->job->spec;
    const uint64_t pixels = (uint64_t)spec->width * spec->height, steps = t->options->steps;
    const uint64_t pairs = pixels * (spec->triangles > 0 ? spec->triangles : 1);
    const bool on_cpu = t->job->renderer->info.kind == DEVICE_CPU;
    const uint64_t steps_a_block = (on_cpu ? BLOCK_PAIRS_CPU : BLOCK_PAIRS_GPU) / pairs;

    t->block = steps_a_block > BLOCK_STEPS_MAX ? BLOCK_STEPS_MAX : (uint32_t)steps_a_block;
    t->block = t->block == 0 || !t->job->renderer->ops->fit ? 1 : t->block;
    t->run->loss = mem_calloc(steps, sizeof *t->run->loss, "losses", err);
    t->run->sigma = mem_calloc(steps, sizeof *t->run->sigma, "losses", err);
    t->run->at_ns = mem_calloc(steps, sizeof *t->run->at_ns, "losses", err);
    t->run->params = mem_calloc(values_of(t), sizeof(float), "a scene", err);
    t->steps = mem_calloc(t->block, sizeof *t->steps, "steps", err);
    const bool on_host = !t->job->renderer->ops->fit;
    if (on_host)
        t->moments = mem_calloc(2 * values_of(t), sizeof(float), "moments", err);
    if (!t->run->loss || !t->run->sigma || !t->run->at_ns || !t->run->params || !t->steps ||
        (on_host && !t->moments))
        return false;
    memcpy(t->run->params, params, values_of(t) * sizeof(float));
    memcpy(t->job->io.params, params, values_of(t) * sizeof(float));
    memcpy(t->job->io.background, background, 3 * sizeof(float));
    memcpy(t->job->io.target, target, pixels * 3 * sizeof(float));
    /* Warms up, and makes room for the first step's sums. */
    t->job->spec.sigma = t->options->first_sigma;
    return t->job->renderer->ops->inputs_changed(t->job, err) && t->job->renderer->ops->call(t->job, err);
}

/* An image's rounding, root mean square: what a loss near 0 is made of. */
#define IMAGE_ROUNDING 2e-6
#define LOSS_TOLERANCE 1e-5 /* docs/MODEL.md, Agreement */

/* Whether the best scene's loss is what the reference says of it: no time without a checked result. */
static bool verify(const struct fit_run *run, const struct render_spec *spec, const float background[3],
                   const float *target, struct err *err)
{
    struct oracle_output out = {0};

    if (run->count == 0 || !isfinite(run->loss[run->best]))
        return true;
    const double loss = run->loss[run->best];
    const struct oracle_input in = {.width = spec->width,
                                    .height = spec->height,
                                    .triangles = spec->triangles,
                                    .sigma = run->sigma[run->best],
                                    .params = run->params,
                                    .background = background,
                                    .target = target};
    if (!oracle_render(&in, &out, err))
        return false;
    const double allowed =
        LOSS_TOLERANCE * out.loss + 2 * sqrt(out.loss) * IMAGE_ROUNDING + IMAGE_ROUNDING * IMAGE_ROUNDING;
    return fabs(loss - out.loss) <= allowed ||
           err_set(err, ERR_WRONG, "the best scene's loss came out as %.9g, and by the reference it is %.9g",
                   loss, out.loss);
}

bool fit_train(struct renderer *renderer, const struct render_spec *spec, const float *params,
               const float background[3], const float *target, const struct fit_options *options,
               struct fit_run *out, struct err *err)
{
    struct training t = {.options = options, .run = out};

    *out = (struct fit_run){0};
    if (spec->mode != MODE_GRADIENT || spec->batch != 1 || spec->upstream)
        return err_set(err, ERR_INTERNAL, "a fit takes gradients of one scene and a target");
    if (!renderer->ops->open(renderer, spec, &t.job, err))
        return false;
    bool ok = prepare(&t, params, background, target, err) && train(&t, err) && fetch_best(&t, err);
    struct render_counts counts;
    renderer->ops->counts(t.job, &counts);
    out->longest_submission_ns = counts.longest_submission_ns;
    free(t.steps);
    free(t.moments);
    renderer->ops->close(t.job);
    if (options->checking)
        options->checking();
    ok = ok && verify(out, spec, background, target, err);
    if (!ok)
        fit_run_fini(out);
    return ok;
}
