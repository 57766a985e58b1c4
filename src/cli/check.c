/* gpubench check: is anything wrong, different, or slower than the baseline? */
#include "cli/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/configs.h"
#include "cli/devices.h"
#include "cli/dry_run.h"
#include "cli/tables.h"
#include "record/machine.h"

static const struct option table[] = {
    {.name = "baseline",
     .letter = 'b',
     .type = OPTION_TEXT,
     .argument = "FILE",
     .help = "what to compare with. Default: " CHECK_BASELINE,
     .offset = offsetof(struct check_options, baseline)},
    {.name = "threshold",
     .type = OPTION_TEXT,
     .argument = "CHANGE",
     .help = "a slowdown below it is none: 5%, or 2x for a factor of 2. Default: 5%",
     .offset = offsetof(struct check_options, threshold)},
    {.name = "strict",
     .type = OPTION_FLAG,
     .help = "refuse a baseline from another machine (exit status 4)",
     .offset = offsetof(struct check_options, strict)},
    {.name = "save",
     .type = OPTION_FLAG,
     .help = "make or replace the baseline instead, and say what changed",
     .offset = offsetof(struct check_options, save)},
    {.name = "runs",
     .type = OPTION_U64,
     .argument = "N",
     .min = JUDGE_MIN_PROCESSES,
     .max = 1000,
     .help = "with --save: measure in at least N processes. Default: 5",
     .offset = offsetof(struct check_options, runs)},
    {.name = "config",
     .type = OPTION_TEXT,
     .argument = "CONFIG",
     .help = "with --save: the config, instead of the old baseline's own, or of the standard one baseline",
     .offset = offsetof(struct check_options, config)},
    GRID_OPTIONS,
    OUTPUT_OPTION("also keep the run itself as a results file"),
    NO_PROGRESS_OPTION,
    DEVICE_OPTIONS,
    VERDICT_FORMAT_OPTION(offsetof(struct measure_options, format)),
    QUIET_OPTION,
    VERBOSE_OPTION("more notes: what the plan collapsed, each cell as it is done"),
    HELP_OPTION,
    {0},
};

static const char *const examples[] = {
    "gpubench check --save --runs 5",
    "gpubench check",
    "gpubench check --threshold 2x --format json",
    "gpubench check results.json --baseline baseline.json",
    NULL,
};

/* ---- parts that check_save.c shares ---- */

const char *check_baseline_path(const struct check_options *options)
{
    return options->baseline ? options->baseline : CHECK_BASELINE;
}

bool check_threshold(const char *text, double *out, struct err *err)
{
    char number[64];
    size_t len = text ? strlen(text) : 0;

    *out = JUDGE_THRESHOLD;
    if (!text)
        return true;
    const char unit = len ? text[len - 1] : '\0';
    const bool has_unit = unit == '%' || unit == 'x';
    if (len < sizeof number && len > has_unit) {
        memcpy(number, text, len - has_unit);
        number[len - has_unit] = '\0';
        if (units_parse_double(number, out)) {
            const bool fraction = !has_unit && *out < 1; /* 0.05 may be meant as 5 % */
            *out = unit == 'x' ? *out - 1 : *out / 100;
            if (*out > 0 && *out <= 1000 && !fraction)
                return true;
        }
    }
    return err_set(err, ERR_USAGE,
                   "--threshold: \"%s\" is not a change: 5%% for 5 percent, 2x for a factor of 2", text);
}

static bool take_devices(const struct results *results, struct measure_options *options, struct err *err)
{
    const struct json *selectors = json_get(results->head, "selectors");
    struct text_list *devices = &options->devices;

    if (devices->count > 0 || json_count(selectors) == 0)
        return true;
    devices->items = mem_calloc(json_count(selectors), sizeof *devices->items, "devices", err);
    for (; devices->items && devices->count < json_count(selectors); devices->count++) {
        devices->items[devices->count] = json_string(json_at(selectors, devices->count));
        say(&options->base, "-d %s, as for %s", devices->items[devices->count], results->path);
    }
    return devices->items != NULL;
}

bool check_config_of(const struct results *results, struct measure_options *options, struct config *out,
                     struct err *err)
{
    const struct json *config = json_get(results->head, "config");

    if (!config)
        return err_set(err, ERR_CONFIG, "%s: there is no \"config\" in it to measure", results->path);
    if (!config_from_json(config, results->path, out, err))
        return false;
    if (configs_override(out, options, err) && take_devices(results, options, err))
        return true;
    config_fini(out);
    return false;
}

uint64_t check_more_ns(uint64_t first_ns)
{
    return CHECK_MORE_TIMES * first_ns > CHECK_MORE_NS ? CHECK_MORE_TIMES * first_ns : CHECK_MORE_NS;
}

