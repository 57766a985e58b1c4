/* Padded bounds of triangles, and what follows from them alone: pairs and tape sizes. */
#include "model/oracle.h"

#include <float.h>
#include <math.h>

#include "base/mem.h"
#include "model/scene.h"

_Static_assert(FLT_EVAL_METHOD == 0, "bounds must be rounded to float32 one by one (docs/MODEL.md)");

bool verts_usable(const float verts[6])
{
    for (int i = 0; i < 6; i++)
        if (!(fabsf(verts[i]) <= SCENE_MAX_COORD)) /* false for NaN too */
            return false;
    return true;
}

static float clamp_float(float v, float lo, float hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* One axis of the bounds; a, b, c are the vertices' coordinates along it, size the pixels. The clamps to
 * [0, size] before the conversion keep it defined and change nothing in which pixels are inside. */
static void bounds_along(float a, float b, float c, float pad, uint32_t size, int32_t *from, int32_t *to)
{
    float n = (float)size;
    float low = floorf((fminf(fminf(a, b), c) - pad) * n);
    float high = ceilf((fmaxf(fmaxf(a, b), c) + pad) * n);

    *from = (int32_t)clamp_float(low, 0.0f, n);
    int32_t end = (int32_t)clamp_float(high, 0.0f, n) + 1;
    *to = end < (int32_t)size ? end : (int32_t)size;
}

struct bounds bounds_of(const float v[6], float sigma, uint32_t width, uint32_t height)
{
    struct bounds b = {0, 0, 0, 0};
    float pad = 6.0f * sigma;

    if (!verts_usable(v))
        return b;
    bounds_along(v[0], v[2], v[4], pad, width, &b.left, &b.right);
    bounds_along(v[1], v[3], v[5], pad, height, &b.top, &b.bottom);
    if (b.left >= b.right || b.top >= b.bottom)
        b = (struct bounds){0, 0, 0, 0};
    return b;
}

static uint64_t bounds_area(const struct bounds *b)
{
    return (uint64_t)(b->right - b->left) * (uint64_t)(b->bottom - b->top);
}

uint64_t oracle_pairs_in_bounds(const float *params, uint32_t triangles, float sigma, uint32_t width,
                                uint32_t height)
{
    uint64_t pairs = 0; /* at most 2^20 triangles of 2^30 pixels */

    for (uint32_t t = 0; t < triangles; t++) {
        struct bounds b = bounds_of(params + (size_t)t * SCENE_STRIDE, sigma, width, height);
        pairs += bounds_area(&b);
    }
    return pairs;
}

uint64_t oracle_tape_touched_bytes(const float *params, uint32_t triangles, float sigma, uint32_t width,
                                   uint32_t height)
{
    uint64_t pixels = 0;

    for (uint32_t t = 0; t < triangles; t++) {
        const float *p = params + (size_t)t * SCENE_STRIDE;
        struct bounds b = bounds_of(p, sigma, width, height);
        if (p[9] > 0.0f)
            pixels += bounds_area(&b);
    }
    return pixels * 3 * sizeof(float);
}

uint64_t oracle_tape_dense_bytes(uint32_t batch, uint32_t triangles, uint32_t width, uint32_t height)
{
    uint64_t bytes = 3 * sizeof(float);
    const uint32_t factors[] = {batch, triangles, width, height};

    for (size_t i = 0; i < 4; i++)
        if (factors[i] == 0)
            return 0;
    for (size_t i = 0; i < 4; i++)
        if (!mem_mul(bytes, factors[i], &bytes))
            return UINT64_MAX;
    return bytes;
}
