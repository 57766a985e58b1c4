#include "cpu/pack.h"

#include <math.h>

#include "model/oracle.h"
#include "model/scene.h"

/* k <= 1e-6 where d <= -13.82 s. */
#define REACH 13.82f

/* Below this, and with coordinates within 4, a cross product's rounding (at most 3 * 2^-23 * 5 times the
 * longest edge, summed over the three) cannot turn the triangle's orientation. */
#define MIN_ALTITUDE 1e-4f
#define MAX_COORDINATE 4.0f
/* How far rounding can carry a pixel over a line's edge under the same conditions. */
#define LINE_NOISE 4e-6f

static float max3(float a, float b, float c)
{
    return fmaxf(fmaxf(a, b), c);
}

/* Twice the signed area where it is beyond rounding, else 0. */
static float orientation(const struct tile_triangle *tri, const float length2[3])
{
    float area2 = tri->cross_x[0] * tri->cross_y[1] - tri->cross_y[0] * tri->cross_x[1];
    float largest = max3(length2[0], length2[1], length2[2]), coordinate = 0;
    for (int j = 0; j < 3; j++)
        coordinate = max3(coordinate, fabsf(tri->vx[j]), fabsf(tri->vy[j]));
    bool clear = area2 * area2 > MIN_ALTITUDE * MIN_ALTITUDE * largest && coordinate <= MAX_COORDINATE;
    return clear ? area2 : 0;
}

/* Inward normals of the three lines, so that blocks out of reach can be passed over. */
static void pack_lines(struct tile_triangle *tri, const float length2[3], float s)
{
    for (int j = 0; j < 3; j++) {
        float inv = 1 / sqrtf(length2[j]);
        tri->normal_x[j] = -tri->cross_y[j] * inv;
        tri->normal_y[j] = tri->cross_x[j] * inv;
        tri->normal_0[j] = -(tri->normal_x[j] * tri->vx[j] + tri->normal_y[j] * tri->vy[j]);
    }
    tri->reach = REACH * s + LINE_NOISE;
}

static void pack_edges(struct tile_triangle *tri, float length2[3])
{
    for (int j = 0; j < 3; j++) {
        int to = (j + 1) % 3;
        tri->cross_x[j] = tri->vx[to] - tri->vx[j];
        tri->cross_y[j] = tri->vy[to] - tri->vy[j];
        length2[j] = tri->cross_x[j] * tri->cross_x[j] + tri->cross_y[j] * tri->cross_y[j];
        float inv = length2[j] > 1e-20f ? 1 / length2[j] : 0;
        tri->edge_x[j] = j == 2 ? -tri->cross_x[j] : tri->cross_x[j];
        tri->edge_y[j] = j == 2 ? -tri->cross_y[j] : tri->cross_y[j];
        tri->along_x[j] = tri->edge_x[j] * inv;
        tri->along_y[j] = tri->edge_y[j] * inv;
    }
}

static void pack_triangle(struct tile_triangle *tri, const float p[SCENE_STRIDE], float s)
{
    float length2[3];
    for (int j = 0; j < 3; j++) {
        tri->vx[j] = p[2 * j];
        tri->vy[j] = p[2 * j + 1];
        tri->colour[j] = p[6 + j];
    }
    tri->opacity = fminf(p[9], 1);
    float least = 1e-6f / tri->opacity;
    tri->min_z = least / (1 - least);
    tri->flags = tri->opacity >= 1e-4f && tri->opacity <= 0.99f ? 0 : TILE_CAREFUL;
    tri->reach = INFINITY;
    pack_edges(tri, length2);
    float area2 = orientation(tri, length2);
    if (area2 < 0)
        for (int j = 0; j < 3; j++) {
            tri->cross_x[j] = -tri->cross_x[j];
            tri->cross_y[j] = -tri->cross_y[j];
        }
    if (area2 != 0)
        pack_lines(tri, length2, s);
    else
        tri->flags |= TILE_CAREFUL;
}

static uint64_t tiles_across(int32_t from, int32_t to)
{
    return (uint64_t)(to - 1) / TILE_SIZE - (uint64_t)from / TILE_SIZE + 1;
}

uint64_t pack_triangles(const struct pack_geometry *g, const float *params, uint32_t first, uint32_t end,
                        struct tile_triangle *out, const struct pack_bounds *bounds)
{
    uint64_t tiles = 0;
    float s = fmaxf(g->sigma, 1e-8f);
    for (uint32_t i = first; i < end; i++) {
        const float *p = params + (size_t)i * SCENE_STRIDE;
        struct bounds b = bounds_of(p, g->sigma, g->width, g->height);
        if (b.left >= b.right || b.top >= b.bottom || !(p[9] > 0))
            b = (struct bounds){0, 0, 0, 0};
        bounds->left[i] = (float)b.left;
        bounds->right[i] = (float)b.right;
        bounds->top[i] = (float)b.top;
        bounds->bottom[i] = (float)b.bottom;
        if (b.right == 0)
            continue;
        tiles += tiles_across(b.left, b.right) * tiles_across(b.top, b.bottom);
        pack_triangle(&out[i], p, s);
    }
    return tiles;
}
