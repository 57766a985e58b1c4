/* Every program that a renderer can be asked for: each kernel file with each set of macros that some spec
 * leads to. Enumerated from the table of spec keys, so that a new value of a key brings its programs along.
 */
#ifndef GPUBENCH_GPU_VARIANTS_H
#define GPUBENCH_GPU_VARIANTS_H

#include <stddef.h>

#include "model/renderer.h"

struct program_variant {
    const char *file;        /* "tile.cl"; lives as long as the program */
    char *defines;           /* owned; the macros, each with a space in front */
    char label[64];          /* "forward backward fused ordered"; "" where nothing varies */
    bool has_call;           /* calls of `spec` use it; else the program's own commands run it */
    struct render_spec spec; /* size, triangles, batch and sigma are spec_init's */
};

/* *out is released with variants_free. workgroups: with each size of work-group that can be had, too, not
 * only the renderer's own choice. */
bool variants_list(const struct renderer *renderer, bool workgroups, struct program_variant **out,
                   size_t *count, struct err *err) GB_NODISCARD;
/* Releases those behind the first `kept`. */
void variants_drop(struct program_variant *variants, size_t *count, size_t kept);
void variants_free(struct program_variant *variants, size_t count); /* accepts NULL */

#endif
