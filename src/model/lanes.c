#include "model/lanes.h"

#include <stdlib.h>

#include "base/mem.h"
#include "model/oracle.h"
#include "model/rng.h"
#include "model/scene.h"

const char *lane_layout_name(enum lane_layout layout)
{
    static const char *const names[LANE_LAYOUTS] = {"rows", "8x4 blocks", "8x8 tiles", "Morton", "shuffled"};

    return names[layout];
}

/* ---- orders ---- */

/* Every other bit of a Morton code, from bit `first` on. */
static uint32_t unzip(uint64_t code, unsigned first)
{
    uint32_t value = 0;

    for (unsigned bit = 0; bit < 32; bit++)
        value |= (uint32_t)(code >> (2 * bit + first) & 1) << bit;
    return value;
}

/* Blocks row by row, each block's pixels row by row; what hangs over the edge is idle. */
static void fill_blocks(struct lane_order *out, uint32_t width, uint32_t height, uint32_t block_w,
                        uint32_t block_h)
{
    size_t lane = 0;

    for (uint32_t top = 0; top < height; top += block_h)
        for (uint32_t left = 0; left < width; left += block_w)
            for (uint32_t i = 0; i < block_w * block_h; i++) {
                uint32_t x = left + i % block_w, y = top + i / block_w;
                out->pixels[lane++] = x < width && y < height ? y * width + x : LANES_IDLE;
            }
}

static void fill_morton(struct lane_order *out, uint32_t width, uint32_t height)
{
    size_t lane = 0, pixels = (size_t)width * height;

    for (uint64_t code = 0; lane < pixels; code++) {
        uint32_t x = unzip(code, 0), y = unzip(code, 1);
        if (x < width && y < height)
            out->pixels[lane++] = y * width + x;
    }
}

static void shuffle(uint32_t *pixels, size_t count, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, 0);
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)(rng_next(&rng) % i);
        uint32_t swap = pixels[i - 1];
        pixels[i - 1] = pixels[other];
        pixels[other] = swap;
    }
}

static uint64_t lanes_of(enum lane_layout layout, uint32_t width, uint32_t height)
{
    uint64_t block_h = layout == LANES_8X4 ? 4 : 8, pixels = (uint64_t)width * height;

    if (layout == LANES_8X4 || layout == LANES_8X8)
        pixels = (width + 7ull) / 8 * 8 * ((height + block_h - 1) / block_h * block_h);
    return (pixels + LANES_MAX_GROUP - 1) / LANES_MAX_GROUP * LANES_MAX_GROUP;
}

bool lane_order_init(enum lane_layout layout, uint32_t width, uint32_t height, uint64_t seed,
                     struct lane_order *out, struct err *err)
{
    size_t pixels = (size_t)width * height;

    *out = (struct lane_order){.count = (size_t)lanes_of(layout, width, height)};
    out->pixels = mem_calloc(out->count, sizeof(*out->pixels), "the order of lanes", err);
    if (!out->pixels)
        return false;
    for (size_t i = 0; i < out->count; i++)
        out->pixels[i] = i < pixels ? (uint32_t)i : LANES_IDLE;
    if (layout == LANES_8X4 || layout == LANES_8X8) {
        for (size_t i = 0; i < pixels; i++)
            out->pixels[i] = LANES_IDLE;
        fill_blocks(out, width, height, 8, layout == LANES_8X4 ? 4 : 8);
    } else if (layout == LANES_MORTON) {
        fill_morton(out, width, height);
    } else if (layout == LANES_SHUFFLED) {
        shuffle(out->pixels, pixels, seed);
    }
    return true;
}

void lane_order_fini(struct lane_order *order)
{
    free(order->pixels);
    *order = (struct lane_order){0};
}

/* ---- occupancy ---- */

struct occupancy lanes_occupancy(const uint32_t *steps, const struct lane_order *order, uint32_t group,
                                 uint32_t cap)
{
    struct occupancy o = {0, 0};

    for (size_t start = 0; start < order->count; start += group) {
        uint32_t most = 0;
        for (size_t i = start; i < start + group && i < order->count; i++) {
            uint32_t n = order->pixels[i] == LANES_IDLE ? 0 : steps[order->pixels[i]];
            n = cap && n > cap ? cap : n;
            o.used += n;
            most = n > most ? n : most;
        }
        o.held += (uint64_t)most * group;
    }
    return o;
}

double occupancy_full(const struct occupancy *o)
{
    return o->held ? (double)o->used / (double)o->held : 1;
}

/* ---- lists ---- */

void pixel_lists_fini(struct pixel_lists *lists)
{
    free(lists->first);
    free(lists->list);
    *lists = (struct pixel_lists){0};
}

bool pixel_lists_init(const float *params, uint32_t triangles, float sigma, uint32_t width, uint32_t height,
                      struct pixel_lists *out, struct err *err)
{
    size_t pixels = (size_t)width * height;
    uint64_t total = oracle_pairs_in_bounds(params, triangles, sigma, width, height);
    uint32_t *next = NULL;

    *out = (struct pixel_lists){0};
    if (total >= UINT32_MAX)
        return err_set(err, ERR_LIMIT,
                       "%u triangles on %ux%u have more than 2^32 pairs of pixel and triangle",
                       (unsigned)triangles, (unsigned)width, (unsigned)height);
    out->first = mem_calloc(pixels + 1, sizeof(*out->first), "lists of triangles", err);
    out->list = mem_calloc(total, sizeof(*out->list), "lists of triangles", err);
    next = mem_calloc(pixels, sizeof(*next), "lists of triangles", err);
    if (!out->first || !out->list || !next) {
        free(next);
        pixel_lists_fini(out);
        return false;
    }
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t t = 0; t < triangles; t++) {
            struct bounds b = bounds_of(params + (size_t)t * SCENE_STRIDE, sigma, width, height);
            for (int32_t y = b.top; b.left < b.right && y < b.bottom; y++)
                for (int32_t x = b.left; x < b.right; x++) {
                    size_t p = (size_t)y * width + (size_t)x;
                    if (fill)
                        out->list[next[p]++] = t;
                    else
                        out->first[p + 1]++;
                }
        }
        for (size_t p = 0; !fill && p < pixels; p++) {
            next[p] = out->first[p];
            out->first[p + 1] += out->first[p];
        }
    }
    free(next);
    return true;
}

bool pixel_lists_even(const struct pixel_lists *lists, size_t pixels, struct pixel_lists *out, struct err *err)
{
    const uint32_t length = pixels ? (uint32_t)((lists->first[pixels] + pixels - 1) / pixels) : 0;

    *out = (struct pixel_lists){0};
    if ((uint64_t)length * pixels >= UINT32_MAX)
        return err_set(err, ERR_LIMIT, "even lists have more than 2^32 pairs of pixel and triangle");
    out->first = mem_calloc(pixels + 1, sizeof(*out->first), "lists of triangles", err);
    out->list = mem_calloc((uint64_t)length * pixels, sizeof(*out->list), "lists of triangles", err);
    if (!out->first || !out->list) {
        pixel_lists_fini(out);
        return false;
    }
    for (size_t p = 0; p < pixels; p++) {
        const uint32_t count = lists->first[p + 1] - lists->first[p], at = out->first[p];
        for (uint32_t i = 0; count && i < length; i++)
            out->list[at + i] = lists->list[lists->first[p] + i % count];
        out->first[p + 1] = at + (count ? length : 0);
    }
    return true;
}
