/* FILE.partial: what a run has measured so far, a JSON line a cell, each on disk before the next starts.
 *
 * The first line is the head of the results with their devices and "journal": true; results_load reads the
 * whole. A cell's line may say more than the cell: "refined": true, or "pass": {"index", "median_ns"}. A line
 * {"environment": record} is one of the head's records; it goes to the disk with the next cell. A last line
 * that a crash cut short is ignored.
 */
#ifndef GPUBENCH_RECORD_JOURNAL_H
#define GPUBENCH_RECORD_JOURNAL_H

#include "base/err.h"
#include "bench/cell.h"
#include "record/results.h"

struct journal;

/* Starts path (a results file's path and ".partial") with the head and devices of results, and with the cells
 * that results already has. An existing file is ERR_IO and stays as it is. */
bool journal_create(const char *path, const struct results *results, struct journal **out,
                    struct err *err) GB_NODISCARD;
/* Goes on writing behind the last whole line of an existing journal, which results_load has read. */
bool journal_reopen(const char *path, struct journal **out, struct err *err) GB_NODISCARD;
/* Writes a cell and syncs. refined: it is none of the grid, but was added near a crossing. */
bool journal_add(struct journal *journal, const struct cell *cell, bool refined, struct err *err) GB_NODISCARD;
/* Writes a cell as the passes up to `pass` (from 0) have it, and that pass's own median; syncs. */
bool journal_add_pass(struct journal *journal, const struct cell *cell, size_t pass, uint64_t median_ns,
                      struct err *err) GB_NODISCARD;
/* Keeps a record of the machine's state for the next line. */
bool journal_add_environment(struct journal *journal, const struct json *record, struct err *err) GB_NODISCARD;
/* Closes. keep false, or no cell in it: the file is removed. Accepts NULL. */
void journal_close(struct journal *journal, bool keep);

#endif
