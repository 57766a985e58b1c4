/* The dispatch rule and its answers as JSON. */
#include <math.h>
#include <stdlib.h>

#include "report/decide.h"
#include "report/label.h"

static void put_place(const struct render_spec *spec, struct json *object)
{
    json_set_u64(object, "width", spec->width);
    json_set_u64(object, "height", spec->height);
    json_set_u64(object, "triangles", spec->triangles);
    json_set_u64(object, "batch", spec->batch);
    json_set_float(object, "sigma", spec->sigma);
}

static void put_contender(const struct results *results, const struct cell *line, struct json *object)
{
    char text[LABEL_MAX];

    label_device(text, results, line->device);
    json_set_string(object, "device", text);
    if (line->device < results->device_count)
        json_set_string(object, "selector", results->devices[line->device].selector);
    json_set_string(object, "backend", line->backend);
    label_line(text, results, line, surface_keys());
    json_set_string(object, "description", text);
    struct json *points = json_set_array(object, "points");
    for (size_t i = 0; i < results->cell_count; i++) {
        const struct cell *cell = &results->cells[i];
        if (!ratio_can_win(cell) || !cells_alike(cell, line, surface_keys()))
            continue;
        struct json *point = json_add_object(points);
        put_place(&cell->spec, point);
        json_set_u64(point, "pairs", cell->pairs);
        json_set_u64(point, "median_ns", cell->median_ns);
        if (cell->has_ci) {
            struct json *ends = json_set_array(point, "ci95_ns");
            json_add_u64(ends, cell->ci95_ns[0]);
            json_add_u64(ends, cell->ci95_ns[1]);
        }
    }
}

bool decide_rule_to_json(const struct results *results, const struct render_spec *question,
                         struct json *object, struct err *err)
{
    const struct cell **lines;
    size_t count;
    char text[SPEC_TEXT_MAX];

    if (!decide_contenders(results, question, &lines, &count, err))
        return false;
    spec_text(question, spec_find("mode"), text);
    json_set_string(object, "mode", text);
    spec_text(question, spec_find("call"), text);
    json_set_string(object, "call", text);
    spec_text(question, spec_find("source"), text);
    json_set_string(object, "source", text);
    json_set_string(
        object, "method",
        "the shortest time wins; between points log(time) and log(pairs) are linear in the logarithms "
        "of sqrt(width*height), triangles, batch and sigma; a call of other scenes is that of as many "
        "pairs; outside of the points nothing is known");
    struct json *tie = json_set_array(object, "tie");
    json_add_number(tie, RATIO_TIE_LOW);
    json_add_number(tie, RATIO_TIE_HIGH);
    struct json *contenders = json_set_array(object, "contenders");
    for (size_t i = 0; i < count; i++)
        put_contender(results, lines[i], json_add_object(contenders));
    free(lines);
    return true;
}

void decision_to_json(const struct results *results, const struct decision *d, struct json *object)
{
    char first[LABEL_MAX], second[LABEL_MAX];

    json_set_string(object, "basis", decide_basis_name(d->basis));
    json_set_string(object, "confidence", decide_confidence_name(d->confidence));
    struct json *outside = json_set_array(object, "outside");
    for (size_t r = 0; r < DECIDE_RANGES; r++)
        if (d->outside >> r & 1)
            json_add_string(outside, decide_range_name(r));
    struct json *at = json_set_object(object, "at");
    put_place(&d->at, at);
    if (d->pairs >= 0)
        json_set_number(at, "pairs", round(d->pairs));
    if (d->basis == DECIDE_NOTHING)
        return;
    label_sides(first, second, results, d->winner, d->other);
    json_set_bool(object, "tie", d->margin.verdict == RATIO_TIE);
    json_set_string(object, "winner", first);
    json_set_string(object, "other", second);
    if (d->winner->device < results->device_count)
        json_set_string(object, "selector", results->devices[d->winner->device].selector);
    json_set_number(object, "winner_ns", round(d->winner_ns));
    json_set_number(object, "other_ns", round(d->other_ns));
    json_set_number(object, "margin", d->margin.value);
    if (d->margin.has_ci) {
        struct json *ends = json_set_array(object, "margin_ci95");
        json_add_number(ends, d->margin.ci95[0]);
        json_add_number(ends, d->margin.ci95[1]);
    }
    if (d->by_triangles) {
        label_device(first, results, d->by_triangles->device);
        json_set_string(object, "winner_by_triangles", first);
        json_set_number(object, "margin_by_triangles", d->by_triangles_margin);
    }
}
