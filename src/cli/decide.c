/* gpubench decide: which device for a call of this size. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "bench/runner.h"
#include "cli/commands.h"
#include "cli/measure_options.h"
#include "report/decide.h"
#include "report/label.h"

struct decide_options {
    struct base_options base;
    const char *size, *triangles, *pairs, *batch, *sigma, *call, *source, *mode;
    bool json;
};

static const char *const calls[] = {"loader", "pageable", "resident", NULL};
static const char *const sources[] = {"random", "file", NULL};
static const char *const modes[] = {"forward", "gradient", NULL};

static const struct option table[] = {
    {.name = "size",
     .letter = 's',
     .type = OPTION_TEXT,
     .argument = "SIZE",
     .help = "of the pictures: 256, or 640x480",
     .offset = offsetof(struct decide_options, size)},
    {.name = "triangles",
     .letter = 'n',
     .type = OPTION_TEXT,
     .argument = "N",
     .help = "in a scene",
     .offset = offsetof(struct decide_options, triangles)},
    {.name = "pairs",
     .letter = 'p',
     .type = OPTION_TEXT,
     .argument = "N[/px]",
     .help = "covered pairs of the call, or a pixel, in place of --triangles or beside it: "
             "gpubench scene counts a scene's",
     .offset = offsetof(struct decide_options, pairs)},
    {.name = "batch",
     .letter = 'b',
     .type = OPTION_TEXT,
     .argument = "N",
     .help = "scenes a call",
     .offset = offsetof(struct decide_options, batch)},
    {.name = "sigma",
     .type = OPTION_TEXT,
     .argument = "SIGMA",
     .help = "softness of edges. Default: 0.01",
     .offset = offsetof(struct decide_options, sigma)},
    {.name = "call",
     .type = OPTION_TEXT,
     .argument = "SHAPE",
     .help = "loader, pageable or resident. Default: the first that was measured",
     .choices = calls,
     .offset = offsetof(struct decide_options, call)},
    {.name = "source",
     .type = OPTION_TEXT,
     .argument = "SOURCE",
     .help = "of the scenes: random, or file. Default: the first that was measured",
     .choices = sources,
     .offset = offsetof(struct decide_options, source)},
    {.name = "mode",
     .type = OPTION_TEXT,
     .argument = "MODE",
     .help = "gradient or forward. Default: gradient",
     .choices = modes,
     .offset = offsetof(struct decide_options, mode)},
    {.name = "json",
     .type = OPTION_FLAG,
     .help = "the answer and the rule as JSON: every contender with its measured points; without a question "
             "the rule alone",
     .offset = offsetof(struct decide_options, json)},
    QUIET_OPTION,
    HELP_OPTION,
    {0},
};

static const char *const examples[] = {
    "gpubench decide --size 8 --triangles 4 --batch 16 results.json",
    "gpubench decide --size 8 --pairs 3.5/px --batch 16 results.json",
    "gpubench decide --size 256 --triangles 512 --batch 16",
    "gpubench decide --json results.json",
    NULL,
};

static bool set(struct render_spec *spec, const char *name, const char *value, struct err *err)
{
    return !value || spec_set_text(spec, spec_find(name), value, err) || err_wrap(err, "--%s", name);
}

/* "33e6", of the call; "31.5/px", of each of its pixels. */
static bool set_pairs(const struct decide_options *o, struct decide_question *question, struct err *err)
{
    char number[UNITS_MAX];
    const size_t length = strcspn(o->pairs, "/");
    const char *unit = o->pairs + length;

    snprintf(number, sizeof number, "%.*s", (int)length, o->pairs);
    if (length >= sizeof number || !units_parse_double(number, &question->pairs) || question->pairs <= 0 ||
        (*unit && strcmp(unit, "/px") != 0))
        return err_set(err, ERR_USAGE, "--pairs: \"%s\" is not a number above 0, or one with /px behind it",
                       o->pairs);
    if (*unit)
        question->pairs *= (double)question->spec.width * question->spec.height * question->spec.batch;
    return true;
}

/* *asked: there is a question; the rule alone needs none. */
static bool read_question(const struct decide_options *o, struct decide_question *question, bool *asked,
                          struct err *err)
{
    struct render_spec *spec = &question->spec;

