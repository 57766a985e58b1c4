/* gpubench profile: where a call's time goes, and what remedies gain. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/configs.h"
#include "cli/devices.h"
#include "cli/dry_run.h"
#include "cli/measurement.h"
#include "report/what_if.h"

struct profile_options {
    struct measure_options measure;
    bool phases, kernels;
    const char *what_if;
};

static const struct option table[] = {
    {.name = "phases",
     .type = OPTION_FLAG,
     .help =
         "the time of each phase of a call, and what it could gain; also where no other table is asked for",
     .offset = offsetof(struct profile_options, phases)},
    {.name = "kernels",
     .type = OPTION_FLAG,
     .help = "each kernel's device time, share and bytes",
     .offset = offsetof(struct profile_options, kernels)},
    {.name = "what-if",
     .type = OPTION_TEXT,
     .argument = "LIST",
     .help = "of local, pool, loss, pinned and resident: predict from the phases of a call without these "
             "remedies what each would gain, then measure it",
     .offset = offsetof(struct profile_options, what_if)},
    RUN_OPTIONS,
    DEVICE_OPTIONS,
    FORMAT_OPTION(offsetof(struct measure_options, format)),
    QUIET_OPTION,
    VERBOSE_OPTION("more notes: what the plan collapsed, each cell as it is done"),
    HELP_OPTION,
    {0},
};

static const char *const examples[] = {
    "gpubench profile",
    "gpubench profile --phases --kernels -a size=256 -a triangles=512",
    "gpubench profile --what-if resident,pinned,pool,local",
    "gpubench profile --what-if pool,loss -a strategy=recompute -a reduction=local",
    NULL,
};

/* ---- what if ---- */

static bool sets_key(unsigned listed, const char *key)
{
    for (size_t r = 0; r < REMEDIES; r++)
        if (listed & 1u << r && strcmp(remedy_kinds[r].key, key) == 0)
            return true;
    return false;
}

/* The device's backend of the config with the remedies' keys set. */
static bool add_backend(struct json *backends, const struct json *device, unsigned listed, unsigned applied,
                        struct err *err)
{
    struct json *out = json_add_object(backends);

    json_set_string(out, "name", remedies_name(listed, applied));
    for (size_t i = 0; i < json_count(device); i++) {
        const struct json *member = json_at(device, i);
        if (strcmp(json_key(member), "name") == 0 || sets_key(listed, json_key(member)))
            continue;
        struct json *copy = json_copy(member, err);
        if (!copy)
            return false;
        json_set(out, json_key(member), copy);
    }
    for (size_t r = 0; r < REMEDIES; r++) {
        const char *key = remedy_kinds[r].key;
        if (listed & 1u << r && !json_get(out, key))
            json_set_string(out, key, remedy_value((enum remedy)r, listed, applied));
    }
    return true;
}

static bool add_backends(struct json *root, const struct json *device, unsigned listed, bool remedied,
                         struct err *err)
{
    struct json *backends = json_set_array(root, "backends");

    if (!add_backend(backends, device, listed, 0, err))
        return false;
    if (!remedied)
        return true;
    for (size_t r = 0; r < REMEDIES; r++)
        if (listed & 1u << r && !add_backend(backends, device, listed, 1u << r, err))
            return false;
    /* Of one remedy all is the same. */
    return !(listed & (listed - 1)) || add_backend(backends, device, listed, listed, err);
}

static const struct json *device_backend(const struct json *config)
{
    const struct json *backends = json_get(config, "backends");

    for (size_t i = 0; i < json_count(backends); i++)
        if (strcmp(json_string(json_get(json_at(backends, i), "backend")), "opencl") == 0)
            return json_at(backends, i);
    return NULL;
}

/* The config with base as its only backend, or with all remedies beside it. */
static bool derive_config(const struct config *from, unsigned listed, bool remedied, struct config *out,
                          struct err *err)
{
    struct json *root = json_new_object();
    bool ok = true;

    for (size_t i = 0; ok && i < json_count(from->json); i++) {
        const struct json *member = json_at(from->json, i);
        if (strcmp(json_key(member), "backends") == 0) {
            ok = add_backends(root, device_backend(from->json), listed, remedied, err);
        } else if (strcmp(json_key(member), "tables") == 0) {
            json_add_string(json_set_array(root, "tables"), "what-if");
        } else {
            struct json *copy = json_copy(member, err);
            ok = copy != NULL;
            json_set(root, json_key(member), copy);
        }
    }
    ok = ok && config_from_json(root, from->path, out, err);
    json_free(root);
    return ok;
}

/* What each remedy is expected to gain at each place of the base; also told. */
static struct json *predict(const struct measurement *base, unsigned listed, struct err *err)
{
    struct json *out = json_new_array();
    bool ok = true;

