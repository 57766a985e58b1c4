/* gpubench kernels: every kernel in every variant, built, looked at and run once. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/units.h"
#include "bench/tiny.h"
#include "cli/commands.h"
#include "cli/devices.h"
#include "cli/kernel_names.h"
#include "cli/kernels_own.h"
#include "cli/opencl_devices.h"
#include "cli/patience.h"
#include "cli/signals.h"
#include "gpu/inspect.h"

struct kernels_options {
    struct measure_options measure;
    bool workgroups, at_once;
};

static const struct option table[] = {
    {.name = "workgroups",
     .type = OPTION_FLAG,
     .help = "also with each size of work-group that can be asked for",
     .offset = offsetof(struct kernels_options, workgroups)},
    {.name = "at-once",
     .type = OPTION_FLAG,
     .help = "also build all of them at the same time, and say what that changes",
     .offset = offsetof(struct kernels_options, at_once)},
    OPENCL_OPTIONS("the best there is, on every path that it can run"),
    {.name = "no-progress",
     .type = OPTION_FLAG,
     .help = "no progress lines",
     .offset = offsetof(struct measure_options, no_progress)},
    QUIET_OPTION,
    VERBOSE_OPTION("the arguments of each kernel, too"),
    HELP_OPTION,
    {0},
};

static const char *const examples[] = {"gpubench kernels setup gather --path cpu --at-once",
                                       "gpubench kernels gather --path cpu -v", NULL};

/* One program: what became of it. */
struct entry {
    struct inspection *of;
    const struct program_variant *variant;
    struct program_facts facts;
    bool built, ran;
    uint64_t first_ns;
    struct err err; /* why it was not built, or did not run well */
};

struct request {
    const struct kernels_options *options;
    const struct text_list *files; /* those that are wanted, without ".cl"; none: all */
    const volatile sig_atomic_t *stop;
    bool left; /* a thread is left in a driver: nothing that it may use is released */
    int code;             /* the worst so far */
    struct table *tables; /* owned; of all paths and devices */
    size_t table_count;
};

/* Of one device on one path. */
struct inspection {
    struct request *request;
    const struct kernels_options *options;
    struct renderer *renderer;
    struct program_variant *variants;
    struct entry *entries;
    size_t count;
    uint64_t salt, at_once_ns;
    bool together; /* built at once */
    struct err together_err;
    struct progress progress;
};

/* ---- doing it ---- */

static void *inspect_one(void *context)
{
    struct entry *e = context;
    struct inspection *x = e->of;
    struct tiny_result result;

    e->built = inspect_program(x->renderer, e->variant, x->salt, &e->facts, &e->err);
    if (e->built && e->variant->has_call) {
        e->ran = tiny_run(x->renderer, &e->variant->spec, &result, &e->err);
        e->first_ns = result.first_ns;
    } else if (e->built) {
        const uint64_t start = clock_now_ns();
        e->ran = kernels_own_run(x->renderer, e->variant->file, &e->err);
        e->first_ns = clock_now_ns() - start;
    }
    return NULL;
}

static void *inspect_together(void *context)
{
    struct inspection *x = context;

    x->together =
        inspect_at_once(x->renderer, x->variants, x->count, x->salt + 1, &x->at_once_ns, &x->together_err);
    return NULL;
}

/* An interruption leaves those before the i-th, which are shown. */
static bool do_step(struct inspection *x, size_t i, const char *what, void *(*work)(void *), void *context,
                    struct err *err)
{
    struct request *request = x->request;

    if (!*request->stop) {
        progress_step(&x->progress, i, what);
        request->left = !patience_run(work, context, request->stop);
        if (!request->left)
            return true;
    }
    err_set(err, ERR_INTERRUPTED, "interrupted after %zu of %zu programs", i, x->count);
    if (request->left)
        x->count = i;
    else
        variants_drop(x->variants, &x->count, i);
    return false;
}

