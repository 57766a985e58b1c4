#include "bench/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/runner_start.h"
#include "bench/trial.h"

/* The worker looks at its limits itself between calls; this much later it is taken for hung. */
#define LATE_NS UINT64_C(1000000000)
/* Inputs and reference are gpubench's own work, done once a point: they get at least this long. */
#define POINT_LIMIT_NS UINT64_C(60000000000)
/* The machine's state is recorded no more often than this, and a record takes no longer than that. */
#define RECORD_EVERY_NS UINT64_C(1000000000)
#define RECORD_LIMIT_NS UINT64_C(60000000000)
/* For a worker to close its devices when it is asked to stop. */
#define STOP_GRACE_NS UINT64_C(1500000000)

/* ---- life ---- */

bool runner_create(const struct runner_options *options, struct runner **out, struct err *err)
{
    struct runner *r = mem_calloc(1, sizeof *r, "the runner", err);
    if (r == NULL)
        return false;
    r->options = *options;
    if (!runner_start(r, err))
        goto failed;
    if (!choose_devices(r->all, r->all_count, options->config, options->selectors, options->selector_count,
                        options->backend.path, &r->choice, err)) {
        if (err->code == ERR_NO_DEVICE && r->note_count > 0)
            err_wrap(err, "%s", r->notes[0]);
        goto failed;
    }
    r->devices = mem_calloc(r->choice.used_count, sizeof *r->devices, "devices", err);
    r->strikes = mem_calloc(r->choice.used_count, sizeof *r->strikes, "devices", err);
    if (r->devices == NULL || r->strikes == NULL)
        goto failed;
    for (size_t i = 0; i < r->choice.used_count; i++)
        r->devices[i] = r->all[r->choice.used[i]];
    for (size_t i = 0; i < r->choice.note_count; i++)
        if (!runner_add_note(r, err, "%s", r->choice.notes[i]))
            goto failed;
    if (!grid_build(options->config, r->choice.of_backend, &r->grid, err) || !runner_use(r, err))
        goto failed;
    *out = r;
    return true;
failed:
    runner_destroy(r);
    return false;
}

void runner_destroy(struct runner *r)
{
    if (r == NULL)
        return;
    session_end(&r->session, STOP_GRACE_NS, r->options.stop, NULL);
    for (size_t i = 0; i < r->note_count; i++)
        free(r->notes[i]);
    free(r->notes);
    grid_fini(&r->grid);
    choice_fini(&r->choice);
    free(r->strikes);
    free(r->devices);
    free(r->all);
    free(r);
}

const struct device_info *runner_devices(const struct runner *r, size_t *count)
{
    *count = r->choice.used_count;
    return r->devices;
}

const struct grid *runner_grid(const struct runner *r)
{
    return &r->grid;
}

const char *const *runner_notes(const struct runner *r, size_t *count)
{
    *count = r->note_count;
    return (const char *const *)r->notes;
}

bool runner_list_devices(const struct runner_options *options, struct device_info **out, size_t *count,
                         char **note, struct err *err)
{
    struct runner r = {.options = *options};
    bool ok = runner_start(&r, err);
    *note = NULL;
    if (ok && r.note_count > 0)
        *note = mem_strdup(r.notes[0], err);
    if (ok) {
        *out = r.all;
        *count = r.all_count;
    } else {
        free(r.all);
    }
    session_end(&r.session, STOP_GRACE_NS, NULL, NULL);
    for (size_t i = 0; i < r.note_count; i++)
        free(r.notes[i]);
    free(r.notes);
    return ok;
}

/* ---- a run ---- */

struct run {
    struct runner *runner;
    const struct runner_sink *sink;
    struct runner_summary *summary;
    size_t done;     /* cells, of the whole grid */
    size_t *pending; /* owned; of the point in progress, in the grid's order */
    size_t pending_count;
    uint64_t *spent_ns; /* owned; by cell of the grid */
    /* what the worker said last */
    size_t current; /* cell; SIZE_MAX: the point as a whole */
    char stage[32];
    uint64_t since_ns;
    uint64_t point_ns; /* spent on the point as a whole */
    uint64_t start_ns, recorded_ns; /* of the run, of the latest record of the machine's state */
    bool no_canary;
};

static void note(const struct run *run, const char *text)
{
    if (run->sink->note != NULL)
        run->sink->note(run->sink->context, text);
}

static void drop_pending(struct run *run, size_t index)
{
    size_t kept = 0;
    for (size_t i = 0; i < run->pending_count; i++)
        if (run->pending[i] != index)
            run->pending[kept++] = run->pending[i];
    run->pending_count = kept;
}

