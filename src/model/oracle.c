#include "model/oracle.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/scene.h"

#define WEIGHT_CUT 1e-6     /* docs/MODEL.md, Forward 3 */
#define MIN_DELTA 1e-7      /* Backward: nearer to an edge, u is rounding noise */
#define MIN_LENGTH_SQ 1e-20 /* Forward 2: a shorter edge is a point */
#define MIN_SOFTNESS 1e-8   /* Scene: s = max(sigma, 1e-8) */

_Static_assert(FLT_EVAL_METHOD == 0, "cross products must be rounded to float32 one by one (docs/MODEL.md)");

/* Where a pixel stands to a triangle's outline. */
struct nearest {
    double distance; /* to the nearest edge, positive inside */
    double t;        /* of the nearest point along that edge, 0 at its first vertex */
    double away[2];  /* p minus the nearest point */
    int edge;        /* 0: v0 v1, 1: v1 v2, 2: v2 v0 */
};

/* Which side of the line through e and f: two rounded products and one rounded subtraction (docs/MODEL.md,
 * Forward 2): exact zeros decide which pixels of a degenerate triangle are inside. */
static float cross(const float e[2], const float f[2], const float p[2])
{
    float a = (f[0] - e[0]) * (p[1] - e[1]);
    float b = (f[1] - e[1]) * (p[0] - e[0]);

    return a - b;
}

static double dot2(const double a[2], const double b[2])
{
    return a[0] * b[0] + a[1] * b[1];
}

static struct nearest nearest_of(const float v[6], const float p[2])
{
    struct nearest best = {.distance = INFINITY};
    bool all_positive = true, all_negative = true;

    for (int edge = 0; edge < 3; edge++) {
        const float *e = v + 2 * edge;
        const float *f = v + 2 * ((edge + 1) % 3);
        const double along[2] = {(double)f[0] - (double)e[0], (double)f[1] - (double)e[1]};
        const double to_p[2] = {(double)p[0] - (double)e[0], (double)p[1] - (double)e[1]};
        double length_sq = dot2(along, along);
        double t = length_sq <= MIN_LENGTH_SQ ? 0.0 : fmin(fmax(dot2(to_p, along) / length_sq, 0.0), 1.0);
        const double away[2] = {to_p[0] - t * along[0], to_p[1] - t * along[1]};
        double distance_sq = dot2(away, away);
        float side = cross(e, f, p);

        all_positive = all_positive && side >= 0.0f;
        all_negative = all_negative && side <= 0.0f;
        if (distance_sq < best.distance) /* a tie keeps the earlier edge */
            best = (struct nearest){distance_sq, t, {away[0], away[1]}, edge};
    }
    best.distance = sqrt(best.distance);
    if (!all_positive && !all_negative)
        best.distance = -best.distance;
    return best;
}

/* 1/(1+exp(-x)) without overflow. */
static double logistic(double x)
{
    if (x >= 0.0)
        return 1.0 / (1.0 + exp(-x));
    double e = exp(x);
    return e / (1.0 + e);
}

/* A triangle that covers the pixel at hand, as the forward pass left it. */
struct layer {
    uint32_t triangle;
    struct nearest nearest;
    double coverage, opacity, weight;
    double below[3]; /* the canvas under it: the tape */
};

static bool bounds_hold_row(const struct bounds *b, uint32_t y)
{
    return (int64_t)y >= b->top && (int64_t)y < b->bottom;
}

static bool bounds_hold(const struct bounds *b, uint32_t x, uint32_t y)
{
    return bounds_hold_row(b, y) && (int64_t)x >= b->left && (int64_t)x < b->right;
}

struct work {
    const struct oracle_input *in;
    struct oracle_output *out;
    double softness;
    struct bounds *bounds; /* [triangles] */
    struct layer *layers;
    size_t layer_capacity;
    double loss_sum;
};

