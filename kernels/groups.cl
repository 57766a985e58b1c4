/* Two loops whose lanes need different numbers of steps, with the lanes laid out as the host says: what lock-step
 * groups cost is measured on them. order: the pixel (or ray) of each lane, IDLE for none. The second dimension repeats
 * the work, each time into an output of its own. No lane waits for another. */
#pragma OPENCL FP_CONTRACT OFF

#define IDLE 0xffffffffu
#define STRIDE 10u /* floats a triangle */
#define MIN_WEIGHT 1e-6f

/* MODEL.md, Forward 2 and 3, as written. */
static float weight_of(global const float *t, float2 p, float softness)
{
    float nearest = 1e30f, low = 1e30f, high = -1e30f;
    float opacity = clamp(t[9], 0.0f, 1.0f);
    for (uint k = 0; k < 3; ++k) {
        uint next = (k + 1u) % 3u;
        float2 start = (float2)(t[2 * k], t[2 * k + 1]);
        float2 edge = (float2)(t[2 * next], t[2 * next + 1]) - start, to = p - start;
        float square = edge.x * edge.x + edge.y * edge.y;
        float at = square > 1e-20f ? clamp((to.x * edge.x + to.y * edge.y) / square, 0.0f, 1.0f) : 0.0f;
        float2 away = to - at * edge;
        float cross_product = edge.x * to.y - edge.y * to.x;
        nearest = fmin(nearest, away.x * away.x + away.y * away.y);
        low = fmin(low, cross_product);
        high = fmax(high, cross_product);
    }
    float distance = sqrt(nearest);
    if (!(low >= 0.0f || high <= 0.0f))
        distance = -distance;
    return opacity / (1.0f + exp(-distance / softness));
}

/* Composites the triangles of each pixel's own list. params: [T][10]; image: [repeats][height][width][3]. */
kernel void walk_lists(global const uint *order, global const uint *first, global const uint *list,
                       global const float *params, global float *image, uint width, uint height, float softness,
                       float4 background)
{
    uint pixel = order[get_global_id(0)];
    if (pixel == IDLE)
        return;
    float2 p = (float2)(((float)(pixel % width) + 0.5f) / (float)width, ((float)(pixel / width) + 0.5f) / (float)height);
    float4 colour = background;
    uint end = first[pixel + 1u];
    for (uint i = first[pixel]; i < end; ++i) {
        global const float *t = params + (size_t)list[i] * STRIDE;
        float w = weight_of(t, p, softness);
        if (w > MIN_WEIGHT)
            colour = w * (float4)(t[6], t[7], t[8], 0.0f) + (1.0f - w) * colour;
    }
    global float *out = image + (get_global_id(1) * width * height + pixel) * 3u;
    out[0] = colour.x;
    out[1] = colour.y;
    out[2] = colour.z;
}

/* Marches rays from the origin and counts their steps. circles: [counts.y][3], x, y, radius; limits: how near is a hit,
 * x of the wall, how far is too far; counts.x: the most steps; steps: [repeats][counts.z rays]. */
kernel void march_rays(global const uint *order, global const float *directions, global const float *circles,
                       global uint *steps, float4 limits, uint4 counts)
{
    uint ray = order[get_global_id(0)];
    if (ray == IDLE)
        return;
    float x = directions[2u * ray], y = directions[2u * ray + 1u], along = 0.0f;
    uint n = 0;
    while (n < counts.x && along <= limits.z) {
        float px = along * x, py = along * y, nearest = limits.y - px;
        for (uint c = 0; c < counts.y; ++c) {
            float dx = px - circles[3u * c], dy = py - circles[3u * c + 1u];
            nearest = fmin(nearest, sqrt(dx * dx + dy * dy) - circles[3u * c + 2u]);
        }
        ++n;
        if (nearest < limits.x)
            break;
        along += nearest;
    }
    steps[get_global_id(1) * counts.z + ray] = n;
}
