/* gpubench sweep: a grid, measured, written, printed. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/commands.h"
#include "cli/configs.h"
#include "cli/devices.h"
#include "cli/dry_run.h"
#include "cli/measurement.h"
#include "cli/new_file.h"
#include "cli/refine.h"

struct sweep_options {
    struct measure_options measure;
    const char *resume;
    struct option_u64 repeat;
    bool refine;
};

static const struct option table[] = {
    RUN_OPTIONS,
    {.name = "resume",
     .type = OPTION_TEXT,
     .argument = "FILE",
     .help =
         "go on with a run that was interrupted: FILE is its results file, or the FILE.partial that it left",
     .offset = offsetof(struct sweep_options, resume)},
    {.name = "repeat",
     .type = OPTION_U64,
     .argument = "N",
     .min = 1,
     .max = 100,
     .help = "run the grid's points N times in turn, and keep the samples of all passes",
     .offset = offsetof(struct sweep_options, repeat)},
    {.name = "refine",
     .type = OPTION_FLAG,
     .help =
         "then measure more sizes and triangle counts where the winner changes, so that crossings are known "
         "more narrowly",
     .offset = offsetof(struct sweep_options, refine)},
    DEVICE_OPTIONS,
    FORMAT_OPTION(offsetof(struct measure_options, format)),
    QUIET_OPTION,
    VERBOSE_OPTION("more notes: what the plan collapsed, each cell as it is done"),
    HELP_OPTION,
    {0},
};

static const char *const examples[] = {
    "gpubench sweep crossover",
    "gpubench sweep crossover --dry-run",
    "gpubench sweep crossover -a size=64 -a triangles=32,128 -o small.json",
    "gpubench sweep forward gradient -o tables",
    "gpubench sweep crossover --refine",
    "gpubench sweep record",
    NULL,
};

struct sweep {
    const struct measure_options *options;
    const char *resume;
    int argc; /* the program's, for the results */
    char **argv;
    size_t repeat;
    bool refine;
    bool several; /* configs: -o names the folder of their results files */
    bool printed; /* a plan or tables: what follows is set apart */
    /* The latest error and its exit code: of devices that cannot be had, each config has the same. */
    char said[sizeof((struct err *)0)->text];
    int said_code;
};

static bool choose(struct measurement *m, const char *name, bool only_check, struct err *err)
{
    return only_check ? measurement_check_output(name, err) : measurement_output(m, name, err);
}

/* With several configs a file each: FOLDER/NAME.json. only_check: nothing is made. */
static bool choose_output(const struct sweep *s, struct measurement *m, bool only_check, struct err *err)
{
    const char *output = s->options->output;
    struct strbuf path = STRBUF_INIT;

    if (s->resume)
        return !only_check || measurement_resume(m, s->resume, err);
    if (!s->several || !output)
        return choose(m, output, only_check, err);
    if (only_check && access(output, F_OK) != 0)
        return true;
    if (mkdir(output, 0777) != 0 && errno != EEXIST)
        return err_set_native(err, ERR_IO, errno, "cannot make the folder %s", output);
    strbuf_addf(&path, "%s/%s.json", output, m->config.name);
    bool ok = strbuf_ok(&path, err) && choose(m, strbuf_str(&path), only_check, err);
    strbuf_fini(&path);
    return ok;
}

static void set_apart(struct sweep *s)
{
    if (s->printed)
        putchar('\n');
    s->printed = true;
}

static bool measure(struct sweep *s, struct measurement *m, struct err *err)
{
    if (!choose_output(s, m, false, err) || !measurement_run(m, s->argc, s->argv, err))
        return false;
    if (s->refine) {
        /* One worker at a time: the other would hold the device's memory. */
        runner_destroy(m->runner);
        m->runner = NULL;
        if (!refine_measure(m, s->argc, s->argv, err))
            return false;
    }
    if (!measurement_save(m, err))
        return false;
    /* Results on standard output leave no room for tables. */
    if (m->to_output)
        return true;
    set_apart(s);
    return tables_print(&m->results, 1, NULL, 0, s->options->format, err);
}

static bool plan(struct sweep *s, struct measurement *m, struct err *err)
{
    set_apart(s);
    return dry_run_print(m->runner, &m->config, err);
}

