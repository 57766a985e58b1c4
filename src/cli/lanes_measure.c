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

/* What is run, and on what. */
struct bench {
    const struct lanes_set *set;
    struct renderer *r;
    struct pixel_lists even; /* as many triangles for each pixel */
    uint32_t even_steps;     /* of each ray: their mean */
    double *image;           /* owned; [H][W][3], of even lists as the first layout has it; NULL: not yet */
    uint32_t width;          /* lanes that run in lock step */
};

static struct groups_effort effort_for(const struct bench *b, const struct lane_order *order)
{
    uint32_t lanes = b->r->info.kind == DEVICE_CPU ? CPU_LANES : GPU_LANES;
    uint64_t repeats = lanes / order->count;

    return (struct groups_effort){
        .repeats = repeats > 0 ? (uint32_t)repeats : 1, .rounds = ROUNDS, .local = b->width};
}

/* Even lists make a picture that no reference has: each layout's must be the first one's. */
static bool check_even(struct bench *b, const float *image, uint64_t values, struct err *err)
{
    bool first = b->image == NULL;

    if (first)
        b->image = mem_calloc(values, sizeof(*b->image), "a picture", err);
    if (!b->image)
        return false;
    for (uint64_t i = 0; i < values; i++) {
        if (first)
            b->image[i] = (double)image[i];
        else if ((double)image[i] != b->image[i])
            return err_set(err, ERR_WRONG, "even lists gave another picture than in the first layout");
    }
    return true;
}

static bool check_image(const struct bench *b, const float *image, uint64_t values, struct err *err)
{
    const struct lanes_set *set = b->set;
    struct agreement tolerance;
    const double off = agreement_image(image, set->image, values);

    agreement_tolerance(&tolerance, set->spec.sigma, false, set->params, set->spec.triangles);
    return off <= tolerance.value[AGREE_IMAGE] ||
           err_set(err, ERR_WRONG, "the picture is off by %.1e, allowed are %.1e", off,
                   tolerance.value[AGREE_IMAGE]);
}

static bool walk(struct bench *b, const struct lane_order *order, bool even, uint64_t *device_ns, struct err *err)
{
    const struct render_spec *s = &b->set->spec;
    const struct groups_scene scene = {.width = s->width,
                                       .height = s->height,
                                       .triangles = s->triangles,
                                       .sigma = s->sigma,
                                       .params = b->set->params,
                                       .background = b->set->background,
                                       .lists = even ? &b->even : &b->set->lists};
    const struct groups_effort effort = effort_for(b, order);
    const uint64_t values = (uint64_t)s->width * s->height * 3;
    float *image = mem_calloc(values, sizeof(*image), "a picture", err);
    bool ok = image && groups_walk(b->r, &scene, order, &effort, image, device_ns, err) &&
              (even ? check_even(b, image, values, err) : check_image(b, image, values, err));

    free(image);
    return ok;
}

static bool march(struct bench *b, const struct lane_order *order, bool even, uint64_t *device_ns, struct err *err)
{
    const struct groups_effort effort = effort_for(b, order);
    uint32_t steps[MARCH_RAYS];

    if (!groups_march(b->r, b->set->directions, order, &effort, even ? b->even_steps : 0, steps, device_ns, err))
        return false;
    for (uint32_t i = 0; i < MARCH_RAYS; i++) {
        uint32_t want = even ? b->even_steps : b->set->rays.steps[i];
        uint32_t apart = steps[i] > want ? steps[i] - want : want - steps[i];
        if (apart > (even ? 0 : STEPS_APART))
            return err_set(err, ERR_WRONG, "ray %u took %u steps, and %u on the host", (unsigned)i,
                           (unsigned)steps[i], (unsigned)want);
    }
    return true;
}

static void put_ratio(struct table *t, double ratio)
{
    table_put(t, MARK_NONE, ratio, "%.2f", ratio);
}

struct measured {
    struct occupancy steps;
    uint64_t device_ns, even_ns;
};

static double over(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : NAN;
}

