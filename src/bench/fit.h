/* A whole training run on a renderer: steps of gradient descent, block by block, until one of its ends. */
#ifndef GPUBENCH_BENCH_FIT_H
#define GPUBENCH_BENCH_FIT_H

#include <signal.h>
#include <stdint.h>

#include "base/err.h"
#include "model/renderer.h"

struct fit_run;

struct fit_options {
    uint32_t steps;
    uint32_t patience; /* steps without a new least loss; 0: never stops for it */
    float rates[3];    /* of positions, colours, opacities */
    float first_sigma, last_sigma;
    double until;                                           /* stops at a loss of at most this; 0: goes on */
    const volatile sig_atomic_t *stop;                      /* borrowed; not 0: stops. NULL: nothing does */
    void (*tell)(void *context, const struct fit_run *run); /* after each block; may be NULL */
    void (*checking)(void);                                 /* the device is done with; may be NULL */
    void *context;
};

enum fit_end { FIT_STEPS, FIT_UNTIL, FIT_PATIENCE, FIT_DIVERGED, FIT_STOPPED };
const char *fit_end_text(enum fit_end end); /* "all steps", "loss reached", ... */

struct fit_run {
    uint32_t count;  /* steps taken */
    double *loss;    /* owned; [steps] the loss of each before its update */
    float *sigma;    /* owned; [steps] at which softness */
    uint64_t *at_ns; /* owned; [steps] since the start; within a block that ran at once, in equal parts */
    uint32_t best;   /* the step of least loss */
    float *params;   /* owned; [T][10] its scene */
    uint64_t longest_submission_ns; /* 0 where they are not timed */
    enum fit_end end;
};

void fit_run_fini(struct fit_run *run); /* accepts NULL and a zeroed one */

/* Fits params[T][10] over a background to target[H][W][3]. spec: gradient mode, batch 1. Compilation and
 * uploads are before the clock starts. The best scene's loss is checked against the double-precision
 * reference (ERR_WRONG). The losses of one renderer have the same bits each time (spec.reduction: ordered).
 * On error run holds nothing. */
bool fit_train(struct renderer *renderer, const struct render_spec *spec, const float *params,
               const float background[3], const float *target, const struct fit_options *options,
               struct fit_run *out, struct err *err) GB_NODISCARD;

#endif
