/* gpubench devices: what there is to run on, and what each device can do. */
#include "cli/devices.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "bench/device_json.h"
#include "bench/runner.h"
#include "cli/commands.h"
#include "cli/limits.h"
#include "gpu/hints.h"

#define INDENT 12

struct devices_options {
    struct measure_options measure;
    bool json, limits;
};

static const struct option table[] = {
    {.name = "json",
     .type = OPTION_FLAG,
     .help = "as JSON, everything that is known",
     .offset = offsetof(struct devices_options, json)},
    {.name = "limits",
     .type = OPTION_FLAG,
     .help = "what each OpenCL device guarantees against what the largest cells of CONFIG (crossover where "
             "none is "
             "named) need, and what would break first in larger pictures",
     .offset = offsetof(struct devices_options, limits)},
    {.name = "axis",
     .letter = 'a',
     .type = OPTION_LIST,
     .argument = "NAME=LIST",
     .help = "with --limits: replace an axis or a fixed value of the config; may repeat",
     .offset = offsetof(struct measure_options, axes)},
    VERBOSE_OPTION("all limits, versions and extensions, too"),
    QUIET_OPTION,
    HELP_OPTION,
    {0},
};

static const char *const examples[] = {"gpubench devices", "gpubench devices --json",
                                       "gpubench devices --limits",
                                       "gpubench devices --limits crossover -a size=2048 -a batch=1", NULL};

/* A line of facts with commas between them, broken at 80 columns. */
struct facts {
    size_t column;
};

static void fact(struct facts *f, const char *fmt, ...) GB_PRINTF(2, 3);
static void fact(struct facts *f, const char *fmt, ...)
{
    char text[DEVICE_NAME_MAX + 64];
    va_list args;

    va_start(args, fmt);
    int length = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (length <= 0)
        return;
    if (f->column == 0)
        f->column = (size_t)printf("%*s%s", INDENT, "", text);
    else if (f->column + 2 + (size_t)length > 79)
        f->column = (size_t)printf(",\n%*s%s", INDENT, "", text) - 2;
    else
        f->column += (size_t)printf(", %s", text);
}

static void end_facts(struct facts *f)
{
    if (f->column)
        putchar('\n');
    f->column = 0;
}

static const char *kind_text(const struct device_info *d)
{
    static const char *const opencl[] = {[DEVICE_CPU] = "OpenCL, CPU device",
                                         [DEVICE_GPU] = "OpenCL, GPU",
                                         [DEVICE_ACCELERATOR] = "OpenCL, accelerator",
                                         [DEVICE_OTHER] = "OpenCL"};

    return d->backend == BACKEND_OPENMP ? "OpenMP" : opencl[d->kind];
}

static void print_openmp(const struct device_info *d)
{
    struct facts f = {0};

    fact(&f, "%u threads", d->threads);
    fact(&f, "code path %s", d->path);
    if (*d->extensions)
        fact(&f, "can: %s", d->extensions);
    end_facts(&f);
}

static void print_opencl_summary(const struct device_info *d)
{
    char memory[UNITS_MAX], alloc[UNITS_MAX], local[UNITS_MAX];
    struct facts f = {0};

    fact(&f, "%s", d->platform);
    fact(&f, "%s", d->device_version);
    fact(&f, "driver %s", *d->driver_version ? d->driver_version : "unknown");
    end_facts(&f);
    units_bytes(memory, d->global_bytes);
    units_bytes(alloc, d->max_alloc_bytes);
    units_bytes(local, d->local_bytes);
    fact(&f, "%u units", d->compute_units);
    if (d->clock_mhz)
        fact(&f, "%u MHz", d->clock_mhz);
    fact(&f, "%s %s", memory, d->host_unified ? "shared with the host" : "of its own");
    fact(&f, "largest buffer %s", alloc);
    fact(&f, "local memory %s%s", local, d->local_is_real ? "" : " (emulated)");
    fact(&f, "work-groups up to %" PRIu64, d->max_work_group_size);
    end_facts(&f);
}

/* What the renderer's paths ask for. */
static void print_abilities(const struct device_info *d)
{
    const struct {
        bool has;
        const char *name;
    } abilities[] = {{d->has_float_atomics, "float atomics"},
                     {d->has_subgroups, "sub-groups"},
                     {d->has_double, "double precision"}};
    struct facts f = {0};

    if (*d->path)
        fact(&f, "code path %s", d->path);
    if (*d->path_note)
        fact(&f, "%s", d->path_note);
    if (*d->tiles)
        fact(&f, "tiles of %s", d->tiles);
    for (size_t i = 0; i < sizeof abilities / sizeof abilities[0]; i++)
        fact(&f, "%s %s", abilities[i].has ? "has" : "no", abilities[i].name);
    if (d->drives_display)
        fact(&f, "drives a display");
    if (d->has_watchdog)
        fact(&f, "has a watchdog that ends long kernels");
    end_facts(&f);
}

