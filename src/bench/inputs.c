#include "bench/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/oracle.h"

/* ---- files ---- */

void input_files_fini(struct input_files *files)
{
    if (files == NULL)
        return;
    for (size_t i = 0; i < files->scene_count; i++)
        scene_fini(&files->scenes[i]);
    free(files->scenes);
    image_fini(&files->image);
    *files = (struct input_files){0};
}

static bool load_scenes(struct input_files *files, struct err *err)
{
    const struct scene_config *sc = &files->config->scene;
    files->scenes = mem_calloc(sc->file_count, sizeof *files->scenes, "scenes", err);
    if (files->scenes == NULL)
        return false;
    for (size_t i = 0; i < sc->file_count; i++) {
        if (!scene_load(sc->files[i], &files->scenes[i], err))
            return false;
        files->scene_count++;
    }
    return true;
}

bool input_files_load(const struct config *config, struct input_files *out, struct err *err)
{
    *out = (struct input_files){.config = config};
    bool ok = load_scenes(out, err);
    const float *background = out->scene_count > 0 ? out->scenes[0].background : config->scene.background;
    ok = ok && (config->target.kind != TARGET_IMAGE || image_load(config->target.image, background, &out->image, err));
    if (!ok)
        input_files_fini(out);
    return ok;
}

/* ---- a point's inputs ---- */

void inputs_fini(struct inputs *in)
{
    if (in == NULL)
        return;
    free(in->scenes);
    free(in->picture);
    free(in->targets);
    *in = (struct inputs){0};
}

bool inputs_has_target(const struct inputs *in)
{
    return in->spec.mode == MODE_GRADIENT && !in->spec.upstream;
}

static const struct scene *file_scene(const struct inputs *in, uint32_t scene)
{
    return in->scene_count == 0 ? NULL : in->scenes[scene % in->scene_count];
}

void inputs_params(const struct inputs *in, uint32_t scene, float *params)
{
    const struct scene *file = file_scene(in, scene);
    const struct scene_config *sc = &in->files->config->scene;
    if (file == NULL)
        scene_random(params, in->spec.triangles, sc->seed, scene, sc->extent);
    else if (file->triangles > 0)
        memcpy(params, file->params, (size_t)file->triangles * SCENE_STRIDE * sizeof *params);
}

void inputs_background(const struct inputs *in, uint32_t scene, float background[3])
{
    const struct scene *file = file_scene(in, scene);
    memcpy(background, file != NULL ? file->background : in->files->config->scene.background,
           3 * sizeof *background);
}

static size_t image_values(const struct inputs *in)
{
    return (size_t)in->spec.width * in->spec.height * 3;
}

void inputs_target(const struct inputs *in, uint32_t scene, float *target)
{
    const size_t values = image_values(in);
    if (in->targets != NULL)
        memcpy(target, in->targets + scene * values, values * sizeof *target);
    else if (in->picture != NULL)
        memcpy(target, in->picture, values * sizeof *target);
    else
        image_fill(target, in->spec.width, in->spec.height, in->files->config->target.color);
}

void inputs_upstream(const struct inputs *in, uint32_t scene, float *upstream)
{
    scene_random_upstream(upstream, image_values(in), in->files->config->scene.seed, scene);
}

void inputs_fill(const struct inputs *in, const struct render_io *io)
{
    const size_t values = image_values(in), params = (size_t)in->spec.triangles * SCENE_STRIDE;
    for (uint32_t b = 0; b < in->spec.batch; b++) {
        inputs_params(in, b, io->params + b * params);
        inputs_background(in, b, io->background + (size_t)b * 3);
        if (io->target != NULL)
            inputs_target(in, b, io->target + b * values);
        if (io->upstream != NULL)
            inputs_upstream(in, b, io->upstream + b * values);
    }
}

/* The picture that another seed's scene makes, as the reference renders it. */
static bool render_target(const struct inputs *in, uint32_t scene, float *params, double *image,
                          struct err *err)
{
    const struct config *config = in->files->config;
    const size_t values = image_values(in);
    struct oracle_input oracle = {.width = in->spec.width,
                                  .height = in->spec.height,
                                  .triangles = in->spec.triangles,
                                  .sigma = in->spec.sigma,
                                  .params = params,
                                  .background = config->scene.background};
    struct oracle_output out = {.image = image};
    scene_random(params, in->spec.triangles, config->target.seed, scene, config->scene.extent);
    if (!oracle_render(&oracle, &out, err))
        return false;
    for (size_t i = 0; i < values; i++)
        in->targets[scene * values + i] = (float)image[i];
    return true;
}

static bool make_targets(struct inputs *in, struct err *err)
{
    uint64_t values = image_values(in);
    if (!mem_mul(values, in->spec.batch, &values))
        return err_set(err, ERR_MEMORY, "targets of %u pictures are more than can be addressed",
                       in->spec.batch);
    in->targets = mem_calloc(values, sizeof *in->targets, "targets", err);
    if (in->targets == NULL)
        return false;
    bool ok = true;
#pragma omp parallel
    {
        struct err mine = ERR_INIT;
        float *params =
            mem_calloc((uint64_t)in->spec.triangles * SCENE_STRIDE, sizeof *params, "a scene", &mine);
        double *image = mem_calloc(image_values(in), sizeof *image, "a target", &mine);
        bool good = params != NULL && image != NULL;
#pragma omp for schedule(dynamic)
        for (uint32_t b = 0; b < in->spec.batch; b++)
            good = good && render_target(in, b, params, image, &mine);
#pragma omp critical
        if (!good) {
            ok = false;
            err_set(err, mine.code, "%s", mine.text);
        }
        err_fini(&mine);
        free(params);
        free(image);
    }
    return ok;
}

/* Those with as many triangles as the point has. */
static bool choose_scenes(struct inputs *in, struct err *err)
{
    const struct input_files *files = in->files;

    if (in->spec.source == SOURCE_RANDOM)
        return true;
    in->scenes = mem_calloc(files->scene_count, sizeof *in->scenes, "scenes", err);
    if (in->scenes == NULL)
        return false;
    for (size_t i = 0; i < files->scene_count; i++)
        if (files->scenes[i].triangles == in->spec.triangles)
            in->scenes[in->scene_count++] = &files->scenes[i];
    return in->scene_count > 0 ||
           err_set(err, ERR_CONFIG, "no scene file has %u triangles", in->spec.triangles);
}

bool inputs_init(struct inputs *in, const struct input_files *files, const struct render_spec *spec,
                 struct err *err)
{
    *in = (struct inputs){.files = files, .spec = *spec};
    bool ok = choose_scenes(in, err);
    if (ok && inputs_has_target(in) && files->config->target.kind == TARGET_SCENE)
        ok = make_targets(in, err);
    if (ok && inputs_has_target(in) && files->config->target.kind == TARGET_IMAGE) {
        in->picture = mem_calloc(image_values(in), sizeof *in->picture, "the target picture", err);
        ok = in->picture != NULL;
        if (ok)
            image_resample(&files->image, in->picture, spec->width, spec->height);
    }
    if (!ok)
        inputs_fini(in);
    return ok;
}
