#include "bench/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct variant_list {
    struct verify_variant *items;
    size_t count, capacity;
};

static bool add_variant(struct variant_list *list, const char *name, const struct render_spec *spec,
                        struct err *err)
{
    void *items = list->items;

    if (!mem_grow(&items, &list->capacity, list->count + 1, sizeof *list->items, "variants", err))
        return false;
    list->items = items;
    struct verify_variant *variant = &list->items[list->count++];
    snprintf(variant->name, sizeof variant->name, "%s", name);
    variant->spec = *spec;
    return true;
}

static bool add_openmp(struct variant_list *list, struct err *err)
{
    const struct spec_key *variant = spec_find("variant");
    struct render_spec spec;
    char name[48];

    spec_init(&spec);
    for (const char *const *value = variant->values; *value; value++) {
        if (!spec_set_text(&spec, variant, *value, err))
            return false;
        spec.mode = MODE_FORWARD;
        snprintf(name, sizeof name, "%s, forward", *value);
        if (!add_variant(list, name, &spec, err))
            return false;
        spec.mode = MODE_GRADIENT;
        if (!add_variant(list, *value, &spec, err))
            return false;
    }
    return true;
}

static bool add_opencl(struct variant_list *list, struct err *err)
{
    const struct spec_key *strategy = spec_find("strategy"), *reduction = spec_find("reduction");
    struct render_spec spec;
    char name[48];

    spec_init(&spec);
    spec.mode = MODE_FORWARD;
    if (!add_variant(list, "forward", &spec, err))
        return false;
    spec.mode = MODE_GRADIENT;
    for (const char *const *s = strategy->values; *s; s++) {
        for (const char *const *r = reduction->values; *r; r++) {
            if (!spec_set_text(&spec, strategy, *s, err) || !spec_set_text(&spec, reduction, *r, err))
                return false;
            snprintf(name, sizeof name, "%s + %s", *s, *r);
            if (!add_variant(list, name, &spec, err))
                return false;
        }
    }
    return true;
}

bool verify_variants(enum backend_kind kind, struct verify_variant **out, size_t *count, struct err *err)
{
    struct variant_list list = {0};

    if (!(kind == BACKEND_OPENMP ? add_openmp(&list, err) : add_opencl(&list, err))) {
        free(list.items);
        return false;
    }
    *out = list.items;
    *count = list.count;
    return true;
}

static void fill_inputs(struct render_io *io, const struct golden_case *c)
{
    size_t pixels = (size_t)c->width * c->height;

    memcpy(io->params, c->scene.params, (size_t)c->scene.triangles * SCENE_STRIDE * sizeof(float));
    memcpy(io->background, c->scene.background, sizeof c->scene.background);
    if (io->target)
        memcpy(io->target, c->target, pixels * 3 * sizeof(float));
}

static void compare(const struct render_io *io, const struct golden_case *c, bool gradient,
                    struct agreement *errors)
{
    if (io->image)
        errors->value[AGREE_IMAGE] = agreement_image(io->image, c->image, (uint64_t)c->width * c->height * 3);
    if (!gradient)
        return;
    errors->value[AGREE_LOSS] = agreement_loss(io->loss[0], c->loss);
    agreement_grads(errors, io->grads, c->grads, c->scene.triangles, c->vertices_summed);
}

static void *copy_of(const void *data, size_t bytes, struct err *err)
{
    void *copy = mem_calloc(bytes, 1, "a result", err);

    if (copy)
        memcpy(copy, data, bytes);
    return copy;
}

static bool run_case(struct render_job *job, const struct golden_case *c, struct verify_result *out)
{
    const struct renderer_ops *ops = job->renderer->ops;
    const struct render_io *io = &job->io;
    bool gradient = job->spec.mode == MODE_GRADIENT;

    fill_inputs(&job->io, c);
    if (!ops->inputs_changed(job, &out->err) || !ops->poison(job, &out->err) || !ops->call(job, &out->err))
        return false;
    compare(io, c, gradient, &out->errors);
    out->image = copy_of(io->image, (size_t)c->width * c->height * 3 * sizeof(float), &out->err);
    if (!gradient)
        return out->image != NULL;
    out->grads = copy_of(io->grads, (size_t)c->scene.triangles * SCENE_STRIDE * sizeof(float), &out->err);
    out->loss = io->loss[0];
    return out->image && out->grads;
}