static bool inspect_all(struct inspection *x, struct err *err)
{
    bool ok = true;

    progress_init(&x->progress, stderr, x->options->measure.base.quiet || x->options->measure.no_progress,
                  x->count + x->options->at_once);
    for (size_t i = 0; ok && i < x->count; i++) {
        struct entry *e = &x->entries[i];
        struct strbuf what = STRBUF_INIT;
        strbuf_addf(&what, "%s %s%s%s", x->renderer->info.selector, e->variant->file, *e->variant->label ? ": " : "",
                    e->variant->label);
        ok = do_step(x, i, strbuf_str(&what), inspect_one, e, err);
        strbuf_fini(&what);
        if (ok && e->err.code)
            x->request->code =
                worse_exit(x->request->code, e->err.code == ERR_WRONG ? EXIT_WRONG_RESULT : EXIT_FAILED);
    }
    if (ok && x->options->at_once) {
        ok = do_step(x, x->count, "all at once", inspect_together, x, err) && x->together;
        if (!x->request->left && x->together_err.code)
            *err = x->together_err;
    }
    if (ok)
        progress_finish(&x->progress);
    return ok;
}

/* ---- showing it ---- */

static void put_ms(struct table *t, uint64_t ns)
{
    char text[UNITS_MAX];
    double ms = (double)ns / 1e6;

    if (ms < 10)
        units_sig3(text, ms);
    else
        snprintf(text, sizeof text, "%.0f", ms);
    table_put(t, MARK_NONE, (double)ns, "%s", text);
}

static void put_figure(struct table *t, uint64_t value)
{
    if (value == UINT64_MAX)
        table_put(t, MARK_DIM, NAN, "-");
    else
        table_put(t, MARK_NONE, (double)value, "%" PRIu64, value);
}

/* Whether the driver's log says anything of registers. */
static bool has_registers(const struct inspection *x)
{
    for (size_t i = 0; i < x->count; i++)
        for (size_t k = 0; k < x->entries[i].facts.kernel_count; k++)
            if (x->entries[i].facts.kernels[k].registers != UINT64_MAX)
                return true;
    return false;
}

static void put_columns(struct table *t, bool registers)
{
    static const struct {
        const char *title;
        int keep;
    } figures[] = {{"cold\nms", KEEP_ALWAYS}, {"cached\nms", KEEP_ALWAYS}, {"create\nms", 600},
                   {"call\nms", 700},         {"private\nB", 800},         {"local\nB", 900},
                   {"group\nmultiple", 400},  {"max\ngroup", 500},         {"regs", 960},
                   {"spill\nB", 950}};
    size_t count = sizeof figures / sizeof figures[0] - (registers ? 0 : 2);

    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "kernel");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "variant");
    for (size_t i = 0; i < count; i++)
        table_column(t, ALIGN_RIGHT, figures[i].keep, "%s", figures[i].title);
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "run");
}

static void put_times(struct table *t, const struct entry *e, bool first)
{
    const uint64_t times[] = {e->facts.cold_ns, e->facts.cached_ns, e->facts.create_ns, e->first_ns};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (first && times[i])
            put_ms(t, times[i]);
        else
            table_put(t, MARK_DIM, NAN, "%s", first ? "-" : "");
}

static void put_kernel(struct table *t, const struct entry *e, size_t index, bool registers)
{
    static const struct kernel_facts unknown = {"",         UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                                UINT64_MAX, UINT64_MAX, UINT64_MAX, ""};
    const struct kernel_facts *k = index < e->facts.kernel_count ? &e->facts.kernels[index] : &unknown;
    bool several = e->facts.kernel_count > 1;

    table_row(t);
    table_put(t, MARK_NONE, NAN, "%.*s", (int)strcspn(e->variant->file, "."), index ? "" : e->variant->file);
    table_put(t, MARK_NONE, NAN, "%s", several ? k->name : e->variant->label);
    put_times(t, e, index == 0);
    put_figure(t, k->private_bytes);
    put_figure(t, k->local_bytes);
    put_figure(t, k->multiple);
    put_figure(t, k->max_group);
    if (registers) {
        put_figure(t, k->registers);
        put_figure(t, k->spill_bytes);
    }
    if (e->err.code)
        table_put(t, MARK_BAD, NAN, "%s",
                  e->err.code == ERR_WRONG ? "WRONG"
                  : e->built               ? "FAILED"
                                           : "NOT BUILT");
    else
        table_put(t, e->ran ? MARK_NONE : MARK_DIM, NAN, "%s", e->ran ? "ok" : "-");
}

static void put_entries(struct table *t, const struct inspection *x)
{
    bool registers = has_registers(x);

    put_columns(t, registers);
    for (size_t i = 0; i < x->count; i++)
        for (size_t k = 0; k == 0 || k < x->entries[i].facts.kernel_count; k++)
            put_kernel(t, &x->entries[i], k, registers);
}

