/* gpubench lanes: how full lock-step groups are, and what that costs. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/devices.h"
#include "cli/lanes_measure.h"
#include "cli/opencl_devices.h"
#include "report/lanes_plot.h"

struct lanes_options {
    struct measure_options measure;
    const char *size, *plot;
    struct option_u64 triangles, cap;
    bool on_device;
};

static const struct option table[] = {
    {.name = "size",
     .letter = 's',
     .type = OPTION_TEXT,
     .argument = "SIZE",
     .help = "of the picture: a side, or WxH. Default: 256",
     .offset = offsetof(struct lanes_options, size)},
    {.name = "triangles",
     .letter = 'n',
     .type = OPTION_U64,
     .argument = "N",
     .min = 0,
     .max = SCENE_MAX_TRIANGLES,
     .help = "of the random scene. Default: 512",
     .offset = offsetof(struct lanes_options, triangles)},
    {.name = "seed",
     .type = OPTION_U64,
     .argument = "N",
     .max = UINT64_MAX,
     .help = "of the scene and of the shuffle",
     .offset = offsetof(struct measure_options, seed)},
    {.name = "cap",
     .type = OPTION_U64,
     .argument = "STEPS",
     .min = 1,
     .max = UINT32_MAX,
     .help = "stop each lane after so many steps",
     .offset = offsetof(struct lanes_options, cap)},
    {.name = "plot",
     .type = OPTION_TEXT,
     .argument = "FILE.svg",
     .help = "draw lanes and groups: a bar a lane, a box a group",
     .offset = offsetof(struct lanes_options, plot)},
    {.name = "measure",
     .letter = 'm',
     .type = OPTION_FLAG,
     .help = "also run both workloads on the device in each layout, and show predicted beside measured cost",
     .offset = offsetof(struct lanes_options, on_device)},
    OPENCL_OPTIONS("the best there is"),
    QUIET_OPTION,
    HELP_OPTION,
    {0},
};

static const char *const examples[] = {"gpubench lanes",
                                       "gpubench lanes -s 64 -n 32 --cap 8 --plot lanes.svg",
                                       "gpubench lanes -s 64 --measure", NULL};

static const uint32_t groups[] = {8, 16, 32, 64};
#define GROUPS (sizeof groups / sizeof groups[0])

/* ---- predicted ---- */

static void put_count(struct table *t, uint64_t count)
{
    char text[UNITS_MAX];

    units_count(text, count);
    table_put(t, MARK_NONE, (double)count, "%s", text);
}

/* full[]: highlighted where they are the best of the workload's layouts. */
static void put_layout(struct table *t, const struct lanes_work *work, const char *name,
                       enum lane_layout layout, const double best[GROUPS], uint32_t cap)
{
    struct occupancy at[GROUPS];

    for (size_t g = 0; g < GROUPS; g++)
        at[g] = lanes_occupancy(work->steps, &work->orders[layout], groups[g], cap);
    table_row(t);
    table_put(t, MARK_NONE, NAN, "%s", name);
    table_put(t, MARK_NONE, NAN, "%s",
              layout == LANES_ROWS && work->height == 1 ? "in order" : lane_layout_name(layout));
    put_count(t, at[0].used);
    for (size_t g = 0; g < GROUPS; g++) {
        double full = occupancy_full(&at[g]);
        table_put(t, full >= best[g] ? MARK_WINNER : MARK_NONE, full, "%.0f%s", 100 * full,
                  full >= best[g] ? "*" : " ");
    }
    put_count(t, at[2].held);
    table_put(t, MARK_NONE, 1 - occupancy_full(&at[2]), "%.0f", 100 * (1 - occupancy_full(&at[2])));
}

static void put_work(struct table *t, const struct lanes_work *work, uint32_t cap)
{
    double best[GROUPS] = {0};

    for (int layout = 0; layout < LANE_LAYOUTS; layout++)
        for (size_t g = 0; g < GROUPS && work->orders[layout].count; g++) {
            struct occupancy o = lanes_occupancy(work->steps, &work->orders[layout], groups[g], cap);
            best[g] = fmax(best[g], occupancy_full(&o));
        }
    bool first = true;
    for (int layout = 0; layout < LANE_LAYOUTS; layout++)
        if (work->orders[layout].count) {
            put_layout(t, work, first ? work->name : "", (enum lane_layout)layout, best, cap);
            first = false;
        }
}

static void start_table(struct table *t, const struct lanes_options *options, const struct render_spec *spec)
{
    char triangles[UNITS_MAX];

    units_items(triangles, spec->triangles, "triangle");
    table_title(t, "How full lock-step groups are    %s on %ux%u, and %u marched rays", triangles, (unsigned)spec->width, (unsigned)spec->height, MARCH_RAYS);
    table_note(t, "full: lane-steps used, in %% of those held, in groups of 8 to 64 lanes: a group is held "
                  "until its slowest "
                  "lane is done    * the fullest");
    if (options->cap.given)
        table_note(t, "each lane stops after %u steps", (unsigned)options->cap.value);
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "steps");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "lanes from");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "used");
    for (size_t g = 0; g < GROUPS; g++)
        table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "%s\n%u", g ? "" : "full %", (unsigned)groups[g]);
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "held\nby 32");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "lost %%\nby 32");
}