static bool deliver(struct run *run, size_t index, const struct cell *cell, struct err *err)
{
    drop_pending(run, index);
    run->done++;
    run->summary->by_status[cell->status]++;
    return run->sink->cell(run->sink->context, index, cell, err);
}

/* A row for a cell that the worker could not answer for. */
static bool deliver_row(struct run *run, size_t index, enum cell_status status, const char *reason,
                        struct err *err)
{
    const struct grid_cell *from = &run->runner->grid.cells[index];
    struct cell cell;
    bool ok = cell_init(&cell, from, &run->runner->options.config->backends[from->backend], err);
    if (ok) {
        cell.status = status;
        cell.reason = mem_strdup(reason, err);
        ok = cell.reason != NULL && deliver(run, index, &cell, err);
    }
    cell_fini(&cell);
    return ok;
}

static bool deliver_pending(struct run *run, enum cell_status status, const char *reason, struct err *err)
{
    while (run->pending_count > 0)
        if (!deliver_row(run, run->pending[0], status, reason, err))
            return false;
    return true;
}

/* ---- a run: the machine's state ---- */

static bool give_environment(const struct run *run, const char *when, const struct json *record)
{
    struct err ignored = ERR_INIT;
    struct json *copy = record != NULL ? json_copy(record, &ignored) : NULL;
    err_fini(&ignored);
    if (copy == NULL)
        return false;
    json_set_string(copy, "when", when);
    json_set_u64(copy, "elapsed_ns", clock_now_ns() - run->start_ns);
    run->sink->environment(run->sink->context, copy);
    json_free(copy);
    return true;
}

/* The GPU's state as a block of samples of the current cell begins. */
static void give_block(const struct run *run, const struct json *gpu)
{
    struct err ignored = ERR_INIT;
    struct json *record = json_new_object();
    json_set_string(record, "cell", run->runner->grid.cells[run->current].id);
    (void)json_set_array(record, "canary");
    json_add(json_set_array(record, "gpus"), json_copy(gpu, &ignored));
    (void)give_environment(run, "block", record);
    json_free(record);
    err_fini(&ignored);
}

/* ---- a run: what the worker says ---- */

static void account(struct run *run)
{
    uint64_t now = clock_now_ns();
    if (run->current == SIZE_MAX)
        run->point_ns += now - run->since_ns;
    else
        run->spent_ns[run->current] += now - run->since_ns;
    run->since_ns = now;
}

static void on_stage(struct run *run, const struct json *message)
{
    const struct runner *r = run->runner;
    uint64_t cell;
    account(run);
    bool whole = !json_u64(json_get(message, "cell"), &cell) || cell >= r->grid.cell_count;
    run->current = whole ? SIZE_MAX : (size_t)cell;
    snprintf(run->stage, sizeof run->stage, "%s", json_string(json_get(message, "stage")));
    if (!whole && run->sink->environment != NULL && json_get(message, "gpu") != NULL)
        give_block(run, json_get(message, "gpu"));
    if (run->sink->stage == NULL)
        return;
    size_t shown = whole ? run->pending[0] : run->current;
    run->sink->stage(run->sink->context, run->done, r->grid.cell_count, run->current, r->grid.cells[shown].id,
                     run->stage);
}

static bool on_cell(struct run *run, const struct json *message, struct err *err)
{
    uint64_t index;
    struct cell cell;
    struct runner *r = run->runner;
    if (!json_u64(json_get(message, "cell"), &index) || index >= r->grid.cell_count)
        return err_set(err, ERR_WORKER, "the worker sent a cell that is not of the grid");
    if (!cell_from_json(&cell, json_get(message, "result"), err))
        return err_wrap(err, "from the worker");
    if (cell.status == CELL_OK)
        r->strikes[r->grid.cells[index].device] = 0;
    bool ok = deliver(run, (size_t)index, &cell, err);
    cell_fini(&cell);
    return ok;
}

/* When the worker's present occupation is over its time. */
static uint64_t deadline(const struct run *run)
{
    double seconds = run->runner->options.config->measure.timeout_seconds;
    uint64_t limit = seconds > 1e9 ? UINT64_C(1000000000000000000) : (uint64_t)(seconds * 1e9);
    uint64_t spent = run->current == SIZE_MAX ? run->point_ns : run->spent_ns[run->current];
    if (run->current == SIZE_MAX && limit < POINT_LIMIT_NS)
        limit = POINT_LIMIT_NS;
    limit += LATE_NS;
    return run->since_ns + (limit > spent ? limit - spent : 0);
}

