/* Which device to use for a call, by what a results file has: the dispatch rule. Pure.
 *
 * Between measured points the logarithms of times and of ratios are interpolated along the logarithms of size
 * (the side of a square of as many pixels), triangles, batch and sigma, in the smallest box of measured
 * points around the question; outside of them nothing is claimed. */
#ifndef GPUBENCH_REPORT_DECIDE_H
#define GPUBENCH_REPORT_DECIDE_H

#include "base/json.h"
#include "report/ratio.h"
#include "report/select.h"

enum decide_axis { DECIDE_SIZE, DECIDE_TRIANGLES, DECIDE_BATCH, DECIDE_SIGMA, DECIDE_AXES };
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

struct decision {
    enum decide_basis basis;
    enum decide_confidence confidence;
    /* First cells of the lines of the winner and of the best one on another device (on the same where there
     * is no other); borrowed from the results; NULL with DECIDE_NOTHING. */
    const struct cell *winner, *other;
    double winner_ns, other_ns;      /* of a call */
    struct ratio margin;             /* other's time / winner's; 1 or more */
    struct render_spec at;           /* the question, or the nearest point */
    const struct cell *low, *high;   /* ends of the box around it; the same cell where it was measured */
    double measured[DECIDE_AXES][2]; /* range of the contenders' points; NAN without any */
    unsigned outside;                /* bit DECIDE_SIZE, ...: out of that range */
};

/* The question's mode, size, triangles, batch and sigma are meant, and its call where by_call is set; without
 * it the call is that of the first OpenCL cell of this mode, and written into the question. */
bool decide(const struct results *results, struct render_spec *question, bool by_call, struct decision *out,
            struct err *err) GB_NODISCARD;

/* Lines of the question's mode, call and upstream: the first cell of each, which differ from the line's
 * others in decide_free_keys() alone. free() the array. */
bool decide_contenders(const struct results *results, const struct render_spec *question,
                       const struct cell ***lines, size_t *count, struct err *err) GB_NODISCARD;
key_set decide_free_keys(void);

/* A value on an axis: side, triangles, batch, sigma; 0.5 for 0, which has no logarithm. */
double decide_value(const struct render_spec *spec, enum decide_axis axis);

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
bool decide_by_thumb(const struct device_info *device, const struct render_spec *question);

#endif
