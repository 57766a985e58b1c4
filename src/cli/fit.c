/* gpubench fit: whole training runs, scenes fitted to a picture on each device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/units.h"
#include "bench/fit.h"
#include "bench/trial.h"
#include "cli/commands.h"
#include "cli/devices.h"
#include "cli/fit_files.h"
#include "cli/patience.h"
#include "cli/render.h"
#include "cli/signals.h"
#include "model/image.h"
#include "report/warnings.h"

#define DEFAULT_STEPS 600
#define DEFAULT_TRIANGLES "128"
#define DEFAULT_PATIENCE 200
/* A photograph is fitted at most this large unless --size says otherwise. */
#define DEFAULT_SIDE 256u
/* The rates of positions, colours and opacities, and the softness' way: what the renderer's scenes were
 * fitted with. */
static const float rates[3] = {0.004f, 0.02f, 0.01f};
#define FIRST_SIGMA 0.02f
#define LAST_SIGMA 0.0015f

struct fit_command {
    struct measure_options measure;
    const char *sizes, *triangles, *until;
    struct option_u64 steps, patience;
};

static const struct option table[] = {
    {.name = "size",
     .letter = 's',
     .type = OPTION_TEXT,
     .argument = "LIST",
     .help = "at which the picture is fitted: 128 or 192x128; several with commas. Default: the picture's "
             "own, made "
             "smaller to 256 pixels a side",
     .offset = offsetof(struct fit_command, sizes)},
    {.name = "triangles",
     .letter = 'n',
     .type = OPTION_TEXT,
     .argument = "LIST",
     .help = "how many; several with commas. Default: 128",
     .offset = offsetof(struct fit_command, triangles)},
    {.name = "steps",
     .type = OPTION_U64,
     .argument = "N",
     .min = 1,
     .max = 10000000,
     .help = "steps of gradient descent, at most. Default: 600",
     .offset = offsetof(struct fit_command, steps)},
    {.name = "until",
     .type = OPTION_TEXT,
     .argument = "LOSS",
     .help = "stop at this loss, and show the seconds to it",
     .offset = offsetof(struct fit_command, until)},
    {.name = "patience",
     .type = OPTION_U64,
     .argument = "N",
     .max = 10000000,
     .help = "stop after so many steps without a new least loss; 0: never. Default: 200",
     .offset = offsetof(struct fit_command, patience)},
    {.name = "seed",
     .type = OPTION_U64,
     .argument = "N",
     .max = UINT64_MAX,
     .help = "of the scene that the descent starts from",
     .offset = offsetof(struct measure_options, seed)},
    OUTPUT_OPTION(
        "what the files are called: FILE.json (the scene), FILE.png, FILE.csv (the losses); of several runs "
        "each name says which. Default: the picture's name and -fit"),
    NO_PROGRESS_OPTION,
    DEVICE_OPTIONS,
    {.name = "format",
     .letter = 'f',
     .type = OPTION_TEXT,
     .argument = "FORMAT",
     .help = "of the table: text, markdown or json",
     .choices = verdict_formats,
     .offset = offsetof(struct measure_options, format)},
    QUIET_OPTION,
    HELP_OPTION,
    {0},
};

static const char *const examples[] = {
    "gpubench fit photo.png",
    "gpubench fit photo.png -d openmp --size 64,128 --until 0.02 -o runs",
    NULL,
};

/* ---- what runs ---- */

struct runs {
    const struct fit_command *options;
    struct image image;
    struct render_spec *sizes;     /* owned; of each only the size */
    struct render_spec *triangles; /* owned; of each only the triangles */
    size_t size_count, triangles_count;
    struct device_info *devices; /* owned */
    size_t device_count;
    double until;
    const volatile sig_atomic_t *stop;
    char *prefix; /* owned */
    struct table *tables;
    size_t table_count;
    bool diverged;
};

/* A list of values of one of a spec's keys. */
static bool parse_list(const char *name, const char *text, struct render_spec **out, size_t *count,
                       struct err *err)
{
    char *copy = mem_strdup(text, err), *rest = NULL;
    size_t capacity = 0;
    bool ok = copy != NULL;

    for (char *item = ok ? strtok_r(copy, ",", &rest) : NULL; ok && item; item = strtok_r(NULL, ",", &rest)) {
        ok = mem_grow((void **)out, &capacity, *count + 1, sizeof **out, "a list", err);
        if (!ok)
            break;
        spec_init(&(*out)[*count]);
        ok = spec_set_text(&(*out)[*count], spec_find(name), item, err) || err_wrap(err, "--%s", name);
        for (size_t i = 0; ok && i < *count; i++)
            if (spec_equal(&(*out)[i], &(*out)[*count], spec_find(name)))
                ok = err_set(err, ERR_USAGE, "--%s: %s is there twice", name, item);
        *count += ok;
    }
    free(copy);
    return ok && (*count > 0 || err_set(err, ERR_USAGE, "--%s: an empty list", name));
}

