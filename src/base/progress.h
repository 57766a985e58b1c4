/* Progress on standard error: one redrawn line on a terminal, plain lines elsewhere, nothing when quiet.
 * Text is "[i/n] what, elapsed, remaining left". Prints only through the FILE it was given. */
#ifndef GPUBENCH_BASE_PROGRESS_H
#define GPUBENCH_BASE_PROGRESS_H

#include <stdio.h>
#include <stdint.h>

#include "base/err.h"

struct progress {
    FILE *out;      /* borrowed; NULL: say nothing */
    bool terminal;  /* redraw one line */
    size_t total;
    size_t done;
    uint64_t start_ns;
    size_t drawn_columns; /* of the line on the terminal, to be cleared */
};

void progress_init(struct progress *p, FILE *out, bool quiet, size_t total);
/* Says that item `done` (0-based) of total starts. Remaining time comes from the items so far. */
void progress_step(struct progress *p, size_t done, const char *what);
/* Clears the redrawn line, so that something else can be printed; harmless otherwise. */
void progress_clear(struct progress *p);
void progress_finish(struct progress *p);

#endif