static struct render_spec case_spec(const struct golden_case *c, const struct verify_variant *variant)
{
    struct render_spec spec = variant->spec;

    spec.width = c->width;
    spec.height = c->height;
    spec.triangles = c->scene.triangles;
    spec.batch = 1;
    spec.sigma = c->sigma;
    spec.keep_images = true;
    return spec;
}

void verify_case(struct renderer *renderer, const struct golden_case *c, const struct verify_variant *variant,
                 struct verify_result *out)
{
    struct render_spec spec = case_spec(c, variant);
    struct render_footprint footprint;
    struct render_job *job = NULL;

    memset(out, 0, sizeof *out);
    agreement_init(&out->errors);
    if (!spec_check(&spec, renderer->info.backend, &out->err) ||
        !renderer->ops->footprint(renderer, &spec, &footprint, &out->err)) {
        out->verdict = VERIFY_SKIPPED;
        return;
    }
    if (!renderer->ops->open(renderer, &spec, &job, &out->err)) {
        out->verdict = out->err.code == ERR_UNSUPPORTED ? VERIFY_SKIPPED : VERIFY_FAILED;
        return;
    }
    if (!run_case(job, c, out))
        out->verdict = VERIFY_FAILED;
    else if (!agreement_within(&out->errors, &c->tolerance, &out->worst))
        out->verdict = VERIFY_WRONG;
    renderer->ops->close(job);
}

void verify_result_fini(struct verify_result *result)
{
    err_fini(&result->err);
    free(result->image);
    free(result->grads);
    result->image = result->grads = NULL;
}

static double *widen(const float *values, size_t count, struct err *err)
{
    double *wide = mem_calloc(count, sizeof *wide, "a result", err);

    for (size_t i = 0; wide && i < count; i++)
        wide[i] = (double)values[i];
    return wide;
}

bool verify_compare(const struct golden_case *c, const struct verify_result *a, const struct verify_result *b,
                    struct agreement *errors, struct err *err)
{
    size_t values = (size_t)c->width * c->height * 3;
    size_t parameters = (size_t)c->scene.triangles * SCENE_STRIDE;
    double *image = NULL, *grads = NULL;
    bool ok = false;

    agreement_init(errors);
    if (a->image && b->image) {
        if (!(image = widen(b->image, values, err)))
            goto out;
        errors->value[AGREE_IMAGE] = agreement_image(a->image, image, values);
    }
    if (a->grads && b->grads) {
        if (!(grads = widen(b->grads, parameters, err)))
            goto out;
        errors->value[AGREE_LOSS] = agreement_loss(a->loss, b->loss);
        agreement_grads(errors, a->grads, grads, c->scene.triangles, c->vertices_summed);
    }
    ok = true;
out:
    free(image);
    free(grads);
    return ok;
}

/* ---- finite differences ---- */

struct loss_context {
    struct render_job *job; /* forward */
    const struct golden_case *golden;
    struct err *err;
};

/* The mean squared difference in double, so that only the image is rounded. */
static double image_loss(void *ctx, const float *params)
{
    const struct loss_context *context = ctx;
    const struct golden_case *c = context->golden;
    const struct render_io *io = &context->job->io;
    size_t values = (size_t)c->width * c->height * 3;
    double sum = 0;

    memcpy(io->params, params, (size_t)c->scene.triangles * SCENE_STRIDE * sizeof(float));
    if (!context->job->renderer->ops->call(context->job, context->err))
        return NAN;
    for (size_t i = 0; i < values; i++) {
        double difference = (double)io->image[i] - (double)c->target[i];
        sum += difference * difference;
    }
    return sum / (double)values;
}

bool verify_finite_differences(struct renderer *renderer, const struct golden_case *c,
                               const struct verify_variant *variant, const double *steps, size_t count,
                               struct finite_diff_error *errors, struct err *err)
{
    const struct oracle_input at = {.width = c->width,
                                    .height = c->height,
                                    .triangles = c->scene.triangles,
                                    .sigma = c->sigma,
                                    .params = c->scene.params};
    struct verify_variant forward = *variant;
    struct verify_result result;
    struct loss_context context = {.golden = c, .err = err};
    double *grads = NULL;
    bool ok = false;

