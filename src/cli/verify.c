/* gpubench verify: correctness alone. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/progress.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/devices.h"
#include "cli/paths.h"
#include "cli/patience.h"
#include "cli/signals.h"
#include "cli/verify_repeats.h"
#include "cli/verify_subjects.h"
#include "cli/verify_table.h"

struct verify_options {
    struct measure_options measure;
    const char *golden;
    bool finite_differences;
    struct option_u64 repeats;
};

static const struct option table[] = {
    {.name = "golden",
     .letter = 'g',
     .type = OPTION_TEXT,
     .argument = "DIR",
     .help = "every case folder in DIR. Default: the cases that come with gpubench",
     .offset = offsetof(struct verify_options, golden)},
    {.name = "finite-differences",
     .type = OPTION_FLAG,
     .help = "also compare gradients with central differences, over the step size, in cases of sigma 0.02 "
             "and more",
     .offset = offsetof(struct verify_options, finite_differences)},
    {.name = "repeats",
     .type = OPTION_U64,
     .argument = "N",
     .min = 2,
     .max = 1000000,
     .help = "also make each gradient call N times: ordered sums must be the same to the bit, and of the others it "
             "is shown how far they differ",
     .offset = offsetof(struct verify_options, repeats)},
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
    "gpubench verify -d openmp --finite-differences",
    "gpubench verify -d openmp --repeats 10",
    NULL,
};

struct verify {
    const struct verify_options *options;
    const volatile sig_atomic_t *stop;
    struct subjects subjects;
    struct verify_result *results; /* owned; of a case, one a row */
    struct verify_pairs pairs;
    struct progress progress;
    size_t by_verdict[VERIFY_FAILED + 1];
    size_t cases;
    struct unchecked *unchecked; /* owned; one a subject */
    bool ended;
    struct err err; /* why not */
};

/* Cases that a device skipped in every variant. */
struct unchecked {
    size_t cases;
    char why[256]; /* the first one's */
};

/* ---- golden cases ---- */

static void print_result(struct verify *v, const char *name, const struct verify_result *result)
{
    progress_clear(&v->progress);
    switch (result->verdict) {
    case VERIFY_OK:
        verify_table_row(name, &result->errors, "ok");
        break;
    case VERIFY_WRONG:
        verify_table_row(name, &result->errors, "WRONG");
        printf("    wrong: %s is over its tolerance\n", agreement_group_name(result->worst));
        break;
    case VERIFY_SKIPPED:
        if (v->options->measure.base.verbose)
            printf("  %-*s skipped: %s\n", VERIFY_NAME_COLUMNS - 2, name, result->err.text);
        break;
    case VERIFY_FAILED:
        printf("  %-*s FAILED: %s\n%s", VERIFY_NAME_COLUMNS - 2, name, result->err.text,
               result->err.log ? result->err.log : "");
        break;
    }
}

static bool set_interrupted(const struct verify *v, struct err *err)
{
    char rows[UNITS_MAX];

    units_items(rows, v->progress.done, "row");
    return err_set(err, ERR_INTERRUPTED, "interrupted after %s", rows);
}

static bool interrupted(const struct verify *v, struct err *err)
{
    return *v->stop && !set_interrupted(v, err);
}

/* Of one case on one device, whose results these are. */
static void note_unchecked(struct unchecked *u, const struct verify_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].verdict != VERIFY_SKIPPED)
            return;
    if (count > 0 && u->cases++ == 0)
        snprintf(u->why, sizeof u->why, "%.255s", results[0].err.text);
}

static bool verify_rows(struct verify *v, const struct golden_case *c, size_t *done, struct err *err)
{
    const struct subjects *s = &v->subjects;
    size_t row = 0;

    for (size_t i = 0; i < s->count; i++) {
        for (size_t k = 0; k < s->list[i].variant_count; k++, row++) {
            struct strbuf what = STRBUF_INIT;
            if (interrupted(v, err))
                return false;
            strbuf_addf(&what, "%s: %s", c->name, s->rows[row].name);
            progress_step(&v->progress, (*done)++, strbuf_str(&what));
            strbuf_fini(&what);
            verify_case(s->list[i].renderer, c, &s->list[i].variants[k], &v->results[row]);
            v->by_verdict[v->results[row].verdict]++;
            print_result(v, s->rows[row].name, &v->results[row]);
        }
        const size_t variants = s->list[i].variant_count;
        note_unchecked(&v->unchecked[i], &v->results[row - variants], variants);
    }
    return verify_pairs_add(&v->pairs, c, v->results, err);
}

