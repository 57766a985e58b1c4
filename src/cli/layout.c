/* gpubench layout: the structures that host and kernels share, as each compiler lays them out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/devices.h"
#include "cli/opencl_devices.h"
#include "gpu/layout.h"

struct layout_options {
    struct measure_options measure;
    const char *fields;
};

static const struct option table[] = {
    {.name = "fields",
     .type = OPTION_TEXT,
     .argument = "LIST",
     .help = "a structure of your own instead, as in 'vec3 position, f32 radius, mat3x3 turn, u32[4] ids': "
             "where its fields go by OpenCL's rules and by WGSL's, and in which order it is smallest",
     .offset = offsetof(struct layout_options, fields)},
    OPENCL_OPTIONS("all of them"),
    QUIET_OPTION,
    HELP_OPTION,
    {0},
};

static const char *const examples[] = {
    "gpubench layout",
    "gpubench layout --fields 'vec3 a, vec3 b, vec3 c, vec3 d, f32 e, f32 f, f32 g'",
    NULL,
};

struct tables {
    struct table *items; /* owned */
    size_t count;
};

/* ---- by the rules ---- */

static void put_u32(struct table *t, uint32_t value)
{
    table_put(t, MARK_NONE, value, "%u", (unsigned)value);
}

static void put_saved(struct table *t, uint32_t saved)
{
    table_put(t, saved ? MARK_WINNER : MARK_DIM, saved, "%u", (unsigned)saved);
}

static bool add_fields_table(struct tables *out, const struct rule_field *fields, size_t count,
                             struct err *err)
{
    struct rule_place places[RULES_COUNT][RULE_FIELDS_MAX];
    struct table *t = tables_append(&out->items, &out->count, "fields", err);

    if (!t)
        return false;
    table_title(t, "Fields in the order given    bytes; padding is before a field");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "field");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "type");
    for (int r = 0; r < RULES_COUNT; r++) {
        static const char *const columns[] = {"offset", "size", "align", "padding"};
        (void)rules_place((enum struct_rules)r, fields, count, places[r]);
        for (size_t c = 0; c < 4; c++)
            table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "%s\n%s", c ? "" : rules_name((enum struct_rules)r),
                         columns[c]);
    }
    for (size_t i = 0; i < count; i++) {
        char type[RULE_NAME_MAX];
        rule_type_text(&fields[i], type);
        table_row(t);
        table_put(t, MARK_NONE, NAN, "%s", fields[i].name);
        table_put(t, MARK_NONE, NAN, "%s", type);
        for (int r = 0; r < RULES_COUNT; r++) {
            put_u32(t, places[r][i].offset);
            put_u32(t, places[r][i].size);
            put_u32(t, places[r][i].align);
            put_u32(t, places[r][i].padding);
        }
    }
    return true;
}

static bool start_order_table(struct tables *out, struct err *err)
{
    struct table *t = tables_append(&out->items, &out->count, "order", err);

    if (!t)
        return false;
    table_title(t, "What another order of the fields would save    bytes");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "structure");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "rules");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "as it is");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "smallest");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "saved");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "order");
    return true;
}

static void put_order(struct table *t, const char *name, const struct rule_field *fields, size_t count)
{
    for (int r = 0; r < RULES_COUNT; r++) {
        enum struct_rules rules = (enum struct_rules)r;
        size_t order[RULE_FIELDS_MAX];
        struct strbuf text = STRBUF_INIT;
        uint32_t now = rules_place(rules, fields, count, NULL), smallest;
        rules_best_order(rules, fields, count, order);
        smallest = rules_size_in_order(rules, fields, count, order);
        for (size_t i = 0; i < count && smallest < now; i++)
            strbuf_addf(&text, "%s%s", i ? " " : "", fields[order[i]].name);
        table_row(t);
        table_put(t, MARK_NONE, NAN, "%s", name);
        table_put(t, MARK_NONE, NAN, "%s", rules_name(rules));
        put_u32(t, now);
        put_u32(t, smallest);
        put_saved(t, now - smallest);
        table_put(t, MARK_NONE, NAN, "%s", smallest < now ? strbuf_str(&text) : "as it is");
        strbuf_fini(&text);
    }
}

/* ---- the shared structures ---- */

static void put_place(struct table *t, const struct layout_place *place, bool whole, bool differs)
{
    enum table_mark mark = differs ? MARK_BAD : MARK_NONE;

    if (whole)
        table_put(t, mark, NAN, "%s", "");
    else
        table_put(t, mark, place->offset, "%u", (unsigned)place->offset);
    table_put(t, mark, place->size, "%u", (unsigned)place->size);
    table_put(t, mark, place->align, "%u", (unsigned)place->align);
}

/* Bytes before a field that no field takes; in the row of the whole, those behind the last one. */
static uint32_t padding_before(const struct layout_row *rows, size_t row)
{
    uint32_t end = row == 0 || !rows[row - 1].field ? 0 : rows[row - 1].host.offset + rows[row - 1].host.size;

    return (rows[row].field ? rows[row].host.offset : rows[row].host.size) - end;
}

static bool add_compared(struct tables *out, const struct renderer *r, const struct layout_row *rows,
                         struct err *err)
{
    struct table *t = tables_append(&out->items, &out->count, "layout", err);
    bool differs = false;

