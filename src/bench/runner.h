/* The parent's side of a run: starts the worker, asks it for one point after the other, supervises it, and
 * hands finished cells to a sink. Uses neither OpenMP nor OpenCL, so that it can fork at any time.
 *
 *     runner_create     start the worker, list and select devices, build the grid
 *     runner_devices, runner_grid, runner_footprints     what would run (--dry-run stops here)
 *     runner_run        measure; each cell reaches the sink before the next point starts
 *     runner_destroy    end the worker; nothing is left behind
 *
 * A cell over its time limit, or one whose driver crashes, is a row with the stage and the reason; the worker
 * is started again and the run goes on. After RUNNER_GIVE_UP such cells in a row on one device its remaining
 * cells are skipped.
 */
#ifndef GPUBENCH_BENCH_RUNNER_H
#define GPUBENCH_BENCH_RUNNER_H

#include <signal.h>
#include <stddef.h>

#include "base/err.h"
#include "bench/cell.h"
#include "bench/worker.h"
#include "plan/config.h"
#include "plan/grid.h"

#define RUNNER_GIVE_UP 3

struct runner_options {
    /* Borrowed until runner_destroy. config->json must say all of it (the config_override functions see to
     * that), as it is what the worker reads. */
    const struct config *config;
    /* -d, in the order given. None: every backend of the config runs on the device it names, or on the best
     * there is. Some: these and no others, so a backend of a kind that is not among them has no cells. */
    const char *const *selectors;
    size_t selector_count;
    struct backend_options backend; /* copied, strings borrowed */
    /* Counts requests to stop; a signal handler raises it. 1: stop within 2 s; 2 or more: at once. May be
     * NULL. */
    const volatile sig_atomic_t *stop;
    /* The program and the arguments that start a worker, NULL-terminated; "IN,OUT", the numbers of two file
     * descriptors, is added as the last. NULL: /proc/self/exe worker. */
    const char *const *worker_argv;
};

struct runner_sink {
    void *context;
    /* A cell is finished, whatever its status. false (a full disk) ends the run with that error. */
    bool (*cell)(void *context, size_t index, const struct cell *cell, struct err *err);
    /* true: this cell is already there (resuming) and is not measured again. May be NULL. */
    bool (*have)(void *context, size_t index, const char *id);
    /* What is being done now, for progress: done cells of total, the cell (SIZE_MAX while a whole point is
     * prepared), its id, and what is done with it ("building", "sampling": bench/trial.h). May be NULL. */
    void (*stage)(void *context, size_t done, size_t total, size_t index, const char *what,
                  const char *stage);
    /* One line for standard error: a warning, a restarted worker, a device given up. May be NULL. */
    void (*note)(void *context, const char *text);
    /* The state of the machine before, between and after points (bench/environment.h), with "when" and the host time
     * since the run began, "elapsed_ns". Borrowed. May be NULL: then nothing is recorded. */
    void (*environment)(void *context, const struct json *record);
};

struct runner_summary {
    size_t by_status[CELL_INTERRUPTED + 1]; /* cells that reached the sink */
    size_t already_there;                   /* those that sink.have knew */
    size_t restarts;                        /* of the worker */
    bool interrupted;
};

struct runner;

/* Starts the worker and builds the grid. Errors: the config's (ERR_CONFIG for scenes and images that cannot
 * be read), ERR_NO_DEVICE when a selector matches nothing or no backend has a device, ERR_WORKER. */
bool runner_create(const struct runner_options *options, struct runner **out, struct err *err) GB_NODISCARD;

/* The run's devices: those that some backend uses; grid_cell.device counts in this list. */
const struct device_info *runner_devices(const struct runner *runner, size_t *count);
const struct grid *runner_grid(const struct runner *runner);
/* Remarks made while devices were chosen (no OpenCL device and how to get one; a backend left out), to be
 * shown once. */
const char *const *runner_notes(const struct runner *runner, size_t *count);

/* What each cell needs, asked of the worker without allocating it. out[grid->cell_count]. */
struct runner_footprint {
    struct render_footprint bytes;
    bool fits;
    char reason[512]; /* why it cannot run; "" when it can */
};
bool runner_footprints(struct runner *runner, struct runner_footprint *out, struct err *err) GB_NODISCARD;

/* Measures every cell that sink.have does not know. true when it came to the end or was interrupted
 * (summary->interrupted; the cells of the point in progress are rows of status interrupted); false when the
 * sink or the worker's start failed. summary is filled either way. */
bool runner_run(struct runner *runner, const struct runner_sink *sink, struct runner_summary *summary,
                struct err *err) GB_NODISCARD;

void runner_destroy(struct runner *runner); /* accepts NULL */

/* Lists every device of every backend in a worker of its own, chosen or not; *out is the caller's to free.
 * A driver that crashes while it is asked costs its backend's devices, and *note (free() it; may become NULL)
 * says so. options->config may be NULL here. */
bool runner_list_devices(const struct runner_options *options, struct device_info **out, size_t *count,
                         char **note, struct err *err) GB_NODISCARD;

#endif
