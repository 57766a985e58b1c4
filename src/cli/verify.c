/* gpubench verify: correctness alone. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/progress.h"
#include "base/strbuf.h"
#include "bench/choose.h"
#include "bench/verify.h"
#include "cli/backends.h"
#include "cli/commands.h"
#include "cli/devices.h"
#include "cli/paths.h"
#include "cli/signals.h"

#define NAME_COLUMNS 30

struct verify_options {
    struct measure_options measure;
    const char *golden;
};

static const struct option table[] = {
    {.name = "golden",
     .letter = 'g',
     .type = OPTION_TEXT,
     .argument = "DIR",
     .help = "every case folder in DIR. Default: the cases that come with gpubench",
     .offset = offsetof(struct verify_options, golden)},
    DEVICE_OPTIONS,
    {.name = "no-progress",
     .type = OPTION_FLAG,
     .help = "no progress lines",
     .offset = offsetof(struct measure_options, no_progress)},
    QUIET_OPTION,
    VERBOSE_OPTION("the reason of each skipped row, too"),
    HELP_OPTION,
    {0},
};

static const char *const examples[] = {
    "gpubench verify",
    "gpubench verify -d openmp",
    NULL,
};

/* A device that is verified: opened once, with every variant of its backend. */
struct subject {
    struct renderer *renderer;
    struct verify_variant *variants;
    size_t variant_count;
};

struct verify {
    const struct verify_options *options;
    struct backend_options backend;
    struct device_info *devices; /* of every backend, chosen or not */
    size_t device_count;
    struct choice choice;
    struct subject *subjects;
    size_t subject_count;
    struct progress progress;
    size_t by_verdict[VERIFY_FAILED + 1];
};

/* ---- devices ---- */

static bool list_all(struct verify *v, struct err *err)
{
    for (size_t kind = 0; kind < BACKEND_COUNT; kind++) {
        struct device_info *some = NULL;
        struct err trouble = ERR_INIT;
        size_t count = 0;
        if (!backend_factories[kind].list(&v->backend, &some, &count, &trouble))
            say(&v->options->measure.base, "%s", trouble.text);
        err_fini(&trouble);
        void *all = v->devices;
        size_t capacity = v->device_count;
        bool ok = mem_grow(&all, &capacity, v->device_count + count, sizeof *some, "devices", err);
        v->devices = all;
        if (ok && count)
            memcpy(v->devices + v->device_count, some, count * sizeof *some);
        free(some);
        if (!ok)
            return false;
        v->device_count += count;
    }
    return true;
}

/* The rule of a sweep with one backend of each kind. */
static bool choose(struct verify *v, struct err *err)
{
    static const char text[] =
        "{\"version\": 1, \"name\": \"verify\", \"backends\": ["
        "{\"name\": \"cpu\", \"backend\": \"openmp\"}, {\"name\": \"device\", \"backend\": \"opencl\"}]}";
    struct json *root = json_parse(text, sizeof text - 1, "verify", err);
    struct config config = {0};
    bool ok = root && config_from_json(root, "verify", &config, err) &&
              choose_devices(v->devices, v->device_count, &config, v->options->measure.devices.items,
                             v->options->measure.devices.count, &v->choice, err);

    config_fini(&config);
    json_free(root);
    for (size_t i = 0; ok && i < v->choice.note_count; i++)
        say(&v->options->measure.base, "%s", v->choice.notes[i]);
    return ok;
}

static bool open_subjects(struct verify *v, struct err *err)
{
    v->subjects = mem_calloc(v->choice.used_count, sizeof *v->subjects, "devices", err);
    if (!v->subjects)
        return false;
    for (size_t i = 0; i < v->choice.used_count; i++) {
        const struct device_info *device = &v->devices[v->choice.used[i]];
        struct subject *subject = &v->subjects[i];
        if (!backend_factories[device->backend].create(device->selector, &v->backend, &subject->renderer,
                                                       err))
            return err_wrap(err, "%s", device->selector);
        v->subject_count++;
        if (!verify_variants(device->backend, &subject->variants, &subject->variant_count, err))
            return false;
    }
    return true;
}

/* ---- rows ---- */

static void print_group_names(const char *case_name)
{
    printf("%-*s", NAME_COLUMNS, case_name);
    for (int group = 0; group < AGREE_GROUPS; group++)
        printf(" %8s", agreement_group_name((enum agreement_group)group));
    putchar('\n');
}

static void print_row(const char *name, const struct agreement *a, const char *verdict)
{
    printf("  %-*s", NAME_COLUMNS - 2, name);
    for (int group = 0; group < AGREE_GROUPS; group++) {
        if (isnan(a->value[group]))
            printf(" %8s", "-");
        else
            printf(" %8.1e", a->value[group]);
    }
    printf("%s%s\n", *verdict ? " " : "", verdict);
}

static void print_result(struct verify *v, const struct subject *subject,
                         const struct verify_variant *variant, const struct verify_result *result)
{
    char name[96];

    snprintf(name, sizeof name, "%s %s", subject->renderer->info.selector, variant->name);
    progress_clear(&v->progress);
    switch (result->verdict) {
    case VERIFY_OK:
        print_row(name, &result->errors, "ok");
        break;
    case VERIFY_WRONG:
        print_row(name, &result->errors, "WRONG");
        printf("    wrong: %s is over its tolerance\n", agreement_group_name(result->worst));
        break;
    case VERIFY_SKIPPED:
        if (v->options->measure.base.verbose)
            printf("  %-*s skipped: %s\n", NAME_COLUMNS - 2, name, result->err.text);
        break;
    case VERIFY_FAILED:
        printf("  %-*s FAILED: %s\n%s", NAME_COLUMNS - 2, name, result->err.text,
               result->err.log ? result->err.log : "");
        break;
    }
}

