#include "bench/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "model/oracle.h"
#include "model/rng.h"

/* Looking for a sampled pixel's triangles tests all of a scene. */
#define MAX_BOUNDS_TESTS UINT64_C(1000000000)
#define PIXEL_SEED 0x706978656c73u

const struct reference_limits reference_limits = {10000000, UINT64_C(1) << 24, 100000000};

void reference_fini(struct reference *ref)
{
    if (ref == NULL)
        return;
    for (size_t i = 0; i < ref->scene_count; i++) {
        free(ref->scenes[i].image);
        free(ref->scenes[i].grads);
    }
    free(ref->scenes);
    free(ref->pixels);
    *ref = (struct reference){0};
}

static uint64_t picture_pixels(const struct render_spec *spec)
{
    return (uint64_t)spec->width * spec->height;
}

/* ---- what is compared ---- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* As many pixels as the limits allow, at random places. */
static bool choose_pixels(struct reference *ref, uint64_t largest, const struct reference_limits *limits,
                          struct err *err)
{
    const uint64_t all = picture_pixels(&ref->spec), scenes = ref->scene_count;
    uint64_t count = smaller(all, limits->pixels / scenes / 8);
    if (largest > 0)
        count = smaller(count,
                        (uint64_t)((double)limits->pairs / (double)scenes * (double)all / (double)largest));
    if (ref->spec.triangles > 0)
        count = smaller(count, MAX_BOUNDS_TESTS / scenes / ref->spec.triangles);
    if (count == 0)
        count = 1;
    ref->pixels = mem_calloc(count, sizeof *ref->pixels, "sampled pixels", err);
    if (ref->pixels == NULL)
        return false;
    struct rng rng;
    rng_init(&rng, PIXEL_SEED, 0);
    for (uint64_t i = 0; i < count; i++)
        ref->pixels[i] = rng_next(&rng) % all;
    qsort(ref->pixels, count, sizeof *ref->pixels, order_u64);
    ref->pixel_count = 1;
    for (uint64_t i = 1; i < count; i++)
        if (ref->pixels[i] != ref->pixels[ref->pixel_count - 1])
            ref->pixels[ref->pixel_count++] = ref->pixels[i];
    return true;
}

/* in_bounds[batch]: pairs in bounds of each scene. */
static bool choose(struct reference *ref, const uint64_t *in_bounds, const struct reference_limits *limits,
                   struct err *err)
{
    const uint32_t batch = ref->spec.batch;
    const uint64_t pixels = picture_pixels(&ref->spec);
    uint64_t largest = 0;
    for (uint32_t b = 0; b < batch; b++) {
        ref->in_bounds += in_bounds[b];
        largest = in_bounds[b] > largest ? in_bounds[b] : largest;
    }
    bool sampled = largest > limits->pairs || pixels > limits->pixels;
    uint64_t count = batch;
    if (sampled)
        count = smaller(batch, 2);
    else if (ref->in_bounds > limits->pairs)
        count = smaller(count, limits->pairs / largest);
    if (!sampled && pixels > 0)
        count = smaller(count, limits->pixels / pixels);
    ref->scenes = mem_calloc(count, sizeof *ref->scenes, "the reference", err);
    if (ref->scenes == NULL)
        return false;
    ref->scene_count = (size_t)count;
    for (uint64_t i = 0; i < count; i++)
        ref->scenes[i].index = count > 1 ? (uint32_t)(i * (batch - 1) / (count - 1)) : 0;
    ref->pixel_count = (size_t)pixels;
    return !sampled || count == 0 || choose_pixels(ref, largest, limits, err);
}

/* ---- working it out ---- */

/* One thread's share: buffers for the inputs of one scene, and how deep the rendered ones lie. */
struct worker {
    const struct inputs *in;
    float *params, *target, *upstream;
    uint32_t *covered; /* [pixels of a scene] */
    uint64_t *layers;  /* [triangles + 1] pixels with so many covering triangles */
    float background[3];
    struct err err;
    bool ok;
};

static void worker_init(struct worker *w, const struct inputs *in, bool pictures, size_t pixels)
{
    const uint64_t values = 3 * picture_pixels(&in->spec);
    *w = (struct worker){.in = in, .ok = true};
    w->params = mem_calloc((uint64_t)in->spec.triangles * SCENE_STRIDE, sizeof(float), "a scene", &w->err);
    if (pictures && inputs_has_target(in))
        w->target = mem_calloc(values, sizeof(float), "a target", &w->err);
    w->covered = mem_calloc(pixels, sizeof *w->covered, "layers", &w->err);
    w->layers = mem_calloc((uint64_t)in->spec.triangles + 1, sizeof *w->layers, "layers", &w->err);
    if (pictures && in->spec.upstream)
        w->upstream = mem_calloc(values, sizeof(float), "upstream gradients", &w->err);
    w->ok = w->err.code == ERR_NONE;
}

