#include "cpu/bins.h"

#include <stdlib.h>

#include "base/mem.h"

#define BIN_SIZE (BIN_TILES * TILE_SIZE)

static uint32_t parts_of(uint32_t whole, uint32_t part)
{
    return (whole + part - 1) / part;
}

static void layout(const struct render_spec *spec, struct bins *bins)
{
    *bins = (struct bins){0};
    if (spec->triangles < SPEC_MANY_TRIANGLES || (spec->width <= BIN_SIZE && spec->height <= BIN_SIZE))
        return;
    bins->x = parts_of(spec->width, BIN_SIZE);
    bins->y = parts_of(spec->height, BIN_SIZE);
    bins->words = parts_of(spec->triangles, BIN_WORD);
}

/* At most 2^18 bins of 2^14 words. */
static uint64_t words_of(const struct bins *bins)
{
    return (uint64_t)bins->x * bins->y * bins->words;
}

uint64_t bins_bytes(const struct render_spec *spec)
{
    struct bins bins;

    layout(spec, &bins);
    return words_of(&bins) * sizeof(uint64_t);
}

bool bins_init(struct bins *bins, const struct render_spec *spec, struct err *err)
{
    uint64_t words;

    layout(spec, bins);
    if (bins->x == 0)
        return true;
    if (!mem_mul(words_of(bins), spec->batch, &words))
        words = UINT64_MAX;
    bins->mask = mem_alloc_aligned(words, sizeof *bins->mask, "bins of tiles", err);
    return bins->mask != NULL;
}

void bins_fini(struct bins *bins)
{
    free(bins->mask);
    *bins = (struct bins){0};
}

void bins_pack(const struct bins *bins, uint32_t scene, uint32_t word, uint32_t end,
               const struct pack_bounds *bounds)
{
    const uint32_t count = bins->x * bins->y, first = word * BIN_WORD;
    uint64_t *mask = bins->mask + scene * words_of(bins) + word;

    for (uint32_t bin = 0; bin < count; bin++)
        mask[(uint64_t)bin * bins->words] = 0;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t left = (uint32_t)bounds->left[i], right = (uint32_t)bounds->right[i];
        const uint32_t top = (uint32_t)bounds->top[i], bottom = (uint32_t)bounds->bottom[i];
        for (uint32_t y = top / BIN_SIZE; y * BIN_SIZE < bottom; y++)
            for (uint32_t x = left / BIN_SIZE; x * BIN_SIZE < right; x++)
                mask[(uint64_t)(y * bins->x + x) * bins->words] |= (uint64_t)1 << (i - first);
    }
}

const uint64_t *bins_of_tile(const struct bins *bins, uint32_t scene, uint32_t column, uint32_t row)
{
    if (bins->x == 0)
        return NULL;
    return bins->mask + scene * words_of(bins) +
           (uint64_t)(row / BIN_TILES * bins->x + column / BIN_TILES) * bins->words;
}
