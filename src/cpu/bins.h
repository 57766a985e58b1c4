/* Which triangles meet which squares of tiles, for scenes of so many that a tile should not look at all of
 * them: a bit mask for each square, in painter's order. */
#ifndef GPUBENCH_CPU_BINS_H
#define GPUBENCH_CPU_BINS_H

#include "cpu/pack.h"
#include "model/spec.h"

#define BIN_TILES 4u /* across and down */
#define BIN_WORD 64u /* triangles */

struct bins {
    uint32_t x, y;  /* bins across and down; 0: none, because they would not pay */
    uint32_t words; /* a bin */
    uint64_t *mask; /* [scenes][y][x][words]; owned */
};

uint64_t bins_bytes(const struct render_spec *spec); /* of a scene */
bool bins_init(struct bins *bins, const struct render_spec *spec, struct err *err) GB_NODISCARD;
void bins_fini(struct bins *bins);

/* Writes the words of triangles BIN_WORD * word to `end` of a scene, in all of its bins. */
void bins_pack(const struct bins *bins, uint32_t scene, uint32_t word, uint32_t end,
               const struct pack_bounds *bounds);

/* The mask [words] of the bin of a tile at this column and row; NULL without bins. */
const uint64_t *bins_of_tile(const struct bins *bins, uint32_t scene, uint32_t column, uint32_t row);

#endif