/* Hands an error on; called by one thread at a time. */
static void worker_fini(struct worker *w, bool *ok, struct err *err)
{
    if (!w->ok) {
        *ok = false;
        err_set(err, w->err.code, "%s", w->err.text);
    }
    err_fini(&w->err);
    free(w->params);
    free(w->target);
    free(w->upstream);
    free(w->covered);
    free(w->layers);
}

static void count_layers(struct worker *w, size_t pixels)
{
    for (size_t i = 0; i < pixels; i++)
        w->layers[w->covered[i]]++;
}

/* Adds a worker's layers to layers[triangles + 1]; called by one thread at a time. */
static void hand_on_layers(const struct worker *w, uint64_t *layers)
{
    for (uint32_t n = 0; w->ok && n <= w->in->spec.triangles; n++)
        layers[n] += w->layers[n];
}

static void summarise_layers(struct reference *ref, const uint64_t *layers)
{
    uint64_t total = 0, so_far = 0;
    for (uint32_t n = 0; n <= ref->spec.triangles; n++)
        total += layers[n];
    for (uint32_t n = 0; n <= ref->spec.triangles; n++) {
        if (layers[n] == 0)
            continue;
        if ((double)so_far < 0.99 * (double)total)
            ref->layers_p99 = n;
        so_far += layers[n];
        ref->layers_most = n;
    }
}

static struct oracle_input oracle_of(struct worker *w, uint32_t scene)
{
    const struct render_spec *spec = &w->in->spec;
    inputs_params(w->in, scene, w->params);
    inputs_background(w->in, scene, w->background);
    if (w->target != NULL)
        inputs_target(w->in, scene, w->target);
    if (w->upstream != NULL)
        inputs_upstream(w->in, scene, w->upstream);
    return (struct oracle_input){.width = spec->width,
                                 .height = spec->height,
                                 .triangles = spec->triangles,
                                 .sigma = spec->sigma,
                                 .params = w->params,
                                 .background = w->background,
                                 .target = w->target,
                                 .upstream = w->upstream};
}

static bool render_scene(const struct reference *ref, struct reference_scene *scene, struct worker *w,
                         struct oracle_output *out)
{
    const bool gradient = ref->spec.mode == MODE_GRADIENT;
    scene->image =
        mem_calloc((uint64_t)ref->pixel_count * 3, sizeof(double), "the reference's picture", &w->err);
    if (gradient)
        scene->grads = mem_calloc((uint64_t)ref->spec.triangles * SCENE_STRIDE, sizeof(double),
                                  "the reference's gradients", &w->err);
    if (scene->image == NULL || (gradient && scene->grads == NULL))
        return false;
    struct oracle_input in = oracle_of(w, scene->index);
    *out = (struct oracle_output){.image = scene->image, .grads = scene->grads, .covered = w->covered};
    if (ref->pixels != NULL ? !oracle_pixels(&in, ref->pixels, ref->pixel_count, out, &w->err)
                            : !oracle_render(&in, out, &w->err))
        return false;
    count_layers(w, ref->pixel_count);
    scene->loss = out->loss;
    agreement_tolerance(&scene->tolerance, ref->spec.sigma, w->in->spec.source == SOURCE_FILE, w->params,
                        ref->spec.triangles);
    return true;
}

static bool render_scenes(struct reference *ref, const struct inputs *in,
                          const struct reference_limits *limits, uint64_t *layers, struct err *err)
{
    bool ok = true;
    uint64_t pairs = 0, in_bounds = 0, opaque = 0;
#pragma omp parallel reduction(+ : pairs, in_bounds, opaque)
    {
        struct worker w;
        worker_init(&w, in, true, ref->pixel_count);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < ref->scene_count; i++) {
            struct oracle_output out = {0};
            w.ok = w.ok && render_scene(ref, &ref->scenes[i], &w, &out);
            pairs += out.pairs;
            in_bounds += out.in_bounds;
            opaque += out.opaque;
        }
#pragma omp critical
        {
            hand_on_layers(&w, layers);
            worker_fini(&w, &ok, err);
        }
    }
    ref->pairs = pairs;
    ref->opaque = opaque;
    if (ref->pixels != NULL || (ref->in_bounds > limits->counted && in_bounds < ref->in_bounds)) {
        ref->pairs_estimated = true;
        ref->pairs =
            in_bounds == 0 ? 0 : (uint64_t)((double)pairs / (double)in_bounds * (double)ref->in_bounds);
        ref->opaque =
            in_bounds == 0 ? 0 : (uint64_t)((double)opaque / (double)in_bounds * (double)ref->in_bounds);
    }
    return ok;
}

