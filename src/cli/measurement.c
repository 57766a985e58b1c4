#include "cli/measurement.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "cli/new_file.h"
#include "cli/signals.h"
#include "record/machine.h"
#include "report/warnings.h"

static bool on_cell(void *context, size_t index, const struct cell *cell, struct err *err)
{
    struct measurement *m = context;

    if (cell->status != CELL_OK && cell->status != CELL_INTERRUPTED) {
        progress_clear(&m->progress);
        say(&m->options->base, "%s: %s: %s", cell->id, cell_status_name(cell->status), cell->reason);
    } else if (cell->status == CELL_OK && m->options->base.verbose) {
        char time[UNITS_MAX];
        units_time(time, cell->median_ns);
        progress_clear(&m->progress);
        say(&m->options->base, "%s: %s, %zu samples", cell->id, time, cell->sample_count);
    }
    if (m->repeat > 1)
        passes_note(&m->passes, index, cell);
    const struct cell *whole = cell;
    if (m->passes.now > 0 && cell->status == CELL_INTERRUPTED)
        return true; /* what earlier passes measured stays */
    if (m->passes.now > 0 ? !passes_merge(&m->results, cell, &whole, err)
                          : !results_add(&m->results, cell, err))
        return false;
    if (!m->journal)
        return true;
    if (m->repeat > 1)
        return journal_add_pass(m->journal, whole, m->passes.now,
                                cell->status == CELL_OK ? cell->median_ns : 0, err);
    return journal_add(m->journal, whole, m->again, err);
}

static void on_stage(void *context, size_t done, size_t total, size_t index, const char *what,
                     const char *stage)
{
    struct measurement *m = context;
    struct strbuf text = STRBUF_INIT;

    (void)total;
    (void)index;
    /* Lines that stay are one a cell; a line that is redrawn can afford to say more. */
    if (!m->progress.terminal && m->announced == done)
        return;
    m->announced = done;
    if (m->repeat > 1)
        strbuf_addf(&text, "pass %zu of %zu: ", m->passes.now + 1, m->repeat);
    strbuf_addf(&text, m->progress.terminal ? "%s: %s" : "%s", what, stage);
    progress_step(&m->progress, done, strbuf_str(&text));
    strbuf_fini(&text);
}

static void on_note(void *context, const char *text)
{
    struct measurement *m = context;

    progress_clear(&m->progress);
    say(&m->options->base, "%s", text);
}

static void on_environment(void *context, const struct json *record)
{
    struct measurement *m = context;
    struct err ignored = ERR_INIT;

    struct json *copy = json_copy(record, &ignored);
    if (copy)
        json_add(m->environment, copy);
    /* Whether the journal can be written shows with the next cell. */
    if (m->journal)
        (void)!journal_add_environment(m->journal, record, &ignored);
    err_fini(&ignored);
}

/* What an earlier run has finished is there already, and what the caller does not want is left out. */
static bool on_have(void *context, size_t index, const char *id)
{
    const struct measurement *m = context;
    const struct cell *cell = results_find(&m->results, id);

    if (m->passes.now > 0)
        return passes_skip(&m->passes, index) || (cell && cell->status != CELL_OK);
    return cell != NULL || (m->have && m->have(m->have_context, id));
}

/* The first line says what runs where; the rest is what there is to know before it does. */
static void announce(const struct measurement *m)
{
    const struct base_options *base = &m->options->base;
    struct strbuf line = STRBUF_INIT;
    size_t count;
    const struct device_info *devices = runner_devices(m->runner, &count);
    const struct grid *grid = runner_grid(m->runner);

    for (size_t i = 0; i < count; i++)
        strbuf_addf(&line, "%s%s [%s]", i ? ", " : "", devices[i].name, devices[i].selector);
    say(base, "%s", strbuf_str(&line));
    strbuf_fini(&line);
    for (size_t i = 0; i < count; i++)
        if (devices[i].max_submit_ns > 0)
            say(base, "kernels on %s are cut into submissions under %" PRIu64 " ms%s", devices[i].selector,
                devices[i].max_submit_ns / 1000000,
                m->options->max_submit.given ? ""
                : devices[i].drives_display  ? ": it drives a display (--max-submit-ms)"
                                             : ": it has a watchdog (--max-submit-ms)");
    const char *const *notes = runner_notes(m->runner, &count);
    for (size_t i = 0; i < count; i++)
        say(base, "%s", notes[i]);
    /* The plan shows them too. */
    for (size_t i = 0; base->verbose && !m->options->dry_run && i < grid->note_count; i++)
        say(base, "%s", grid->notes[i]);
}

