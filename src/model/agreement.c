#include "model/agreement.h"

#include <math.h>

#include "model/oracle.h"
#include "model/scene.h"

static const char *const names[AGREE_GROUPS] = {"image", "loss", "vertices", "colour", "alpha"};

const char *agreement_group_name(enum agreement_group group)
{
    return names[group];
}

void agreement_init(struct agreement *a)
{
    for (int g = 0; g < AGREE_GROUPS; g++)
        a->value[g] = NAN;
}

void agreement_worst(struct agreement *into, const struct agreement *other)
{
    for (int g = 0; g < AGREE_GROUPS; g++)
        into->value[g] = fmax(into->value[g], other->value[g]); /* the other one where one is NAN */
}

/* A comparison that gave no number is the worst there is. */
static double or_infinity(double error)
{
    return isnan(error) ? INFINITY : error;
}

double agreement_image(const float *got, const double *want, uint64_t count)
{
    double worst = 0.0;

    for (uint64_t i = 0; i < count; i++)
        worst = fmax(worst, or_infinity(fabs((double)got[i] - want[i])));
    return worst;
}

double agreement_loss(double got, double want)
{
    double difference = fabs(got - want);

    return or_infinity(want != 0.0 ? difference / fabs(want) : difference);
}

/* Squared norms of a group's difference and of what it should be. */
struct norms {
    double difference, want;
};

static void add(struct norms *n, double got, double want)
{
    n->difference += (got - want) * (got - want);
    n->want += want * want;
}

static double relative(const struct norms *n)
{
    double difference = sqrt(n->difference), want = sqrt(n->want);

    return or_infinity(want > 0.0 ? difference / want : difference);
}

void agreement_grads(struct agreement *out, const float *got, const double *want, uint32_t triangles,
                     bool summed)
{
    struct norms vertices = {0}, colour = {0}, alpha = {0};

    for (uint32_t t = 0; t < triangles; t++, got += SCENE_STRIDE, want += SCENE_STRIDE) {
        if (summed) {
            for (int axis = 0; axis < 2; axis++)
                add(&vertices, (double)got[axis] + (double)got[axis + 2] + (double)got[axis + 4],
                    want[axis] + want[axis + 2] + want[axis + 4]);
        } else {
            for (int i = 0; i < 6; i++)
                add(&vertices, (double)got[i], want[i]);
        }
        for (int i = 6; i < 9; i++)
            add(&colour, (double)got[i], want[i]);
        add(&alpha, (double)got[9], want[9]);
    }
    out->value[AGREE_VERTICES] = relative(&vertices);
    out->value[AGREE_COLOUR] = relative(&colour);
    out->value[AGREE_ALPHA] = relative(&alpha);
}

/* Further out than this many sigma, every weight is below the least that covers a pixel. */
#define NO_WEIGHT 14.0

/* axis: every other one is the coordinate of a vertex along it. */
static bool reaches_canvas(const float *axis, double sigma)
{
    double a = (double)axis[0], b = (double)axis[2], c = (double)axis[4];

    return fmax(fmax(a, b), c) > -NO_WEIGHT * sigma && fmin(fmin(a, b), c) < 1.0 + NO_WEIGHT * sigma;
}

/* Triangles that touch nothing do not count: for a vertex that is not finite, or as they lie too far out. */
static double largest_coordinate(const float *params, uint64_t triangles, double sigma)
{
    double largest = 0.0;

    for (uint64_t t = 0; t < triangles; t++) {
        const float *verts = params + t * SCENE_STRIDE;
        if (!verts_usable(verts) || !reaches_canvas(verts, sigma) || !reaches_canvas(verts + 1, sigma))
            continue;
        for (int i = 0; i < 6; i++)
            largest = fmax(largest, fabs((double)verts[i]));
    }
    return largest;
}

void agreement_tolerance(struct agreement *out, float sigma, bool from_file, const float *params,
                         uint64_t triangles)
{
    double m = fmax(1.0, 0.002 / (double)sigma) * fmax(1.0, largest_coordinate(params, triangles, (double)sigma));

    out->value[AGREE_IMAGE] = 1e-5 * m;
    out->value[AGREE_LOSS] = 1e-5;
    out->value[AGREE_VERTICES] = (from_file ? 5e-3 : 2e-3) * m;
    out->value[AGREE_COLOUR] = 5e-5 * m;
    out->value[AGREE_ALPHA] = 1e-4 * m;
}

bool agreement_within(const struct agreement *errors, const struct agreement *tolerance,
                      enum agreement_group *worst)
{
    double furthest = 0.0;
    bool within = true;

    for (int g = 0; g < AGREE_GROUPS; g++) {
        double error = errors->value[g], allowed = tolerance->value[g];
        if (isnan(error) || error <= allowed)
            continue;
        /* An error without a tolerance, or beside one of 0, is as far over as can be. */
        double over = allowed > 0.0 ? error / allowed : INFINITY;
        if (within || over > furthest) {
            furthest = over;
            *worst = (enum agreement_group)g;
        }
        within = false;
    }
    return within;
}

void agreement_to_json(const struct agreement *a, struct json *object)
{
    for (int g = 0; g < AGREE_GROUPS; g++)
        if (!isnan(a->value[g]))
            json_set_number(object, names[g], a->value[g]); /* INFINITY becomes null */
}

void agreement_from_json(struct agreement *a, const struct json *object)
{
    for (int g = 0; g < AGREE_GROUPS; g++) {
        const struct json *node = json_get(object, names[g]);
        a->value[g] = !node ? NAN : json_type(node) == JSON_NUMBER ? json_number(node) : INFINITY;
    }
}