/* ---- the drawing ---- */

/* The lanes from the middle of a layout on. */
static void fill_panel(struct lanes_panel *p, const struct lanes_work *work, enum lane_layout layout,
                       uint32_t group, uint32_t cap)
{
    const struct lane_order *order = &work->orders[layout];
    size_t middle = order->count > LANES_PLOT_MAX ? order->count / 2 / LANES_MAX_GROUP * LANES_MAX_GROUP : 0;

    snprintf(p->title, sizeof p->title, "%s, %s, groups of %u", work->name,
             work->height == 1 && layout == LANES_ROWS ? "in order" : lane_layout_name(layout),
             (unsigned)group);
    p->group = group;
    p->lanes = order->count - middle < LANES_PLOT_MAX ? order->count - middle : LANES_PLOT_MAX;
    for (size_t i = 0; i < p->lanes; i++) {
        uint32_t pixel = order->pixels[middle + i], steps = pixel == LANES_IDLE ? 0 : work->steps[pixel];
        p->steps[i] = cap && steps > cap ? cap : steps;
    }
}

static bool plot(const char *path, const struct lanes_set *set, uint32_t cap, struct err *err)
{
    struct lanes_panel panels[6] = {{.lanes = 0}};
    struct strbuf text = STRBUF_INIT;

    fill_panel(&panels[0], &set->rays, LANES_ROWS, 32, cap);
    fill_panel(&panels[1], &set->rays, LANES_SHUFFLED, 32, cap);
    fill_panel(&panels[2], &set->rays, LANES_ROWS, 8, cap);
    fill_panel(&panels[3], &set->tested, LANES_ROWS, 32, cap);
    fill_panel(&panels[4], &set->tested, LANES_8X4, 32, cap);
    fill_panel(&panels[5], &set->tested, LANES_SHUFFLED, 32, cap);
    lanes_plot(panels, 6, &text);
    bool ok = strbuf_ok(&text, err) && strbuf_save(&text, path, err);
    strbuf_fini(&text);
    return ok;
}

/* ---- the command ---- */

static bool read_spec(const struct lanes_options *options, struct render_spec *spec, struct err *err)
{
    spec_init(spec);
    spec->triangles = options->triangles.given ? (uint32_t)options->triangles.value : 512;
    return !options->size || spec_set_text(spec, spec_find("size"), options->size, err) ||
           err_wrap(err, "--size");
}

struct tables {
    struct table *items; /* owned */
    size_t count;
};

static bool predict(const struct lanes_options *options, const struct lanes_set *set, struct tables *out,
                    struct err *err)
{
    const uint32_t cap = (uint32_t)options->cap.value;
    struct table *t = tables_append(&out->items, &out->count, "lanes", err);

    if (!t)
        return false;
    start_table(t, options, &set->spec);
    put_work(t, &set->tested, cap);
    put_work(t, &set->covered, cap);
    put_work(t, &set->rays, cap);
    return !options->plot || plot(options->plot, set, cap, err);
}

static bool measure_one(const struct lanes_options *options, const struct lanes_set *set,
                        const struct device_info *device, struct tables *out, struct err *err)
{
    struct renderer *r = NULL;
    struct table *t = NULL;
    bool ok = opencl_devices_open(&options->measure, device, NULL, &r, err) &&
              (t = tables_append(&out->items, &out->count, "lanes-measured", err)) != NULL &&
              lanes_measure(set, r, t, err);

    if (r)
        r->ops->destroy(r);
    return ok;
}

static bool measure(const struct lanes_options *options, const struct lanes_set *set, struct tables *out,
                    struct err *err)
{
    struct device_info *devices = NULL;
    size_t count = 0;
    bool ok = opencl_devices_choose(&options->measure, OPENCL_BEST, &devices, &count, err);

    for (size_t i = 0; ok && i < count; i++)
        ok = measure_one(options, set, &devices[i], out, err);
    free(devices);
    return ok;
}

static bool show(const struct lanes_options *options, struct err *err)
{
    struct lanes_set set = {.seed = options->measure.seed.given ? options->measure.seed.value : 11};
    struct tables out = {0};
    struct render_spec spec;
    bool ok = read_spec(options, &spec, err) && lanes_set_init(&set, &spec, err) &&
              predict(options, &set, &out, err) &&
              (!options->on_device || measure(options, &set, &out, err)) &&
              tables_show(out.items, out.count, options->measure.format, err);

    tables_free(out.items, out.count);
    lanes_set_fini(&set);
    return ok;
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    const struct lanes_options *options = values;
    struct err err = ERR_INIT;

    (void)arguments;
    (void)argc;
    (void)argv;
    if (devices_asked(&options->measure.devices))
        return devices_print(&options->measure);
    return show(options, &err) ? EXIT_OK : report_error(&err);
}

const struct command command_lanes = {
    .name = "lanes",
    .help = "show how full lock-step groups of lanes are, and what that costs",
    .description = "A device runs 8 to 64 lanes in lock step, and a group takes as long as its slowest lane. "
                   "Works out how full "
                   "the lanes are for a scene, in several ways of laying pixels into groups, and for rays "
                   "marched through a flat "
                   "scene, where lanes differ more.",
    .arguments = "",
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct lanes_options),
    .supervised = true,
    .run = run,
};