/* Listens until the point is done. SESSION_MESSAGE: it is; anything else: the worker is no use any more.
 * false: the run must end. */
static bool listen_to_worker(struct run *run, enum session_result *result, struct err *err)
{
    for (bool done = false; !done;) {
        struct json *message = NULL;
        *result = session_receive(&run->runner->session, deadline(run), run->runner->options.stop, &message);
        if (*result != SESSION_MESSAGE)
            return true;
        bool ok = true;
        if (message_is(message, "stage")) {
            on_stage(run, message);
        } else if (message_is(message, "cell")) {
            ok = on_cell(run, message, err);
        } else if (message_is(message, "note")) {
            note(run, json_string(json_get(message, "text")));
        } else if (message_is(message, "error")) {
            done = true;
            ok = deliver_pending(run, CELL_FAILED, json_string(json_get(message, "text")), err);
        } else {
            done = message_is(message, "done");
        }
        json_free(message);
        if (!ok)
            return false;
    }
    return true;
}

/* ---- a run: what to do about a worker that is gone ---- */

static bool given_up(const struct runner *r, size_t cell)
{
    return r->strikes[r->grid.cells[cell].device] >= RUNNER_GIVE_UP;
}

static void strike(struct run *run, size_t cell)
{
    struct runner *r = run->runner;
    struct device_info *device = &r->devices[r->grid.cells[cell].device];
    char text[512];
    if (++r->strikes[r->grid.cells[cell].device] != RUNNER_GIVE_UP)
        return;
    snprintf(text, sizeof text, "%s is given up: %d of its cells in a row crashed or did not end",
             device->selector, RUNNER_GIVE_UP);
    snprintf(device->trouble, sizeof device->trouble, "%s", text);
    note(run, text);
}

/* The cell that the worker was busy with gets its row; without one, all of the point that are left do. */
static bool blame(struct run *run, enum cell_status status, const char *reason, struct err *err)
{
    const size_t cell = run->current;
    if (cell == SIZE_MAX)
        return deliver_pending(run, status, reason, err);
    strike(run, cell);
    return deliver_row(run, cell, status, reason, err);
}

static bool bury_worker(struct run *run, enum session_result result, struct err *err)
{
    char how[SESSION_HOW_MAX], reason[256];
    const double seconds = run->runner->options.config->measure.timeout_seconds;
    session_end(&run->runner->session, result == SESSION_LATE ? 0 : STOP_GRACE_NS, run->runner->options.stop, how);
    enum cell_status status = result == SESSION_LATE ? CELL_TIMEOUT : CELL_FAILED;
    if (result == SESSION_LATE)
        snprintf(reason, sizeof reason, "over its %g s while %s; the worker was ended", seconds, run->stage);
    else
        snprintf(reason, sizeof reason, "the worker ended (%s) while %s%s",
                 how[0] != '\0' ? how : "without a word", run->stage,
                 strcmp(how, "SIGKILL") == 0 ? ", perhaps for want of memory" : "");
    if (!blame(run, status, reason, err))
        return false;
    if (run->done == run->runner->grid.cell_count)
        return true;
    run->summary->restarts++;
    note(run, "the worker is started again");
    return runner_start(run->runner, err) && runner_use(run->runner, err);
}

static bool interrupt(struct run *run, struct err *err)
{
    session_end(&run->runner->session, STOP_GRACE_NS, run->runner->options.stop, NULL);
    run->summary->interrupted = true;
    return deliver_pending(run, CELL_INTERRUPTED, "interrupted", err);
}

/* ---- a run: the machine's state before, between and after points ---- */

/* Not more often than it is worth. A worker that does not survive its canary is started again, and measures without. */
static bool record_environment(struct run *run, const char *when, struct err *err)
{
    struct runner *r = run->runner;
    const bool between = strcmp(when, "between") == 0;
    if (run->sink->environment == NULL || run->no_canary || run->summary->interrupted ||
        (between && clock_now_ns() - run->recorded_ns < RECORD_EVERY_NS))
        return true;
    struct err gone = ERR_INIT;
    struct json *answer = NULL;
    enum session_result got = SESSION_ENDED;
    if (channel_send(&r->session.channel, message_new("environment"), &gone))
        got = session_receive(&r->session, clock_now_ns() + RECORD_LIMIT_NS, r->options.stop, &answer);
    err_fini(&gone);
    if (got == SESSION_MESSAGE) {
        run->no_canary = !give_environment(run, when, json_get(answer, "record"));
        json_free(answer);
        run->recorded_ns = clock_now_ns();
        return true;
    }
    if (got == SESSION_STOP)
        return true; /* The next point finds out by itself. */
    run->no_canary = true;
    session_end(&r->session, got == SESSION_LATE ? 0 : STOP_GRACE_NS, r->options.stop, NULL);
    note(run, "the worker did not survive the canary: the machine's steadiness is not known");
    run->summary->restarts++;
    return run->done == r->grid.cell_count || (runner_start(r, err) && runner_use(r, err));
}