/* The picture's own size, its longer side at most DEFAULT_SIDE. */
static void own_size(const struct image *image, char out[SPEC_TEXT_MAX])
{
    const uint32_t longer = image->width > image->height ? image->width : image->height;
    const double scale = longer > DEFAULT_SIDE ? (double)DEFAULT_SIDE / longer : 1.0;
    const double width = fmax(round(image->width * scale), 1), height = fmax(round(image->height * scale), 1);

    snprintf(out, SPEC_TEXT_MAX, "%.0fx%.0f", width, height);
}

static bool check_triangles(const struct runs *r, struct err *err)
{
    for (size_t i = 0; i < r->triangles_count; i++)
        if (r->triangles[i].triangles == 0)
            return err_set(err, ERR_USAGE, "--triangles: 0 triangles have nothing that could be fitted");
    return true;
}

struct picture {
    const char *path;
    struct image *image;
    struct err *err;
    bool ok;
};

static void *load_picture(void *context)
{
    struct picture *p = context;

    p->ok = image_load(p->path, NULL, p->image, p->err);
    return NULL;
}

/* Large pictures take seconds to read, which a stop need not wait for. */
static bool read_picture(struct runs *r, const char *path, struct err *err)
{
    struct picture picture = {.path = path, .image = &r->image, .err = err};
    struct err stopped = ERR_INIT;

    if (patience_run(load_picture, &picture, r->stop))
        return picture.ok;
    err_set(&stopped, ERR_INTERRUPTED, "interrupted while %s was read", path);
    _exit(finish_output(report_error(&stopped))); /* the thread is still at it */
}

static bool prepare(struct runs *r, const char *image, struct err *err)
{
    const struct fit_command *o = r->options;
    char own[SPEC_TEXT_MAX];

    if (o->until && (!units_parse_double(o->until, &r->until) || r->until <= 0))
        return err_set(err, ERR_USAGE, "--until: \"%s\" is not a loss above 0", o->until);
    if (!read_picture(r, image, err))
        return false;
    own_size(&r->image, own);
    return parse_list("size", o->sizes ? o->sizes : own, &r->sizes, &r->size_count, err) &&
           parse_list("triangles", o->triangles ? o->triangles : DEFAULT_TRIANGLES, &r->triangles,
                      &r->triangles_count, err) &&
           check_triangles(r, err) && render_devices(&o->measure, &r->devices, &r->device_count, err) &&
           fit_files_prefix(o->measure.output, image, &r->prefix, err);
}

/* ---- progress ---- */

#define TERMINAL_EVERY_NS 200000000u
#define LINES_EVERY_NS 10000000000u

struct telling {
    struct progress progress;
    const char *what;
    uint64_t last_ns;
};

static double steps_a_second(const struct fit_run *run)
{
    return run->count > 0 && run->at_ns[run->count - 1] > 0
               ? run->count * 1e9 / (double)run->at_ns[run->count - 1]
               : 0;
}

static void tell(void *context, const struct fit_run *run)
{
    struct telling *telling = context;
    const uint64_t now = clock_now_ns();
    char rate[UNITS_MAX], text[256];

    if (now - telling->last_ns < (telling->progress.terminal ? TERMINAL_EVERY_NS : LINES_EVERY_NS))
        return;
    telling->last_ns = now;
    const double loss = run->loss[run->count - 1];
    char shown[UNITS_MAX] = "none";
    if (isfinite(loss))
        snprintf(shown, sizeof shown, "%.5f", loss);
    units_sig3(rate, steps_a_second(run));
    snprintf(text, sizeof text, "%s: loss %s, %s steps/s", telling->what, shown, rate);
    progress_step(&telling->progress, run->count, text);
}

/* ---- the table ---- */

static struct table *start_table(struct runs *r, const char *image, struct err *err)
{
    struct table *t = tables_append(&r->tables, &r->table_count, "fit", err);

    if (!t)
        return NULL;
    table_title(t, "Fitting %s    Adam, sigma %g to %g, at most %llu steps", image, (double)FIRST_SIGMA,
                (double)LAST_SIGMA,
                (unsigned long long)(r->options->steps.given ? r->options->steps.value : DEFAULT_STEPS));
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "size");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "triangles");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "device");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "steps");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "steps/s");
    if (r->device_count > 1)
        table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "times\n%s", r->devices[0].short_name);
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "seconds");
    if (r->until > 0)
        table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "s to\n%g", r->until);
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "loss");
    table_column(t, ALIGN_RIGHT, 900, "sigma");
    table_column(t, ALIGN_LEFT, 800, "ended by");
    return t;
}

