/* Results as comma-separated values (RFC 4180): a row a cell and quantity, one header whatever there is. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/phase_list.h"
#include "report/table.h"

static void add_text(struct strbuf *out, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        strbuf_add(out, text);
        return;
    }
    strbuf_addc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            strbuf_addc(out, '"');
        strbuf_addc(out, *text);
    }
    strbuf_addc(out, '"');
}

static void add_header(struct strbuf *out)
{
    size_t count;
    const struct spec_key *keys = spec_keys(&count);

    strbuf_add(out, "run,created,id,backend,device");
    for (size_t i = 0; i < count; i++)
        strbuf_addf(out, ",%s", keys[i].type == SPEC_SIZE ? "width,height" : keys[i].name);
    strbuf_add(out, ",status,reason,quantity,unit,value,low,high,samples\n");
}

static const char *head_text(const struct results *results, const char *object, const char *key)
{
    const struct json *node = results->head;

    if (node && object)
        node = json_get(node, object);
    node = node ? json_get(node, key) : NULL;
    return node ? json_string(node) : "";
}

/* What every row of a cell begins with. */
static void add_cell(struct strbuf *out, const struct results *results, const struct cell *cell)
{
    size_t count;
    const struct spec_key *keys = spec_keys(&count);

    add_text(out, head_text(results, "config", "name"));
    strbuf_addc(out, ',');
    add_text(out, head_text(results, NULL, "created"));
    strbuf_addc(out, ',');
    add_text(out, cell->id ? cell->id : "");
    strbuf_addc(out, ',');
    add_text(out, cell->backend);
    strbuf_addc(out, ',');
    if (cell->device < results->device_count)
        add_text(out, results->devices[cell->device].name);
    for (size_t i = 0; i < count; i++) {
        char value[SPEC_TEXT_MAX];
        spec_text(&cell->spec, &keys[i], value);
        strbuf_addc(out, ',');
        if (keys[i].type == SPEC_SIZE)
            strbuf_addf(out, "%" PRIu32 ",%" PRIu32, cell->spec.width, cell->spec.height);
        else if (spec_matters(&cell->spec, &keys[i], cell->kind))
            add_text(out, value);
    }
    strbuf_addf(out, ",%s,", cell_status_name(cell->status));
    add_text(out, cell->reason ? cell->reason : "");
}

struct row {
    const char *quantity, *unit;
    bool known;
    double value; /* of what has a fraction; else count is printed */
    uint64_t count;
    const uint64_t *ci95;
    size_t samples;
};

static void add_row(struct strbuf *out, const struct results *results, const struct cell *cell,
                    const struct row *row)
{
    add_cell(out, results, cell);
    strbuf_addf(out, ",%s,%s,", row->quantity, row->unit);
    if (row->known && !*row->unit)
        strbuf_addf(out, "%.9g", row->value);
    else if (row->known)
        strbuf_addf(out, "%" PRIu64, row->count);
    if (row->known && row->ci95)
        strbuf_addf(out, ",%" PRIu64 ",%" PRIu64, row->ci95[0], row->ci95[1]);
    else
        strbuf_add(out, ",,");
    strbuf_addc(out, ',');
    if (row->samples)
        strbuf_addf(out, "%zu", row->samples);
    strbuf_addc(out, '\n');
}

static void add_times(struct strbuf *out, const struct results *results, const struct cell *cell)
{
    bool ok = cell->status == CELL_OK;

    add_row(out, results, cell,
            &(struct row){.quantity = "median",
                          .unit = "ns",
                          .known = ok,
                          .count = cell->median_ns,
                          .ci95 = cell->has_ci ? cell->ci95_ns : NULL,
                          .samples = ok ? cell->sample_count : 0});
    if (ok && cell->has_device_time)
        add_row(out, results, cell,
                &(struct row){.quantity = "device", .unit = "ns", .known = true, .count = cell->device_ns});
    for (size_t i = 0; ok && cell->has_phases && i < PHASES; i++)
        add_row(
            out, results, cell,
            &(struct row){
                .quantity = phase_name(i), .unit = "ns", .known = true, .count = phase_ns(&cell->phases, i)});
    if (ok && cell->has_phases)
        add_row(out, results, cell,
                &(struct row){
                    .quantity = "synchronised", .unit = "ns", .known = true, .count = cell->phases.total_ns});
}

/* Not by their bare names: "loss" is a phase, too. */
static void add_errors(struct strbuf *out, const struct results *results, const struct cell *cell)
{
    for (size_t g = 0; g < AGREE_GROUPS; g++) {
        const double error = cell->agreement.value[g];
        char name[64];
        snprintf(name, sizeof(name), "error_%s", agreement_group_name((enum agreement_group)g));
        if (!isnan(error))
            add_row(out, results, cell,
                    &(struct row){.quantity = name, .unit = "", .known = isfinite(error), .value = error});
    }
}

static void add_counts(struct strbuf *out, const struct results *results, const struct cell *cell)
{
    const struct render_counts *c = &cell->counts;
    const struct row rows[] = {
        {.quantity = "dispatches", .unit = "count", .count = c->dispatches},
        {.quantity = "submissions", .unit = "count", .count = c->submissions},
        {.quantity = "bytes_up", .unit = "byte", .count = c->bytes_up},
        {.quantity = "bytes_down", .unit = "byte", .count = c->bytes_down},
        {.quantity = "partial_sums", .unit = "count", .count = c->partial_sums},
        {.quantity = "pool_hits", .unit = "count", .count = c->pool_hits},
        {.quantity = "pool_misses", .unit = "count", .count = c->pool_misses},
        {.quantity = "pool_bytes", .unit = "byte", .count = c->pool_bytes},
        {.quantity = "split", .unit = "count", .count = c->split},
        {.quantity = "pairs", .unit = "count", .count = cell->pairs},
        {.quantity = "pairs_opaque", .unit = "count", .count = cell->pairs_opaque},
        {.quantity = "layers_p99", .unit = "count", .count = cell->layers_p99},
        {.quantity = "layers_most", .unit = "count", .count = cell->layers_most},
        {.quantity = "tape_bytes", .unit = "byte", .count = cell->tape_bytes},
        {.quantity = "tape_touched_bytes", .unit = "byte", .count = cell->tape_touched_bytes},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct row row = rows[i];
        row.known = true;
        add_row(out, results, cell, &row);
    }
}

static void add_results(struct strbuf *out, const struct results *results)
{
    for (size_t i = 0; i < results->cell_count; i++) {
        const struct cell *cell = &results->cells[i];
        add_times(out, results, cell);
        add_errors(out, results, cell);
        if (cell->status == CELL_OK)
            add_counts(out, results, cell);
    }
}

bool results_write_csv(const struct table_run *runs, size_t count, struct strbuf *out, struct err *err)
{
    add_header(out);
    for (size_t i = 0; i < count; i++)
        add_results(out, runs[i].results);
    return strbuf_ok(out, err);
}
