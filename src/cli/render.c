#include "cli/render.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/backends.h"
#include "gpu/opencl.h"
#include "model/image.h"

/* The devices of all backends. That there is no OpenCL is no error, as there is the CPU: *missing says why. */
static bool list_all(const struct measure_options *options, struct device_info **out, size_t *count,
                     struct err *missing, struct err *err)
{
    struct backend_options how;

    *out = NULL;
    *count = 0;
    if (!measure_backend_options(options, &how, err))
        return false;
    for (size_t b = 0; b < BACKEND_COUNT; b++) {
        struct device_info *devices = NULL;
        size_t found = 0;
        if (!backend_factories[b].list(&how, &devices, &found, missing))
            found = 0;
        struct device_info *grown = realloc(*out, (*count + found + 1) * sizeof **out);
        if (!grown) {
            free(devices);
            return err_set(err, ERR_MEMORY, "a list of devices cannot be had");
        }
        *out = grown;
        if (found > 0)
            memcpy(grown + *count, devices, found * sizeof *devices);
        *count += found;
        free(devices);
    }
    return true;
}

static bool is_wanted(const struct text_list *asked, const struct device_info *devices, size_t count,
                      size_t index)
{
    const struct device_info *device = &devices[index];

    if (asked->count > 0)
        return device_is_asked(device, asked->items, asked->count);
    return device->backend == BACKEND_OPENMP || index == device_best(devices, count, BACKEND_OPENCL);
}

/* A code path was asked for, and no OpenCL device can run it: the CPU alone is not what was meant. */
static bool lacks_path(const struct measure_options *options, const struct device_info *devices, size_t count,
                       struct err *err)
{
    if (!options->path || options->devices.count > 0 || device_best(devices, count, BACKEND_OPENCL) < count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (devices[i].backend == BACKEND_OPENCL)
            return !err_set(err, ERR_NO_DEVICE, "%s cannot be used: %s", devices[i].selector, devices[i].trouble);
    return !err_set(err, ERR_NO_DEVICE, "there is no OpenCL device");
}

static bool none_matches(const char *asked, const struct device_info *devices, size_t count,
                         const struct err *missing, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (device_matches(&devices[i], asked))
            return err_set(err, ERR_NO_DEVICE, "device \"%s\" (%s) cannot be used: %s", asked, devices[i].name,
                           devices[i].trouble);
    return err_set(err, ERR_NO_DEVICE, "no usable device is \"%s\"; gpubench devices lists them%s%s", asked,
                   missing->code ? ". There is no OpenCL: " : "", missing->text);
}

/* Of those that were named, one that cannot run the path asked for is left out where another can. */
static bool may_leave_out(const char *named, const struct measure_options *options, const struct device_info *devices,
                          size_t count)
{
    bool there = false, others = false;

    for (size_t i = 0; i < count; i++) {
        there = there || device_matches(&devices[i], named);
        others = others || (devices[i].backend == BACKEND_OPENCL && devices[i].trouble[0] == '\0' &&
                            device_is_asked(&devices[i], options->devices.items, options->devices.count));
    }
    return options->path && there && others;
}

bool render_devices(const struct measure_options *options, struct device_info **out, size_t *count,
                    struct err *err)
{
    const struct text_list *asked = &options->devices;
    struct device_info *all;
    struct err missing = ERR_INIT;
    size_t total, kept = 0;

    if (!list_all(options, &all, &total, &missing, err) || lacks_path(options, all, total, err))
        goto fail;
    for (size_t i = 0; i < asked->count; i++) {
        size_t found = 0;
        for (size_t d = 0; d < total; d++)
            found += device_matches(&all[d], asked->items[i]) && all[d].trouble[0] == '\0';
        if (!found && !may_leave_out(asked->items[i], options, all, total)) {
            none_matches(asked->items[i], all, total, &missing, err);
            goto fail;
        }
    }
    /* Who is wanted is found in the whole list, so it is moved only afterwards. */
    bool *wanted = mem_calloc(total, sizeof *wanted, "devices", err);
    if (!wanted)
        goto fail;
    for (size_t i = 0; i < total; i++) {
        wanted[i] = is_wanted(asked, all, total, i);
        if (!wanted[i] || all[i].trouble[0] == '\0')
            continue;
        say(&options->base, "%s (%s) is left out: %s", all[i].selector, all[i].name, all[i].trouble);
        wanted[i] = false;
    }
    for (size_t i = 0; i < total; i++)
        if (wanted[i])
            all[kept++] = all[i];
    free(wanted);
    err_fini(&missing);
    *out = all;
    *count = kept;
    return kept > 0 || err_set(err, ERR_NO_DEVICE, "no device can be used; gpubench devices says why");
fail:
    err_fini(&missing);
    free(all);
    *out = NULL;
    *count = 0;
    return false;
}

bool render_open(const struct measure_options *options, const struct device_info *device,
                 struct renderer **out, struct err *err)
{
    struct backend_options how;

    return measure_backend_options(options, &how, err) &&
           (backend_factories[device->backend].create(device->selector, &how, out, err) ||
            err_wrap(err, "%s", device->selector));
}

bool render_save(struct renderer *renderer, const struct scene *scene, float sigma, uint32_t width,
                 uint32_t height, const char *path, struct err *err)
{
    const struct renderer_ops *ops = renderer->ops;
    struct render_job *job = NULL;
    struct render_spec spec;

    spec_init(&spec);
    spec.mode = MODE_FORWARD;
    spec.batch = 1;
    spec.width = width;
    spec.height = height;
    spec.triangles = scene->triangles;
    spec.sigma = sigma;
    if (!ops->open(renderer, &spec, &job, err))
        return err_wrap(err, "%s", renderer->info.selector);
    if (scene->triangles > 0)
        memcpy(job->io.params, scene->params, (size_t)scene->triangles * SCENE_STRIDE * sizeof(float));
    memcpy(job->io.background, scene->background, sizeof scene->background);
    bool ok = ops->inputs_changed(job, err) && ops->call(job, err) &&
              image_save(path, job->io.image, width, height, err);
    ops->close(job);
    return ok;
}