/* Covered pairs of the scenes that are not compared. */
static bool count_others(struct reference *ref, const struct inputs *in, uint64_t *layers, struct err *err)
{
    if (ref->scene_count == ref->spec.batch || ref->pairs_estimated)
        return true;
    bool *compared = mem_calloc(ref->spec.batch, sizeof *compared, "the reference", err), ok = true;
    if (compared == NULL)
        return false;
    for (size_t i = 0; i < ref->scene_count; i++)
        compared[ref->scenes[i].index] = true;
    uint64_t pairs = 0, opaque = 0;
#pragma omp parallel reduction(+ : pairs, opaque)
    {
        struct worker w;
        worker_init(&w, in, false, ref->pixel_count);
#pragma omp for schedule(dynamic)
        for (uint32_t b = 0; b < ref->spec.batch; b++) {
            if (compared[b] || !w.ok)
                continue;
            struct oracle_input scene = oracle_of(&w, b);
            struct oracle_output out = {.covered = w.covered};
            w.ok = oracle_render(&scene, &out, &w.err);
            if (w.ok)
                count_layers(&w, ref->pixel_count);
            pairs += out.pairs;
            opaque += out.opaque;
        }
#pragma omp critical
        {
            hand_on_layers(&w, layers);
            worker_fini(&w, &ok, err);
        }
    }
    ref->pairs += pairs;
    ref->opaque += opaque;
    free(compared);
    return ok;
}

static bool count_bounds(struct reference *ref, const struct inputs *in, uint64_t *in_bounds, struct err *err)
{
    const struct render_spec *spec = &ref->spec;
    bool ok = true;
    uint64_t touched = 0;
#pragma omp parallel reduction(+ : touched)
    {
        struct worker w;
        worker_init(&w, in, false, 0);
#pragma omp for schedule(static)
        for (uint32_t b = 0; b < spec->batch; b++) {
            if (!w.ok)
                continue;
            inputs_params(in, b, w.params);
            in_bounds[b] =
                oracle_pairs_in_bounds(w.params, spec->triangles, spec->sigma, spec->width, spec->height);
            touched +=
                oracle_tape_touched_bytes(w.params, spec->triangles, spec->sigma, spec->width, spec->height);
        }
#pragma omp critical
        worker_fini(&w, &ok, err);
    }
    ref->tape_touched_bytes = touched;
    return ok;
}

bool reference_pairs(const struct inputs *in, uint64_t *pairs, struct err *err)
{
    struct reference ref = {.spec = in->spec};
    uint64_t *in_bounds = mem_calloc(in->spec.batch, sizeof *in_bounds, "the reference", err);
    bool ok = in_bounds != NULL && count_bounds(&ref, in, in_bounds, err);

    *pairs = 0;
    for (uint32_t b = 0; ok && b < in->spec.batch; b++)
        *pairs += in_bounds[b];
    free(in_bounds);
    return ok;
}

bool reference_init(struct reference *ref, const struct inputs *in, const struct reference_limits *limits,
                    struct err *err)
{
    *ref = (struct reference){.spec = in->spec};
    uint64_t *in_bounds = mem_calloc(in->spec.batch, sizeof *in_bounds, "the reference", err);
    uint64_t *layers =
        mem_calloc((uint64_t)in->spec.triangles + 1, sizeof *layers, "the reference's layers", err);
    bool ok = in_bounds != NULL && layers != NULL && count_bounds(ref, in, in_bounds, err) &&
              choose(ref, in_bounds, limits, err) && render_scenes(ref, in, limits, layers, err) &&
              count_others(ref, in, layers, err);
    if (ok)
        summarise_layers(ref, layers);
    free(in_bounds);
    free(layers);
    if (!ok)
        reference_fini(ref);
    return ok;
}

/* ---- comparing ---- */