    *question = (struct decide_question){
        .by_call = o->call != NULL, .by_source = o->source != NULL, .has_triangles = o->triangles != NULL};
    *asked = o->size || o->triangles || o->pairs || o->batch || !o->json;
    if (*asked && !(o->size && o->batch && (o->triangles || o->pairs)))
        return err_set(err, ERR_USAGE, "decide needs --size, --batch, and --triangles or --pairs");
    spec_init(spec);
    return set(spec, "size", o->size, err) && set(spec, "triangles", o->triangles, err) &&
           set(spec, "batch", o->batch, err) &&
           (!o->batch || spec->batch || err_set(err, ERR_USAGE, "--batch 0: an empty call has no winner")) &&
           set(spec, "sigma", o->sigma, err) && set(spec, "call", o->call, err) &&
           set(spec, "source", o->source, err) && set(spec, "mode", o->mode, err) &&
           (!o->pairs || set_pairs(o, question, err));
}

/* ---- in words ---- */

static void add_value(struct strbuf *out, size_t range, double value)
{
    const bool whole = range != SURFACE_SIGMA && range != DECIDE_PAIRS;

    strbuf_addf(out, whole ? "%.0f" : "%.4g", value < 1 && whole ? 0 : value);
}

static void add_outside(struct strbuf *out, const struct decide_question *question, const struct decision *d)
{
    const char *joint = "";

    strbuf_add(out, "outside what was measured: ");
    for (size_t r = 0; r < DECIDE_RANGES; r++) {
        if (!(d->outside >> r & 1))
            continue;
        strbuf_addf(out, "%s%s ", joint, decide_range_name(r));
        add_value(out, r, decide_range_value(question, r));
        strbuf_add(out, " (measured ");
        add_value(out, r, d->measured[r][0]);
        if (d->measured[r][1] > d->measured[r][0]) {
            strbuf_add(out, " to ");
            add_value(out, r, d->measured[r][1]);
        }
        strbuf_addc(out, ')');
        joint = ", ";
    }
    if (!d->outside)
        strbuf_add(out, "no measured points surround it");
    strbuf_add(out, "; nearest point:\n");
}

static void add_side(struct strbuf *out, const struct results *results, const struct cell *line,
                     const char *name, double ns)
{
    char time[UNITS_MAX], text[LABEL_MAX];

    units_time(time, (uint64_t)llround(ns));
    label_line(text, results, line, surface_keys());
    strbuf_addf(out, "  %-11s %s    %s\n", name, time, text);
}

static void add_basis(struct strbuf *out, const struct decision *d)
{
    static const char *const keys[] = {"batch", "sigma"};
    char low[LABEL_MAX], high[LABEL_MAX];

    if (d->basis == DECIDE_NEAREST) {
        strbuf_add(out, "  basis       the nearest measured point, not the one asked for\n");
        return;
    }
    if (d->basis == DECIDE_MEASURED) {
        strbuf_add(out, "  basis       measured at this point\n");
        return;
    }
    label_place(low, &d->low->spec);
    label_place(high, &d->high->spec);
    strbuf_addf(out, "  basis       interpolated between %s and %s", low, high);
    for (size_t i = 0; i < 2; i++) {
        const struct spec_key *key = spec_find(keys[i]);
        char a[SPEC_TEXT_MAX], b[SPEC_TEXT_MAX];
        if (spec_equal(&d->low->spec, &d->high->spec, key))
            continue;
        spec_text(&d->low->spec, key, a);
        spec_text(&d->high->spec, key, b);
        strbuf_addf(out, ", %s %s and %s", keys[i], a, b);
    }
    strbuf_addc(out, '\n');
}

/* What the answer's scenes cover, so that others can be held against them. */
static void add_pairs(struct strbuf *out, const struct results *results,
                      const struct decide_question *question, const struct decision *d)
{
    const double pixels = (double)d->at.width * d->at.height * d->at.batch;
    char count[UNITS_MAX], triangles[UNITS_MAX], name[LABEL_MAX];

    if (!(d->pairs > 0.5))
        return;
    units_count(count, (uint64_t)llround(d->pairs));
    strbuf_addf(out, "  %-11s %s covered, %.3g a pixel", "pairs", count, d->pairs / pixels);
    units_items(triangles, d->at.triangles, "triangle");
    if (question->pairs > 0 && d->basis != DECIDE_NEAREST)
        strbuf_addf(out, ": as %s%s of the scenes measured", d->basis == DECIDE_MEASURED ? "" : "about ",
                    triangles);
    strbuf_addc(out, '\n');
    if (question->pairs <= 0 || !question->has_triangles)
        return;
    units_items(triangles, question->spec.triangles, "triangle");
    strbuf_addf(out, "  %-11s by %s alone: ", "also", triangles);
    if (d->by_triangles) {
        label_device(name, results, d->by_triangles->device);
        strbuf_addf(out, "%s, %.2g times as fast\n", name, d->by_triangles_margin);
    } else {
        strbuf_add(out, "cannot tell\n");
    }
}