    forward.spec.mode = MODE_FORWARD;
    struct render_spec spec = case_spec(c, &forward);
    verify_case(renderer, c, variant, &result);
    if (result.err.code) {
        err_set(err, result.err.code, "%s", result.err.text);
        goto out;
    }
    grads = widen(result.grads, (size_t)c->scene.triangles * SCENE_STRIDE, err);
    if (!grads || !renderer->ops->open(renderer, &spec, &context.job, err))
        goto out;
    fill_inputs(&context.job->io, c);
    ok = renderer->ops->inputs_changed(context.job, err) &&
         finite_diff(image_loss, &context, &at, grads, steps, count, errors, err) && err->code == ERR_NONE;
    renderer->ops->close(context.job);
out:
    verify_result_fini(&result);
    free(grads);
    return ok;
}

/* ---- repeats ---- */

/* Floats in the order of their values, as integers. */
static int64_t place_of(float value)
{
    int32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? (int64_t)INT32_MIN - bits : bits;
}

static uint32_t units_between(float a, float b)
{
    if (!isfinite(a) || !isfinite(b))
        return UINT32_MAX;
    int64_t distance = place_of(a) - place_of(b);
    return (uint32_t)(distance < 0 ? -distance : distance);
}

/* first, now: [count]; changed[count] marks those that ever differed. */
static void widen_spread(const float *first, const float *now, bool *changed, size_t count,
                         struct verify_spread *out)
{
    double differences = 0, norm = 0;

    for (size_t i = 0; i < count; i++) {
        double difference = (double)now[i] - (double)first[i];
        differences += difference * difference;
        norm += (double)first[i] * (double)first[i];
        if (isfinite(first[i]) && memcmp(&first[i], &now[i], sizeof first[i]) == 0)
            continue;
        changed[i] = true;
        uint32_t units = units_between(first[i], now[i]);
        if (units > out->units)
            out->units = units;
    }
    double relative = sqrt(differences / (norm > 0 ? norm : 1));
    if (!(relative <= out->relative))
        out->relative = isfinite(relative) ? relative : INFINITY;
}

/* Gradients, and the loss behind them. */
static void take_values(const struct render_io *io, size_t count, float *out)
{
    memcpy(out, io->grads, (count - 1) * sizeof *out);
    out[count - 1] = (float)io->loss[0];
}

static bool repeat_calls(struct render_job *job, const struct golden_case *c, uint64_t repeats,
                         struct verify_spread *out, struct err *err)
{
    const struct renderer_ops *ops = job->renderer->ops;
    const size_t count = (size_t)c->scene.triangles * SCENE_STRIDE + 1;
    float *first = mem_calloc(count, sizeof *first, "a result", err);
    float *now = mem_calloc(count, sizeof *now, "a result", err);
    bool *changed = mem_calloc(count, sizeof *changed, "a result", err);
    bool ok = first && now && changed;

    fill_inputs(&job->io, c);
    ok = ok && ops->inputs_changed(job, err);
    for (uint64_t i = 0; ok && i < repeats; i++) {
        ok = ops->poison(job, err) && ops->call(job, err);
        if (ok)
            take_values(&job->io, count, i == 0 ? first : now);
        if (ok && i > 0)
            widen_spread(first, now, changed, count - 1, out);
        if (ok && i > 0)
            widen_spread(first + count - 1, now + count - 1, changed + count - 1, 1, out);
    }
    out->values = count;
    for (size_t i = 0; ok && i < count; i++)
        out->differing += changed[i];
    free(first);
    free(now);
    free(changed);
    return ok;
}

bool verify_repeats(struct renderer *renderer, const struct golden_case *c, const struct verify_variant *variant,
                    uint64_t repeats, struct verify_spread *out, struct err *err)
{
    struct render_spec spec = case_spec(c, variant);
    struct render_footprint footprint;
    struct render_job *job = NULL;

    *out = (struct verify_spread){0};
    spec.keep_images = false;
    if (!spec_check(&spec, renderer->info.backend, err) ||
        !renderer->ops->footprint(renderer, &spec, &footprint, err) ||
        !renderer->ops->open(renderer, &spec, &job, err))
        return false;
    bool ok = repeat_calls(job, c, repeats, out, err);
    renderer->ops->close(job);
    return ok;
}

bool verify_reproducible(enum backend_kind kind, const struct verify_variant *variant)
{
    return kind == BACKEND_OPENMP || variant->spec.reduction == REDUCTION_ORDERED;
}