static void print_verbose(const struct device_info *d)
{
    struct facts f = {0};

    if (*d->vendor)
        fact(&f, "vendor %s", d->vendor);
    if (*d->language_version)
        fact(&f, "%s", d->language_version);
    if (*d->pci)
        fact(&f, "PCI %s", d->pci);
    if (d->backend == BACKEND_OPENCL) {
        fact(&f, "%u address bits", d->address_bits);
        fact(&f, "work-items up to %" PRIu64 " x %" PRIu64 " x %" PRIu64, d->max_work_item_sizes[0],
             d->max_work_item_sizes[1], d->max_work_item_sizes[2]);
        fact(&f, "groups in multiples of %" PRIu64, d->preferred_group_multiple);
        fact(&f, "constant buffer %" PRIu64 " B", d->constant_bytes);
        fact(&f, "arguments up to %" PRIu64 " B", d->max_parameter_bytes);
        fact(&f, "timer ticks of %" PRIu64 " ns", d->timer_resolution_ns);
    }
    end_facts(&f);
    if (d->backend != BACKEND_OPENCL)
        return;
    for (const char *at = d->extensions; *at;) {
        size_t length = strcspn(at, " ");
        if (length)
            printf("%*s%.*s\n", INDENT + 2, "", (int)length, at);
        at += length;
        at += strspn(at, " ");
    }
}

static int print_list(const struct device_info *devices, size_t count, bool verbose)
{
    size_t usable = 0;

    for (size_t i = 0; i < count; i++) {
        const struct device_info *d = &devices[i];
        printf("%-*s %s [%s]\n", INDENT - 1, d->selector, *d->name ? d->name : "(no name)", kind_text(d));
        if (*d->trouble) {
            printf("%*scannot be used: %s\n", INDENT, "", d->trouble);
        } else {
            usable++;
            if (d->backend == BACKEND_OPENMP) {
                print_openmp(d);
            } else {
                print_opencl_summary(d);
                print_abilities(d);
            }
        }
        if (verbose)
            print_verbose(d);
    }
    return usable ? EXIT_OK : EXIT_FAILED;
}

static bool print_json(const struct device_info *devices, size_t count, struct err *err)
{
    struct json *array = json_new_array();
    struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < count; i++)
        device_to_json(&devices[i], json_add_object(array));
    bool ok = json_print(array, true, &text, err) && print_text(&text, err);
    strbuf_fini(&text);
    json_free(array);
    return ok;
}

/* What would make more of this machine usable. */
static void say_hints(const struct base_options *base, const struct device_info *devices, size_t count)
{
    const struct hint_sources here = hint_sources_here();
    struct strbuf hints = STRBUF_INIT;

    gpu_hints(&here, devices, count, &hints);
    for (const char *at = strbuf_str(&hints); *at; at += strcspn(at, "\n") + 1)
        say(base, "%.*s", (int)strcspn(at, "\n"), at);
    strbuf_fini(&hints);
}

static int list(const struct measure_options *options, bool json)
{
    struct runner_options how = {0};
    struct device_info *devices = NULL;
    struct err err = ERR_INIT;
    char *note = NULL;
    size_t count = 0;
    int code = EXIT_OK;

    if (!measure_backend_options(options, &how.backend, &err) ||
        !runner_list_devices(&how, &devices, &count, &note, &err))
        return report_error(&err);
    if (!json)
        code = print_list(devices, count, options->base.verbose);
    else if (!print_json(devices, count, &err))
        code = report_error(&err);
    if (note)
        say(&options->base, "%s", note);
    say_hints(&options->base, devices, count);
    free(note);
    free(devices);
    return code;
}

bool devices_asked(const struct text_list *selectors)
{
    for (size_t i = 0; i < selectors->count; i++)
        if (strcmp(selectors->items[i], "list") == 0)
            return true;
    return false;
}

int devices_print(const struct measure_options *options)
{
    return list(options, false);
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    const struct devices_options *options = values;

    (void)argc;
    (void)argv;
    if (options->limits) {
        struct measure_options measure = options->measure;
        if (options->json)
            measure.format = "json";
        return limits_print(arguments->count ? arguments->items[0] : "crossover", &measure);
    }
    if (arguments->count || options->measure.axes.count) {
        struct err err = ERR_INIT;
        err_set(&err, ERR_USAGE, "devices: a config and its axes go with --limits");
        return report_error(&err);
    }
    return list(&options->measure, options->json);
}

const struct command command_devices = {
    .name = "devices",
    .help = "list what there is to run on, and what each device can do",
    .description =
        "Lists the OpenMP renderer and every OpenCL device, with driver and limits; one that cannot be "
        "used is listed with the reason. The first column is what -d takes.",
    .arguments = "[CONFIG]",
    .max_arguments = 1,
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct devices_options),
    .supervised = true,
    .run = run,
};