/* ---- a run: point by point ---- */

static bool send_point(struct run *run, size_t point)
{
    struct err gone = ERR_INIT;
    struct json *request = message_new("point");
    json_set_u64(request, "point", point);
    struct json *cells = json_set_array(request, "cells");
    for (size_t i = 0; i < run->pending_count; i++)
        json_add_u64(cells, run->pending[i]);
    for (size_t i = 0; i < run->pending_count; i++)
        run->spent_ns[run->pending[i]] = 0; /* what a worker that is gone spent on it is lost */
    run->current = SIZE_MAX;
    run->since_ns = clock_now_ns();
    run->point_ns = 0;
    snprintf(run->stage, sizeof run->stage, "%s", STAGE_INPUTS);
    bool ok = channel_send(&run->runner->session.channel, request, &gone);
    err_fini(&gone);
    return ok;
}

/* What is still to be measured of a point; cells of devices that were given up get their rows here. */
static bool collect_pending(struct run *run, const struct grid_point *point, struct err *err)
{
    const struct runner *r = run->runner;
    const struct runner_sink *sink = run->sink;
    run->pending_count = 0;
    for (size_t i = point->first_cell; i < point->first_cell + point->cell_count; i++) {
        if (sink->have != NULL && sink->have(sink->context, i, r->grid.cells[i].id)) {
            run->summary->already_there++;
            run->done++;
        } else if (given_up(r, i)) {
            if (!deliver_row(run, i, CELL_SKIPPED, r->devices[r->grid.cells[i].device].trouble, err))
                return false;
        } else {
            run->pending[run->pending_count++] = i;
        }
    }
    return true;
}

static bool skip_given_up(struct run *run, struct err *err)
{
    const struct runner *r = run->runner;
    for (size_t i = 0; i < run->pending_count;) {
        size_t cell = run->pending[i];
        if (!given_up(r, cell))
            i++;
        else if (!deliver_row(run, cell, CELL_SKIPPED, r->devices[r->grid.cells[cell].device].trouble, err))
            return false;
    }
    return true;
}

static bool run_point(struct run *run, size_t index, struct err *err)
{
    if (!collect_pending(run, &run->runner->grid.points[index], err))
        return false;
    if (run->pending_count > 0 && !record_environment(run, run->recorded_ns == 0 ? "before" : "between", err))
        return false;
    while (run->pending_count > 0) {
        enum session_result result = SESSION_ENDED;
        if (send_point(run, index) && !listen_to_worker(run, &result, err))
            return false;
        if (result == SESSION_STOP)
            return interrupt(run, err);
        if (result == SESSION_MESSAGE) {
            if (!deliver_pending(run, CELL_FAILED, "the worker gave no result", err))
                return false;
        } else if (!bury_worker(run, result, err) || !skip_given_up(run, err)) {
            return false;
        }
    }
    return true;
}

bool runner_run(struct runner *r, const struct runner_sink *sink, struct runner_summary *summary,
                struct err *err)
{
    struct run run = {.runner = r, .sink = sink, .summary = summary, .start_ns = clock_now_ns()};
    *summary = (struct runner_summary){0};
    run.pending = mem_calloc(r->grid.cell_count, sizeof *run.pending, "cells", err);
    run.spent_ns = mem_calloc(r->grid.cell_count, sizeof *run.spent_ns, "cells", err);
    bool ok = run.pending != NULL && run.spent_ns != NULL;
    for (size_t p = 0; ok && p < r->grid.point_count && !summary->interrupted; p++)
        ok = run_point(&run, p, err);
    if (ok && run.recorded_ns > 0 && r->session.pid > 0)
        ok = record_environment(&run, "after", err);
    free(run.pending);
    free(run.spent_ns);
    /* A worker that could not be started again because somebody asked to stop. */
    if (!ok && err->code == ERR_INTERRUPTED) {
        err_fini(err);
        summary->interrupted = true;
        ok = true;
    }
    return ok;
}
