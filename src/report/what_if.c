#include "report/what_if.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "report/kinds.h"
#include "report/label.h"
#include "report/phase_list.h"
#include "report/put.h"

/* Pageable copies of 12.6 MB took 3.9 to 5.5 times as long as pinned ones where this was measured (NVIDIA
 * H200); small ones 1.3 to 1.7 times. */
#define PINNED_FACTOR 4.0

const struct remedy_kind remedy_kinds[REMEDIES] = {
    [REMEDY_LOCAL] = {"local", "reduction", "direct", "local", "dispatch, at most all of it", true},
    [REMEDY_POOL] = {"pool", "pool", "off", "on", "alloc, all of it", false},
    [REMEDY_LOSS] = {"loss", "loss", "host", "device", "loss, and the images' part of readback", false},
    [REMEDY_PINNED] = {"pinned", "call", "pageable", "loader", "upload and readback, assumed 4 times as fast",
                       false},
    [REMEDY_RESIDENT] = {"resident", "call", "loader", "resident", "the targets' part of upload", false},
};

static unsigned bit(enum remedy r)
{
    return 1u << r;
}

bool remedies_parse(const char *list, unsigned *out, struct err *err)
{
    *out = 0;
    for (const char *at = list;;) {
        size_t length = strcspn(at, ",");
        size_t r = 0;
        while (r < REMEDIES &&
               (strlen(remedy_kinds[r].name) != length || strncmp(remedy_kinds[r].name, at, length) != 0))
            r++;
        if (r == REMEDIES)
            return err_set(err, ERR_USAGE,
                           "--what-if %s: \"%.*s\" is not one of local, pool, loss, pinned, resident", list,
                           (int)length, at);
        if (*out & bit((enum remedy)r))
            return err_set(err, ERR_USAGE, "--what-if %s: \"%s\" is there twice", list, remedy_kinds[r].name);
        *out |= bit((enum remedy)r);
        if (at[length] == '\0')
            return true;
        at += length + 1;
    }
}

const char *remedy_value(enum remedy r, unsigned listed, unsigned applied)
{
    if (r != REMEDY_PINNED && r != REMEDY_RESIDENT)
        return applied & bit(r) ? remedy_kinds[r].after : remedy_kinds[r].before;
    if (applied & bit(REMEDY_RESIDENT))
        return "resident";
    return listed & bit(REMEDY_PINNED) && !(applied & bit(REMEDY_PINNED)) ? "pageable" : "loader";
}

/* Part of what is copied that these bytes are. */
static double part(uint64_t bytes, uint64_t copied)
{
    return copied == 0 ? 0 : bytes >= copied ? 1 : (double)bytes / (double)copied;
}

bool remedies_predict(const struct cell *base, unsigned applied, uint64_t *out)
{
    const struct render_spec *s = &base->spec;
    const struct render_phases *p = &base->phases;
    const uint64_t images = UINT64_C(12) * s->batch * s->width * s->height;

    if (base->status != CELL_OK || !base->has_phases || p->total_ns == 0)
        return false;
    double dispatch = (double)p->dispatch_ns, alloc = (double)p->alloc_ns, loss = (double)p->loss_ns;
    double upload = (double)p->upload_ns, readback = (double)p->readback_ns;
    const double rest = (double)p->total_ns - dispatch - alloc - loss - upload - readback;

    if (applied & bit(REMEDY_LOCAL))
        dispatch = 0;
    if (applied & bit(REMEDY_POOL))
        alloc = 0;
    if (applied & bit(REMEDY_LOSS)) {
        loss = 0;
        readback *= 1 - part(images, base->counts.bytes_down);
    }
    if (applied & bit(REMEDY_RESIDENT))
        upload *= 1 - part(images, base->counts.bytes_up);
    /* Where memory is shared nothing is copied, and pinning changes nothing. */
    if (applied & bit(REMEDY_PINNED) && base->counts.bytes_up > 0) {
        upload /= PINNED_FACTOR;
        readback /= PINNED_FACTOR;
    }
    double left = (rest + dispatch + alloc + loss + upload + readback) / (double)p->total_ns;
    *out = (uint64_t)llround((double)base->median_ns * left);
    return true;
}

const char *remedies_name(unsigned listed, unsigned applied)
{
    if (applied == 0)
        return "base";
    for (size_t r = 0; r < REMEDIES; r++)
        if (applied == bit((enum remedy)r))
            return remedy_kinds[r].name;
    return applied == listed ? "all" : "some";
}

bool prediction_add(struct json *predictions, const struct cell *base, unsigned listed, unsigned applied,
                    struct err *err)
{
    const char *place = strchr(base->id, '/'), *name = remedies_name(listed, applied);
    const char *from = "all of these together";
    bool bound = false;
    struct strbuf id = STRBUF_INIT;
    uint64_t ns;

