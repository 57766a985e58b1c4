#include "gpu/memory.h"

#include "base/mem.h"
#include "base/units.h"
#include "gpu/pool.h"
#include "shared.h"

bool image_to_host(const struct render_spec *spec)
{
    bool between = spec->mode == MODE_GRADIENT && !spec->upstream && spec->strategy != STRATEGY_FUSED &&
                   (spec->images == IMAGES_ROUNDTRIP || spec->loss == LOSS_HOST);

    return spec->mode == MODE_FORWARD || spec->keep_images || between;
}

bool image_in_memory(const struct render_spec *spec)
{
    return image_to_host(spec) || spec->strategy != STRATEGY_FUSED;
}

bool uses_slots(const struct render_spec *spec)
{
    return spec->mode == MODE_GRADIENT && spec->reduction == REDUCTION_ORDERED;
}

uint64_t whole_slots(const struct render_spec *spec, const struct tile_shape *shape)
{
    return spec->triangles * group_count(shape, spec->width, spec->height);
}

static uint64_t product(uint64_t a, uint64_t b)
{
    uint64_t result;

    return mem_mul(a, b, &result) ? result : UINT64_MAX;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    uint64_t result;

    return mem_add(a, b, &result) ? result : UINT64_MAX;
}

static void count_scene(const struct render_spec *spec, const struct tile_shape *shape, uint64_t slot_capacity,
                        bool shared, struct scene_bytes *out)
{
    const uint64_t t = spec->triangles, image = 12 * (uint64_t)spec->width * spec->height;
    const uint64_t tiles = tile_count(shape, spec->width, spec->height);
    const bool gradient = spec->mode == MODE_GRADIENT;

    *out = (struct scene_bytes){
        .triangles = shape->whole ? 0 : t * sizeof(struct shared_triangle),
        .bounds = shape->whole ? 0 : t * 8,
        .bins = bin_count(shape, spec->width, spec->height) * BIN_WORDS(t) * sizeof(uint32_t),
        .slots = uses_slots(spec) ? product(slot_capacity, SHARED_SLOT * sizeof(float)) : 0,
        .tape = gradient && spec->strategy == STRATEGY_TAPED ? product(image, t) : 0,
        .group_counts = shape->whole ? SHARED_COUNT_STRIDE * sizeof(uint32_t) : 0,
        .loss = gradient && !spec->upstream && spec->loss == LOSS_DEVICE ? tiles * sizeof(float) : 0,
        .image = image_in_memory(spec) && !(shared && image_to_host(spec)) ? image : 0,
    };
    if (!shared) {
        out->in = t * SHARED_STRIDE * sizeof(float) + 3 * sizeof(float);
        out->goal = gradient && spec->call != CALL_RESIDENT ? image : 0;
        out->out = t * SHARED_STRIDE * sizeof(float) + 2 * sizeof(float);
    }
}

static const uint64_t *as_array(const struct scene_bytes *b)
{
    return &b->in;
}
#define SCENE_BUFFERS (sizeof(struct scene_bytes) / sizeof(uint64_t))

/* All of a slice's buffers, as the pool rounds them, and the largest of them. */
static uint64_t slice_bytes(const struct scene_bytes *scene, uint64_t scenes, uint64_t *largest)
{
    uint64_t total = 0;

    *largest = 0;
    for (size_t i = 0; i < SCENE_BUFFERS; i++) {
        uint64_t bytes = product(as_array(scene)[i], scenes);
        if (bytes == 0)
            continue;
        bytes = pool_round(bytes);
        total = sum(total, bytes);
        *largest = bytes > *largest ? bytes : *largest;
    }
    return total;
}

static bool fits(const struct memory_plan *plan, const struct memory_limits *limits, uint64_t scenes)
{
    uint64_t largest, total = slice_bytes(&plan->scene, scenes, &largest);

    return largest <= limits->max_alloc_bytes && plan->resident_bytes <= limits->max_alloc_bytes &&
           sum(total, plan->resident_bytes) <= limits->budget_bytes;
}

static bool refuse(const struct render_spec *spec, const struct memory_plan *plan,
                   const struct memory_limits *limits, struct err *err)
{
    char need[UNITS_MAX], largest[UNITS_MAX], tape[UNITS_MAX], budget[UNITS_MAX], alloc[UNITS_MAX];

    units_bytes(need, plan->footprint.device_bytes);
    units_bytes(largest, plan->footprint.largest_alloc_bytes);
    units_bytes(tape, plan->footprint.tape_bytes);
    units_bytes(budget, limits->budget_bytes);
    units_bytes(alloc, limits->max_alloc_bytes);
    if (plan->scene.tape > 0)
        return err_set(err, ERR_LIMIT,
                       "the tape takes %s, with all buffers %s; the budget is %s, and one allocation at most %s",
                       tape, need, budget, alloc);
    return err_set(err, ERR_LIMIT, "%s needs %s, the largest buffer %s; the budget is %s, and one allocation at most %s",
                   spec->batch > 1 ? "one scene of the batch" : "the scene", need, largest, budget, alloc);
}

bool memory_plan(const struct render_spec *spec, const struct tile_shape *shape, uint64_t slot_capacity,
                 const struct memory_limits *limits, struct memory_plan *out, struct err *err)
{
    const uint64_t image = 12 * (uint64_t)spec->width * spec->height;
    uint64_t scenes = spec->batch > 0 ? spec->batch : 1, low = 0;
    bool fit;

    *out = (struct memory_plan){0};
    count_scene(spec, shape, slot_capacity, limits->shared, &out->scene);
    if (!limits->shared && spec->mode == MODE_GRADIENT && spec->call == CALL_RESIDENT)
        out->resident_bytes = pool_round(product(image, spec->batch));
    scenes = spec->dispatch == DISPATCH_SINGLE ? 1 : scenes;
    scenes = scenes > MAX_SLICE_SCENES ? MAX_SLICE_SCENES : scenes;
    fit = fits(out, limits, scenes);
    if (!fit && out->scene.tape == 0) {
        /* The most scenes that fit: fits() only ever turns from true to false. */
        for (uint64_t high = scenes; high - low > 1;) {
            uint64_t middle = low + (high - low) / 2;
            if (fits(out, limits, middle))
                low = middle;
            else
                high = middle;
        }
        fit = low > 0;
        scenes = fit ? low : 1;
    }
    out->slice_scenes = (uint32_t)scenes;
    out->footprint.budget_bytes = limits->budget_bytes;
    out->footprint.device_bytes =
        sum(slice_bytes(&out->scene, scenes, &out->footprint.largest_alloc_bytes), out->resident_bytes);
    if (out->resident_bytes > out->footprint.largest_alloc_bytes)
        out->footprint.largest_alloc_bytes = out->resident_bytes;
    out->footprint.tape_bytes = product(out->scene.tape, scenes);
    out->footprint.split = fit ? (uint32_t)((spec->batch + scenes - 1) / scenes) : 0;
    if (fit && out->footprint.split == 0)
        out->footprint.split = 1;
    out->footprint.host_bytes = product(spec->batch, sum((uint64_t)spec->triangles * 80 + 28,
                                                         spec->mode == MODE_GRADIENT ? image : 0));
    if (image_to_host(spec))
        out->footprint.host_bytes = sum(out->footprint.host_bytes, product(image, spec->batch));
    return fit || refuse(spec, out, limits, err);
}
