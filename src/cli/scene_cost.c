#include "cli/scene_cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "report/cost.h"
#include "report/label.h"
#include "report/surface.h"

#define STRATEGIES (STRATEGY_TAPED + 1)
#define REDUCTIONS (REDUCTION_DIRECT + 1)

static double pixels_of(const struct render_spec *spec)
{
    return (double)spec->width * spec->height;
}

static const char *count(char out[UNITS_MAX], double value)
{
    units_count(out, (uint64_t)llround(value));
    return out;
}

/* Values that are added up in global memory, ten a triangle: for each pixel, or once a tile. */
static double additions(const struct scene_stats *stats, const struct render_spec *spec, enum reduction reduction)
{
    return SCENE_STRIDE *
           (reduction == REDUCTION_DIRECT ? stats->covered * pixels_of(spec) : (double)stats->partial_sums);
}

static const char *name_of(const char *key, int value)
{
    return spec_find(key)->values[value];
}

void scene_cost_text(const struct scene_stats *stats, const struct render_spec *spec, struct strbuf *out)
{
    char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX], d[UNITS_MAX];

    strbuf_add(out, "What a gradient takes, counted and not measured:\n"
                    "  strategy            evaluations  a pixel     memory       tape\n");
    for (int s = 0; s < STRATEGIES; s++) {
        const double evaluations = stats->evaluations[s];
        units_sig3(b, evaluations);
        units_bytes(c, stats->memory_bytes[s]);
        units_bytes(d, stats->tape_touched_bytes);
        strbuf_addf(out, "  %-18s %12s %8s %10s %10s\n", name_of("strategy", s),
                    count(a, evaluations * pixels_of(spec)), b, c, s == STRATEGY_TAPED ? d : "none");
    }
    units_bytes(d, stats->tape_dense_bytes);
    strbuf_addf(out, "  (an evaluation: a triangle at a pixel, one exponential; a tape of all pixels: %s)\n", d);
    strbuf_add(out, "  sums                  additions           memory\n");
    for (int r = 0; r < REDUCTIONS; r++) {
        units_bytes(c, r == REDUCTION_ORDERED ? stats->sums_bytes : 0);
        strbuf_addf(out, "  %-18s %12s %8s %7s\n", name_of("reduction", r),
                    count(a, additions(stats, spec, (enum reduction)r)),
                    r == REDUCTION_ORDERED ? "in order" : "atomic", r == REDUCTION_ORDERED ? c : "none");
    }
    strbuf_addf(out, "  (in global memory: ten a triangle, for each pixel or for each tile of %dx%d)\n", SCENE_TILE_W,
                SCENE_TILE_H);
}

void scene_cost_json(const struct scene_stats *stats, const struct render_spec *spec, struct json *root)
{
    struct json *strategies = json_set_object(root, "strategies"), *reductions = json_set_object(root, "reductions");

    for (int s = 0; s < STRATEGIES; s++) {
        struct json *of = json_set_object(strategies, name_of("strategy", s));
        json_set_number(of, "evaluations", round(stats->evaluations[s] * pixels_of(spec)));
        json_set_number(of, "evaluations_a_pixel", stats->evaluations[s]);
        json_set_u64(of, "memory_bytes", stats->memory_bytes[s]);
        json_set_u64(of, "tape_bytes", s == STRATEGY_TAPED ? stats->tape_touched_bytes : 0);
    }
    for (int r = 0; r < REDUCTIONS; r++) {
        struct json *of = json_set_object(reductions, name_of("reduction", r));
        json_set_number(of, "additions", round(additions(stats, spec, (enum reduction)r)));
        json_set_bool(of, "atomic", r != REDUCTION_ORDERED);
        json_set_u64(of, "memory_bytes", r == REDUCTION_ORDERED ? stats->sums_bytes : 0);
    }
}

/* ---- times ---- */

static double pairs_of(const struct scene_stats *stats, const struct render_spec *spec)
{
    return stats->covered * pixels_of(spec);
}

/* What a line is called: its device, its options, its call. */
static void line_name(const struct results *results, const struct cell *line, char out[LABEL_MAX])
{
    const struct spec_key *call = spec_find("call");
    struct strbuf text = STRBUF_INIT;
    char label[LABEL_MAX], value[SPEC_TEXT_MAX];

    label_line(label, results, line, surface_keys());
    strbuf_add(&text, label);
    if (spec_matters(&line->spec, call, line->kind)) {
        spec_text(&line->spec, call, value);
        strbuf_addf(&text, ", %s", value);
    }
    snprintf(out, LABEL_MAX, "%s", strbuf_str(&text));
    strbuf_fini(&text);
}

bool scene_times_text(const struct scene_stats *stats, const struct render_spec *spec,
                      const struct results *results, struct strbuf *out, struct err *err)
{
    struct cost *costs;
    size_t found;

    if (!costs_of(results, &costs, &found, err))
        return false;
    if (found == 0)
        strbuf_addf(out, "Time: %s has no gradients with times and pairs\n", results->path);
    else
        strbuf_addf(out, "Time of a call of this scene, estimated: a fixed part and one that goes with covered pairs,\n"
                         "by %s\n",
                    results->path);
    for (size_t i = 0; i < found; i++) {
        const struct cost *cost = &costs[i];
        char name[LABEL_MAX], time[UNITS_MAX], fixed[UNITS_MAX], pair[UNITS_MAX];
        line_name(results, cost->line, name);
        units_time(time, (uint64_t)llround(cost_ns(cost, pairs_of(stats, spec))));
        units_time(fixed, (uint64_t)llround(cost->fixed_ns));
        units_sig3(pair, cost->pair_ns);
        strbuf_addf(out, "  %-10s %s\n  %-10s %s and %s ns a pair, from %zu cell%s; half of them within %.0f %%\n", time,
                    name, "", fixed, pair, cost->cells, cost->cells == 1 ? "" : "s", 100 * cost->error);
    }
    free(costs);
    return true;
}

bool scene_times_json(const struct scene_stats *stats, const struct render_spec *spec,
                      const struct results *results, struct json *root, struct err *err)
{
    struct json *times = json_set_array(root, "times");
    struct cost *costs;
    size_t found;

    json_set_string(root, "results", results->path);
    if (!costs_of(results, &costs, &found, err))
        return false;
    for (size_t i = 0; i < found; i++) {
        const struct cost *cost = &costs[i];
        struct json *time = json_add_object(times);
        char name[LABEL_MAX];
        line_name(results, cost->line, name);
        json_set_string(time, "on", name);
        json_set_string(time, "backend", cost->line->backend);
        spec_to_json(&cost->line->spec, cost->line->kind, json_set_object(time, "params"));
        json_set_number(time, "ns", cost_ns(cost, pairs_of(stats, spec)));
        json_set_number(time, "fixed_ns", cost->fixed_ns);
        json_set_number(time, "pair_ns", cost->pair_ns);
        json_set_u64(time, "cells", cost->cells);
        json_set_number(time, "median_error", cost->error);
    }
    free(costs);
    return true;
}