static bool annotate(const struct regression *r, struct err *err)
{
    const char *github = getenv("GITHUB_ACTIONS");
    struct strbuf text = STRBUF_INIT;

    if (!github || !*github)
        return true;
    regress_annotations(r, &text);
    bool ok = strbuf_ok(&text, err);
    if (ok)
        fputs(strbuf_str(&text), stderr);
    strbuf_fini(&text);
    return ok;
}

bool check_print(const struct regression *r, const struct check_options *options, int code, struct err *err)
{
    const char *format = options->measure.format;
    struct strbuf text = STRBUF_INIT;
    struct table *tables = NULL;
    size_t count = 0;
    bool ok;

    if (format && strcmp(format, "json") == 0)
        ok = regress_json(r, code, &text, err) && print_text(&text, err);
    else
        ok = regress_table(r, &tables, &count, err) && tables_show(tables, count, format, err);
    tables_free(tables, count);
    strbuf_fini(&text);
    return ok && annotate(r, err);
}

/* ---- the check ---- */

struct check {
    struct check_options *options;
    double threshold;
    struct results baseline, given; /* given: RESULTS */
    struct measurement run;
    struct regression regression;
    bool interrupted, refused;
    int argc;
    char **argv;
};

static bool settled(const void *regression, const char *id)
{
    return !regress_wants_again(regression, id);
}

/* Pending cells in a process of their own. */
static bool measure_fresh(struct check *c, struct err *err)
{
    struct measurement again;

    measurement_init(&again, &c->options->measure);
    again.again = true;
    again.have = settled;
    again.have_context = &c->regression;
    bool ok = check_config_of(&c->baseline, &c->options->measure, &again.config, err) &&
              measurement_start(&again, err) && measurement_run(&again, c->argc, c->argv, err);
    ok = ok && regress_again(&c->regression, &again.results, err);
    c->interrupted = again.summary.interrupted;
    measurement_fini(&again);
    return ok;
}

static void say_again(const struct check *c, size_t suspects, size_t untold)
{
    struct strbuf text = STRBUF_INIT;

    if (suspects)
        strbuf_addf(&text, "%zu cell%s slower", suspects, suspects == 1 ? " looks" : "s look");
    if (untold)
        strbuf_addf(&text, "%s%zu cell%s cannot be told by so few processes", suspects ? ", " : "", untold,
                    untold == 1 ? "" : "s");
    say(&c->options->measure.base, "%s: measured again in a fresh process", strbuf_str(&text));
    strbuf_fini(&text);
}

/* What looks slower is measured again in processes of its own, until it is sure or one of them disagrees; what so few
 * processes cannot tell, as far as there is time. */
static bool measure_again(struct check *c, uint64_t first_ns, struct err *err)
{
    struct regression *r = &c->regression;
    const uint64_t start = clock_now_ns(), more_ns = check_more_ns(first_ns);
    size_t suspects, pending;

    while (!c->interrupted && (pending = regress_pending(r, &suspects)) > 0) {
        const size_t points = 1 + regress_points(r, true);
        const uint64_t before_ns = clock_now_ns();
        say_again(c, suspects, pending - suspects);
        if (!measure_fresh(c, err))
            return false;
        const uint64_t now_ns = clock_now_ns();
        const double point_ns = (double)(now_ns - before_ns) / (double)points;
        regress_limit(r, now_ns - start < more_ns ? (double)(more_ns - (now_ns - start)) / point_ns : 0);
    }
    return true;
}

static int code_of(const struct check *c)
{
    const struct regression *r = &c->regression;
    int code = c->interrupted ? EXIT_INTERRUPTED : EXIT_OK;

    if (r->by_verdict[CHECK_WRONG])
        code = worse_exit(code, EXIT_WRONG_RESULT);
    if (r->by_verdict[CHECK_FAILED])
        code = worse_exit(code, EXIT_FAILED);
    if (r->by_verdict[CHECK_SLOWER] || r->by_verdict[CHECK_COUNTS])
        code = worse_exit(code, EXIT_SLOWER);
    if (r->measured == 0)
        code = worse_exit(code, EXIT_NOTHING);
    else if (r->compared == 0)
        code = worse_exit(code, EXIT_INCOMPARABLE);
    return code;
}

static bool refuse(struct check *c, const struct results *now)
{
    char why[MATCH_WHY_MAX];

    c->refused = c->options->strict && !match_same_machine(&c->baseline, now, why);
    if (c->refused)
        fprintf(stderr, "gpubench: error: %s is from another machine (%s), and --strict refuses that\n",
                c->baseline.path, why);
    return c->refused;
}

/* The same before minutes are spent on measuring. */
static bool refuse_early(struct check *c, struct err *err)
{
    struct results here = {0};
    size_t count;
    const struct device_info *devices = runner_devices(c->run.runner, &count);
    bool ok = machine_head(&here, c->argc, (const char *const *)c->argv, c->run.config.json, err);

    here.devices = ok ? mem_calloc(count, sizeof *devices, "devices", err) : NULL;
    ok = here.devices != NULL;
    if (ok) {
        memcpy(here.devices, devices, count * sizeof *devices);
        here.device_count = count;
        refuse(c, &here);
    }
    results_fini(&here);
    return ok;
}