/* Whether a cell tells of a kind of call that can be asked for; those of CPU renderers do not say which it is. */
static bool has_kind(const struct cell *cell, bool cpu)
{
    return cell->status == CELL_OK && (cell->kind == BACKEND_OPENCL || cpu);
}

static bool is_new_kind(const struct results *results, size_t i, bool cpu)
{
    const struct render_spec *spec = &results->cells[i].spec;

    for (size_t k = 0; k < i; k++) {
        const struct render_spec *other = &results->cells[k].spec;
        if (has_kind(&results->cells[k], cpu) && other->mode == spec->mode && other->call == spec->call &&
            other->source == spec->source)
            return false;
    }
    return has_kind(&results->cells[i], cpu);
}

/* What can be asked for. */
static void add_kinds(struct strbuf *out, const struct results *results)
{
    static const char *const keys[] = {"mode", "call", "source"};
    const char *before = "; it has ";
    bool cpu = true;

    for (size_t i = 0; i < results->cell_count; i++)
        cpu = cpu && results->cells[i].kind != BACKEND_OPENCL;
    for (size_t i = 0; i < results->cell_count; i++) {
        if (!is_new_kind(results, i, cpu))
            continue;
        strbuf_add(out, before);
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            char value[SPEC_TEXT_MAX];
            spec_text(&results->cells[i].spec, spec_find(keys[k]), value);
            strbuf_addf(out, "%s--%s %s", k ? " " : "", keys[k], value);
        }
        before = ", ";
    }
    strbuf_addc(out, '\n');
}

static void add_answer(struct strbuf *out, const struct results *results,
                       const struct decide_question *question, const struct decision *d)
{
    char first[LABEL_MAX], second[LABEL_MAX], margin[NUMBER_MAX], point[LABEL_MAX], call[SPEC_TEXT_MAX];

    if (d->basis == DECIDE_NOTHING) {
        strbuf_addf(out, "cannot tell: %s has no two devices with times of one such call", results->path);
        add_kinds(out, results);
        return;
    }
    if (d->basis == DECIDE_NEAREST)
        add_outside(out, question, d);
    label_sides(first, second, results, d->winner, d->other);
    number_interval(margin, &d->margin);
    if (d->margin.verdict == RATIO_TIE)
        strbuf_addf(out, "a tie: %s %s times as fast as %s", first, margin, second);
    else
        strbuf_addf(out, "%s: %s times as fast as %s", first, margin, second);
    strbuf_addf(out, "    (confidence: %s)\n", decide_confidence_name(d->confidence));
    label_point(point, results, &d->at, 0);
    spec_text(&question->spec, spec_find("call"), call);
    strbuf_addf(out, "  %-11s %s, call %s\n", "for", point, call);
    add_pairs(out, results, question, d);
    add_side(out, results, d->winner, first, d->winner_ns);
    add_side(out, results, d->other, second, d->other_ns);
    add_basis(out, d);
}

static bool print_json(struct json *root, struct err *err)
{
    struct strbuf text = STRBUF_INIT;
    bool ok = json_print(root, true, &text, err) && print_text(&text, err);

    strbuf_fini(&text);
    return ok;
}

static struct json *new_rule(const char *basis)
{
    struct json *root = json_new_object();

    json_set_string(root, "schema", "gpubench-rule");
    json_set_u64(root, "version", 1);
    json_set_string(root, "basis", basis);
    return root;
}

/* ---- from results ---- */

static bool print_decision(const struct decide_options *o, const struct results *results,
                           const struct decide_question *question, bool asked, const struct decision *d,
                           struct err *err)
{
    if (!o->json) {
        struct strbuf text = STRBUF_INIT;
        add_answer(&text, results, question, d);
        bool ok = strbuf_ok(&text, err) && print_text(&text, err);
        strbuf_fini(&text);
        return ok;
    }
    struct json *root = new_rule("results");
    json_set_string(root, "results", results->path);
    bool ok = decide_rule_to_json(results, &question->spec, root, err);
    if (asked)
        decision_to_json(results, d, json_set_object(root, "decision"));
    ok = ok && print_json(root, err);
    json_free(root);
    return ok;
}

static bool from_results(const struct decide_options *o, const char *path, struct decide_question *question,
                         bool asked, int *code, struct err *err)
{
    struct results results = {0};
    struct decision decision;
    bool ok = results_load(path, &results, err) && decide(&results, question, &decision, err) &&
              print_decision(o, &results, question, asked, &decision, err);

    if (ok && asked && (decision.basis == DECIDE_NEAREST || decision.basis == DECIDE_NOTHING))
        *code = EXIT_NOTHING;
    results_fini(&results);
    return ok;
}

/* ---- by rule of thumb ---- */

