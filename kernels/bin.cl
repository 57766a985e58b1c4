/* Which triangles meet which part of the image, for scenes of so many that a tile should not look at all of
 * them: a bit mask for each bin of tiles. The order of the bits is the painter's, and no bin can overflow. */
#include "shared.h"

/* bounds: [scenes][T], from setup. bins: [scenes][bins][BIN_WORDS(T)]. A work-item makes a word; those of a group
 * stand in bins side by side and look at the same 32 triangles. Work-groups: (bins / BIN_GROUP, words, scenes). */
kernel __attribute__((reqd_work_group_size(BIN_GROUP, 1, 1))) void
bin(const struct shared_view view, global const uint2 *bounds, global uint *bins)
{
    const uint i = (uint)get_global_id(0), word = (uint)get_global_id(1), words = BIN_WORDS(view.triangles);
    const uint across = BINS_ACROSS(view.tiles_x), w = BIN_TILES * TILE_W, h = BIN_TILES * TILE_H;
    const size_t scene = view.first_scene + get_global_id(2), count = BIN_COUNT(view);
    const uint left = i % across * w, top = i / across * h, first = word * 32u;
    uint bits = 0;
    if (i >= count)
        return;
    bounds += scene * view.triangles + first;
    for (uint k = 0; k < 32u && first + k < view.triangles; ++k) {
        const uint columns = bounds[k].x, rows = bounds[k].y;
        const bool meets = (columns & 0xffffu) < left + w && columns >> 16 > left && (rows & 0xffffu) < top + h &&
                           rows >> 16 > top;
        bits |= meets ? 1u << k : 0u;
    }
    bins[(scene * count + i) * words + word] = bits;
}