/* Composites the listed triangles over the background into canvas[3]; returns how many layers were kept. */
static size_t composite(const struct work *work, uint32_t x, uint32_t y, const uint32_t *list, size_t count,
                        double canvas[3])
{
    const struct oracle_input *in = work->in;
    const float p[2] = {((float)x + 0.5f) / (float)in->width, ((float)y + 0.5f) / (float)in->height};
    size_t kept = 0;

    for (int c = 0; c < 3; c++)
        canvas[c] = (double)in->background[c];
    for (size_t i = 0; i < count; i++) {
        const float *params = in->params + (size_t)list[i] * SCENE_STRIDE;
        double opacity = fmin(fmax((double)params[9], 0.0), 1.0);
        if (opacity <= 0.0)
            continue;
        struct nearest nearest = nearest_of(params, p);
        double coverage = logistic(nearest.distance / work->softness);
        double weight = opacity * coverage;
        if (weight <= WEIGHT_CUT)
            continue;
        work->layers[kept++] =
            (struct layer){list[i], nearest, coverage, opacity, weight, {canvas[0], canvas[1], canvas[2]}};
        for (int c = 0; c < 3; c++)
            canvas[c] = weight * (double)params[6 + c] + (1.0 - weight) * canvas[c];
    }
    return kept;
}

/* dL/dd spread over the two vertices of the nearest edge. */
static void add_position_gradient(const struct layer *layer, double dd, double *grads)
{
    const struct nearest *n = &layer->nearest;
    double delta = fabs(n->distance);
    double sign = n->distance < 0.0 ? -1.0 : 1.0;

    if (delta < MIN_DELTA)
        return;
    for (int axis = 0; axis < 2; axis++) {
        double pull = -sign * dd * n->away[axis] / delta;
        grads[2 * n->edge + axis] += (1.0 - n->t) * pull;
        grads[2 * ((n->edge + 1) % 3) + axis] += n->t * pull;
    }
}

/* The chain rule from the front layer to the back one, with the canvas below each taken from the tape. */
static void backward(const struct work *work, size_t count, const double g[3])
{
    double transmittance = 1.0; /* of the layers in front */

    for (size_t i = count; i-- > 0;) {
        const struct layer *layer = &work->layers[i];
        const float *params = work->in->params + (size_t)layer->triangle * SCENE_STRIDE;
        double *out = work->out->grads + (size_t)layer->triangle * SCENE_STRIDE;
        double dw = 0.0;

        for (int c = 0; c < 3; c++) {
            out[6 + c] += transmittance * layer->weight * g[c];
            dw += transmittance * g[c] * ((double)params[6 + c] - layer->below[c]);
        }
        if (params[9] > 0.0f && params[9] < 1.0f)
            out[9] += dw * layer->coverage;
        add_position_gradient(
            layer, dw * layer->opacity * layer->coverage * (1.0 - layer->coverage) / work->softness, out);
        transmittance *= 1.0 - layer->weight;
    }
}

/* dL/dC of one pixel, and its part of the loss' sum. */
static void pixel_loss(struct work *work, uint64_t pixel, const double canvas[3], double g[3])
{
    const struct oracle_input *in = work->in;
    double values = 3.0 * (double)in->width * (double)in->height;

    for (size_t c = 0; c < 3; c++) {
        if (in->target) {
            double difference = canvas[c] - (double)in->target[3 * pixel + c];
            work->loss_sum += difference * difference;
            g[c] = 2.0 * difference / values;
        } else {
            g[c] = in->upstream ? (double)in->upstream[3 * pixel + c] : 0.0;
        }
    }
}

/* One pixel and the triangles whose bounds hold it, from back to front. at: its place in the outputs. */
static bool render_pixel(struct work *work, uint32_t x, uint32_t y, const uint32_t *list, size_t count,
                         size_t at, struct err *err)
{
    double canvas[3], g[3];

    if (!mem_grow((void **)&work->layers, &work->layer_capacity, count, sizeof(*work->layers),
                  "a pixel's layers", err))
        return false;
    size_t kept = composite(work, x, y, list, count, canvas);
    pixel_loss(work, (uint64_t)y * work->in->width + x, canvas, g);
    if (work->out->image)
        memcpy(work->out->image + 3 * at, canvas, sizeof(canvas));
    if (work->out->grads)
        backward(work, kept, g);
    if (work->out->covered)
        work->out->covered[at] = (uint32_t)kept;
    for (size_t i = 0; i < kept; i++)
        work->out->opaque += work->layers[i].weight >= ORACLE_OPAQUE;
    work->out->pairs += kept;
    work->out->in_bounds += count;
    return true;
}