static size_t rows_a_case(const struct verify *v)
{
    size_t rows = 0;

    for (size_t i = 0; i < v->subject_count; i++)
        rows += v->subjects[i].variant_count;
    return rows;
}

/* true unless it was asked to stop */
static bool verify_one(struct verify *v, const struct golden_case *c, size_t *done,
                       const volatile sig_atomic_t *stop)
{
    print_group_names(c->name);
    print_row("tolerance", &c->tolerance, "");
    for (size_t i = 0; i < v->subject_count; i++) {
        const struct subject *subject = &v->subjects[i];
        for (size_t k = 0; k < subject->variant_count; k++) {
            struct verify_result result;
            struct strbuf what = STRBUF_INIT;
            if (*stop)
                return false;
            strbuf_addf(&what, "%s: %s %s", c->name, subject->renderer->info.selector,
                        subject->variants[k].name);
            progress_step(&v->progress, (*done)++, strbuf_str(&what));
            strbuf_fini(&what);
            verify_case(subject->renderer, c, &subject->variants[k], &result);
            v->by_verdict[result.verdict]++;
            print_result(v, subject, &subject->variants[k], &result);
            err_fini(&result.err);
        }
    }
    putchar('\n');
    return true;
}

/* Rows appear case by case in a pipe, too. Nobody reading them any more is a reason to stop; main says why.
 */
static bool still_read(void)
{
    return fflush(stdout) == 0;
}

static bool verify_all(struct verify *v, const char *dir, struct err *err)
{
    const volatile sig_atomic_t *stop = signals_catch_stop();
    const struct measure_options *measure = &v->options->measure;
    char **names = NULL;
    size_t count = 0, done = 0;
    bool ok = golden_list(dir, &names, &count, err);

    progress_init(&v->progress, stderr, measure->base.quiet || measure->no_progress, count * rows_a_case(v));
    for (size_t i = 0; ok && i < count && still_read(); i++) {
        struct golden_case c = {0};
        struct strbuf path = STRBUF_INIT;
        strbuf_addf(&path, "%s/%s", dir, names[i]);
        ok = strbuf_ok(&path, err) && golden_load(strbuf_str(&path), &c, err);
        strbuf_fini(&path);
        if (ok && !verify_one(v, &c, &done, stop))
            ok = err_set(err, ERR_INTERRUPTED, "interrupted after %zu rows", done);
        golden_fini(&c);
    }
    progress_finish(&v->progress);
    golden_list_free(names, count);
    return ok;
}

static int verdict_code(const struct verify *v)
{
    if (v->by_verdict[VERIFY_WRONG])
        return EXIT_WRONG_RESULT;
    if (v->by_verdict[VERIFY_FAILED])
        return EXIT_FAILED;
    return v->by_verdict[VERIFY_OK] ? EXIT_OK : EXIT_NOTHING;
}

static bool verify(struct verify *v, struct err *err)
{
    char dir[PATH_MAX];

    if (v->options->golden)
        snprintf(dir, sizeof dir, "%s", v->options->golden);
    else if (!paths_find("golden", dir, sizeof dir))
        return err_set(err, ERR_IO,
                       "the golden cases that come with gpubench are not where it was installed; name "
                       "their folder with --golden");
    return measure_backend_options(&v->options->measure, &v->backend, err) && list_all(v, err) &&
           choose(v, err) && open_subjects(v, err) && verify_all(v, dir, err);
}

static void close_all(struct verify *v)
{
    for (size_t i = 0; i < v->subject_count; i++) {
        struct renderer *renderer = v->subjects[i].renderer;
        renderer->ops->destroy(renderer);
        free(v->subjects[i].variants);
    }
    free(v->subjects);
    choice_fini(&v->choice);
    free(v->devices);
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    struct verify v = {.options = values};
    struct err err = ERR_INIT;
    int code;

    (void)arguments;
    (void)argc;
    (void)argv;
    if (devices_asked(&v.options->measure.devices))
        return devices_print(&v.options->measure);
    bool ok = verify(&v, &err);
    code = verdict_code(&v);
    if (ok) {
        printf("%zu ok, %zu wrong, %zu failed, %zu skipped\n", v.by_verdict[VERIFY_OK],
               v.by_verdict[VERIFY_WRONG], v.by_verdict[VERIFY_FAILED], v.by_verdict[VERIFY_SKIPPED]);
    } else {
        int why = report_error(&err);
        code = code == EXIT_NOTHING ? why : worse_exit(code, why);
    }
    close_all(&v);
    return code;
}

const struct command command_verify = {
    .name = "verify",
    .help = "check every device and variant against known results",
    .description =
        "Renders each golden case on each device, in every variant that there is (strategy and reduction "
        "on OpenCL), and compares image, loss and gradients with the case's own tolerances. Exits 5 when "
        "one is wrong.",
    .arguments = "",
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct verify_options),
    .run = run,
};
