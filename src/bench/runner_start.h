/* The runner's insides that its two files share: runner_start.c brings a worker up, runner.c supervises it.
 */
#ifndef GPUBENCH_BENCH_RUNNER_START_H
#define GPUBENCH_BENCH_RUNNER_START_H

#include "bench/choose.h"
#include "bench/runner.h"
#include "bench/session.h"

struct runner {
    struct runner_options options;
    struct session session;
    bool without[2];         /* by enum backend_kind: listing its devices crashed or hung */
    struct device_info *all; /* owned; every device there is */
    size_t all_count;
    struct choice choice;
    struct device_info *devices; /* owned; [choice.used_count], as opened; trouble: do not open it (again) */
    struct grid grid;
    char **notes; /* owned */
    size_t note_count;
    unsigned *strikes; /* owned; by device: cells in a row that ended the worker */
};

bool runner_add_note(struct runner *r, struct err *err, const char *fmt, ...) GB_PRINTF(3, 4);

/* Starts a worker and has it list devices into r->all (the first time; later lists are not looked at). A
 * backend that takes the worker down is left out, with a note. */
bool runner_start(struct runner *r, struct err *err) GB_NODISCARD;

/* Has the worker read the config, open the chosen devices and build the grid; starts it again where a device
 * takes it down, without that device. */
bool runner_use(struct runner *r, struct err *err) GB_NODISCARD;

/* What went wrong with a session that gave no message: fills err, and ends the session. what: "listing
 * devices". */
bool runner_lost(struct runner *r, enum session_result result, const char *what, struct err *err);

#endif