static bool work_init(struct work *work, const struct oracle_input *in, struct oracle_output *out,
                      struct err *err)
{
    *work = (struct work){.in = in, .out = out, .softness = fmax((double)in->sigma, MIN_SOFTNESS)};
    if (in->target && in->upstream)
        return err_set(err, ERR_INTERNAL, "the reference was given a target and upstream gradients");
    out->loss = 0.0;
    out->pairs = out->in_bounds = out->opaque = 0;
    if (out->grads)
        memset(out->grads, 0, (size_t)in->triangles * SCENE_STRIDE * sizeof(*out->grads));
    work->bounds = mem_calloc(in->triangles, sizeof(*work->bounds), "the reference's bounds", err);
    if (!work->bounds)
        return false;
    for (uint32_t t = 0; t < in->triangles; t++)
        work->bounds[t] = bounds_of(in->params + (size_t)t * SCENE_STRIDE, in->sigma, in->width, in->height);
    return true;
}

static void work_fini(struct work *work)
{
    work->out->loss = work->loss_sum / (3.0 * (double)work->in->width * (double)work->in->height);
    free(work->bounds);
    free(work->layers);
}

/* The triangles whose bounds hold each pixel of one row, from back to front: those of pixel x are
 * list[start[x] .. start[x+1]). */
struct row {
    size_t *start; /* [width + 1] */
    size_t *fill;  /* [width + 1] work: next free place of each pixel */
    uint32_t *list;
    size_t capacity;
};

static bool row_init(struct row *row, uint32_t width, struct err *err)
{
    row->start = mem_calloc((uint64_t)width + 1, sizeof(*row->start), "a row of the reference", err);
    row->fill = mem_calloc((uint64_t)width + 1, sizeof(*row->fill), "a row of the reference", err);
    return row->start && row->fill;
}

static void row_fini(struct row *row)
{
    free(row->start);
    free(row->fill);
    free(row->list);
}

static bool row_build(struct row *row, const struct work *work, uint32_t y, struct err *err)
{
    const struct oracle_input *in = work->in;
    size_t total = 0;

    memset(row->fill, 0, ((size_t)in->width + 1) * sizeof(*row->fill));
    /* Additions at the left end and subtractions at the right one; wrapping sums come out right. */
    for (uint32_t t = 0; t < in->triangles; t++) {
        const struct bounds *b = &work->bounds[t];
        if (!bounds_hold_row(b, y))
            continue;
        row->fill[b->left]++;
        row->fill[b->right]--;
    }
    for (size_t x = 0, open = 0; x < in->width; x++) {
        open += row->fill[x];
        row->start[x] = row->fill[x] = total;
        total += open;
    }
    row->start[in->width] = total;
    /* One more than is needed: an empty row has a valid pointer too. */
    if (!mem_grow((void **)&row->list, &row->capacity, total + 1, sizeof(*row->list),
                  "a row of the reference", err))
        return false;
    for (uint32_t t = 0; t < in->triangles; t++) {
        const struct bounds *b = &work->bounds[t];
        if (!bounds_hold_row(b, y))
            continue;
        for (int32_t x = b->left; x < b->right; x++)
            row->list[row->fill[x]++] = t;
    }
    return true;
}

bool oracle_render(const struct oracle_input *in, struct oracle_output *out, struct err *err)
{
    struct work work;
    struct row row = {0};

    bool ok = work_init(&work, in, out, err) && row_init(&row, in->width, err);
    for (uint32_t y = 0; ok && y < in->height; y++) {
        ok = row_build(&row, &work, y, err);
        for (uint32_t x = 0; ok && x < in->width; x++) {
            const size_t pixel = (size_t)y * in->width + x, listed = row.start[x + 1] - row.start[x];
            ok = render_pixel(&work, x, y, row.list + row.start[x], listed, pixel, err);
            if (out->listed)
                out->listed[pixel] = (uint32_t)listed;
        }
    }
    row_fini(&row);
    work_fini(&work);
    return ok;
}

bool oracle_pixels(const struct oracle_input *in, const uint64_t *pixels, size_t count,
                   struct oracle_output *out, struct err *err)
{
    struct work work;
    bool ok = work_init(&work, in, out, err);
    uint32_t *list = ok ? mem_calloc(in->triangles, sizeof(*list), "a pixel's triangles", err) : NULL;

    ok = list != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        uint32_t x = (uint32_t)(pixels[i] % in->width), y = (uint32_t)(pixels[i] / in->width);
        size_t listed = 0;
        for (uint32_t t = 0; t < in->triangles; t++)
            if (bounds_hold(&work.bounds[t], x, y))
                list[listed++] = t;
        ok = render_pixel(&work, x, y, list, listed, i, err);
    }
    free(list);
    work_fini(&work);
    return ok;
}
