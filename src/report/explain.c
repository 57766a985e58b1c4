#include "report/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clocale.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "report/phase_list.h"

const char *cause_kind_name(enum cause_kind kind)
{
    static const char *const names[] = {"option", "count", "phase", "environment"};
    return names[kind];
}

const char *cause_known_by(const struct cause *cause)
{
    return cause->inferred ? "inferred" : "measured";
}

struct causes {
    struct cause *items;
    size_t count, max;
};

static void add(struct causes *list, enum cause_kind kind, bool inferred, const char *fmt, ...)
    GB_PRINTF(4, 5);

static void add(struct causes *list, enum cause_kind kind, bool inferred, const char *fmt, ...)
{
    va_list args;

    if (list->count == list->max)
        return;
    struct cause *cause = &list->items[list->count++];
    cause->kind = kind;
    cause->inferred = inferred;
    locale_t locale = clocale_enter();
    va_start(args, fmt);
    vsnprintf(cause->text, sizeof(cause->text), fmt, args);
    va_end(args);
    clocale_leave(locale);
}

/* ---- counts ---- */

static void add_count(struct causes *list, const char *name, uint64_t was, uint64_t now)
{
    if (was != now)
        add(list, CAUSE_COUNT, false, "%s %" PRIu64 " -> %" PRIu64, name, was, now);
}

static void add_counts(struct causes *list, const struct match *m)
{
    const struct render_counts *was = &m->was->counts, *now = &m->now->counts;

    add_count(list, "dispatches", was->dispatches, now->dispatches);
    add_count(list, "bytes up", was->bytes_up, now->bytes_up);
    add_count(list, "bytes down", was->bytes_down, now->bytes_down);
    add_count(list, "pool misses", was->pool_misses, now->pool_misses);
    if (!match_same_pairs(m->was, m->now))
        add_count(list, "pairs", m->was->pairs, m->now->pairs);
}

size_t explain_counts(const struct match *match, struct cause out[EXPLAIN_COUNTS])
{
    struct causes list = {out, 0, EXPLAIN_COUNTS};

    add_counts(&list, match);
    return list.count;
}

/* ---- phases ---- */

/* A phase is named when it makes up this much of the whole difference. */
#define PHASE_SHARE 0.2

static void add_phases(struct causes *list, const struct match *m)
{
    const struct render_phases *was = &m->was->phases, *now = &m->now->phases;

    if (!m->was->has_phases || !m->now->has_phases)
        return;
    const double whole = (double)now->total_ns - (double)was->total_ns;
    const double calls = (double)m->now->median_ns - (double)m->was->median_ns;
    if (whole * calls <= 0)
        return;
    double left = INFINITY;
    for (size_t n = 0; n < PHASES; n++) {
        size_t best = PHASES;
        double best_share = PHASE_SHARE;
        for (size_t i = 0; i < PHASES; i++) {
            const double share = ((double)phase_ns(now, i) - (double)phase_ns(was, i)) / whole;
            if (share >= best_share && share < left) {
                best = i;
                best_share = share;
            }
        }
        if (best == PHASES)
            return;
        char before[UNITS_MAX], after[UNITS_MAX];
        units_time(before, phase_ns(was, best));
        units_time(after, phase_ns(now, best));
        add(list, CAUSE_PHASE, false, "%s %s -> %s, %.0f %% of the difference", phase_name(best), before,
            after, fmin(best_share, 1) * 100);
        left = best_share;
    }
}

/* ---- what is around it ---- */

static void add_drift(struct causes *list, const struct drift *drift, bool slower)
{
    const double change = slower ? drift->slower : drift->faster;

    if (drift->known && change > DRIFT_TOLERATED)
        add(list, CAUSE_ENVIRONMENT, false, "the machine itself is %.0f %% %s (canary)", change * 100,
            slower ? "slower" : "faster");
}

static void add_text(struct causes *list, const char *what, const char *was, const char *now)
{
    if (strcmp(was, now) != 0)
        add(list, CAUSE_ENVIRONMENT, true, "%s %.56s -> %.56s", what, *was ? was : "unknown",
            *now ? now : "unknown");
}

static void print_scalar(const struct json *node, char out[64])
{
    struct strbuf text = STRBUF_INIT;
    struct err ignored = ERR_INIT;

    snprintf(out, 64, "%s", node && json_type(node) == JSON_STRING ? json_string(node) : "");
    if (node && (json_type(node) == JSON_NUMBER || json_type(node) == JSON_BOOL) &&
        json_print(node, false, &text, &ignored))
        snprintf(out, 64, "%s", strbuf_str(&text));
    err_fini(&ignored);
    strbuf_fini(&text);
}