/* Measures the baseline's own config. */
static bool measure(struct check *c, struct err *err)
{
    struct measure_options *how = &c->options->measure;
    const uint64_t start = clock_now_ns();

    if ((how->output && !measurement_check_output(how->output, err)) ||
        !check_config_of(&c->baseline, how, &c->run.config, err) || !measurement_start(&c->run, err))
        return false;
    if (how->dry_run)
        return dry_run_print(c->run.runner, &c->run.config, err);
    if (!refuse_early(c, err) || c->refused)
        return c->refused;
    if (how->output && !measurement_output(&c->run, how->output, err))
        return false;
    if (!measurement_run(&c->run, c->argc, c->argv, err) || (how->output && !measurement_save(&c->run, err)))
        return false;
    c->interrupted = c->run.summary.interrupted;
    /* Its devices are for the processes that measure again. */
    runner_destroy(c->run.runner);
    c->run.runner = NULL;
    return regress_init(&c->regression, &c->baseline, &c->run.results, c->threshold, err) &&
           measure_again(c, clock_now_ns() - start, err);
}

static bool check(struct check *c, const char *path, struct err *err)
{
    if (!path)
        return measure(c, err);
    return results_load(path, &c->given, err) &&
           (refuse(c, &c->given) || regress_init(&c->regression, &c->baseline, &c->given, c->threshold, err));
}

/* Without one there is nothing to compare with, and it says how to get one. */
static bool load_baseline(struct check *c, struct err *err)
{
    const char *path = check_baseline_path(c->options);

    if (results_load(path, &c->baseline, err))
        return true;
    if (err->code != ERR_IO || err->native != ENOENT)
        return false;
    err_fini(err);
    return err_set(err, ERR_VERSION, "there is no baseline %s; gpubench check --save makes one", path);
}

static int finish(struct check *c, struct err *err)
{
    if (c->options->measure.dry_run)
        return EXIT_OK;
    if (c->refused)
        return EXIT_INCOMPARABLE;
    if (!regress_finish(&c->regression, err))
        return EXIT_OK;
    const int code = code_of(c);
    return check_print(&c->regression, c->options, code, err) ? code : EXIT_OK;
}

static int run_check(struct check_options *options, const char *path, int argc, char **argv)
{
    struct check c = {.options = options, .argc = argc, .argv = argv};
    struct err err = ERR_INIT;
    int code = EXIT_OK;

    measurement_init(&c.run, &options->measure);
    if (check_threshold(options->threshold, &c.threshold, &err) && load_baseline(&c, &err) &&
        check(&c, path, &err))
        code = finish(&c, &err);
    if (err.code) {
        const bool incomparable = err.code == ERR_VERSION;
        const int failed = report_error(&err);
        code = incomparable ? EXIT_INCOMPARABLE : failed;
    }
    regress_fini(&c.regression);
    measurement_fini(&c.run);
    results_fini(&c.baseline);
    results_fini(&c.given);
    return code;
}

static bool options_agree(const struct check_options *options, struct err *err)
{
    if (!options->save && (options->runs.given || options->config))
        return err_set(err, ERR_USAGE, "check: --%s goes with --save", options->config ? "config" : "runs");
    if (options->save && options->measure.output)
        return err_set(err, ERR_USAGE,
                       "check: --output does not go with --save: the baseline goes to --baseline");
    return true;
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    struct check_options options = *(const struct check_options *)values;
    const char **given = options.measure.devices.items;
    const char *path = arguments->count ? arguments->items[0] : NULL;
    struct err err = ERR_INIT;

    if (devices_asked(&options.measure.devices))
        return devices_print(&options.measure);
    if (!options_agree(&options, &err))
        return report_error(&err);
    const int code =
        options.save ? check_save(&options, path, argc, argv) : run_check(&options, path, argc, argv);
    if (options.measure.devices.items != given)
        free(options.measure.devices.items);
    return code;
}

const struct command command_check = {
    .name = "check",
    .help = "regression check: is anything wrong, different, or slower than a baseline?",
    .description =
        "Compares a run with a baseline, cell by cell: whether results are right, what a call does "
        "(dispatches, "
        "bytes, pairs: exactly), and times. Without RESULTS it first measures the baseline's own config on the "
        "devices that -d named for it, and "
        "what looks slower is measured again in fresh processes before it is called so, and what one process "
        "cannot tell in several. A baseline holds the medians of at least 5 processes, and knows by how much "
        "they differ.",
    .arguments = "[RESULTS]",
    .max_arguments = 1,
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct check_options),
    .run = run,
};