static void put_foot(struct table *t, const struct inspection *x)
{
    uint64_t cold = 0, cached = 0;
    char cold_text[UNITS_MAX], cached_text[UNITS_MAX], once_text[UNITS_MAX];
    size_t ran = 0;

    for (size_t i = 0; i < x->count; i++) {
        cold += x->entries[i].facts.cold_ns;
        cached += x->entries[i].facts.cached_ns;
        ran += x->entries[i].ran;
    }
    units_time(cold_text, cold);
    units_time(cached_text, cached);
    units_time(once_text, x->at_once_ns);
    table_foot(t,
               "%zu programs: built one by one in %s, from the driver's cache in %s%s%s; %zu ran and agreed "
               "with the "
               "reference",
               x->count, cold_text, cached_text, x->at_once_ns ? ", all at once in " : "",
               x->at_once_ns ? once_text : "", ran);
}

static bool add_table(const struct inspection *x, struct table **tables, size_t *count, struct err *err)
{
    struct table *t = tables_append(tables, count, "kernels", err);

    if (!t)
        return false;
    table_title(t, "Kernels    %s: %s    path %s", x->renderer->info.selector, x->renderer->info.name,
                x->renderer->info.path);
    table_note(
        t,
        "cold: built from a text that no cache has seen; cached: once more; create: its kernels; call: the "
        "first one, of a tiny scene    run: that call against the reference, or against the host");
    put_entries(t, x);
    put_foot(t, x);
    return true;
}

static bool add_arguments(const struct inspection *x, struct table **tables, size_t *count, struct err *err)
{
    struct table *t = tables_append(tables, count, "arguments", err);
    const char *last = "";

    if (!t)
        return false;
    table_title(t, "Arguments    as the driver tells, and as the host sets them");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "kernel");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "argument");
    for (size_t i = 0; i < x->count; i++) {
        const struct program_facts *facts = &x->entries[i].facts;
        if (!facts->kernel_count || strcmp(last, x->entries[i].variant->file) == 0)
            continue;
        last = x->entries[i].variant->file;
        bool first = true;
        for (const char *at = facts->kernels[0].arguments; *at; first = false) {
            size_t length = strcspn(at, ";");
            table_row(t);
            table_put(t, MARK_NONE, NAN, "%s", first ? facts->kernels[0].name : "");
            table_put(t, MARK_NONE, NAN, "%.*s", (int)length, at);
            at += length;
            at += strspn(at, "; ");
        }
    }
    return true;
}

/* And releases them. */
static void tell_errors(const struct inspection *x)
{
    for (size_t i = 0; i < x->count; i++) {
        struct entry *e = &x->entries[i];
        if (e->err.code) {
            err_wrap(&e->err, "%s%s%s, path %s", e->variant->file, *e->variant->label ? " " : "",
                     e->variant->label, x->renderer->info.path);
            report_error(&e->err);
        }
    }
}

/* Leaves the variants of the files that were named. */
static bool keep_wanted(struct inspection *x, struct err *err)
{
    const struct text_list *files = x->request->files;
    size_t kept = 0;

    for (size_t i = 0; i < x->count; i++) {
        bool wanted = files->count == 0;
        for (size_t f = 0; f < files->count; f++)
            wanted = wanted || kernel_is_called(x->variants[i].file, files->items[f]);
        struct program_variant swap = x->variants[i];
        if (!wanted)
            continue;
        x->variants[i] = x->variants[kept];
        x->variants[kept++] = swap;
    }
    variants_drop(x->variants, &x->count, kept);
    return kept > 0 || err_set(err, ERR_USAGE, "path %s has no kernel file \"%s\"", x->renderer->info.path,
                               files->items[0]);
}

static bool inspect(struct inspection *x, const struct device_info *device, const char *path, struct err *err)
{
    const struct kernels_options *options = x->options;
    struct request *request = x->request;

    if (!opencl_devices_open(&options->measure, device, path, &x->renderer, err) ||
        !variants_list(x->renderer, options->workgroups, &x->variants, &x->count, err) ||
        !keep_wanted(x, err))
        return false;
    x->entries = mem_calloc(x->count, sizeof *x->entries, "programs", err);
    for (size_t i = 0; x->entries && i < x->count; i++)
        x->entries[i] = (struct entry){.of = x, .variant = &x->variants[i]};
    bool ok = x->entries && inspect_all(x, err);
    if (!ok && (!x->entries || x->count == 0 || err->code != ERR_INTERRUPTED))
        return false;
    return add_table(x, &request->tables, &request->table_count, err) &&
           (!options->measure.base.verbose || add_arguments(x, &request->tables, &request->table_count, err)) && ok;
}

