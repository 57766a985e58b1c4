/* gpubench sweep: a grid, measured, written, printed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/progress.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "bench/runner.h"
#include "cli/commands.h"
#include "cli/configs.h"
#include "cli/devices.h"
#include "cli/dry_run.h"
#include "cli/signals.h"
#include "cli/tables.h"
#include "record/journal.h"
#include "record/machine.h"

struct sweep_options {
    struct measure_options measure;
};

static const struct option table[] = {
    RUN_OPTIONS,
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
    NULL,
};

struct sweep {
    const struct measure_options *options;
    struct config config;
    struct runner *runner;
    struct results results;
    struct journal *journal;
    struct progress progress;
    size_t announced; /* cells done when the last plain line was printed; SIZE_MAX: none yet */
    struct runner_summary summary;
    char *output;  /* owned; NULL: standard output */
    char *partial; /* owned */
};

static bool on_cell(void *context, size_t index, const struct cell *cell, struct err *err)
{
    struct sweep *s = context;

    (void)index;
    if (cell->status != CELL_OK && cell->status != CELL_INTERRUPTED) {
        progress_clear(&s->progress);
        say(&s->options->base, "%s: %s: %s", cell->id, cell_status_name(cell->status), cell->reason);
    } else if (cell->status == CELL_OK && s->options->base.verbose) {
        char time[UNITS_MAX];
        units_time(time, cell->median_ns);
        progress_clear(&s->progress);
        say(&s->options->base, "%s: %s, %zu samples", cell->id, time, cell->sample_count);
    }
    return results_add(&s->results, cell, err) && (!s->journal || journal_add(s->journal, cell, err));
}

static void on_stage(void *context, size_t done, size_t total, size_t index, const char *what,
                     const char *stage)
{
    struct sweep *s = context;
    struct strbuf text = STRBUF_INIT;

    (void)total;
    (void)index;
    /* Lines that stay are one a cell; a line that is redrawn can afford to say more. */
    if (!s->progress.terminal && s->announced == done)
        return;
    s->announced = done;
    strbuf_addf(&text, s->progress.terminal ? "%s: %s" : "%s", what, stage);
    progress_step(&s->progress, done, strbuf_str(&text));
    strbuf_fini(&text);
}

static void on_note(void *context, const char *text)
{
    struct sweep *s = context;

    progress_clear(&s->progress);
    say(&s->options->base, "%s", text);
}

/* The first line says what runs where; the rest is what there is to know before it does. */
static void announce(const struct sweep *s)
{
    const struct base_options *base = &s->options->base;
    struct strbuf line = STRBUF_INIT;
    size_t count;
    const struct device_info *devices = runner_devices(s->runner, &count);
    const struct grid *grid = runner_grid(s->runner);

    for (size_t i = 0; i < count; i++)
        strbuf_addf(&line, "%s%s [%s]", i ? ", " : "", devices[i].name, devices[i].selector);
    say(base, "%s", strbuf_str(&line));
    strbuf_fini(&line);
    const char *const *notes = runner_notes(s->runner, &count);
    for (size_t i = 0; i < count; i++)
        say(base, "%s", notes[i]);
    /* The plan shows them too. */
    for (size_t i = 0; base->verbose && !s->options->dry_run && i < grid->note_count; i++)
        say(base, "%s", grid->notes[i]);
}

/* Where the results go. What is there already stays, and is found out before anything is measured. */
static bool choose_output(struct sweep *s, struct err *err)
{
    const char *output = s->options->output;
    char path[4096];

    if (output && strcmp(output, "-") == 0)
        return true;
    if (!output) {
        if (!results_default_path("results", s->config.name, path, sizeof path, err))
            return false;
        output = path;
    } else if (access(output, F_OK) == 0) {
        return err_set(err, ERR_IO, "%s exists already: move it away, or give -o another name", output);
    }
    struct strbuf partial = STRBUF_INIT;
    strbuf_addf(&partial, "%s.partial", output);
    s->output = mem_strdup(output, err);
    s->partial = strbuf_ok(&partial, err) ? mem_strdup(strbuf_str(&partial), err) : NULL;
    strbuf_fini(&partial);
    return s->output && s->partial;
}

static bool start_results(struct sweep *s, int argc, char **argv, struct err *err)
{
    size_t count;
    const struct device_info *devices = runner_devices(s->runner, &count);

    if (!machine_head(&s->results, argc, (const char *const *)argv, s->config.json, err))
        return false;
    s->results.devices = mem_calloc(count, sizeof *devices, "devices", err);
    if (!s->results.devices)
        return false;
    memcpy(s->results.devices, devices, count * sizeof *devices);
    s->results.device_count = count;
    return !s->partial || journal_create(s->partial, &s->results, &s->journal, err);
}

