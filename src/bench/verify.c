#include "bench/verify.h"

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

static bool run_case(struct render_job *job, const struct golden_case *c, struct agreement *errors,
                     struct err *err)
{
    const struct renderer_ops *ops = job->renderer->ops;

    fill_inputs(&job->io, c);
    if (!ops->inputs_changed(job, err) || !ops->poison(job, err) || !ops->call(job, err))
        return false;
    compare(&job->io, c, job->spec.mode == MODE_GRADIENT, errors);
    return true;
}

void verify_case(struct renderer *renderer, const struct golden_case *c, const struct verify_variant *variant,
                 struct verify_result *out)
{
    struct render_spec spec = variant->spec;
    struct render_footprint footprint;
    struct render_job *job = NULL;

    memset(out, 0, sizeof *out);
    agreement_init(&out->errors);
    spec.width = c->width;
    spec.height = c->height;
    spec.triangles = c->scene.triangles;
    spec.batch = 1;
    spec.sigma = c->sigma;
    spec.keep_images = true;
    if (!spec_check(&spec, renderer->info.backend, &out->err) ||
        !renderer->ops->footprint(renderer, &spec, &footprint, &out->err)) {
        out->verdict = VERIFY_SKIPPED;
        return;
    }
    if (!renderer->ops->open(renderer, &spec, &job, &out->err)) {
        out->verdict = out->err.code == ERR_UNSUPPORTED ? VERIFY_SKIPPED : VERIFY_FAILED;
        return;
    }
    if (!run_case(job, c, &out->errors, &out->err))
        out->verdict = VERIFY_FAILED;
    else if (!agreement_within(&out->errors, &c->tolerance, &out->worst))
        out->verdict = VERIFY_WRONG;
    renderer->ops->close(job);
}
