/* gpubench check --save: a baseline from several processes. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/check.h"
#include "cli/command.h"
#include "cli/configs.h"
#include "cli/dry_run.h"
#include "cli/new_file.h"
#include "report/baseline.h"

struct save {
    struct check_options *options;
    double threshold;
    struct results source; /* whose config is measured */
    struct results old;    /* the baseline that is replaced; no path: there is none */
    struct results *runs;  /* owned */
    size_t count;
    struct results made;
    struct runner_summary summary; /* of the latest process */
    uint64_t one_ns;               /* what one process took */
    int argc;
    char **argv;
};

static const char *path_of(const struct save *s)
{
    return check_baseline_path(s->options);
}

/* What is replaced may be missing, or of another version; anything else that is there is not overwritten. */
static bool load_old(struct save *s, struct err *err)
{
    if (results_load(path_of(s), &s->old, err))
        return true;
    const bool missing = err->code == ERR_IO && err->native == ENOENT;
    if (!missing && err->code != ERR_VERSION)
        return err_wrap(err, "the old baseline is not replaced");
    if (!missing)
        say(&s->options->measure.base, "%s: it is replaced", err->text);
    err_fini(err);
    return true;
}

static bool open_config(struct save *s, const char *results, struct config *out, struct err *err)
{
    struct measure_options *how = &s->options->measure;

    if (s->options->config)
        return configs_open(s->options->config, how, out, err);
    if (results && !s->source.path && !results_load(results, &s->source, err))
        return false;
    if (s->source.path || s->old.path)
        return check_config_of(s->source.path ? &s->source : &s->old, how, out, err);
    return configs_open(CHECK_CONFIG, how, out, err);
}

static size_t process_count(const struct save *s)
{
    return (size_t)(s->options->runs.given ? s->options->runs.value : JUDGE_MIN_PROCESSES);
}

/* What is to be measured in more processes than all. */
struct unsure {
    struct regression regression; /* of the baseline with itself */
    size_t most;                  /* processes that a check has time for */
};

static bool sure(const void *context, const char *id)
{
    const struct unsure *unsure = context;

    return !regress_unsure(&unsure->regression, unsure->most, id);
}

/* One process; *out is its results, whose worker is gone. unsure: only what is; NULL: all. */
static bool measure_one(struct save *s, const char *results, const struct unsure *unsure, struct results *out,
                        struct err *err)
{
    struct measurement run;

    measurement_init(&run, &s->options->measure);
    run.again = s->count > 0;
    run.have = unsure ? sure : NULL;
    run.have_context = unsure;
    bool ok = open_config(s, results, &run.config, err) && measurement_start(&run, err);
    if (ok && s->options->measure.dry_run)
        ok = dry_run_print(run.runner, &run.config, err);
    else if (ok) {
        if (unsure)
            say(&s->options->measure.base, "process %zu, for what differs too much between processes",
                s->count + 1);
        else
            say(&s->options->measure.base, "process %zu of %zu", s->count + 1, process_count(s));
        ok = measurement_run(&run, s->argc, s->argv, err);
        s->summary = run.summary;
        *out = run.results;
        run.results = (struct results){0};
        run.summary = (struct runner_summary){0};
    }
    measurement_fini(&run);
    return ok;
}

static bool measure_next(struct save *s, const char *results, const struct unsure *unsure, struct err *err)
{
    if (!measure_one(s, results, unsure, &s->runs[s->count], err))
        return false;
    if (s->options->measure.dry_run)
        return true;
    s->count++;
    return !s->summary.interrupted || err_set(err, ERR_INTERRUPTED, "interrupted: no baseline was written");
}

/* Of a single point. */
static size_t processes_of_a_check(const struct save *s, const struct regression *r)
{
    const double point_ns = (double)s->one_ns / (double)(1 + regress_points(r, false)),
                 most = 1 + (double)check_more_ns(s->one_ns) / (2 * point_ns);

    return most < JUDGE_MOST ? (size_t)most : JUDGE_MOST;
}

