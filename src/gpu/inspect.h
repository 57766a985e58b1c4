/* What building a program takes, and what its kernels take of a device. */
#ifndef GPUBENCH_GPU_INSPECT_H
#define GPUBENCH_GPU_INSPECT_H

#include <stdint.h>

#include "gpu/variants.h"

/* Figures of UINT64_MAX are not told by the driver. */
struct kernel_facts {
    char name[32];
    uint64_t private_bytes, local_bytes, multiple, max_group;
    uint64_t registers, spill_bytes; /* from the build log */
    char arguments[512];             /* "view: private struct shared_view; in: global float*; ..." */
};

#define INSPECT_KERNELS 4
struct program_facts {
    uint64_t cold_ns;   /* program build, of a text that no cache has seen */
    uint64_t cached_ns; /* the same once more */
    uint64_t create_ns; /* creating its kernels after the cold build: some drivers compile here */
    size_t kernel_count;
    struct kernel_facts kernels[INSPECT_KERNELS];
};

/* Builds a variant twice with a macro of `salt` in it, creates its kernels, checks their arguments
 * (gpu/arguments.h). ERR_BUILD: err->log has the compiler's output. ERR_WRONG: arguments; out is filled all
 * the same. */
bool inspect_program(struct renderer *renderer, const struct program_variant *variant, uint64_t salt,
                     struct program_facts *out, struct err *err) GB_NODISCARD;

/* Builds all variants at the same time, a thread each, with another salt; *wall_ns is what that took. */
bool inspect_at_once(struct renderer *renderer, const struct program_variant *variants, size_t count,
                     uint64_t salt, uint64_t *wall_ns, struct err *err) GB_NODISCARD;

#endif
