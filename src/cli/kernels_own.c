#include "cli/kernels_own.h"

#include <math.h>
#include <string.h>

#include "gpu/groups.h"
#include "gpu/layout.h"
#include "gpu/limits.h"
#include "gpu/teams.h"
#include "model/agreement.h"
#include "model/fit.h"
#include "model/oracle.h"
#include "model/scene.h"

#define SIDE 16u
#define TRIANGLES 5u
#define VALUES (TRIANGLES * SCENE_STRIDE)
/* What roots and quotients of few bits less may move a parameter by in one step of at most 0.02. */
#define PARAMETER_OFF 1e-5f

/* ---- adam.cl ---- */

static void fill(struct render_job *job)
{
    scene_random(job->io.params, TRIANGLES, 11, 0, 0.3f);
    for (size_t i = 0; i < 3; i++)
        job->io.background[i] = 0.1f;
    for (size_t i = 0; i < (size_t)SIDE * SIDE * 3; i++)
        job->io.target[i] = 0.4f;
}

/* A step on the device against one from the same gradients on the host. */
static bool compare_steps(struct render_job *job, struct err *err)
{
    const float rates[3] = {0.004f, 0.02f, 0.01f};
    struct fit_step steps[2] = {fit_step_at(0, 2, 0.02f, 0.02f, rates), fit_step_at(1, 2, 0.02f, 0.02f, rates)};
    float want[VALUES], best[VALUES], moments[2 * VALUES] = {0};
    double loss[2];
    const struct fit_block block = {.steps = steps, .count = 2, .start = true, .loss = loss, .best = best};

    fill(job);
    if (!job->renderer->ops->inputs_changed(job, err) || !job->renderer->ops->call(job, err))
        return false;
    memcpy(want, job->io.params, sizeof want);
    fit_update(want, job->io.grads, moments, TRIANGLES, &steps[0]);
    if (!job->renderer->ops->fit(job, &block, err))
        return false;
    /* The best is the second step's scene, unless the first step went uphill. */
    if (!(loss[1] < loss[0]))
        return err_set(err, ERR_WRONG, "a step went from a loss of %g to %g", loss[0], loss[1]);
    for (size_t i = 0; i < VALUES; i++)
        if (!(fabsf(best[i] - want[i]) <= PARAMETER_OFF))
            return err_set(err, ERR_WRONG, "parameter %zu came to %g, on the host to %g", i, (double)best[i],
                           (double)want[i]);
    return true;
}

static bool run_adam(struct renderer *r, struct err *err)
{
    struct render_job *job = NULL;
    struct render_spec spec;

    spec_init(&spec);
    spec.width = spec.height = SIDE;
    spec.triangles = TRIANGLES;
    spec.batch = 1;
    spec.sigma = 0.02f;
    bool ok = r->ops->open(r, &spec, &job, err) && compare_steps(job, err);
    if (job)
        r->ops->close(job);
    return ok;
}

/* ---- groups.cl ---- */

/* Rounding may move a ray's last step or two, where the device's square root is not correctly rounded. */
#define STEPS_APART 2u

static bool walk(struct renderer *r, const struct groups_effort *effort, struct err *err)
{
    static const float ground[3] = {0.1f, 0.11f, 0.14f};
    float params[VALUES], image[SIDE * SIDE * 3];
    double want[SIDE * SIDE * 3];
    const float sigma = 0.02f;
    struct pixel_lists lists;
    struct lane_order order = {0};
    struct agreement tolerance;
    uint64_t ns;

    scene_random(params, TRIANGLES, 11, 0, 0.3f);
    if (!pixel_lists_init(params, TRIANGLES, sigma, SIDE, SIDE, &lists, err))
        return false;
    const struct groups_scene scene = {SIDE, SIDE, TRIANGLES, sigma, params, ground, &lists};
    const struct oracle_input in = {.width = SIDE,
                                    .height = SIDE,
                                    .triangles = TRIANGLES,
                                    .sigma = sigma,
                                    .params = params,
                                    .background = ground};
    struct oracle_output out = {.image = want};
    bool ok = lane_order_init(LANES_ROWS, SIDE, SIDE, 1, &order, err) &&
              groups_walk(r, &scene, &order, effort, image, &ns, err) && oracle_render(&in, &out, err);
    if (ok) {
        const double off = agreement_image(image, want, SIDE * SIDE * 3);
        agreement_tolerance(&tolerance, sigma, false, params, TRIANGLES);
        ok = off <= tolerance.value[AGREE_IMAGE] || err_set(err, ERR_WRONG, "the picture is off by %.1e", off);
    }
    lane_order_fini(&order);
    pixel_lists_fini(&lists);
    return ok;
}

static bool run_groups(struct renderer *r, struct err *err)
{
    const struct groups_effort effort = {.repeats = 1, .rounds = 1, .local = LANES_MAX_GROUP};
    float directions[MARCH_RAYS][2];
    uint32_t steps[MARCH_RAYS];
    struct lane_order order;
    uint64_t ns;

    march_directions(directions);
    bool ok = lane_order_init(LANES_ROWS, MARCH_RAYS, 1, 1, &order, err) &&
              groups_march(r, directions, &order, &effort, 0, steps, &ns, err);
    for (size_t i = 0; ok && i < MARCH_RAYS; i++) {
        const uint32_t want = march_steps(directions[i]);
        ok = steps[i] <= want + STEPS_APART && want <= steps[i] + STEPS_APART;
        if (!ok)
            err_set(err, ERR_WRONG, "ray %zu took %u steps, and %u on the host", i, (unsigned)steps[i],
                    (unsigned)want);
    }
    lane_order_fini(&order);
    return ok && walk(r, &effort, err);
}

/* ---- the others ---- */

static bool run_layout(struct renderer *r, struct err *err)
{
    struct layout_row rows[LAYOUT_ROWS];

    return layout_compare(r, rows, err);
}

static bool run_probe(struct renderer *r, struct err *err)
{
    struct limit_row rows[LIMITS];

    limits_of(r, rows);
    return limits_probe(r, rows, err);
}

static bool run_canary(struct renderer *r, struct err *err)
{
    struct render_canary canary;

    return r->ops->canary(r, &canary, err);
}

static bool run_ceilings(struct renderer *r, struct err *err)
{
    struct render_ceilings ceilings;

    return r->ops->ceilings(r, &ceilings, err);
}

bool kernels_own_run(struct renderer *renderer, const char *file, struct err *err)
{
    static const struct {
        const char *file;
        bool (*run)(struct renderer *r, struct err *err);
    } own[] = {{"adam.cl", run_adam},     {"canary.cl", run_canary}, {"ceilings.cl", run_ceilings},
               {"groups.cl", run_groups}, {"lanes.cl", teams_check},  {"layout.cl", run_layout},
               {"probe.cl", run_probe}};

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(own[i].file, file) == 0)
            return own[i].run(renderer, err);
    return err_set(err, ERR_INTERNAL, "nothing runs %s", file);
}
