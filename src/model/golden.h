/* Golden cases: a folder each, with scene.json, case.json, image.f32, target.f32, grads.f32
 * (little-endian float32, row-major, no header). */
#ifndef GPUBENCH_MODEL_GOLDEN_H
#define GPUBENCH_MODEL_GOLDEN_H

#include <stddef.h>

#include "model/agreement.h"
#include "model/scene.h"

struct golden_case {
    char name[128]; /* the folder's */
    char note[256];
    uint32_t width, height;
    float sigma;
    struct scene scene;
    float *target; /* owned; [H][W][3] */
    double *image; /* owned; [H][W][3] */
    double *grads; /* owned; [T][10] */
    double loss;
    uint64_t tape_bytes;
    struct agreement tolerance;
    bool vertices_summed;
};

/* Reads one folder; every size is checked against the files'. */
bool golden_load(const char *dir, struct golden_case *out, struct err *err) GB_NODISCARD;
void golden_fini(struct golden_case *c); /* accepts NULL and a zeroed case */

/* Names of the case folders in dir (those that hold a case.json), sorted; ERR_CONFIG when there is none. */
bool golden_list(const char *dir, char ***names, size_t *count, struct err *err) GB_NODISCARD;
void golden_list_free(char **names, size_t count);

#endif