static void add_member(struct causes *list, const char *what, const struct json *was, const struct json *now,
                       const char *key)
{
    char before[64], after[64];

    print_scalar(json_get(was, key), before);
    print_scalar(json_get(now, key), after);
    add_text(list, what, before, after);
}

/* ---- options ---- */

static void add_keys(struct causes *list, const struct match *m)
{
    size_t count;
    const struct spec_key *keys = spec_keys(&count);

    for (size_t i = 0; i < count; i++) {
        char before[SPEC_TEXT_MAX], after[SPEC_TEXT_MAX];
        const bool matters = spec_matters(&m->was->spec, &keys[i], m->was->kind) ||
                             spec_matters(&m->now->spec, &keys[i], m->now->kind);
        if (!matters || spec_equal(&m->was->spec, &m->now->spec, &keys[i]))
            continue;
        /* 0 is the renderer's own choice, which is in the device's description. */
        if (strcmp(keys[i].name, "threads") == 0)
            continue;
        spec_text(&m->was->spec, &keys[i], before);
        spec_text(&m->now->spec, &keys[i], after);
        add(list, CAUSE_OPTION, false, "%s %s -> %s", keys[i].name, before, after);
    }
}

static void add_threads(struct causes *list, const struct match *m, const struct device_info *was,
                        const struct device_info *now)
{
    const uint32_t chosen_before = m->was->spec.threads, chosen = m->now->spec.threads;
    const uint32_t before = chosen_before ? chosen_before : was->threads,
                   after = chosen ? chosen : now->threads;

    if (before != after)
        add(list, chosen_before || chosen ? CAUSE_OPTION : CAUSE_ENVIRONMENT, false,
            "threads %" PRIu32 " -> %" PRIu32, before, after);
}

/* What was given on the command line, and is in no device's description. */
static void add_given(struct causes *list, const struct results *was, const struct results *now)
{
    static const struct {
        const char *key, *option;
    } options[] = {{"memory_budget_bytes", "--memory-budget"}, {"kernel_dir", "--kernel-dir"}};

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        char before[64], after[64];
        print_scalar(json_get(json_get(was->head, "options"), options[i].key), before);
        print_scalar(json_get(json_get(now->head, "options"), options[i].key), after);
        if (strcmp(before, after) != 0)
            add(list, CAUSE_OPTION, false, "%s %s -> %s", options[i].option, *before ? before : "not given",
                *after ? after : "not given");
    }
}

static void add_options(struct causes *list, const struct results *was, const struct results *now,
                        const struct match *m)
{
    const struct device_info *a = results_device(was, m->was->device), *b = results_device(now, m->now->device);

    add_keys(list, m);
    if (a && b) {
        add_threads(list, m, a, b);
        add_text(list, "code path", a->path, b->path);
        if (*a->tiles && *b->tiles) /* older files do not say */
            add_text(list, "tiles", a->tiles, b->tiles);
        if (a->max_submit_ns != b->max_submit_ns)
            add(list, CAUSE_OPTION, false, "--max-submit-ms %" PRIu64 " -> %" PRIu64, a->max_submit_ns / 1000000,
                b->max_submit_ns / 1000000);
    }
    if (m->now->kind == BACKEND_OPENCL)
        add_given(list, was, now);
}

size_t explain_options(const struct results *was, const struct results *now, const struct match *match,
                       struct cause out[EXPLAIN_MAX])
{
    struct causes list = {out, 0, EXPLAIN_MAX};

    add_options(&list, was, now, match);
    return list.count;
}

/* ---- the rest ---- */

static void add_device(struct causes *list, const struct device_info *was, const struct device_info *now)
{
    add_text(list, "device", was->name, now->name);
    add_text(list, "driver", was->driver_version, now->driver_version);
    if (was->compute_units != now->compute_units)
        add(list, CAUSE_ENVIRONMENT, true, "compute units %" PRIu32 " -> %" PRIu32, was->compute_units,
            now->compute_units);
}