    for (size_t i = 0; ok && i < base->results.cell_count; i++) {
        const struct cell *cell = &base->results.cells[i];
        for (size_t r = 0; ok && r < REMEDIES; r++)
            if (listed & 1u << r)
                ok = prediction_add(out, cell, listed, 1u << r, err);
        if (ok && listed & (listed - 1))
            ok = prediction_add(out, cell, listed, listed, err);
    }
    for (size_t i = 0; ok && i < json_count(out); i++) {
        const struct json *one = json_at(out, i);
        char before[UNITS_MAX], after[UNITS_MAX];
        uint64_t before_ns = 0, after_ns = 0;
        if (!json_u64(json_get(one, "base_ns"), &before_ns) ||
            !json_u64(json_get(one, "predicted_ns"), &after_ns))
            continue;
        units_time(before, before_ns);
        units_time(after, after_ns);
        say(&base->options->base, "predicted: %s: %s%s instead of %s", json_string(json_get(one, "cell")),
            json_bool(json_get(one, "bound")) ? "not below " : "", after, before);
    }
    if (ok && json_count(out) > 0)
        return out;
    json_free(out);
    if (ok)
        err_set(err, ERR_UNSUPPORTED,
                "--what-if: no call without the remedies could be measured: there is nothing "
                "to predict from");
    return NULL;
}

/* Measures the base alone and predicts; then measures all, the base too, since only what is measured together
 * can be compared. m holds the config as given, and the second run afterwards. */
static bool what_if(struct measurement *m, unsigned listed, int argc, char **argv, struct err *err)
{
    struct measurement base;
    struct config all = {0};

    measurement_init(&base, m->options);
    bool ok = derive_config(&m->config, listed, false, &base.config, err) &&
              derive_config(&m->config, listed, true, &all, err);
    if (ok) {
        config_fini(&m->config);
        m->config = all;
    }
    if (ok && !m->options->dry_run) {
        ok = measurement_start(&base, err) && measurement_run(&base, argc, argv, err);
        /* One worker at a time: the other would hold the device's memory. */
        runner_destroy(base.runner);
        base.runner = NULL;
        m->summary = base.summary;
        ok = ok && (base.summary.interrupted || (m->predictions = predict(&base, listed, err)) != NULL);
    }
    bool stop = base.summary.interrupted;
    measurement_fini(&base);
    return ok && (stop || measurement_start(m, err));
}

/* ---- the command ---- */

static bool print_tables(const struct profile_options *options, const struct measurement *m, struct err *err)
{
    const char *names[3];
    size_t count = 0;

    if (options->what_if)
        names[count++] = "what-if";
    if (options->phases || (!options->kernels && !options->what_if))
        names[count++] = "phases";
    if (options->kernels)
        names[count++] = "kernels";
    return tables_print(&m->results, 1, names, count, options->measure.format, err);
}

static bool profile(const struct profile_options *options, struct measurement *m, int argc, char **argv,
                    struct err *err)
{
    unsigned listed = 0;

    if (!dry_run_check(&options->measure, err) || !measurement_check_output(options->measure.output, err) ||
        (options->what_if && !remedies_parse(options->what_if, &listed, err)) ||
        !configs_open("profile", &options->measure, &m->config, err) ||
        !(listed ? what_if(m, listed, argc, argv, err) : measurement_start(m, err)))
        return false;
    if (options->measure.dry_run)
        return dry_run_print(m->runner, &m->config, err);
    if (m->summary.interrupted)
        return true;
    return measurement_output(m, options->measure.output, err) && measurement_run(m, argc, argv, err) &&
           measurement_save(m, err) && (m->to_output || print_tables(options, m, err));
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    const struct profile_options *options = values;
    struct measurement m;
    struct err err = ERR_INIT;

    (void)arguments;
    if (devices_asked(&options->measure.devices))
        return devices_print(&options->measure);
    measurement_init(&m, &options->measure);
    bool ok = profile(options, &m, argc, argv, &err);
    int code = ok ? EXIT_OK : report_error(&err);
    if (!options->measure.dry_run && (ok || m.summary.by_status[CELL_OK] > 0))
        code = worse_exit(code, measurement_code(&m));
    measurement_fini(&m);
    return code;
}

const struct command command_profile = {
    .name = "profile",
    .help = "show where a call's time goes, and what remedies would gain",
    .description = "Measures a few sizes (64x64, 128x128 and 256x256 with 32 triangles and 16 scenes a call, "
                   "unless -a says "
                   "otherwise), phase by phase and kernel by kernel. With --what-if it first measures a call "
                   "without the "
                   "remedies named, predicts from its phases what each would gain, writes that into the "
                   "results file, then "
                   "measures each remedy and all together, and shows both.",
    .arguments = "",
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct profile_options),
    .run = run,
};