static bool one_path(struct request *request, const struct device_info *device, const char *path,
                     struct err *err)
{
    struct inspection *x = mem_calloc(1, sizeof *x, "an inspection", err);

    if (!x)
        return false;
    x->request = request;
    x->options = request->options;
    /* No cache has seen it, whichever process filled that. */
    x->salt = ((uint64_t)time(NULL) << 16 ^ (uint64_t)getpid() ^ clock_now_ns()) & UINT32_MAX;
    bool ok = inspect(x, device, path, err);
    progress_clear(&x->progress);
    if (x->entries)
        tell_errors(x);
    if (request->left)
        return false;
    free(x->entries);
    variants_free(x->variants, x->count);
    if (x->renderer)
        x->renderer->ops->destroy(x->renderer);
    free(x);
    return ok;
}

/* No call takes the path of CPU devices on another one unless it is told to: vectors of a dozen pixels are hundreds of
 * kilobytes of private memory a work-item there, and minutes for its compiler. */
static bool is_foreign(const struct device_info *device, const char *path)
{
    return device->kind != DEVICE_CPU && strcmp(path, "cpu") == 0;
}

/* Every path that a device can run and that is meant for its kind, or the one asked for. */
static bool one_device(struct request *request, const struct device_info *device, struct err *err)
{
    const struct measure_options *measure = &request->options->measure;

    if (measure->path && is_foreign(device, measure->path))
        return err_set(err, ERR_UNSUPPORTED,
                       "--path cpu is for OpenCL devices that are CPUs: %s (%s) is none, and would take hundreds of "
                       "kilobytes of private memory a work-item",
                       device->selector, device->name);
    if (measure->path)
        return one_path(request, device, NULL, err);
    for (const char *const *path = measure_paths; *path; path++) {
        struct err refused = ERR_INIT;
        struct renderer *probe = NULL;
        if (is_foreign(device, *path))
            continue;
        bool can = opencl_devices_open(measure, device, *path, &probe, &refused);
        if (can)
            probe->ops->destroy(probe);
        bool fatal = !can && refused.code != ERR_UNSUPPORTED;
        if (fatal)
            err_set(err, refused.code, "%s", refused.text);
        err_fini(&refused);
        if (fatal || (can && !one_path(request, device, *path, err)))
            return false;
    }
    return true;
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    struct request request = {.options = values, .files = arguments, .stop = signals_await_stop()};
    const struct measure_options *measure = &request.options->measure;
    struct device_info *devices = NULL;
    struct err err = ERR_INIT, lost = ERR_INIT;
    size_t count = 0;

    (void)argc;
    (void)argv;
    if (devices_asked(&measure->devices))
        return devices_print(measure);
    bool ok =
        kernel_names_check(arguments, &err) && opencl_devices_choose(measure, OPENCL_BEST, &devices, &count, &err);
    for (size_t i = 0; ok && i < count; i++)
        ok = one_device(&request, &devices[i], &err);
    if (request.table_count && !tables_show(request.tables, request.table_count, measure->format, &lost))
        request.code = worse_exit(request.code, report_error(&lost));
    tables_free(request.tables, request.table_count);
    free(devices);
    const int code = ok ? request.code : worse_exit(request.code, report_error(&err));
    if (request.left)
        _exit(finish_output(code));
    return code;
}

const struct command command_kernels = {
    .name = "kernels",
    .help = "build every kernel in every variant, and show what each takes",
    .description = "Builds each kernel in every variant that can be asked for, on every path that the device "
                   "can run (that of CPU devices on those alone); shows how "
                   "long that takes, cold and from the driver's cache, and what the kernels take; checks "
                   "their arguments against "
                   "what the host sets; and runs each variant once on a tiny scene against the reference. "
                   "Exits 1 when one "
                   "does not build or run, 5 when a result or an argument is wrong.",
    .arguments = "[FILE...]",
    .max_arguments = SIZE_MAX,
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct kernels_options),
    .supervised = true,
    .run = run,
};