void measurement_init(struct measurement *m, const struct measure_options *options)
{
    *m = (struct measurement){.options = options, .announced = SIZE_MAX};
}

bool measurement_start(struct measurement *m, struct err *err)
{
    struct runner_options how = {
        .config = &m->config,
        .selectors = m->options->devices.items,
        .selector_count = m->options->devices.count,
        .stop = signals_catch_stop(),
    };

    if (!measure_backend_options(m->options, &how.backend, err) || !runner_create(&how, &m->runner, err))
        return false;
    if (!m->again)
        announce(m);
    return true;
}

static bool set_paths(struct measurement *m, const char *output, struct err *err)
{
    struct strbuf partial = STRBUF_INIT;

    strbuf_addf(&partial, "%s.partial", output);
    m->output = mem_strdup(output, err);
    m->partial = strbuf_ok(&partial, err) ? mem_strdup(strbuf_str(&partial), err) : NULL;
    strbuf_fini(&partial);
    return m->output && m->partial;
}

bool measurement_check_output(const char *name, struct err *err)
{
    if (!name)
        return new_folder_check("results", err);
    return strcmp(name, "-") == 0 || new_file_check(name, err);
}

/* What is there already stays, and is found out before anything is measured. */
bool measurement_output(struct measurement *m, const char *name, struct err *err)
{
    char path[4096];

    if (!measurement_check_output(name, err))
        return false;
    if (name && strcmp(name, "-") == 0) {
        m->to_output = true;
        return true;
    }
    if (!name) {
        if (!results_default_path("results", m->config.name, path, sizeof path, err))
            return false;
        name = path;
    }
    return set_paths(m, name, err);
}

/* Nothing to go on with: why, of what the user named. */
static bool no_partial(const struct measurement *m, const char *given, struct err *err)
{
    struct results whole = {0};
    struct err why = ERR_INIT;

    if (access(m->output, F_OK) != 0)
        return err_set(err, ERR_IO, "--resume %s: there is neither %s nor %s: no run to go on with", given, m->output,
                       m->partial);
    const bool readable = results_load(m->output, &whole, &why);
    results_fini(&whole);
    err_fini(&why);
    return readable ? err_set(err, ERR_IO, "%s is complete: there is nothing to go on with", m->output)
                    : results_load(m->output, &whole, err); /* says what it is instead */
}

/* A pipe or a device would be read for ever. */
static bool is_other_than_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

bool measurement_resume(struct measurement *m, const char *name, struct err *err)
{
    static const char ending[] = ".partial";
    char path[4096];
    size_t len = strlen(name);

    if (len >= sizeof path)
        return err_set(err, ERR_USAGE, "--resume: the name is too long");
    strcpy(path, name);
    if (len > strlen(ending) && strcmp(path + len - strlen(ending), ending) == 0)
        path[len - strlen(ending)] = '\0';
    if (!set_paths(m, path, err))
        return false;
    if (is_other_than_file(m->output) || is_other_than_file(m->partial))
        return err_set(err, ERR_IO, "--resume %s: no ordinary file, as a run leaves it", name);
    if (access(m->output, F_OK) == 0 || access(m->partial, F_OK) != 0)
        return no_partial(m, name, err);
    if (!results_load(m->partial, &m->earlier, err))
        return false;
    uint64_t passes;
    if (json_u64(json_get(json_get(m->earlier.head, "passes"), "count"), &passes) && passes > 1)
        m->repeat = (size_t)passes;
    return true;
}