static void put_measured(struct table *t, const struct lanes_work *work,
                         const struct measured at[LANE_LAYOUTS])
{
    const struct measured *base = &at[LANES_ROWS];
    char text[UNITS_MAX];

    for (int layout = 0; layout < LANE_LAYOUTS; layout++) {
        if (!work->orders[layout].count)
            continue;
        /* A lane that waits holds its place, and reads nothing: what is read goes by the steps used. */
        const double held = over(at[layout].steps.held, base->steps.held),
                     reads = over(at[layout].even_ns, base->even_ns) * over(at[layout].steps.used, base->steps.held),
                     predicted = fmax(held, reads), cost = over(at[layout].device_ns, base->device_ns);
        table_row(t);
        table_put(t, MARK_NONE, NAN, "%s", layout == LANES_ROWS ? work->name : "");
        table_put(t, MARK_NONE, NAN, "%s",
                  layout == LANES_ROWS && work->height == 1 ? "in order"
                                                            : lane_layout_name((enum lane_layout)layout));
        units_count(text, at[layout].steps.held);
        table_put(t, MARK_NONE, (double)at[layout].steps.held, "%s", text);
        units_time(text, at[layout].device_ns);
        table_put(t, MARK_NONE, (double)at[layout].device_ns, "%s", text);
        put_ratio(t, held);
        put_ratio(t, reads);
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
static bool measure_work(struct bench *b, const struct lanes_work *work, struct table *t, struct err *err)
{
    struct measured at[LANE_LAYOUTS] = {{{0, 0}, 0, 0}};
    uint64_t times[2][LANE_LAYOUTS][PASSES] = {{{0}}};

    for (int i = 0; i < PASSES * LANE_LAYOUTS * 2; i++) {
        const int layout = i / 2 % LANE_LAYOUTS, pass = i / 2 / LANE_LAYOUTS, even = i % 2;
        const struct lane_order *order = &work->orders[layout];
        uint64_t *ns = &times[even][layout][pass];
        bool ok = !order->count || (work == &b->set->rays ? march(b, order, even, ns, err)
                                                           : walk(b, order, even, ns, err));
        if (!ok)
            return err_wrap(err, "%s, %s", work->name, lane_layout_name((enum lane_layout)layout));
    }
    for (int layout = 0; layout < LANE_LAYOUTS; layout++)
        at[layout] = (struct measured){.steps = lanes_occupancy(work->steps, &work->orders[layout], b->width, 0),
                                       .device_ns = middle_of(times[0][layout]),
                                       .even_ns = middle_of(times[1][layout])};
    put_measured(t, work, at);
    return true;
}

static void start_table(struct table *t, const struct bench *b)
{
    table_title(t, "Predicted and measured    %s: %s    in groups of %u", b->r->info.selector, b->r->info.name,
                (unsigned)b->width);
    table_note(t, "cost, against the first layout's: held, by lane-steps    reads, by the device's time where all lanes "
                  "take as many steps: how far apart lies what they read    predicted: the greater    "
                  "measured/predicted: 1 where that explains all of it");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "steps");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "lanes from");
    table_column(t, ALIGN_RIGHT, 800, "held");
    table_column(t, ALIGN_RIGHT, 900, "device\ntime");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "cost:\nheld");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "\nreads");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "\npredicted");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "\nmeasured");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "measured/\npredicted");
    if (b->r->info.kind == DEVICE_CPU)
        table_foot(
            t,
            "This device is a CPU: its compiler may run the lanes of a group one after another, and then a "
            "group takes the sum of their steps");
}

static uint32_t mean_steps(const struct lanes_work *work)
{
    const uint64_t lanes = (uint64_t)work->width * work->height;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < lanes; i++)
        sum += work->steps[i];
    return (uint32_t)(sum / lanes);
}

bool lanes_measure(const struct lanes_set *set, struct renderer *r, struct table *t, struct err *err)
{
    const uint64_t multiple = r->info.preferred_group_multiple;
    struct bench b = {.set = set,
                      .r = r,
                      .even_steps = mean_steps(&set->rays),
                      .width = multiple > 0 && LANES_MAX_GROUP % multiple == 0 ? (uint32_t)multiple : 32};

    start_table(t, &b);
    bool ok = pixel_lists_even(&set->lists, (size_t)set->spec.width * set->spec.height, &b.even, err) &&
              measure_work(&b, &set->tested, t, err) && measure_work(&b, &set->rays, t, err);
    free(b.image);
    pixel_lists_fini(&b.even);
    return ok;
}