static void put_run(struct runs *r, const struct render_spec *spec, const struct device_info *device,
                    const struct fit_run *run, double first_rate)
{
    struct table *t = &r->tables[0];
    const double seconds = (double)run->at_ns[run->count - 1] / 1e9, rate = steps_a_second(run);
    char text[UNITS_MAX];
    uint32_t step = 0;

    table_row(t);
    table_put(t, MARK_NONE, NAN, "%ux%u", spec->width, spec->height);
    table_put(t, MARK_NONE, spec->triangles, "%u", spec->triangles);
    table_put(t, MARK_NONE, NAN, "%s", device->short_name);
    table_put(t, MARK_NONE, run->count, "%u", run->count);
    units_sig3(text, rate);
    table_put(t, MARK_NONE, rate, "%s", text);
    if (r->device_count > 1) {
        units_sig3(text, first_rate > 0 ? rate / first_rate : 1);
        table_put(t, MARK_NONE, first_rate > 0 ? rate / first_rate : 1, "%s", text);
    }
    units_sig3(text, seconds);
    table_put(t, MARK_NONE, seconds, "%s", text);
    while (step < run->count && !(run->loss[step] <= r->until))
        step++;
    if (r->until > 0 && step < run->count) {
        units_sig3(text, (double)run->at_ns[step] / 1e9);
        table_put(t, MARK_NONE, (double)run->at_ns[step] / 1e9, "%s", text);
    } else if (r->until > 0) {
        table_put(t, MARK_DIM, NAN, "not reached");
    }
    if (isfinite(run->loss[run->best]))
        table_put(t, MARK_NONE, run->loss[run->best], "%.3g", run->loss[run->best]);
    else
        table_put(t, MARK_DIM, NAN, "none");
    table_put(t, MARK_DIM, (double)run->sigma[run->best], "%.3g", (double)run->sigma[run->best]);
    table_put(t, run->end == FIT_DIVERGED ? MARK_BAD : MARK_DIM, NAN, "%s", fit_end_text(run->end));
}

/* ---- a run ---- */

/* The start: random triangles over the picture's mean colour. */
static void start_scene(const struct runs *r, const float *target, struct scene *scene, uint64_t pixels)
{
    double sum[3] = {0};

    for (uint64_t i = 0; i < 3 * pixels; i++)
        sum[i % 3] += (double)target[i];
    for (size_t c = 0; c < 3; c++)
        scene->background[c] = (float)(sum[c] / (double)pixels);
    scene_random(scene->params, scene->triangles, r->options->measure.seed.value, 0, SCENE_DEFAULT_EXTENT);
}

/* A host's own renderer hears a stop after each step, however long that takes. */
static void device_works(const struct renderer *renderer)
{
    if (renderer->info.backend == BACKEND_OPENCL)
        signals_work_begin();
}

static bool train(struct runs *r, struct renderer *renderer, const struct render_spec *spec, const char *what,
                  struct scene *scene, struct fit_run *run, struct err *err)
{
    const struct fit_command *o = r->options;
    const uint64_t pixels = (uint64_t)spec->width * spec->height;
    struct render_footprint footprint;
    struct telling telling = {.what = what, .last_ns = clock_now_ns()};
    struct fit_options how = {.steps = o->steps.given ? (uint32_t)o->steps.value : DEFAULT_STEPS,
                              .patience = o->patience.given ? (uint32_t)o->patience.value : DEFAULT_PATIENCE,
                              .rates = {rates[0], rates[1], rates[2]},
                              .first_sigma = FIRST_SIGMA,
                              .last_sigma = LAST_SIGMA,
                              .until = r->until,
                              .stop = r->stop,
                              .tell = tell,
                              .checking = signals_driver_end,
                              .context = &telling};

    if (!trial_footprint(renderer, spec, &footprint, err))
        return false;
    float *target = mem_calloc(pixels, 3 * sizeof *target, "the target picture", err);
    if (!target)
        return false;
    image_resample(&r->image, target, spec->width, spec->height);
    start_scene(r, target, scene, pixels);
    progress_init(&telling.progress, stderr, o->measure.base.quiet || o->measure.no_progress, how.steps);
    device_works(renderer);
    bool ok = fit_train(renderer, spec, scene->params, scene->background, target, &how, run, err);
    device_works(renderer);
    progress_finish(&telling.progress);
    free(target);
    return ok;
}

