/* Which device to use for a call, by what a results file has: the dispatch rule. Pure.
 *
 * Between measured points times and ratios are interpolated as report/surface.h says; outside of them nothing
 * is claimed. A question of covered pairs is answered at the number of triangles with which the measured
 * scenes cover so many. */
#ifndef GPUBENCH_REPORT_DECIDE_H
#define GPUBENCH_REPORT_DECIDE_H

#include "base/json.h"
#include "report/ratio.h"
#include "report/surface.h"

/* What a question may lie outside of: the surface's axes, and covered pairs a pixel. */
enum { DECIDE_PAIRS = SURFACE_AXES, DECIDE_RANGES };

enum decide_basis {
    DECIDE_NOTHING,  /* no two contenders have a point in common */
    DECIDE_MEASURED, /* the question was measured */
    DECIDE_INTERPOLATED,
    DECIDE_NEAREST /* outside of what was measured: what follows is of the nearest point instead */
};
enum decide_confidence {
    CONFIDENCE_NONE, /* outside */
    CONFIDENCE_LOW,  /* a tie, no interval, or the points around the question disagree */
    CONFIDENCE_HIGH
};

struct decide_question {
    /* mode, size, triangles, batch and sigma are meant; call and source where by_call and by_source are set
     */
    struct render_spec spec;
    bool by_call;       /* false: the call is that of the first OpenCL cell of this mode */
    bool by_source;     /* false: likewise, the source of scenes that of the first cell */
    double pairs;       /* covered pairs of the call; 0: not given */
    bool has_triangles; /* both are given: by pairs, and surely so only where triangles agree */
};

struct decision {
    enum decide_basis basis;
    enum decide_confidence confidence;
    /* First cells of the lines of the winner and of the best one on another device (on the same where there
     * is no other); borrowed from the results; NULL with DECIDE_NOTHING. */
    const struct cell *winner, *other;
    double winner_ns, other_ns;        /* of a call */
    struct ratio margin;               /* other's time / winner's; 1 or more */
    struct render_spec at;             /* the question, or the nearest point */
    double pairs;                      /* that the measured scenes cover there, in the call; NAN: not known */
    const struct cell *low, *high;     /* ends of the box around it; the same cell where it was measured */
    double measured[DECIDE_RANGES][2]; /* range of the contenders' points; NAN without any */
    unsigned outside;                  /* bit SURFACE_SIZE, ..., DECIDE_PAIRS: out of that range */
    /* Pairs and triangles are given: who wins by triangles alone, and by how much; NULL: cannot tell. */
    const struct cell *by_triangles;
    double by_triangles_margin;
};

/* Writes the call and the source that are meant into the question. */
bool decide(const struct results *results, struct decide_question *question, struct decision *out,
            struct err *err) GB_NODISCARD;

/* Lines of the question's mode, call, source and upstream: the first cell of each, which differ from the
 * line's others in surface_keys() alone. free() the array. */
bool decide_contenders(const struct results *results, const struct render_spec *question,
                       const struct cell ***lines, size_t *count, struct err *err) GB_NODISCARD;

/* "size", ..., "pairs a pixel". */
const char *decide_range_name(size_t range);
/* Where a question lies in that range; NAN for pairs that are not given. */
double decide_range_value(const struct decide_question *question, size_t range);

const char *decide_basis_name(enum decide_basis basis);
const char *decide_confidence_name(enum decide_confidence confidence);

/* The rule, for a program that dispatches by itself: every contender with the times of its points. */
bool decide_rule_to_json(const struct results *results, const struct render_spec *question,
                         struct json *object, struct err *err) GB_NODISCARD;
/* "decision": what decide() found. */
void decision_to_json(const struct results *results, const struct decision *decision, struct json *object);

/* ---- without measurements ---- */

/* The rule of thumb: a device that shares the host's memory loses; one with memory of its own wins from
 * DECIDE_THUMB_WORK pixels times triangles times scenes a call on. Half of the smallest call of the original
 * record's crossover (64² × 32 × 16), which a discrete GPU won by 1.85 in the end: a guess. */
#define DECIDE_THUMB_WORK (1u << 20)
/* As many covered pairs: a scene of that record covers a sixteenth of its pixels with each triangle. */
#define DECIDE_THUMB_PAIRS (1u << 16)
bool decide_by_thumb(const struct device_info *device, const struct decide_question *question);

#endif
