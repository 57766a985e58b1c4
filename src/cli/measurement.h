/* One config measured from start to end: what sweep does with each of its configs, and profile with its own.
 *
 *     measurement_init      then open m->config
 *     measurement_start     the worker runs, devices are chosen, the plan is made and announced
 *     measurement_output    where the results go; without it they stay in m->results
 *     measurement_resume    instead: go on with what an interrupted run left
 *     measurement_run       each finished cell is on disk before the next point starts
 *     measurement_save      the results file
 *     measurement_fini      what was measured and not saved stays as FILE.partial
 */
#ifndef GPUBENCH_CLI_MEASUREMENT_H
#define GPUBENCH_CLI_MEASUREMENT_H

#include "base/progress.h"
#include "bench/runner.h"
#include "cli/measure_options.h"
#include "cli/passes.h"
#include "record/journal.h"
#include "record/results.h"

struct measurement {
    const struct measure_options *options; /* borrowed */
    struct config config;                  /* owned */
    struct runner *runner;                 /* owned; NULL until it is started */
    struct json *predictions;              /* owned; for the results' head; NULL: none */
    struct results results;                /* owned */
    struct results earlier;                /* owned; read from the journal that is gone on with */
    struct runner_summary summary;
    bool to_output; /* the results go to standard output */
    char *output;   /* owned; the results file, or NULL */
    char *partial;  /* owned */
    struct journal *journal;
    struct progress progress;
    size_t cell_count;        /* of the grid, once it runs */
    size_t repeat;            /* passes over the grid; 0 is 1 */
    struct passes passes;     /* owned; where repeat is more than 1 */
    struct json *environment; /* while it runs: of the results' head */
    bool again;               /* not the first of its kind: measurement_start announces nothing */
    /* true: the cell with this id is not measured. NULL: all are. */
    bool (*have)(const void *context, const char *id);
    const void *have_context;
    size_t announced; /* cells done when the last plain line was printed; SIZE_MAX: none yet */
};

void measurement_init(struct measurement *m, const struct measure_options *options);
bool measurement_start(struct measurement *m, struct err *err) GB_NODISCARD;
/* Whether measurement_output could be had; makes nothing. */
bool measurement_check_output(const char *name, struct err *err) GB_NODISCARD;
/* name: a file, which must not exist; "-": standard output; NULL: results/NAME-TIME.json. */
bool measurement_output(struct measurement *m, const char *name, struct err *err) GB_NODISCARD;
/* name: the results file of a run that was interrupted, or the FILE.partial that it left. */
bool measurement_resume(struct measurement *m, const char *name, struct err *err) GB_NODISCARD;
/* argc and argv are the program's, for the results. true also when it was interrupted. */
bool measurement_run(struct measurement *m, int argc, char **argv, struct err *err) GB_NODISCARD;
/* An interrupted run has no results file: measurement_fini names its journal instead. */
bool measurement_save(struct measurement *m, struct err *err) GB_NODISCARD;
/* The exit code that the cells make. */
int measurement_code(const struct measurement *m);
void measurement_fini(struct measurement *m);

#endif