static bool write_results(struct sweep *s, struct err *err)
{
    struct strbuf text = STRBUF_INIT;

    if (s->output)
        return results_save(&s->results, s->output, false, err);
    bool ok = results_print(&s->results, &text, err) && print_text(&text, err);
    strbuf_fini(&text);
    return ok;
}

static size_t measured(const struct sweep *s)
{
    return s->results.cell_count - s->summary.by_status[CELL_INTERRUPTED];
}

/* Saves and prints what there is. What is not complete stays as the journal. */
static bool finish(struct sweep *s, struct err *err)
{
    const struct base_options *base = &s->options->base;

    progress_finish(&s->progress);
    if (s->summary.interrupted) {
        s->results.partial = true;
        if (s->partial && measured(s) > 0)
            say(base, "interrupted: %zu of %zu cells are in %s", measured(s),
                runner_grid(s->runner)->cell_count, s->partial);
    }
    if ((!s->summary.interrupted || !s->output) && !write_results(s, err))
        return false;
    if (!s->summary.interrupted) {
        journal_close(s->journal, false);
        s->journal = NULL;
    }
    /* Results on standard output leave no room for tables. */
    if (!s->output)
        return true;
    if (!s->summary.interrupted)
        say(base, "results: %s", s->output);
    return tables_print(&s->results, NULL, 0, s->options->format, err);
}

static int summary_code(const struct runner_summary *summary)
{
    int code = EXIT_OK;

    if (summary->interrupted)
        code = worse_exit(code, EXIT_INTERRUPTED);
    if (summary->by_status[CELL_WRONG])
        code = worse_exit(code, EXIT_WRONG_RESULT);
    if (summary->by_status[CELL_FAILED] || summary->by_status[CELL_TIMEOUT])
        code = worse_exit(code, EXIT_FAILED);
    if (summary->by_status[CELL_OK] + summary->already_there == 0)
        code = worse_exit(code, EXIT_NOTHING);
    return code;
}

static bool measure(struct sweep *s, int argc, char **argv, struct err *err)
{
    const struct base_options *base = &s->options->base;
    const struct runner_sink sink = {.context = s, .cell = on_cell, .stage = on_stage, .note = on_note};

    if (!choose_output(s, err) || !start_results(s, argc, argv, err))
        return false;
    progress_init(&s->progress, stderr, base->quiet || s->options->no_progress,
                  runner_grid(s->runner)->cell_count);
    bool ran = runner_run(s->runner, &sink, &s->summary, err);
    if (!ran) {
        progress_clear(&s->progress);
        return false;
    }
    return finish(s, err);
}

static bool sweep(struct sweep *s, const char *name, int argc, char **argv, struct err *err)
{
    struct backend_options backend;

    if (!measure_backend_options(s->options, &backend, err) ||
        !configs_open(name, s->options, &s->config, err))
        return false;
    const struct runner_options how = {
        .config = &s->config,
        .selectors = s->options->devices.items,
        .selector_count = s->options->devices.count,
        .backend = backend,
        .stop = signals_catch_stop(),
    };
    if (!runner_create(&how, &s->runner, err))
        return false;
    announce(s);
    if (s->options->dry_run)
        return dry_run_print(s->runner, &s->config, err);
    return measure(s, argc, argv, err);
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    const struct sweep_options *given = values;
    struct sweep s = {.options = &given->measure, .announced = SIZE_MAX};
    struct err err = ERR_INIT;
    int code = EXIT_OK;

    if (devices_asked(&given->measure.devices))
        return devices_print(&given->measure);
    if (!sweep(&s, arguments->items[0], argc, argv, &err))
        code = report_error(&err);
    if (!given->measure.dry_run && (code == EXIT_OK || s.summary.by_status[CELL_OK] > 0))
        code = worse_exit(code, summary_code(&s.summary));
    /* Only what is worth resuming is kept. */
    journal_close(s.journal, measured(&s) > 0);
    runner_destroy(s.runner);
    results_fini(&s.results);
    config_fini(&s.config);
    free(s.output);
    free(s.partial);
    return code;
}

const struct command command_sweep = {
    .name = "sweep",
    .help = "run a grid of sizes on each device, and print which wins where",
    .description =
        "Runs the grid of a config (a file, - for standard input, or the name of a standard one: batch, "
        "crossover, crossover-record, forward, gradient, phases, photo, reduction, scaling) on each device. "
        "Every cell is checked against the reference before and after it is timed. Writes a results file "
        "and prints the config's tables.",
    .arguments = "CONFIG",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct sweep_options),
    .run = run,
};