/* Variables that one run had and the other had not, or with another value. */
static void add_variables(struct causes *list, const struct json *was, const struct json *now)
{
    const struct json *before = json_get(was, "environment"), *after = json_get(now, "environment");

    for (size_t i = 0; i < json_count(after); i++) {
        const char *name = json_key(json_at(after, i)), *old = json_string(json_get(before, name));
        const char *new = json_string(json_at(after, i));
        if (strcmp(old, new) != 0)
            add(list, CAUSE_ENVIRONMENT, true, "%.60s %.40s -> %.40s", name, *old ? old : "unset", new);
    }
    for (size_t i = 0; i < json_count(before); i++)
        if (!json_get(after, json_key(json_at(before, i))))
            add(list, CAUSE_ENVIRONMENT, true, "%.60s %.40s -> unset", json_key(json_at(before, i)),
                json_string(json_at(before, i)));
}

static void add_load(struct causes *list, const struct json *was, const struct json *now)
{
    const double before = json_number(json_at(json_get(was, "load_average"), 0));
    const double after = json_number(json_at(json_get(now, "load_average"), 0));

    if (fabs(after - before) >= 1)
        add(list, CAUSE_ENVIRONMENT, true, "load average %.1f -> %.1f when it started", before, after);
}

static void add_machine(struct causes *list, const struct results *was, const struct results *now)
{
    static const struct {
        const char *key, *words;
    } parts[] = {{"governor", "governor"},
                 {"cpu_quota", "CPU quota"},
                 {"affinity", "CPUs that may be used"},
                 {"kernel", "kernel"}};
    const struct json *before = json_get(was->head, "machine"), *after = json_get(now->head, "machine");

    add_member(list, "CPU", json_get(before, "cpu"), json_get(after, "cpu"), "model");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        add_member(list, parts[i].words, before, after, parts[i].key);
    add_variables(list, before, after);
    add_load(list, before, after);
}

static void add_tool(struct causes *list, const struct results *was, const struct results *now)
{
    static const char *const parts[] = {"version", "revision", "compiler", "flags"};
    static const char *const words[] = {"gpubench", "gpubench's revision", "compiler", "compiler flags"};
    const struct json *before = json_get(was->head, "tool"), *after = json_get(now->head, "tool");

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        add_member(list, words[i], before, after, parts[i]);
}

/* The last whole record of the GPU's state in a run: not one of a block. */
static const struct json *gpu_state(const struct results *results, const struct device_info *device)
{
    const struct json *records = json_get(results->head, "environment"), *found = NULL;

    for (size_t i = 0; i < json_count(records); i++) {
        const struct json *gpus = json_get(json_at(records, i), "gpus");
        for (size_t k = 0; k < json_count(gpus); k++)
            if (strcmp(json_string(json_get(json_at(gpus, k), "on")), device->selector) == 0 &&
                json_get(json_at(gpus, k), "processes"))
                found = json_at(gpus, k);
    }
    return found;
}

static void add_gpu(struct causes *list, const struct json *was, const struct json *now)
{
    const double before = json_number(json_get(was, "clock_mhz")),
                 after = json_number(json_get(now, "clock_mhz"));

    if (!was || !now)
        return;
    if (before > 0 && after > 0 && fabs(after / before - 1) > DRIFT_TOLERATED)
        add(list, CAUSE_ENVIRONMENT, false, "GPU clock %.0f -> %.0f MHz", before, after);
    add_member(list, "throttled by", was, now, "throttle");
    add_member(list, "PCIe generation", was, now, "pcie_generation");
    add_member(list, "PCIe width", was, now, "pcie_width");
    const size_t others_before = json_count(json_get(was, "processes"));
    const size_t others = json_count(json_get(now, "processes"));
    if (others != others_before)
        add(list, CAUSE_ENVIRONMENT, true, "other processes on the GPU %zu -> %zu", others_before, others);
}

size_t explain_change(const struct results *was, const struct results *now, const struct match *match,
                      const struct drift *drift, struct cause out[EXPLAIN_MAX])
{
    struct causes list = {out, 0, EXPLAIN_MAX};
    const struct device_info *a = results_device(was, match->was->device);
    const struct device_info *b = results_device(now, match->now->device);

    add_options(&list, was, now, match);
    add_counts(&list, match);
    add_phases(&list, match);
    add_drift(&list, drift, match->now->median_ns > match->was->median_ns);
    if (a && b) {
        add_device(&list, a, b);
        add_gpu(&list, gpu_state(was, a), gpu_state(now, b));
    }
    add_machine(&list, was, now);
    add_tool(&list, was, now);
    return list.count;
}
