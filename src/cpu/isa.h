/* The instruction-set paths of the fast variant: one object file and one table entry each. */
#ifndef GPUBENCH_CPU_ISA_H
#define GPUBENCH_CPU_ISA_H

#include "base/err.h"
#include "cpu/tile.h"

struct isa {
    const char *name;
    uint32_t lanes; /* floats a vector */
    /* Finds the triangles that may touch a tile, in order, into scratch->list, ->blocks and ->count. */
    void (*scan)(const struct tile *tile, struct tile_scratch *scratch);
    /* Forward over scratch's list; writes tile->image where there is one. */
    void (*forward)(const struct tile *tile, struct tile_scratch *scratch);
    /* Forward, loss and backward over scratch's list. sums[i] receives the sums of list entry i over the
     * tile's pixels. Returns the sum of squared differences; 0 with upstream gradients. */
    double (*gradient)(const struct tile *tile, struct tile_scratch *scratch, struct tile_sums *sums);
    /* What this path can do at most: ISA_CHAINS vectors a round, through a multiply-add or the exponential. The
     * result is of no use, but keeps the loop. */
    float (*fma_rounds)(uint32_t rounds);
    float (*exp_rounds)(uint32_t rounds);
};

#define ISA_CHAINS 12u

extern const struct isa isa_portable;
#if defined(__x86_64__)
extern const struct isa isa_avx2, isa_avx512;
#endif

/* The named path, or the widest that runs here where name is NULL. NULL on error. */
const struct isa *isa_choose(const char *name, struct err *err) GB_NODISCARD;

#endif
