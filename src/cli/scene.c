/* gpubench scene: what a scene is like, and a picture of it. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/devices.h"
#include "cli/render.h"
#include "cli/scene_cost.h"
#include "model/scene_stats.h"

#define DEFAULT_SIZE "128"
#define DEFAULT_SIGMA "0.0015" /* of fitted scenes */

struct scene_command {
    struct measure_options measure;
    const char *size, *sigma, *render, *results;
    bool json;
};

static const struct option table[] = {
    {.name = "size",
     .letter = 's',
     .type = OPTION_TEXT,
     .argument = "WxH",
     .help = "of the picture: 256 or 320x200. Default: 128",
     .offset = offsetof(struct scene_command, size)},
    {.name = "sigma",
     .type = OPTION_TEXT,
     .argument = "X",
     .help = "softness of the edges. Default: 0.0015",
     .offset = offsetof(struct scene_command, sigma)},
    {.name = "results",
     .type = OPTION_TEXT,
     .argument = "FILE",
     .help = "estimate the time of a gradient, too: by the cells of this results file",
     .offset = offsetof(struct scene_command, results)},
    {.name = "render",
     .letter = 'r',
     .type = OPTION_TEXT,
     .argument = "FILE",
     .help = "draw the scene into this file: PNG, or PPM where the name ends in .ppm",
     .offset = offsetof(struct scene_command, render)},
    {.name = "device",
     .letter = 'd',
     .type = OPTION_LIST,
     .argument = "WHICH",
     .help =
         "what draws it: openmp, ocl:P:D, gpu, or part of a device's name; -d list shows them. Default: openmp",
     .offset = offsetof(struct measure_options, devices)},
    {.name = "json",
     .type = OPTION_FLAG,
     .help = "the figures as JSON",
     .offset = offsetof(struct scene_command, json)},
    QUIET_OPTION,
    HELP_OPTION,
    {0},
};

static const char *const examples[] = {
    "gpubench scene scene.json",
    "gpubench scene scene.json --size 512 --render scene.png --json",
    "gpubench scene scene.json --results results/crossover.json",
    NULL,
};

static void put_row(struct strbuf *text, const char *name, const char *fmt, ...) GB_PRINTF(3, 4);
static void put_row(struct strbuf *text, const char *name, const char *fmt, ...)
{
    va_list args;

    strbuf_addf(text, "  %-18s ", name);
    va_start(args, fmt);
    strbuf_addv(text, fmt, args);
    va_end(args);
    strbuf_addc(text, '\n');
}

static const char *sig3(char out[UNITS_MAX], double value)
{
    units_sig3(out, value);
    return out;
}

static void write_text(const struct scene_stats *s, const char *path, const struct render_spec *spec,
                       struct strbuf *out)
{
    char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX];

    units_items(a, s->triangles, "triangle");
    strbuf_addf(out, "%s: %s, on %ux%u pixels at sigma %g\n", path, a, spec->width, spec->height,
                (double)spec->sigma);
    put_row(out, "area", "median %s, 90 %% up to %s, largest %s pixels; %u below a pixel",
            sig3(a, s->area_median), sig3(b, s->area_p90), sig3(c, s->area_max), s->small);
    put_row(out, "covered pairs", "%s a pixel, of %s in padded bounds", sig3(a, s->covered),
            sig3(b, s->in_bounds));
    put_row(out, "layers", "mean %s, 99 %% up to %s, most %u; %.3g %% of the pixels are bare",
            sig3(a, s->covered), sig3(b, s->layers_p99), s->layers_max, 100 * s->bare);
    put_row(out, "opaque", "%.3g %% of the covered pairs (weight 0.99 and above)", 100 * s->opaque);
}

static void warn_undrawn(const struct scene_command *o, const struct scene_stats *s, const char *path)
{
    char count[UNITS_MAX];

    units_items(count, s->undrawn, "triangle");
    if (s->undrawn > 0)
        say(&o->measure.base, "%s: %s not drawn (the first: $.triangles[%u]): a coordinate beyond %g counts as not finite",
            path, count, s->first_undrawn, (double)SCENE_MAX_COORD);
}

