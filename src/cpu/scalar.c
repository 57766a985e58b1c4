#include "cpu/scalar.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "model/oracle.h"

#define MIN_WEIGHT 1e-6f

/* What a triangle's pixels share. Edge j runs from vertex j to vertex (j+1)%3. */
struct triangle {
    float vx[3], vy[3];
    float ex[3], ey[3];
    float inv_length2[3]; /* 0 where the edge is a point: t is 0 there */
    float opacity;        /* alpha clamped to [0,1] */
    float inv_s;
};

/* A pixel and a triangle. */
struct coverage {
    float k, w;
    float t;      /* where on the nearest edge the closest point is */
    float dx, dy; /* from the closest point to the pixel */
    int edge;
    bool inside;
};

static void triangle_init(struct triangle *tri, const float p[SCENE_STRIDE], float sigma)
{
    for (int j = 0; j < 3; j++) {
        tri->vx[j] = p[2 * j];
        tri->vy[j] = p[2 * j + 1];
    }
    for (int j = 0; j < 3; j++) {
        tri->ex[j] = tri->vx[(j + 1) % 3] - tri->vx[j];
        tri->ey[j] = tri->vy[(j + 1) % 3] - tri->vy[j];
        float length2 = tri->ex[j] * tri->ex[j] + tri->ey[j] * tri->ey[j];
        tri->inv_length2[j] = length2 > 1e-20f ? 1 / length2 : 0;
    }
    tri->opacity = fminf(fmaxf(p[9], 0), 1);
    tri->inv_s = 1 / fmaxf(sigma, 1e-8f);
}

/* docs/MODEL.md, Forward 2 and 3. False where the triangle leaves the pixel alone. */
static inline bool cover(const struct triangle *tri, float px, float py, struct coverage *c)
{
    float best = INFINITY;
    *c = (struct coverage){0};
    bool all_positive = true, all_negative = true;
    for (int j = 0; j < 3; j++) {
        float rx = px - tri->vx[j], ry = py - tri->vy[j];
        float cross = tri->ex[j] * ry - tri->ey[j] * rx;
        all_positive = all_positive && cross >= 0;
        all_negative = all_negative && cross <= 0;
        float t = (rx * tri->ex[j] + ry * tri->ey[j]) * tri->inv_length2[j];
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        float dx = rx - t * tri->ex[j], dy = ry - t * tri->ey[j];
        float d2 = dx * dx + dy * dy;
        if (d2 < best) {
            best = d2;
            c->t = t;
            c->dx = dx;
            c->dy = dy;
            c->edge = j;
        }
    }
    c->inside = all_positive || all_negative;
    float distance = sqrtf(best);
    float z = expf(-distance * tri->inv_s); /* of the distance's absolute value: never overflows */
    c->k = c->inside ? 1 / (1 + z) : z / (1 + z);
    c->w = tri->opacity * c->k;
    return c->w > MIN_WEIGHT;
}

/* False where the triangle touches nothing: not on the canvas, or not opaque at all. */
static bool touched(const struct cpu_scene *scene, const float *p, struct bounds *b)
{
    *b = bounds_of(p, scene->sigma, scene->width, scene->height);
    return b->left < b->right && b->top < b->bottom && p[9] > 0;
}

void scalar_forward(const struct cpu_scene *scene, float *canvas, float *tape)
{
    size_t pixels = (size_t)scene->width * scene->height;
    for (size_t i = 0; i < pixels; i++)
        memcpy(canvas + 3 * i, scene->background, 3 * sizeof *canvas);

    for (uint32_t i = 0; i < scene->triangles; i++) {
        const float *p = scene->params + (size_t)i * SCENE_STRIDE;
        struct triangle tri;
        struct bounds b;
        if (!touched(scene, p, &b))
            continue;
        triangle_init(&tri, p, scene->sigma);
        for (int32_t y = b.top; y < b.bottom; y++) {
            float py = ((float)y + 0.5f) / (float)scene->height;
            float *row = canvas + ((size_t)y * scene->width + (size_t)b.left) * 3;
            if (tape != NULL) {
                size_t row_floats = (size_t)(b.right - b.left) * 3;
                memcpy(tape, row, row_floats * sizeof *row);
                tape += row_floats;
            }
            for (int32_t x = b.left; x < b.right; x++, row += 3) {
                float px = ((float)x + 0.5f) / (float)scene->width;
                struct coverage c;
                if (!cover(&tri, px, py, &c))
                    continue;
                for (int ch = 0; ch < 3; ch++)
                    row[ch] = c.w * p[6 + ch] + (1 - c.w) * row[ch];
            }
        }
    }
}

