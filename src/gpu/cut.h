/* How a launch is cut into submissions that each take less than a limit, along rows of tiles and scenes. The
 * device's times come in, so that tests need no device. */
#ifndef GPUBENCH_GPU_CUT_H
#define GPUBENCH_GPU_CUT_H

#include <stdbool.h>
#include <stdint.h>

/* A submission: whole scenes, or some rows of one. */
struct cut_piece {
    uint32_t first_scene, scenes;
    uint32_t first_row, rows;
};

/* Of one kernel of a job, from launch to launch. Zeroed: nothing is known of it. */
struct cut {
    uint32_t scenes, rows;        /* of the launch */
    uint64_t at;                  /* rows of all scenes that have been submitted */
    uint64_t last;                /* rows of the latest submission */
    double slowest_ns, before_ns; /* a row, of the slowest submission: of this launch, of the one before */
};

/* Begins a launch. */
void cut_begin(struct cut *cut, uint32_t scenes, uint32_t rows);
/* The next submission; false when there is none left. The slowest row so far, in this launch and the one
 * before, decides how many rows go into the limit; a kernel that nothing is known of begins with one. */
bool cut_next(struct cut *cut, uint64_t limit_ns, struct cut_piece *piece);
/* How long the submission that cut_next gave took. */
void cut_took(struct cut *cut, uint64_t ns);

#endif
