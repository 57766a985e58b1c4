/* Why a cell takes longer or shorter than before: its options, what a call does (counts), which phase, and
 * what changed around it; and how each is known. */
#ifndef GPUBENCH_REPORT_EXPLAIN_H
#define GPUBENCH_REPORT_EXPLAIN_H

#include "report/drift.h"
#include "report/match.h"

enum cause_kind { CAUSE_OPTION, CAUSE_COUNT, CAUSE_PHASE, CAUSE_ENVIRONMENT };

struct cause {
    enum cause_kind kind;
    bool inferred;  /* known to have changed, not known to matter; else measured or counted */
    char text[160]; /* "upload 262 us -> 1.01 ms, 96 % of the difference" */
};

#define EXPLAIN_MAX 12

const char *cause_kind_name(enum cause_kind kind);     /* "option", "count", "phase", "environment" */
const char *cause_known_by(const struct cause *cause); /* "measured", "inferred" */

/* Most telling first; returns how many. Both cells of the match are there. */
size_t explain_change(const struct results *was, const struct results *now, const struct match *match,
                      const struct drift *drift, struct cause out[EXPLAIN_MAX]);

/* The options alone: what the config, -t, --path, --memory-budget and the like ask for. */
size_t explain_options(const struct results *was, const struct results *now, const struct match *match,
                       struct cause out[EXPLAIN_MAX]);

/* Counts that must not change by themselves: dispatches, bytes, pool misses exactly, pairs nearly. Returns
 * how many differ, described in out. */
#define EXPLAIN_COUNTS 5
size_t explain_counts(const struct match *match, struct cause out[EXPLAIN_COUNTS]);

#endif