static bool write_json(const struct scene_stats *s, const char *path, const struct render_spec *spec,
                       const struct results *results, struct strbuf *out, struct err *err)
{
    struct json *root = json_new_object();

    json_set_string(root, "scene", path);
    json_set_u64(root, "width", spec->width);
    json_set_u64(root, "height", spec->height);
    json_set_float(root, "sigma", spec->sigma);
    json_set_u64(root, "triangles", s->triangles);
    json_set_u64(root, "triangles_not_drawn", s->undrawn);
    struct json *area = json_set_object(root, "area_pixels");
    json_set_number(area, "median", s->area_median);
    json_set_number(area, "p90", s->area_p90);
    json_set_number(area, "max", s->area_max);
    json_set_u64(root, "triangles_below_a_pixel", s->small);
    json_set_number(root, "pairs_in_bounds_a_pixel", s->in_bounds);
    json_set_number(root, "pairs_covered_a_pixel", s->covered);
    struct json *layers = json_set_object(root, "layers");
    json_set_number(layers, "mean", s->covered);
    json_set_number(layers, "p99", s->layers_p99);
    json_set_u64(layers, "max", s->layers_max);
    json_set_number(root, "bare_pixels_share", s->bare);
    json_set_number(root, "opaque_pairs_share", s->opaque);
    struct json *tape = json_set_object(root, "tape_bytes");
    json_set_u64(tape, "touched", s->tape_touched_bytes);
    json_set_u64(tape, "dense", s->tape_dense_bytes);
    scene_cost_json(s, spec, root);
    bool ok = (!results || scene_times_json(s, spec, results, root, err)) && json_print(root, true, out, err);
    json_free(root);
    return ok;
}

static bool draw(const struct scene_command *o, const struct scene *scene, const struct render_spec *spec,
                 struct err *err)
{
    struct device_info *devices = NULL;
    struct renderer *renderer = NULL;
    size_t count;

    bool ok = render_devices(&o->measure, &devices, &count, err) &&
              render_open(&o->measure, &devices[0], &renderer, err) &&
              render_save(renderer, scene, spec->sigma, spec->width, spec->height, o->render, err);
    if (ok)
        say(&o->measure.base, "%s, drawn by %s", o->render, devices[0].name);
    if (renderer)
        renderer->ops->destroy(renderer);
    free(devices);
    return ok;
}

static bool describe(const struct scene_command *o, const struct scene *scene, const char *path,
                     const struct render_spec *spec, struct err *err)
{
    struct scene_stats stats;
    struct results results = {0};
    struct strbuf text = STRBUF_INIT;
    bool ok = (!o->results || results_load(o->results, &results, err)) &&
              scene_stats_of(scene, spec->sigma, spec->width, spec->height, &stats, err);

    if (ok && o->json) {
        ok = write_json(&stats, path, spec, o->results ? &results : NULL, &text, err);
    } else if (ok) {
        write_text(&stats, path, spec, &text);
        scene_cost_text(&stats, spec, &text);
        ok = !o->results || scene_times_text(&stats, spec, &results, &text, err);
    }
    if (ok)
        warn_undrawn(o, &stats, path);
    ok = ok && strbuf_ok(&text, err) && print_text(&text, err);
    strbuf_fini(&text);
    results_fini(&results);
    return ok;
}

static bool show(const struct scene_command *o, const char *path, struct err *err)
{
    struct scene scene;
    struct render_spec spec;

    spec_init(&spec);
    if ((!spec_set_text(&spec, spec_find("size"), o->size ? o->size : DEFAULT_SIZE, err) &&
         !err_wrap(err, "--size")) ||
        (!spec_set_text(&spec, spec_find("sigma"), o->sigma ? o->sigma : DEFAULT_SIGMA, err) &&
         !err_wrap(err, "--sigma")) ||
        !scene_load(path, &scene, err))
        return false;
    bool ok = describe(o, &scene, path, &spec, err) && (!o->render || draw(o, &scene, &spec, err));
    scene_fini(&scene);
    return ok;
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    const struct scene_command *options = values;
    struct err err = ERR_INIT;

    (void)argc;
    (void)argv;
    if (devices_asked(&options->measure.devices))
        return devices_print(&options->measure);
    return show(options, arguments->items[0], &err) ? EXIT_OK : report_error(&err);
}

const struct command command_scene = {
    .name = "scene",
    .help = "show what a scene is like: sizes, layers, cost; and draw it",
    .description =
        "Shows how large a scene's triangles are, how deep they lie over each other and what a gradient of "
        "it "
        "costs by each strategy and way to sum, counted by the double-precision reference, and with --results how "
        "long that takes by what was measured; with --render also draws it on a "
        "device. FILE is a scene as configs name them and gpubench fit writes them.",
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct scene_command),
    .supervised = true,
    .run = run,
};