static bool all_written(const float *values, uint64_t count, uint32_t per_scene, const char *what,
                        struct err *err)
{
    for (uint64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return err_set(err, ERR_WRONG, "scene %llu: element %llu of the %s was not written, or is not finite",
                           (unsigned long long)(i / per_scene), (unsigned long long)(i % per_scene), what);
    return true;
}

static bool outputs_written(const struct reference *ref, const struct render_io *io, struct err *err)
{
    const struct render_spec *spec = &ref->spec;
    const uint32_t picture = (uint32_t)(3 * picture_pixels(spec)), params = spec->triangles * SCENE_STRIDE;
    if (io->image != NULL && !all_written(io->image, (uint64_t)picture * spec->batch, picture, "image", err))
        return false;
    if (io->grads != NULL &&
        !all_written(io->grads, (uint64_t)params * spec->batch, params, "gradients", err))
        return false;
    for (uint32_t b = 0; b < spec->batch && io->loss != NULL; b++)
        if (!isfinite(io->loss[b]))
            return err_set(err, ERR_WRONG, "scene %u: loss was not written, or is not finite", b);
    return true;
}

static double image_error(const struct reference *ref, const struct reference_scene *scene,
                          const float *image)
{
    if (ref->pixels == NULL)
        return agreement_image(image, scene->image, (uint64_t)ref->pixel_count * 3);
    double worst = 0;
    for (size_t i = 0; i < ref->pixel_count; i++)
        worst = fmax(worst, agreement_image(image + 3 * ref->pixels[i], scene->image + 3 * i, 3));
    return worst;
}

bool reference_check(const struct reference *ref, const struct render_io *io, bool only_images,
                     struct agreement *errors, struct err *err)
{
    const struct render_spec *spec = &ref->spec;
    bool ok = outputs_written(ref, io, err);
    for (size_t i = 0; i < ref->scene_count; i++) {
        const struct reference_scene *scene = &ref->scenes[i];
        struct agreement mine;
        agreement_init(&mine);
        if (io->grads != NULL && scene->grads != NULL && !only_images)
            agreement_grads(&mine, io->grads + (size_t)scene->index * spec->triangles * SCENE_STRIDE,
                            scene->grads, spec->triangles, false);
        if (io->loss != NULL && !only_images)
            mine.value[AGREE_LOSS] = agreement_loss(io->loss[scene->index], scene->loss);
        if (io->image != NULL && scene->image != NULL)
            mine.value[AGREE_IMAGE] =
                image_error(ref, scene, io->image + 3 * picture_pixels(spec) * scene->index);
        agreement_worst(errors, &mine);
        enum agreement_group group;
        if (!agreement_within(&mine, &scene->tolerance, &group))
            ok = err_set(err, ERR_WRONG, "scene %u: %s off by %.3g, allowed %.3g", scene->index,
                         agreement_group_name(group), mine.value[group], scene->tolerance.value[group]);
    }
    return ok;
}

void reference_narrow(const struct reference *ref, const struct render_io *io)
{
    const size_t pixels = (size_t)picture_pixels(&ref->spec);
    for (size_t i = 0; i < ref->scene_count && ref->pixels != NULL; i++) {
        const size_t at = 3 * pixels * ref->scenes[i].index;
        size_t next = 0;
        for (size_t p = 0; p < pixels; p++) {
            if (next < ref->pixel_count && ref->pixels[next] == p) {
                next++;
                continue;
            }
            if (io->target != NULL && io->image != NULL)
                memcpy(io->target + at + 3 * p, io->image + at + 3 * p, 3 * sizeof(float));
            if (io->upstream != NULL)
                memset(io->upstream + at + 3 * p, 0, 3 * sizeof(float));
        }
    }
}

bool reference_from_outputs(struct reference *out, const struct reference *ref, const struct render_io *io,
                            struct err *err)
{
    const size_t params = (size_t)ref->spec.triangles * SCENE_STRIDE;
    *out = (struct reference){.spec = ref->spec, .pixel_count = ref->pixel_count};
    out->scenes = mem_calloc(ref->scene_count, sizeof *out->scenes, "checked outputs", err);
    if (out->scenes == NULL)
        return false;
    for (size_t i = 0; i < ref->scene_count; i++, out->scene_count++) {
        struct reference_scene *scene = &out->scenes[i];
        scene->index = ref->scenes[i].index;
        scene->tolerance = ref->scenes[i].tolerance;
        scene->loss = io->loss != NULL ? io->loss[scene->index] : 0;
        if (io->grads == NULL)
            continue;
        scene->grads = mem_calloc(params, sizeof(double), "checked outputs", err);
        if (scene->grads == NULL) {
            reference_fini(out);
            return false;
        }
        for (size_t p = 0; p < params; p++)
            scene->grads[p] = (double)io->grads[scene->index * params + p];
    }
    return true;
}
