/* A results file: one run, whole (gpubench-results(5)). What reports, comparisons and resuming read. */
#ifndef GPUBENCH_RECORD_RESULTS_H
#define GPUBENCH_RECORD_RESULTS_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "bench/cell.h"
#include "model/device.h"

#define RESULTS_SCHEMA "gpubench-results"
#define RESULTS_VERSION 1

struct results {
    char *path; /* where it was read from; NULL while being made */
    struct json
        *head; /* owned; everything but devices and cells: schema, version, tool, command, config, options, machine */
    struct device_info *devices; /* owned */
    size_t device_count;
    struct cell *cells; /* owned */
    size_t cell_count;
    size_t cell_capacity;
    bool partial; /* "complete": false — interrupted, or read from a journal */
};

void results_fini(struct results *results); /* accepts NULL and a zeroed one */
/* Reads a results file or a journal (FILE.partial); control characters in its texts become blanks. Another
 * version is ERR_VERSION, both named. */
bool results_load(const char *path, struct results *out, struct err *err) GB_NODISCARD;
/* The same from memory; name appears in messages and becomes results->path. */
bool results_parse(const char *text, size_t len, const char *name, struct results *out,
                   struct err *err) GB_NODISCARD;
/* Appends a copy made through JSON, in place of a cell with the same id where there is one; the caller keeps
 * its cell. */
bool results_add(struct results *results, const struct cell *cell, struct err *err) GB_NODISCARD;
/* The file's text. */
bool results_print(const struct results *results, struct strbuf *out, struct err *err) GB_NODISCARD;
/* Writes path.tmp, syncs, renames. overwrite false: an existing file is ERR_IO and stays as it is. */
bool results_save(const struct results *results, const char *path, bool overwrite,
                  struct err *err) GB_NODISCARD;
/* A cell's device by its number; NULL where there is none. */
const struct device_info *results_device(const struct results *results, size_t device);
/* The cell with this id; NULL when there is none. */
const struct cell *results_find(const struct results *results, const char *id);
/* Whether the cell with this id is none of the config's grid, but was added near a crossing (sweep --refine).
 */
bool results_is_refined(const struct results *results, const char *id);
/* Appends cells of another run of the same devices, and marks them as such. */
bool results_add_refined(struct results *results, const struct results *more, struct err *err) GB_NODISCARD;
/* Whether `now`, a run that starts, measures the same thing as the results of an earlier one that are to be
 * gone on with: the same config, options, version and devices. false (ERR_CONFIG) names the first difference. */
bool results_same_run(const struct results *then, const struct results *now, struct err *err);
/* results/NAME-YYYYMMDDThhmmss.json, with -2, -3, ... behind it while that exists. */
bool results_default_path(const char *dir, const char *name, char *out, size_t size,
                          struct err *err) GB_NODISCARD;

#endif