static bool verify_one(struct verify *v, const struct golden_case *c, size_t *done, struct err *err)
{
    progress_clear(&v->progress);
    verify_table_head(c->name);
    verify_table_row("tolerance", &c->tolerance, "");
    bool ok = verify_rows(v, c, done, err);
    for (size_t row = 0; row < v->subjects.row_count; row++) {
        verify_result_fini(&v->results[row]);
        v->results[row] = (struct verify_result){0};
    }
    putchar('\n');
    return ok;
}

/* ---- finite differences ---- */

/* From where curvature is the error to where rounding is. */
static const double steps[] = {2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 1e-5, 1e-6};
#define STEP_COUNT (sizeof steps / sizeof steps[0])
/* There curvature is mostly gone and rounding not yet there; a wrong term would leave far more than this. */
#define JUDGED_STEP 5e-4
#define JUDGED_TOLERANCE 0.01
/* Sharper edges bend within every step that rounding leaves. */
#define DIFFERENCES_MIN_SIGMA 0.02f

static void print_percent(double error)
{
    printf(" %8.2f", 100 * error);
}

static bool differences_of(struct verify *v, const struct subject *subject, const struct golden_case *c,
                           struct err *err)
{
    const struct verify_variant *variant = &subject->variants[subject->default_variant];
    struct finite_diff_error errors[STEP_COUNT];

    if (!verify_finite_differences(subject->renderer, c, variant, steps, STEP_COUNT, errors, err))
        return err_wrap(err, "%s %s", subject->renderer->info.selector, variant->name);
    progress_clear(&v->progress);
    printf("  %s %s\n", subject->renderer->info.selector, variant->name);
    for (size_t i = 0; i < STEP_COUNT; i++) {
        bool judged = steps[i] <= JUDGED_STEP && steps[i] >= JUDGED_STEP;
        bool right = errors[i].all <= JUDGED_TOLERANCE;
        printf("    step %-*.0e", VERIFY_NAME_COLUMNS - 9, steps[i]);
        print_percent(errors[i].groups.value[AGREE_VERTICES]);
        print_percent(errors[i].groups.value[AGREE_COLOUR]);
        print_percent(errors[i].groups.value[AGREE_ALPHA]);
        print_percent(errors[i].all);
        printf("%s\n", !judged ? "" : right ? " ok" : " WRONG");
        if (judged)
            v->by_verdict[right ? VERIFY_OK : VERIFY_WRONG]++;
    }
    return true;
}

static bool finite_differences(struct verify *v, const struct golden_case *c, struct err *err)
{
    progress_clear(&v->progress);
    printf("%-*s %8s %8s %8s %8s\n", VERIFY_NAME_COLUMNS, "finite differences, %", "vertices", "colour",
           "alpha", "all");
    for (size_t i = 0; i < v->subjects.count; i++)
        if (interrupted(v, err) || !differences_of(v, &v->subjects.list[i], c, err))
            return false;
    putchar('\n');
    return true;
}

/* ---- all of it ---- */

/* Rows appear case by case in a pipe, too. Nobody reading them any more is a reason to stop; main says why.
 */
static bool still_read(void)
{
    return fflush(stdout) == 0;
}

static bool verify_folder(struct verify *v, const char *path, size_t *done, struct err *err)
{
    struct golden_case c = {0};
    bool ok = golden_load(path, &c, err) && verify_one(v, &c, done, err);

    if (ok && v->options->finite_differences && c.sigma >= DIFFERENCES_MIN_SIGMA)
        ok = finite_differences(v, &c, err);
    progress_clear(&v->progress);
    if (ok && v->options->repeats.given)
        ok = verify_repeats_print(&v->subjects, &c, v->options->repeats.value, v->stop, v->by_verdict, err);
    golden_fini(&c);
    return ok;
}