static void warn(void *context, const char *text)
{
    const struct runs *r = context;

    say(&r->options->measure.base, "%s", text);
}

/* *rate: steps a second of the first device with this spec; 0: this is the first. */
static bool run_one(struct runs *r, const struct render_spec *spec, size_t device, double *rate,
                    struct err *err)
{
    const struct device_info *info = &r->devices[device];
    const bool one = r->device_count * r->size_count * r->triangles_count == 1;
    struct scene scene = {.triangles = spec->triangles};
    struct renderer *renderer = NULL;
    struct fit_run run = {0};
    struct strbuf name = STRBUF_INIT;
    char what[160], triangles[UNITS_MAX];

    units_items(triangles, spec->triangles, "triangle");
    snprintf(what, sizeof what, "%s, %ux%u, %s", info->short_name, spec->width, spec->height, triangles);
    fit_files_name(r->prefix, one ? NULL : info, spec, &name);
    scene.params = mem_calloc((uint64_t)spec->triangles * SCENE_STRIDE, sizeof(float), "a scene", err);
    bool ok = scene.params && strbuf_ok(&name, err) && fit_files_free(strbuf_str(&name), err) &&
              render_open(&r->options->measure, info, &renderer, err) &&
              train(r, renderer, spec, what, &scene, &run, err);
    if (ok) {
        memcpy(scene.params, run.params, (size_t)scene.triangles * SCENE_STRIDE * sizeof(float));
        put_run(r, spec, info, &run, *rate);
        warnings_submission(run.longest_submission_ns, what, warn, r);
        *rate = *rate > 0 ? *rate : steps_a_second(&run);
        r->diverged = r->diverged || run.end == FIT_DIVERGED;
        ok = fit_files_save(strbuf_str(&name), renderer, &scene, spec, &run, err);
        if (ok)
            say(&r->options->measure.base, "%s: %s.json, .png and .csv", what, strbuf_str(&name));
    }
    strbuf_fini(&name);
    fit_run_fini(&run);
    scene_fini(&scene);
    if (renderer)
        renderer->ops->destroy(renderer);
    signals_driver_end();
    return ok;
}

static bool run_all(struct runs *r, struct err *err)
{
    for (size_t s = 0; s < r->size_count; s++) {
        for (size_t n = 0; n < r->triangles_count; n++) {
            struct render_spec spec = r->sizes[s];
            double rate = 0;
            spec.triangles = r->triangles[n].triangles;
            spec.batch = 1;
            spec.call = CALL_RESIDENT;
            for (size_t d = 0; d < r->device_count && !*r->stop; d++)
                if (!run_one(r, &spec, d, &rate, err))
                    return false;
        }
    }
    return true;
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    const struct fit_command *options = values;
    const char *image = arguments->items[0];
    struct runs r = {.options = options};
    struct err err = ERR_INIT, lost = ERR_INIT;
    int code = EXIT_OK;

    (void)argc;
    (void)argv;
    if (devices_asked(&options->measure.devices))
        return devices_print(&options->measure);
    r.stop = signals_await_stop();
    bool ok = prepare(&r, image, &err) && start_table(&r, image, &err) && run_all(&r, &err);
    if (r.table_count > 0 && r.tables[0].row_count > 0 &&
        !tables_show(r.tables, r.table_count, options->measure.format, &lost))
        code = report_error(&lost);
    if (!ok)
        code = worse_exit(code, report_error(&err));
    if (r.diverged)
        code = worse_exit(code, EXIT_FAILED);
    if (*r.stop)
        code = worse_exit(code, EXIT_INTERRUPTED);
    tables_free(r.tables, r.table_count);
    image_fini(&r.image);
    free(r.sizes);
    free(r.triangles);
    free(r.devices);
    free(r.prefix);
    return code;
}

const struct command command_fit = {
    .name = "fit",
    .help = "fit triangles to a picture: a whole training run on each device",
    .description = "Fits triangles to a picture (PNG or PPM) by gradient descent on all ten parameters of "
                   "each: Adam, with the "
                   "edges' softness going from 0.02 to 0.0015. On an OpenCL device the whole loop runs there "
                   "and only losses come "
                   "back. Shows steps a second and the time that it took on each device, and writes the best "
                   "scene, its picture "
                   "and the losses. The best scene's loss is checked against the reference. Ctrl-C ends a "
                   "run early and keeps the best so far. A scene's losses have the same bits in "
                   "every run on one device.",
    .arguments = "IMAGE",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct fit_command),
    .supervised = true,
    .run = run,
};