    if (!place || !remedies_predict(base, applied, &ns))
        return true;
    for (size_t r = 0; r < REMEDIES; r++) {
        if (applied == bit((enum remedy)r))
            from = remedy_kinds[r].from;
        bound = bound || (applied & bit((enum remedy)r) && remedy_kinds[r].bound);
    }
    strbuf_addf(&id, "%s%s", name, place);
    struct json *out = json_add_object(predictions);
    json_set_string(out, "remedy", name);
    json_set_string(out, "from", from);
    json_set_string(out, "base", base->id);
    json_set_string(out, "cell", strbuf_str(&id));
    json_set_u64(out, "base_ns", base->median_ns);
    json_set_u64(out, "predicted_ns", ns);
    json_set_bool(out, "bound", bound);
    bool ok = strbuf_ok(&id, err);
    strbuf_fini(&id);
    return ok;
}

/* ---- the table ---- */

static const char *text_of(const struct json *prediction, const char *key)
{
    return json_string(json_get(prediction, key));
}

static uint64_t ns_of(const struct json *prediction, const char *key)
{
    uint64_t ns = 0;

    return json_u64(json_get(prediction, key), &ns) ? ns : 0;
}

static void put_heading(struct table *t, const struct results *results, const struct cell *base,
                        struct time_unit unit)
{
    char point[LABEL_MAX], line[LABEL_MAX], call[SPEC_TEXT_MAX];

    label_point(point, results, &base->spec, keys_named("size"));
    label_line(line, results, base, 0);
    spec_text(&base->spec, spec_find("call"), call);
    table_title(t, "What if: predicted from the phases, then measured    %s", point);
    table_note(t, "base: %s, call: %s", line, call);
    table_note(t,
               "gain: base time / time with the remedy (above 1: the remedy helps)    from: the phases that "
               "were expected to shrink");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "size");
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "remedy");
    table_column(t, ALIGN_RIGHT, 900, "predicted\n%s", unit.name);
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "gain");
    table_column(t, ALIGN_RIGHT, 900, "measured\n%s", unit.name);
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "gain");
    table_column(t, ALIGN_LEFT, 700, "from");
}

static void put_base(struct table *t, const struct cell *base, struct time_unit unit)
{
    char size[NUMBER_MAX] = "-";

    if (base)
        number_size(size, base->spec.width, base->spec.height);
    table_row(t);
    table_put(t, MARK_NONE, NAN, "%s", size);
    table_put(t, MARK_NONE, NAN, "base");
    table_put(t, MARK_NONE, NAN, "%s", "");
    table_put(t, MARK_NONE, NAN, "%s", "");
    put_time(t, base, unit);
}

static bool put_row(struct table *t, const struct results *results, const struct json *prediction,
                    struct time_unit unit, struct err *err)
{
    const struct cell *base = results_find(results, text_of(prediction, "base"));
    const struct cell *cell = results_find(results, text_of(prediction, "cell"));
    uint64_t before = ns_of(prediction, "base_ns"), predicted = ns_of(prediction, "predicted_ns");
    const bool bound = json_bool(json_get(prediction, "bound"));
    char time[NUMBER_MAX], factor[NUMBER_MAX];
    struct ratio gain;

    if (!ratio_of(base, cell, &gain, err))
        return false;
    double expected = predicted ? (double)before / (double)predicted : NAN;
    number_time(time, predicted, unit);
    number_ratio(factor, expected);
    table_row(t);
    table_put(t, MARK_NONE, NAN, "%s", "");
    table_put(t, MARK_NONE, NAN, "%s", text_of(prediction, "remedy"));
    table_put(t, MARK_NONE, (double)predicted, "%s%s", bound ? "≥ " : "", time);
    table_put(t, MARK_NONE, expected, "%s%s", bound ? "≤ " : "", factor);
    put_time(t, cell, unit);
    put_interval(t, &gain);
    table_put(t, MARK_DIM, NAN, "%s", text_of(prediction, "from"));
    return true;
}

static bool put_reasons(struct table *t, const struct results *results, const struct json *predictions, struct err *err)
{
    const size_t count = json_count(predictions);
    const struct cell **cells = mem_calloc(2 * count, sizeof(*cells), "a table's cells", err);

    if (!cells)
        return false;
    for (size_t i = 0; i < count; i++) {
        cells[2 * i] = results_find(results, text_of(json_at(predictions, i), "base"));
        cells[2 * i + 1] = results_find(results, text_of(json_at(predictions, i), "cell"));
    }
    foot_reasons(t, results, cells, 2 * count);
    free(cells);
    return true;
}

bool what_if_make(const struct results *results, struct table **tables, size_t *count, struct err *err)
{
    const struct json *predictions = json_get(results->head, "predictions");
    const struct cell *base =
        json_count(predictions) ? results_find(results, text_of(json_at(predictions, 0), "base")) : NULL;
    struct table *t = tables_append(tables, count, "what-if", err);

    if (!t)
        return false;
    if (!base) {
        table_title(t, "What if: these results have no predictions; gpubench profile --what-if makes them");
        return table_ok(t, err);
    }
    struct time_unit unit = unit_of_line(results, base, keys_named("size triangles"));
    put_heading(t, results, base, unit);
    for (size_t i = 0; i < json_count(predictions); i++) {
        const struct json *one = json_at(predictions, i);
        if (i == 0 || strcmp(text_of(one, "base"), text_of(json_at(predictions, i - 1), "base")) != 0)
            put_base(t, results_find(results, text_of(one, "base")), unit);
        if (!put_row(t, results, one, unit, err))
            return false;
    }
    return put_reasons(t, results, predictions, err) && table_ok(t, err);
}