    if (!t)
        return false;
    for (size_t i = 0; i < LAYOUT_ROWS; i++)
        differs = differs || layout_differs(&rows[i]);
    table_title(t, "Shared structures    %s: %s    bytes; pad: before a field", r->info.selector,
                r->info.name);
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "structure");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "field");
    table_column(t, ALIGN_LEFT, 900, "type");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "host\noffset");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "\nsize");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "\nalign");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "device\noffset");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "\nsize");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "\nalign");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "\npad");
    if (differs)
        table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "verdict");
    for (size_t i = 0; i < LAYOUT_ROWS; i++) {
        const struct layout_row *row = &rows[i];
        struct rule_field field = {.type = row->type, .count = row->count};
        char type[RULE_NAME_MAX] = "";
        if (row->field)
            rule_type_text(&field, type);
        table_row(t);
        table_put(t, MARK_NONE, NAN, "%s", i == 0 || !rows[i - 1].field ? row->structure : "");
        table_put(t, MARK_NONE, NAN, "%s", row->field ? row->field : "all");
        table_put(t, MARK_DIM, NAN, "%s", type);
        put_place(t, &row->host, !row->field, layout_differs(row));
        put_place(t, &row->device, !row->field, layout_differs(row));
        put_u32(t, padding_before(rows, i));
        if (layout_differs(row))
            table_put(t, MARK_BAD, NAN, "DIFFERS");
    }
    return true;
}

static void put_shared_orders(struct table *t, const struct layout_row *rows)
{
    struct rule_field fields[RULE_FIELDS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < LAYOUT_ROWS; i++) {
        if (rows[i].field && count < RULE_FIELDS_MAX) {
            struct rule_field *field = &fields[count++];
            *field = (struct rule_field){.type = rows[i].type, .count = rows[i].count};
            strncpy(field->name, rows[i].field, sizeof field->name - 1);
        } else {
            put_order(t, rows[i].structure, fields, count);
            count = 0;
        }
    }
}

/* The classic example: what has the same fields may be 64 bytes or 80. */
static bool put_classic(struct table *t, struct err *err)
{
    static const char text[] = "vec3 a, vec3 b, vec3 c, vec3 d, f32 e, f32 f, f32 g";
    struct rule_field fields[RULE_FIELDS_MAX];
    size_t count;

    if (!rules_parse(text, fields, &count, err))
        return false;
    put_order(t, "4 vec3, 3 f32", fields, count);
    table_foot(
        t, "4 vec3, 3 f32: an example, not a structure of this program: WGSL's vec3 leaves room for a scalar "
           "behind it, OpenCL's float3 takes 16 bytes");
    return true;
}

static bool compare_one(struct tables *out, const struct measure_options *options,
                        const struct device_info *device, struct layout_row rows[LAYOUT_ROWS],
                        struct err *err)
{
    struct renderer *r = NULL;
    struct err made = ERR_INIT;

    if (!opencl_devices_open(options, device, NULL, &r, err))
        return false;
    bool ok = layout_compare(r, rows, err);
    if (ok || err->code == ERR_WRONG) /* the table is what shows a difference */
        ok = add_compared(out, r, rows, ok ? err : &made) && ok;
    err_fini(&made);
    r->ops->destroy(r);
    return ok;
}

static bool compare(struct tables *out, const struct measure_options *options, struct err *err)
{
    struct layout_row rows[LAYOUT_ROWS];
    struct device_info *devices = NULL;
    size_t count;
    bool ok = opencl_devices_choose(options, OPENCL_ALL, &devices, &count, err);

    for (size_t i = 0; ok && i < count; i++)
        ok = compare_one(out, options, &devices[i], rows, err);
    free(devices);
    if (!ok || !start_order_table(out, err))
        return false;
    put_shared_orders(&out->items[out->count - 1], rows);
    return put_classic(&out->items[out->count - 1], err);
}

static bool by_rules(struct tables *out, const char *text, struct err *err)
{
    struct rule_field fields[RULE_FIELDS_MAX];
    size_t count;

    if (!rules_parse(text, fields, &count, err))
        return err_wrap(err, "--fields");
    if (!add_fields_table(out, fields, count, err) || !start_order_table(out, err))
        return false;
    put_order(&out->items[out->count - 1], "these fields", fields, count);
    return true;
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    const struct layout_options *options = values;
    struct tables out = {0};
    struct err err = ERR_INIT, lost = ERR_INIT;
    int code = EXIT_OK;

    (void)arguments;
    (void)argc;
    (void)argv;
    if (devices_asked(&options->measure.devices))
        return devices_print(&options->measure);
    bool ok =
        options->fields ? by_rules(&out, options->fields, &err) : compare(&out, &options->measure, &err);
    if (out.count && !tables_show(out.items, out.count, options->measure.format, &lost))
        code = report_error(&lost);
    if (!ok)
        code = worse_exit(code, report_error(&err));
    tables_free(out.items, out.count);
    return code;
}

const struct command command_layout = {
    .name = "layout",
    .help = "show how host and devices lay out the structures that they share",
    .description = "Shows each field of the structures that host and kernels share: offset, size, alignment "
                   "and padding as the "
                   "host's compiler sees them and as each device's compiler does, and what another order of "
                   "the fields would "
                   "save by OpenCL's rules and by WGSL's. Exits 5 when host and device disagree.",
    .arguments = "",
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct layout_options),
    .supervised = true,
    .run = run,
};