double scalar_loss(const struct cpu_scene *scene, const float *canvas, float *adjoint)
{
    size_t values = (size_t)scene->width * scene->height * 3;
    float scale = (float)(2.0 / (double)values);
    double sum = 0;
    for (size_t i = 0; i < values; i++) {
        float diff = canvas[i] - scene->target[i];
        sum += (double)diff * (double)diff;
        adjoint[i] = scale * diff;
    }
    return sum / (double)values;
}

/* Adds one pixel's share to the sums of its triangle, and takes the triangle's weight out of the adjoint:
 * what reaches the layers below is what this one lets through. */
static inline void backward_pixel(const struct triangle *tri, const float colour[3], const struct coverage *c,
                                  const float below[3], float adjoint[3], double sum[SCENE_STRIDE])
{
    float dw = 0;
    for (int ch = 0; ch < 3; ch++) {
        dw += adjoint[ch] * (colour[ch] - below[ch]);
        sum[6 + ch] += (double)(c->w * adjoint[ch]);
        adjoint[ch] *= 1 - c->w;
    }
    sum[9] += (double)(dw * c->k);
    int from = c->edge, to = (c->edge + 1) % 3;
    float dx = c->dx, dy = c->dy;
    if (c->t > 0 && c->t < 1) { /* at a right angle to the edge, but for rounding, which counts close to it */
        float turn = (dx * tri->ex[from] + dy * tri->ey[from]) * tri->inv_length2[from];
        dx -= turn * tri->ex[from];
        dy -= turn * tri->ey[from];
    }
    float distance = sqrtf(dx * dx + dy * dy);
    if (distance < 1e-7f)
        return;
    float dd = dw * tri->opacity * c->k * (1 - c->k) * tri->inv_s;
    float along = (c->inside ? -dd : dd) / distance;
    float gx = along * dx, gy = along * dy;
    sum[2 * from] += (double)((1 - c->t) * gx);
    sum[2 * from + 1] += (double)((1 - c->t) * gy);
    sum[2 * to] += (double)(c->t * gx);
    sum[2 * to + 1] += (double)(c->t * gy);
}

static size_t tape_floats(const struct bounds *b)
{
    return (size_t)(b->right - b->left) * (size_t)(b->bottom - b->top) * 3;
}

void scalar_backward(const struct cpu_scene *scene, const float *tape, float *adjoint)
{
    struct bounds b;
    for (uint32_t i = 0; i < scene->triangles; i++)
        if (touched(scene, scene->params + (size_t)i * SCENE_STRIDE, &b))
            tape += tape_floats(&b);

    for (uint32_t i = scene->triangles; i-- > 0;) {
        const float *p = scene->params + (size_t)i * SCENE_STRIDE;
        float *grads = scene->grads + (size_t)i * SCENE_STRIDE;
        double sum[SCENE_STRIDE] = {0};
        struct triangle tri;
        if (touched(scene, p, &b)) {
            tape -= tape_floats(&b);
            const float *below = tape;
            triangle_init(&tri, p, scene->sigma);
            for (int32_t y = b.top; y < b.bottom; y++) {
                float py = ((float)y + 0.5f) / (float)scene->height;
                float *row = adjoint + ((size_t)y * scene->width + (size_t)b.left) * 3;
                for (int32_t x = b.left; x < b.right; x++, row += 3, below += 3) {
                    float px = ((float)x + 0.5f) / (float)scene->width;
                    struct coverage c;
                    if (cover(&tri, px, py, &c))
                        backward_pixel(&tri, p + 6, &c, below, row, sum);
                }
            }
        }
        /* Outside (0,1) the clamp is flat. */
        if (!(p[9] > 0 && p[9] < 1))
            sum[9] = 0;
        for (int j = 0; j < SCENE_STRIDE; j++)
            grads[j] = (float)sum[j];
    }
}