static bool verify_all(struct verify *v, const char *dir, struct err *err)
{
    const struct measure_options *measure = &v->options->measure;
    char **names = NULL;
    size_t count = 0, done = 0;
    bool ok = golden_list(dir, &names, &count, err);

    progress_init(&v->progress, stderr, measure->base.quiet || measure->no_progress,
                  count * v->subjects.row_count);
    v->cases = count;
    for (size_t i = 0; ok && i < count && still_read(); i++) {
        struct strbuf path = STRBUF_INIT;
        strbuf_addf(&path, "%s/%s", dir, names[i]);
        ok = strbuf_ok(&path, err) && verify_folder(v, strbuf_str(&path), &done, err);
        strbuf_fini(&path);
    }
    progress_finish(&v->progress);
    golden_list_free(names, count);
    if (ok)
        verify_pairs_print(&v->pairs, v->subjects.rows, &v->by_verdict[VERIFY_OK],
                           &v->by_verdict[VERIFY_WRONG]);
    return ok;
}

/* A case that a device did not render in any variant says nothing of that device. */
static bool say_unchecked(const struct verify *v)
{
    size_t devices = 0;

    for (size_t i = 0; i < v->subjects.count && v->unchecked; i++) {
        const struct unchecked *u = &v->unchecked[i];
        if (u->cases == 0)
            continue;
        devices++;
        fprintf(stderr, "gpubench: error: %s: nothing was checked in %zu of %zu case%s: %s\n",
                v->subjects.list[i].renderer->info.selector, u->cases, v->cases, v->cases == 1 ? "" : "s",
                u->why);
    }
    return devices > 0;
}

static int verdict_code(const struct verify *v, bool unchecked)
{
    if (v->by_verdict[VERIFY_WRONG])
        return EXIT_WRONG_RESULT;
    if (v->by_verdict[VERIFY_FAILED])
        return EXIT_FAILED;
    return v->by_verdict[VERIFY_OK] && !unchecked ? EXIT_OK : EXIT_NOTHING;
}

static bool prepare_and_verify(struct verify *v, struct err *err)
{
    char dir[PATH_MAX];

    if (v->options->golden)
        snprintf(dir, sizeof dir, "%s", v->options->golden);
    else if (!paths_find("golden", dir, sizeof dir))
        return err_set(err, ERR_IO,
                       "the golden cases that come with gpubench are not where it was installed; name "
                       "their folder with --golden");
    if (!subjects_open(&v->subjects, &v->options->measure, err) ||
        !verify_pairs_init(&v->pairs, v->subjects.rows, v->subjects.row_count, err))
        return false;
    v->results = mem_calloc(v->subjects.row_count, sizeof *v->results, "results", err);
    v->unchecked = mem_calloc(v->subjects.count, sizeof *v->unchecked, "devices", err);
    return v->results && v->unchecked && verify_all(v, dir, err);
}

static void *verify(void *context)
{
    struct verify *v = context;

    v->ended = prepare_and_verify(v, &v->err);
    return NULL;
}

/* A driver's compiler is still at it, for minutes maybe. */
static void leave(struct verify *v)
{
    struct err err = ERR_INIT;

    progress_clear(&v->progress);
    set_interrupted(v, &err);
    _exit(finish_output(report_error(&err)));
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    struct verify v = {.options = values, .stop = signals_await_stop()};

    (void)arguments;
    (void)argc;
    (void)argv;
    if (devices_asked(&v.options->measure.devices))
        return devices_print(&v.options->measure);
    if (!patience_run(verify, &v, v.stop))
        leave(&v);
    if (v.ended) {
        printf("%zu ok, %zu wrong, %zu failed, %zu skipped\n", v.by_verdict[VERIFY_OK],
               v.by_verdict[VERIFY_WRONG], v.by_verdict[VERIFY_FAILED], v.by_verdict[VERIFY_SKIPPED]);
        fflush(stdout);
    }
    int code = verdict_code(&v, say_unchecked(&v));
    if (!v.ended) {
        int why = report_error(&v.err);
        code = code == EXIT_NOTHING ? why : worse_exit(code, why);
    }
    free(v.results);
    free(v.unchecked);
    verify_pairs_fini(&v.pairs);
    subjects_close(&v.subjects);
    return code;
}

const struct command command_verify = {
    .name = "verify",
    .help = "check every device and variant against known results",
    .description =
        "Renders each golden case on each device, in every variant that there is (strategy and reduction "
        "on OpenCL), and compares image, loss and gradients with the case's own tolerances, then every "
        "variant "
        "and device with the others. Exits 5 when one is wrong.",
    .arguments = "",
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct verify_options),
    .supervised = true,
    .run = run,
};