/* The head of a run that is gone on with stays that of its beginning. */
static bool take_earlier(struct measurement *m, struct err *err)
{
    if (!results_same_run(&m->earlier, &m->results, err))
        return false;
    for (size_t i = 0; i < m->earlier.cell_count; i++)
        if (m->earlier.cells[i].status != CELL_INTERRUPTED &&
            !results_add(&m->results, &m->earlier.cells[i], err))
            return false;
    struct json *head = m->results.head;
    m->results.head = m->earlier.head;
    m->earlier.head = head;
    return journal_reopen(m->partial, &m->journal, err);
}

/* What was asked for that neither config nor devices show. */
static void add_options(const struct measure_options *o, struct json *head)
{
    struct json *options = json_set_object(head, "options");

    if (o->devices.count > 0) {
        struct json *selectors = json_set_array(head, "selectors");
        for (size_t i = 0; i < o->devices.count; i++)
            json_add_string(selectors, o->devices.items[i]);
    }
    if (o->memory_budget.given)
        json_set_u64(options, "memory_budget_bytes", o->memory_budget.value);
    if (o->kernel_dir)
        json_set_string(options, "kernel_dir", o->kernel_dir);
}

static bool start_results(struct measurement *m, int argc, char **argv, struct err *err)
{
    size_t count;
    const struct device_info *devices = runner_devices(m->runner, &count);

    if (!machine_head(&m->results, argc, (const char *const *)argv, m->config.json, err))
        return false;
    add_options(m->options, m->results.head);
    if (m->predictions) {
        json_set(m->results.head, "predictions", m->predictions);
        m->predictions = NULL;
    }
    m->results.devices = mem_calloc(count, sizeof *devices, "devices", err);
    if (!m->results.devices)
        return false;
    memcpy(m->results.devices, devices, count * sizeof *devices);
    m->results.device_count = count;
    if (m->earlier.head)
        return take_earlier(m, err);
    if (m->repeat > 1)
        json_set_u64(json_set_object(m->results.head, "passes"), "count", m->repeat);
    return !m->partial || journal_create(m->partial, &m->results, &m->journal, err);
}

static const char **ids_of(const struct grid *grid, struct err *err)
{
    const char **ids = mem_calloc(grid->cell_count, sizeof *ids, "cells", err);

    for (size_t i = 0; ids && i < grid->cell_count; i++)
        ids[i] = grid->cells[i].id;
    return ids;
}

/* What an earlier run has done of them is done. */
static bool start_passes(struct measurement *m, struct err *err)
{
    const struct grid *grid = runner_grid(m->runner);
    const char **ids = ids_of(grid, err);
    bool ok = ids && passes_init(&m->passes, m->repeat, grid->cell_count, err);

    if (ok)
        passes_restore(&m->passes, ids, m->results.head);
    free(ids);
    return ok;
}

/* What --repeat is for. */
static bool finish_passes(struct measurement *m, struct err *err)
{
    const struct grid *grid = runner_grid(m->runner);
    const char **ids = ids_of(grid, err);

    if (!ids)
        return false;
    passes_record(&m->passes, ids, &m->results);
    free(ids);
    const double penalty =
        grid->point_count ? passes_first_penalty(&m->passes, grid->points[0].cell_count) : NAN;
    if (isfinite(penalty))
        say(&m->options->base,
            "%zu passes: the first point took %+.1f %% in the first one, against the others", m->passes.count,
            penalty * 100);
    return true;
}

static bool run_passes(struct measurement *m, const struct runner_sink *sink, struct err *err)
{
    const size_t cells = runner_grid(m->runner)->cell_count;

    if (m->repeat > 1 && !start_passes(m, err))
        return false;
    m->cell_count = cells;
    progress_init(&m->progress, stderr, m->options->base.quiet || m->options->no_progress, cells);
    if (!runner_run(m->runner, sink, &m->summary, err))
        return false;
    while (m->passes.now + 1 < m->repeat && !m->summary.interrupted) {
        struct runner_summary summary;
        m->passes.now++;
        m->announced = SIZE_MAX;
        if (!runner_run(m->runner, sink, &summary, err))
            return false;
        m->summary.interrupted = summary.interrupted;
        m->summary.restarts += summary.restarts;
    }
    return m->repeat <= 1 || finish_passes(m, err);
}

