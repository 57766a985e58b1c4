/* The regression check: a run against a baseline, cell by cell (SPEC, Regression check).
 *
 *     regress_init      statuses, counts, times; what looks slower is a suspect
 *     regress_again     what a fresh process says of the cells that regress_pending counts
 *     regress_finish    verdicts are final, with their explanations
 *
 * Where one process differs too much from the next, several are compared, as many as the baseline's spread asks
 * for. A suspect is measured again in as many, and in at least JUDGE_AGAIN.
 */
#ifndef GPUBENCH_REPORT_REGRESS_H
#define GPUBENCH_REPORT_REGRESS_H

#include "report/explain.h"
#include "report/judge.h"
#include "report/table.h"

enum check_verdict {
    CHECK_SAME,
    CHECK_FASTER,
    CHECK_SLOWER,
    CHECK_SUSPECT, /* until regress_finish */
    CHECK_CANNOT_TELL,
    CHECK_NOT_JUDGED, /* on another machine */
    CHECK_COUNTS,     /* dispatches, bytes, pool misses or pairs are not what they were */
    CHECK_WRONG,      /* a result did not agree with the reference */
    CHECK_FAILED,     /* failed, timed out */
    CHECK_SKIPPED,    /* or interrupted: no time now */
    CHECK_NO_TIME     /* ok now, not in the baseline, or not ok there: nothing to compare with */
};
#define CHECK_VERDICTS (CHECK_NO_TIME + 1)

/* What processes measured of one cell. */
struct check_times {
    double ns[2 * JUDGE_MOST];   /* medians */
    double fair[2 * JUDGE_MOST]; /* the same, less what the machine itself was slower by (its canary) */
    size_t count;
};

struct check_cell {
    struct match match; /* both are there */
    enum check_verdict verdict;
    struct judge_base base;
    size_t wanted;            /* processes to measure first, where time allows */
    bool several;             /* they are compared: one differs too much from the next; else one */
    struct check_times first; /* those */
    struct check_times again; /* and those that measured a suspect again */
    bool acquitted;           /* a suspect once: `first` holds what was measured again, too */
    bool counts;              /* what a call does is not what it was */
    double now_ns; /* of the processes measured first; of those that measured it again where there are any */
    double change; /* relative; NAN where there are no two times */
    double limit;  /* beyond it a change is slower */
    double detectable; /* a slowdown of this much would have been found 95 times of 100 */
    struct drift drift;
    char why[256]; /* of a verdict that is not about time, or that needs a word; or "" */
    struct cause causes[EXPLAIN_MAX];
    size_t cause_count;
};

struct regression {
    const struct results *baseline, *now; /* borrowed */
    double threshold;
    size_t processes; /* of the baseline */
    struct match_list matches;
    struct check_cell *cells; /* owned; those that both have */
    size_t cell_count;
    size_t by_verdict[CHECK_VERDICTS]; /* of each cell of the run, whether or not the baseline has it */
    size_t measured;                   /* cells of the run that are ok */
    size_t compared;                   /* cells that are ok in both and the same work */
    bool same_machine;
    char machine_why[MATCH_WHY_MAX];
};

bool regress_init(struct regression *r, const struct results *baseline, const struct results *now,
                  double threshold, struct err *err) GB_NODISCARD;
void regress_fini(struct regression *r); /* accepts NULL and a zeroed one */

/* Points of all cells, or of those that are pending: a process costs about as much as one, and its points. */
size_t regress_points(const struct regression *r, bool pending);

/* For making a baseline. r: of the baseline with itself; most: processes that a check has time for. What to measure
 * in more processes, so that checks can tell: cells, their points. */
bool regress_unsure(const struct regression *r, size_t most, const char *id);

/* Cells that a fresh process would tell more of. suspects: of them, those that look slower; may be NULL. */
size_t regress_pending(const struct regression *r, size_t *suspects);
/* Whether the cell with this id of the run is to be measured again: one that is pending, or one of its point,
 * whose blocks alternate with it: alone it would be measured under other conditions than the first time. */
bool regress_wants_again(const struct regression *r, const char *id);
/* fresh: cells that were pending, measured in a new process. Those that are not slower there, the fresh run's
 * own canary considered, are no suspects any more. */
bool regress_again(struct regression *r, const struct results *fresh, struct err *err) GB_NODISCARD;
/* There is time for what so many points take. Cells that are no suspects and need the most processes are judged by
 * those there are, until there is time for what the others need. 0: waits for none. There may be suspects then. */
void regress_limit(struct regression *r, double points);
/* Suspects that as many processes confirmed as were asked for are slower. Those that were never measured again (a
 * results file from elsewhere) are when the whole interval of their median is over the limit. */
bool regress_finish(struct regression *r, struct err *err) GB_NODISCARD;

const char *check_verdict_name(enum check_verdict verdict); /* "same", "slower", "cannot tell", ... */

/* ---- regress_report.c ---- */

/* One line a cell, and remarks. */
bool regress_table(const struct regression *r, struct table **tables, size_t *count,
                   struct err *err) GB_NODISCARD;
/* {"schema": "gpubench-check", ...}; gpubench-check(1). */
bool regress_json(const struct regression *r, int exit_code, struct strbuf *out,
                  struct err *err) GB_NODISCARD;
/* Workflow commands of GitHub Actions, a line each: an error for each cell that fails the build, a warning
 * where times could not be judged. */
void regress_annotations(const struct regression *r, struct strbuf *out);

#endif