/* *enough: more processes would not help. */
static bool measure_unsure(struct save *s, const char *results, bool *enough, struct err *err)
{
    struct unsure unsure;
    struct results more;

    if (!regress_init(&unsure.regression, &s->made, &s->made, s->threshold, err))
        return false;
    unsure.most = processes_of_a_check(s, &unsure.regression);
    *enough = true;
    for (size_t i = 0; i < s->made.cell_count; i++)
        *enough = *enough && sure(&unsure, s->made.cells[i].id);
    bool ok = *enough || (measure_next(s, results, &unsure, err) &&
                          baseline_make(s->runs, process_count(s), s->count, &more, err));
    regress_fini(&unsure.regression);
    if (!ok || *enough)
        return ok;
    results_fini(&s->made);
    s->made = more;
    return true;
}

static bool measure_all(struct save *s, const char *results, struct err *err)
{
    const uint64_t start = clock_now_ns();
    const size_t whole = process_count(s);

    s->runs = mem_calloc(whole + JUDGE_BASE_MOST, sizeof(*s->runs), "results", err);
    if (!s->runs)
        return false;
    while (s->count < whole) {
        if (!measure_next(s, results, NULL, err))
            return false;
        if (s->options->measure.dry_run)
            return true;
    }
    const uint64_t first_ns = clock_now_ns() - start;
    bool ok = baseline_make(s->runs, whole, whole, &s->made, err), enough = false;
    const uint64_t times_ns = check_more_ns(first_ns),
                   more_ns = times_ns > CHECK_SAVE_MORE_NS ? times_ns : CHECK_SAVE_MORE_NS;
    s->one_ns = first_ns / whole;
    while (ok && !enough && clock_now_ns() - start < first_ns + more_ns)
        ok = measure_unsure(s, results, &enough, err);
    return ok;
}

/* What the new baseline can tell, or what changed since the old one. */
static bool describe(const struct save *s, struct err *err)
{
    struct regression r = {0};
    const struct results *was = s->old.path ? &s->old : &s->made;
    bool ok = regress_init(&r, was, &s->made, s->threshold, err) && regress_finish(&r, err) &&
              check_print(&r, s->options, EXIT_OK, err);

    regress_fini(&r);
    return ok;
}

static bool write_baseline(struct save *s, struct err *err)
{
    char cells[UNITS_MAX];

    if (!s->options->baseline && mkdir("results", 0777) != 0 && errno != EEXIST)
        return err_set_native(err, ERR_IO, errno, "folder results cannot be made");
    if (!results_save(&s->made, path_of(s), true, err))
        return false;
    units_items(cells, s->made.cell_count, "cell");
    say(&s->options->measure.base, "baseline: %s: %s, %zu processes", path_of(s), cells, s->count);
    if (!s->made.path)
        s->made.path = mem_strdup(path_of(s), err);
    return s->made.path && describe(s, err);
}

int check_save(struct check_options *options, const char *results, int argc, char **argv)
{
    struct save s = {.options = options, .argc = argc, .argv = argv};
    struct err err = ERR_INIT;
    int code = EXIT_OK;

    bool ok = (options->baseline ? new_file_folder_check(options->baseline, &err)
                                 : new_folder_check("results", &err)) &&
              check_threshold(options->threshold, &s.threshold, &err) && load_old(&s, &err) &&
              measure_all(&s, results, &err);
    if (ok && !options->measure.dry_run) {
        if (s.summary.by_status[CELL_OK] == 0)
            code = EXIT_NOTHING;
        else
            ok = write_baseline(&s, &err);
    }
    if (!ok)
        code = report_error(&err);
    results_fini(&s.made);
    for (size_t i = 0; i < s.count; i++)
        results_fini(&s.runs[i]);
    free(s.runs);
    results_fini(&s.source);
    results_fini(&s.old);
    return code;
}