static int report_once(struct sweep *s, struct err *err)
{
    if (strcmp(s->said, err->text) != 0) {
        strcpy(s->said, err->text);
        s->said_code = report_error(err);
    }
    err_fini(err);
    return s->said_code;
}

/* Whatever comes of it, the next config has its turn. */
static int sweep_one(struct sweep *s, struct measurement *m)
{
    struct err err = ERR_INIT;
    bool ok = choose_output(s, m, true, &err) && measurement_start(m, &err) &&
              (s->options->dry_run ? plan(s, m, &err) : measure(s, m, &err));
    int code = ok ? EXIT_OK : report_once(s, &err);

    if (ok && s->options->dry_run && s->refine)
        refine_print_plan(runner_grid(m->runner));
    if (!s->options->dry_run && (ok || m->summary.by_status[CELL_OK] > 0))
        code = worse_exit(code, measurement_code(m));
    return code;
}

static bool named_once(const struct text_list *names, size_t index, struct err *err)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(names->items[i], names->items[index]) == 0)
            return err_set(err, ERR_USAGE, "sweep: %s is there twice (record stands for several)",
                           names->items[i]);
    return true;
}

/* A config's error is found before anything runs. */
static int sweep_all(struct sweep *s, const struct text_list *names)
{
    struct err err = ERR_INIT;
    struct measurement *all = mem_calloc(names->count, sizeof *all, "configs", &err);
    int code = EXIT_OK;
    size_t opened = 0;

    for (; all && opened < names->count; opened++) {
        if (!named_once(names, opened, &err))
            break;
        measurement_init(&all[opened], s->options);
        all[opened].repeat = s->repeat;
        if (!configs_open(names->items[opened], s->options, &all[opened].config, &err))
            break;
    }
    if (!all || opened < names->count)
        code = report_error(&err);
    for (size_t i = 0; i < opened; i++) {
        if (opened == names->count && code != EXIT_INTERRUPTED)
            code = worse_exit(code, sweep_one(s, &all[i]));
        measurement_fini(&all[i]);
    }
    free(all);
    return code;
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    const struct sweep_options *given = values;
    struct sweep s = {.options = &given->measure,
                      .resume = given->resume,
                      .argc = argc,
                      .argv = argv,
                      .refine = given->refine,
                      .repeat = given->repeat.given ? (size_t)given->repeat.value : 1};
    struct text_list names = {0};
    struct err err = ERR_INIT;
    int code;

    if (devices_asked(&given->measure.devices))
        return devices_print(&given->measure);
    bool ok = dry_run_check(&given->measure, &err) &&
              measure_backend_options(&given->measure, &(struct backend_options){0}, &err) &&
              configs_expand(arguments, &names, &err);
    s.several = names.count > 1;
    if (ok && s.several && given->measure.output && strcmp(given->measure.output, "-") == 0)
        ok =
            err_set(&err, ERR_USAGE, "-o -: standard output takes the results of one config, not of several");
    else if (ok && s.several && given->measure.output && !s.resume)
        ok = new_folder_check(given->measure.output, &err);
    if (ok && s.resume && (s.several || given->measure.output))
        ok = err_set(&err, ERR_USAGE,
                     "--resume goes on with the results of one config, and names their file itself");
    if (ok && s.resume && s.repeat > 1)
        ok = err_set(&err, ERR_USAGE,
                     "--repeat does not go with --resume: the run has as many passes as it was begun with");
    code = ok ? sweep_all(&s, &names) : report_error(&err);
    free(names.items);
    return code;
}

const struct command command_sweep = {
    .name = "sweep",
    .help = "run a grid of sizes on each device, and print which wins where",
    .description =
        "Runs the grid of each config (a file, - for standard input, or the name of a standard one: "
        "baseline, batch, crossover, crossover-record, fit, fitted, forward, gradient, phases, photo, "
        "profile, "
        "reduction, roofline, scaling) on each device; record stands for all but baseline, fit, fitted, "
        "photo, "
        "profile and roofline, which make the tables of the renderer's original record. Every cell is "
        "checked against the reference before and after it is "
        "timed. "
        "Writes a results file for each config and prints its tables.",
    .arguments = "CONFIG...",
    .min_arguments = 1,
    .max_arguments = SIZE_MAX,
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct sweep_options),
    .run = run,
};
