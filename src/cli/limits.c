#include "cli/limits.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "cli/configs.h"
#include "cli/opencl_devices.h"
#include "gpu/limits.h"
#include "plan/grid.h"

/* What the cells of a config need of one device, each figure of whichever cell needs most of it. */
struct demand {
    uint64_t needs[LIMITS];
    const struct render_spec *largest; /* the cell with most pixels, then triangles, then scenes */
    size_t cells;
};

static bool is_larger(const struct render_spec *a, const struct render_spec *b)
{
    uint64_t a_pixels = (uint64_t)a->width * a->height, b_pixels = (uint64_t)b->width * b->height;

    if (a_pixels != b_pixels)
        return a_pixels > b_pixels;
    return a->triangles != b->triangles ? a->triangles > b->triangles : a->batch > b->batch;
}

static bool add_up(struct renderer *r, const struct grid *grid, struct demand *out, struct err *err)
{
    for (size_t i = 0; i < grid->cell_count; i++) {
        const struct grid_cell *cell = &grid->cells[i];
        if (cell->refuse)
            continue;
        if (!limits_need(r, &cell->spec, true, out->needs, err))
            return err_wrap(err, "%s", cell->id);
        if (!out->largest || is_larger(&cell->spec, out->largest))
            out->largest = &cell->spec;
        out->cells++;
    }
    return out->cells > 0 || err_set(err, ERR_CONFIG, "the config has no cell for an OpenCL device");
}

static void put_amount(struct table *t, enum table_mark mark, const struct limit_row *row, uint64_t amount,
                       const char *suffix)
{
    char text[UNITS_MAX];

    if (row->is_bytes && amount < 1 << 20)
        snprintf(text, sizeof text, "%" PRIu64 " B", amount);
    else if (row->is_bytes)
        units_bytes(text, amount);
    else
        snprintf(text, sizeof text, "%" PRIu64, amount);
    table_put(t, mark, (double)amount, "%s%s", text, suffix);
}

static void put_row(struct table *t, const struct limit_row *row, uint64_t need)
{
    bool known = row->has > 0, enough = !known || row->at_least || need <= row->has;

    table_row(t);
    table_put(t, MARK_NONE, NAN, "%s", row->name);
    put_amount(t, enough ? MARK_NONE : MARK_BAD, row, need, enough ? "" : " TOO MUCH");
    if (known)
        put_amount(t, MARK_NONE, row, row->has, row->at_least ? " or more" : "");
    else
        table_put(t, MARK_DIM, NAN, "not told");
    if (row->promised)
        put_amount(t, need > row->promised ? MARK_TIE : MARK_NONE, row, row->promised,
                   need > row->promised ? " (less)" : "");
    else
        table_put(t, MARK_DIM, NAN, "nothing");
    double margin = need ? (double)row->has / (double)need : NAN;
    if (known && need)
        table_put(t, MARK_NONE, margin, margin < 10 ? "%.2fx" : "%.0fx", margin);
    else
        table_put(t, MARK_DIM, NAN, "-");
}

static void start_table(struct table *t, const struct config *config, const struct renderer *r,
                        const struct demand *demand)
{
    const struct render_spec *s = demand->largest;

    table_title(t, "Limits    %s: %s    config %s", r->info.selector, r->info.name, config->name);
    table_note(t,
               "needs: the most that any of %zu cells takes, each in the slices that it is cut into    the "
               "largest is %ux%u, %u triangles, batch %u",
               demand->cells, (unsigned)s->width, (unsigned)s->height, (unsigned)s->triangles,
               (unsigned)s->batch);
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "limit");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "needs");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "device has");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "OpenCL promises");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "margin");
}

static void foot_growth(struct table *t, const struct demand *demand, const struct limit_row *rows,
                        uint32_t side, enum limit_kind breaks)
{
    const struct render_spec *s = demand->largest;

    if (breaks == LIMITS)
        table_foot(t,
                   "With %u triangles and batch %u no limit breaks up to %ux%u, the largest picture there is",
                   (unsigned)s->triangles, (unsigned)s->batch, (unsigned)side, (unsigned)side);
    else
        table_foot(t, "With %u triangles and batch %u this breaks at %ux%u: %s", (unsigned)s->triangles,
                   (unsigned)s->batch, (unsigned)side + 1, (unsigned)side + 1, rows[breaks].name);
    table_foot(
        t,
        "Group counts are not told by drivers: those of an empty kernel that ran. All buffers: the budget, a "
        "share of the device's memory");
}

static bool judge(const struct config *config, struct renderer *r, const struct grid *grid, struct table *t,
                  bool *enough, struct err *err)
{
    struct limit_row rows[LIMITS];
    struct demand demand = {.largest = NULL};
    enum limit_kind breaks;
    uint32_t side;

    limits_of(r, rows);
    if (!add_up(r, grid, &demand, err) || !limits_probe(r, rows, err) ||
        !limits_largest(r, demand.largest, rows, &side, &breaks, err))
        return false;
    start_table(t, config, r, &demand);
    for (int i = 0; i < LIMITS; i++)
        put_row(t, &rows[i], demand.needs[i]);
    foot_growth(t, &demand, rows, side, breaks);
    if (limits_exceeded(rows, demand.needs) != LIMITS)
        *enough = false;
    return true;
}

static bool build_grid(const struct config *config, const char *selector, struct grid *out, struct err *err)
{
    static const size_t first = 0;
    struct grid_devices *of = calloc(config->backend_count + 1, sizeof *of);
    bool ok = of || err_set(err, ERR_MEMORY, "a list of devices");

    for (size_t i = 0; ok && i < config->backend_count; i++)
        if (config->backends[i].kind == BACKEND_OPENCL)
            of[i] = (struct grid_devices){.indices = &first, .selectors = &selector, .count = 1};
    ok = ok && grid_build(config, of, out, err);
    free(of);
    return ok;
}

struct tables {
    struct table *items; /* owned */
    size_t count;
};

static bool one_device(const struct config *config, const struct measure_options *options,
                       const struct device_info *device, struct tables *out, bool *enough, struct err *err)
{
    struct renderer *r = NULL;
    struct grid grid = {0};
    struct table *t = NULL;
    bool ok = build_grid(config, device->selector, &grid, err) &&
              opencl_devices_open(options, device, NULL, &r, err) &&
              (t = tables_append(&out->items, &out->count, "limits", err)) != NULL &&
              judge(config, r, &grid, t, enough, err);

    if (r)
        r->ops->destroy(r);
    grid_fini(&grid);
    return ok;
}

int limits_print(const char *name, const struct measure_options *options)
{
    struct device_info *devices = NULL;
    struct config config = {0};
    struct tables out = {0};
    struct err err = ERR_INIT;
    bool enough = true;
    size_t count = 0;
    bool ok = configs_open(name, options, &config, &err) &&
              opencl_devices_choose(options, OPENCL_ALL, &devices, &count, &err);

    for (size_t i = 0; ok && i < count; i++)
        ok = one_device(&config, options, &devices[i], &out, &enough, &err);
    ok = ok && tables_show(out.items, out.count, options->format, &err);
    tables_free(out.items, out.count);
    config_fini(&config);
    free(devices);
    return !ok ? report_error(&err) : enough ? EXIT_OK : EXIT_FAILED;
}
