/* Two runs side by side: for each cell that both have whether it became faster or slower, by how much, how
 * surely, and why. */
#ifndef GPUBENCH_REPORT_COMPARE_H
#define GPUBENCH_REPORT_COMPARE_H

#include "report/explain.h"
#include "report/table.h"

enum compare_verdict {
    COMPARE_SAME,
    COMPARE_FASTER,
    COMPARE_SLOWER,
    COMPARE_CANNOT_TELL,
    COMPARE_STATUS,    /* one of them is not ok: nothing to compare */
    COMPARE_OTHER_WORK /* they do not compute the same */
};

struct compare_cell {
    struct match match; /* both are there */
    enum compare_verdict verdict;
    /* Time in the second run / time in the first; NAN where there is none. */
    double ratio;
    bool has_ci;
    /* 95 % interval: blocks of both resampled, widened by what the canary says of the machine: its
     * unsteadiness during the runs, and how much it changed from one to the other. */
    double ci95[2];
    double
        detectable; /* relative; a change of this much would have been told 95 times of 100; NAN: unknown */
    char why[MATCH_WHY_MAX]; /* COMPARE_STATUS, COMPARE_OTHER_WORK, COMPARE_CANNOT_TELL: a reason, or "" */
    struct cause causes[EXPLAIN_MAX]; /* of a change */
    size_t cause_count;
};

/* Of the cells of one device, as the second run knows it. */
struct compare_device {
    size_t device;
    size_t cells;   /* that have a ratio */
    double ratio;   /* geometric mean */
    double ci95[2]; /* NAN where some cell has no interval */
    struct drift drift;
};

struct comparison {
    const struct results *was, *now; /* borrowed */
    struct match_list matches;
    struct compare_cell *cells; /* owned; those that both have */
    size_t cell_count;
    struct compare_device *devices; /* owned; those with cells */
    size_t device_count;
    double ratio, ci95[2]; /* of all cells */
    size_t compared;       /* cells with a ratio */
    bool itself;           /* both are the same run, whose cells are the same by definition */
    bool same_machine;
    char machine_why[MATCH_WHY_MAX];
};

bool compare_runs(const struct results *was, const struct results *now, struct comparison *out,
                  struct err *err) GB_NODISCARD;
void comparison_fini(struct comparison *c); /* accepts NULL and a zeroed one */

const char *compare_verdict_name(enum compare_verdict verdict); /* "same", "cannot tell", ... */
/* The verdict on a ratio with this interval: same within 1/1.05 ... 1.05, slower or faster outside. */
enum compare_verdict compare_judge(const double ci95[2]);
/* The smallest change that an interval of this width would have told. */
double compare_detectable(const double ci95[2]);

/* One line a cell, geometric means, what only one run has, and remarks. */
bool comparison_table(const struct comparison *c, struct table **tables, size_t *count,
                      struct err *err) GB_NODISCARD;
/* {"schema": "gpubench-compare", ...}: README, "Comparing". */
bool comparison_json(const struct comparison *c, struct strbuf *out, struct err *err) GB_NODISCARD;

#endif
