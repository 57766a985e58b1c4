#include "cli/lanes_measure.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "gpu/groups.h"
#include "model/agreement.h"

#define PASSES 3
#define ROUNDS 5
/* A GPU is full several times over; a CPU has lanes enough in one picture. */
#define GPU_LANES 8000000u
#define CPU_LANES 65536u

/* Rounding may move a ray's last step or two, where the device's square root is not correctly rounded. */
#define STEPS_APART 2u

struct measured {
    uint64_t held, device_ns;
};

static struct groups_effort effort_for(const struct renderer *r, const struct lane_order *order)
{
    uint32_t lanes = r->info.kind == DEVICE_CPU ? CPU_LANES : GPU_LANES;
    uint64_t repeats = lanes / order->count;

    return (struct groups_effort){.repeats = repeats > 0 ? (uint32_t)repeats : 1, .rounds = ROUNDS};
}

static bool walk(const struct lanes_set *set, struct renderer *r, const struct lane_order *order,
                 uint64_t *device_ns, struct err *err)
{
    const struct render_spec *s = &set->spec;
    const struct groups_scene scene = {.width = s->width,
                                       .height = s->height,
                                       .triangles = s->triangles,
                                       .sigma = s->sigma,
                                       .params = set->params,
                                       .background = set->background,
                                       .lists = &set->lists};
    const struct groups_effort effort = effort_for(r, order);
    const uint64_t values = (uint64_t)s->width * s->height * 3;
    float *image = mem_calloc(values, sizeof(*image), "a picture", err);
    struct agreement tolerance;
    bool ok = image && groups_walk(r, &scene, order, &effort, image, device_ns, err);

    if (ok) {
        double off = agreement_image(image, set->image, values);
        agreement_tolerance(&tolerance, s->sigma, false, set->params, s->triangles);
        ok = off <= tolerance.value[AGREE_IMAGE] ||
             err_set(err, ERR_WRONG, "the picture is off by %.1e, allowed are %.1e", off,
                     tolerance.value[AGREE_IMAGE]);
    }
    free(image);
    return ok;
}

static bool march(const struct lanes_set *set, struct renderer *r, const struct lane_order *order,
                  uint64_t *device_ns, struct err *err)
{
    const struct groups_effort effort = effort_for(r, order);
    uint32_t steps[MARCH_RAYS];

    if (!groups_march(r, set->directions, order, &effort, steps, device_ns, err))
        return false;
    for (uint32_t i = 0; i < MARCH_RAYS; i++) {
        uint32_t want = set->rays.steps[i], apart = steps[i] > want ? steps[i] - want : want - steps[i];
        if (apart > STEPS_APART)
            return err_set(err, ERR_WRONG, "ray %u took %u steps, and %u on the host", (unsigned)i,
                           (unsigned)steps[i], (unsigned)want);
    }
    return true;
}

static void put_ratio(struct table *t, double ratio)
{
    table_put(t, MARK_NONE, ratio, "%.2f", ratio);
}

static void put_measured(struct table *t, const struct lanes_work *work,
                         const struct measured at[LANE_LAYOUTS])
{
    const struct measured *base = &at[LANES_ROWS];
    char text[UNITS_MAX];

    for (int layout = 0; layout < LANE_LAYOUTS; layout++) {
        if (!work->orders[layout].count)
            continue;
        double predicted = base->held ? (double)at[layout].held / (double)base->held : NAN;
        double cost = base->device_ns ? (double)at[layout].device_ns / (double)base->device_ns : NAN;
        table_row(t);
        table_put(t, MARK_NONE, NAN, "%s", layout == LANES_ROWS ? work->name : "");
        table_put(t, MARK_NONE, NAN, "%s",
                  layout == LANES_ROWS && work->height == 1 ? "in order"
                                                            : lane_layout_name((enum lane_layout)layout));
        units_count(text, at[layout].held);
        table_put(t, MARK_NONE, (double)at[layout].held, "%s", text);
        units_time(text, at[layout].device_ns);
        table_put(t, MARK_NONE, (double)at[layout].device_ns, "%s", text);
        put_ratio(t, predicted);
        put_ratio(t, cost);
        put_ratio(t, cost / predicted);
    }
}

static uint64_t middle_of(const uint64_t times[PASSES])
{
    uint64_t least = times[0] < times[1] ? times[0] : times[1],
             most = times[0] < times[1] ? times[1] : times[0];

    return times[2] < least ? least : times[2] > most ? most : times[2];
}

/* All layouts one after the other, several times: drift hits them alike. */
static bool measure_work(const struct lanes_set *set, const struct lanes_work *work, uint32_t width,
                         struct renderer *r, struct table *t, struct err *err)
{
    struct measured at[LANE_LAYOUTS] = {{0, 0}};
    uint64_t times[LANE_LAYOUTS][PASSES] = {{0}};

    for (int i = 0; i < PASSES * LANE_LAYOUTS; i++) {
        int layout = i % LANE_LAYOUTS;
        const struct lane_order *order = &work->orders[layout];
        uint64_t *ns = &times[layout][i / LANE_LAYOUTS];
        bool ok = !order->count ||
                  (work == &set->rays ? march(set, r, order, ns, err) : walk(set, r, order, ns, err));
        if (!ok)
            return err_wrap(err, "%s, %s", work->name, lane_layout_name((enum lane_layout)layout));
    }
    for (int layout = 0; layout < LANE_LAYOUTS; layout++) {
        at[layout].held = lanes_occupancy(work->steps, &work->orders[layout], width, 0).held;
        at[layout].device_ns = middle_of(times[layout]);
    }
    put_measured(t, work, at);
    return true;
}

bool lanes_measure(const struct lanes_set *set, struct renderer *r, struct table *t, struct err *err)
{
    const uint64_t multiple = r->info.preferred_group_multiple;
    const uint32_t width = multiple > 0 && multiple <= LANES_MAX_GROUP ? (uint32_t)multiple : 32;

    table_title(t, "Predicted and measured    %s: %s    in groups of %u", r->info.selector, r->info.name,
                (unsigned)width);
    table_note(t, "cost: lane-steps held, and the device's time, against those of the first layout    "
                  "measured/predicted: 1 where lock step explains all of it");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "steps");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "lanes from");
    table_column(t, ALIGN_RIGHT, 900, "held");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "device\ntime");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "cost\npredicted");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "cost\nmeasured");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "measured/\npredicted");
    if (r->info.kind == DEVICE_CPU)
        table_foot(
            t,
            "This device is a CPU: its compiler may run the lanes of a group one after another, and then a "
            "group takes the sum of their steps");
    return measure_work(set, &set->tested, width, r, t, err) &&
           measure_work(set, &set->rays, width, r, t, err);
}