bool measurement_run(struct measurement *m, int argc, char **argv, struct err *err)
{
    const struct runner_sink sink = {.context = m,
                                     .cell = on_cell,
                                     .have = on_have,
                                     .stage = on_stage,
                                     .environment = on_environment,
                                     .note = on_note};

    if (!start_results(m, argc, argv, err))
        return false;
    const struct json *before = json_get(m->results.head, "environment");
    m->environment = before ? json_copy(before, err) : json_new_array();
    if (!m->environment)
        return false;
    const bool ran = run_passes(m, &sink, err);
    json_set(m->results.head, "environment", m->environment);
    if (!ran) {
        progress_clear(&m->progress);
        return false;
    }
    progress_finish(&m->progress);
    m->results.partial = m->summary.interrupted;
    if (!m->again)
        warnings_tell(&m->results, on_note, m);
    return true;
}

static size_t measured(const struct measurement *m)
{
    return m->results.cell_count - m->summary.by_status[CELL_INTERRUPTED];
}

static bool print_results(const struct results *results, struct err *err)
{
    struct strbuf text = STRBUF_INIT;
    bool ok = results_print(results, &text, err) && print_text(&text, err);

    strbuf_fini(&text);
    return ok;
}

/* What standard output did not take was measured all the same: it goes where it would without -o. */
static void rescue(const struct measurement *m)
{
    struct err why = ERR_INIT;
    char path[4096];

    if (results_default_path("results", m->config.name, path, sizeof path, &why) &&
        results_save(&m->results, path, false, &why))
        say(&(const struct base_options){0}, "the results are in %s instead", path);
    err_fini(&why);
}

bool measurement_save(struct measurement *m, struct err *err)
{
    if (m->to_output) {
        if (print_results(&m->results, err))
            return true;
        rescue(m);
        return false;
    }
    if (m->summary.interrupted)
        return true;
    if (!results_save(&m->results, m->output, false, err))
        return false;
    journal_close(m->journal, false);
    m->journal = NULL;
    say(&m->options->base, "results: %s", m->output);
    return true;
}

int measurement_code(const struct measurement *m)
{
    size_t by_status[CELL_INTERRUPTED + 1] = {0};
    int code = EXIT_OK;

    for (size_t i = 0; i < m->results.cell_count; i++)
        by_status[m->results.cells[i].status]++;
    if (m->summary.interrupted)
        code = worse_exit(code, EXIT_INTERRUPTED);
    if (by_status[CELL_WRONG])
        code = worse_exit(code, EXIT_WRONG_RESULT);
    if (by_status[CELL_FAILED] || by_status[CELL_TIMEOUT])
        code = worse_exit(code, EXIT_FAILED);
    if (by_status[CELL_OK] == 0)
        code = worse_exit(code, EXIT_NOTHING);
    return code;
}

/* Only what is worth resuming is kept of a run that did not come to its end. */
static void leave_partial(struct measurement *m)
{
    const struct base_options *base = &m->options->base;

    if (m->journal && measured(m) > 0)
        say(base, "%s%zu of %zu cells are in %s", m->summary.interrupted ? "interrupted: " : "", measured(m),
            m->cell_count, m->partial);
    else if (m->summary.interrupted)
        say(base, "interrupted before a cell was finished");
    journal_close(m->journal, measured(m) > 0);
}

void measurement_fini(struct measurement *m)
{
    leave_partial(m);
    runner_destroy(m->runner);
    json_free(m->predictions);
    passes_fini(&m->passes);
    results_fini(&m->results);
    results_fini(&m->earlier);
    config_fini(&m->config);
    free(m->output);
    free(m->partial);
}
