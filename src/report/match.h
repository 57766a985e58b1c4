/* Which cells of two runs are the same work, and which have no partner. */
#ifndef GPUBENCH_REPORT_MATCH_H
#define GPUBENCH_REPORT_MATCH_H

#include "record/results.h"

#define MATCH_PAIRS_TOLERANCE 1e-5

struct match {
    const struct cell *was, *now; /* borrowed; either may be NULL: only one run has it */
};

struct match_list {
    struct match *items; /* owned; in the order of `was`, what only `now` has last */
    size_t count;
    size_t both; /* items that have both */
};

/* By id; else, where grids have other axes and so ids other ends, by backend and every key that matters to
 * it. */
bool match_cells(const struct results *was, const struct results *now, struct match_list *out,
                 struct err *err) GB_NODISCARD;
void match_fini(struct match_list *list); /* accepts NULL and a zeroed one */

/* Whether both are the same work, so that their times mean the same: what is computed is the same, and the
 * reference's pairs within MATCH_PAIRS_TOLERANCE. false: why not ("sigma 0.01 -> 0.02"). */
#define MATCH_WHY_MAX 160
bool match_same_work(const struct match *match, char why[MATCH_WHY_MAX]);

/* Whether pairs count the same. */
bool match_same_pairs(const struct cell *was, const struct cell *now);

/* Whether two runs come from one machine, as far as they tell: its CPU (model, sockets, cores, threads) and
 * the names of the devices that both use. false: what differs. Affinity, quota, drivers and versions may
 * change on one machine. */
bool match_same_machine(const struct results *was, const struct results *now, char why[MATCH_WHY_MAX]);

#endif