/* The first OpenCL GPU with memory of its own; else the first that is not a CPU; else any. */
static const struct device_info *choose_device(const struct device_info *devices, size_t count)
{
    const struct device_info *found = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct device_info *d = &devices[i];
        if (d->backend != BACKEND_OPENCL || *d->trouble)
            continue;
        if (!found || (found->kind == DEVICE_CPU && d->kind != DEVICE_CPU) ||
            (found->host_unified && !d->host_unified && d->kind != DEVICE_CPU))
            found = d;
    }
    return found;
}

static void thumb_to_json(const struct device_info *device, const struct decide_question *question,
                          bool asked, struct json *root)
{
    json_set_string(
        root, "method",
        "a device that shares the host's memory loses; one with memory of its own wins from "
        "work_min pixels times triangles times scenes a call on, or pairs_min covered pairs; a guess "
        "until measured");
    json_set_u64(root, "work_min", DECIDE_THUMB_WORK);
    json_set_u64(root, "pairs_min", DECIDE_THUMB_PAIRS);
    if (!asked)
        return;
    const bool wins = device && decide_by_thumb(device, question);
    struct json *decision = json_set_object(root, "decision");
    json_set_string(decision, "basis", "rule of thumb");
    json_set_string(decision, "confidence", decide_confidence_name(CONFIDENCE_NONE));
    json_set_string(decision, "winner", wins ? device->short_name : "CPU");
    json_set_string(decision, "selector", wins ? device->selector : "openmp");
}

static void thumb_in_words(const struct device_info *device, const struct decide_question *question,
                           struct strbuf *out)
{
    const bool wins = device && decide_by_thumb(device, question);

    strbuf_addf(out, "%s, by rule of thumb: nothing was measured    (confidence: none)\n",
                wins ? device->short_name : "CPU");
    if (!device)
        strbuf_add(out, "  why         there is no OpenCL device to use\n");
    else if (device->host_unified || device->kind == DEVICE_CPU)
        strbuf_addf(out,
                    "  why         %s [%s] shares the host's memory: such a device loses until measured "
                    "otherwise\n",
                    device->short_name, device->selector);
    else if (question->pairs > 0)
        strbuf_addf(out,
                    "  why         %s [%s] has memory of its own: it wins from %u covered pairs\n"
                    "              a call on, and this is %.0f\n",
                    device->short_name, device->selector, DECIDE_THUMB_PAIRS, question->pairs);
    else
        strbuf_addf(out,
                    "  why         %s [%s] has memory of its own: it wins from %u pixels times triangles\n"
                    "              times scenes a call on, and this is %.0f\n",
                    device->short_name, device->selector, DECIDE_THUMB_WORK,
                    (double)question->spec.width * question->spec.height * question->spec.triangles *
                        question->spec.batch);
    strbuf_add(out, "  to know     gpubench sweep crossover, then decide with its results file\n");
}

static bool by_thumb(const struct decide_options *o, const struct decide_question *question, bool asked,
                     struct err *err)
{
    struct runner_options how = {0};
    struct device_info *devices = NULL;
    struct strbuf text = STRBUF_INIT;
    char *note = NULL;
    size_t count = 0;
    bool ok = !asked || runner_list_devices(&how, &devices, &count, &note, err);
    const struct device_info *device = choose_device(devices, count);

    if (ok && o->json) {
        struct json *root = new_rule("rule of thumb");
        thumb_to_json(device, question, asked, root);
        ok = print_json(root, err);
        json_free(root);
    } else if (ok) {
        thumb_in_words(device, question, &text);
        ok = strbuf_ok(&text, err) && print_text(&text, err);
    }
    if (note)
        say(&o->base, "%s", note);
    strbuf_fini(&text);
    free(note);
    free(devices);
    return ok;
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    const struct decide_options *o = values;
    struct decide_question question;
    struct err err = ERR_INIT;
    bool asked;
    int code = EXIT_OK;

    (void)argc;
    (void)argv;
    bool ok = read_question(o, &question, &asked, &err) &&
              (arguments->count ? from_results(o, arguments->items[0], &question, asked, &code, &err)
                                : by_thumb(o, &question, asked, &err));
    return ok ? code : report_error(&err);
}

const struct command command_decide = {
    .name = "decide",
    .help = "name the device for a call of some size, from a results file",
    .description = "Answers which device is faster for a call of this size, or of so many covered pairs, and "
                   "by how much, "
                   "from a results file: measured, or interpolated between the measured points around it, in "
                   "logarithms. Outside of them it says so, and "
                   "shows the nearest point. Without a results file it gives a rule of thumb.",
    .arguments = "[RESULTS]",
    .max_arguments = 1,
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct decide_options),
    .run = run,
};
