#include "cli/configs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "cli/embedded_configs.h"
#include "cli/paths.h"
#include "cli/tables.h"
#include "report/table.h"

/* "configs/crossover.json" is crossover. */
static void standard_name(const struct embedded_config *config, char *out, size_t size)
{
    const char *base = strrchr(config->name, '/');

    base = base ? base + 1 : config->name;
    snprintf(out, size, "%.*s", (int)strcspn(base, "."), base);
}

static const struct embedded_config *find_standard(const char *name)
{
    char known[64];

    for (size_t i = 0; i < embedded_configs_count; i++) {
        standard_name(&embedded_configs[i], known, sizeof known);
        if (strcmp(known, name) == 0)
            return &embedded_configs[i];
    }
    return NULL;
}

bool configs_is_standard(const char *name)
{
    return find_standard(name) != NULL;
}

static bool open_standard(const struct embedded_config *standard, const char *name, struct config *out,
                          struct err *err)
{
    char path[PATH_MAX];

    /* The text is in the program; scenes and pictures that it names lie where it was installed from. */
    if (!paths_find(standard->name, path, sizeof path))
        snprintf(path, sizeof path, "%s", name);
    struct json *root = json_parse(standard->text, standard->length, path, err);
    if (!root)
        return false;
    bool ok = config_from_json(root, path, out, err);
    json_free(root);
    return ok;
}

static bool no_such_config(const char *name, struct err *err)
{
    char known[64], nearest[64] = "", word[64];
    struct strbuf list = STRBUF_INIT;
    unsigned best = 3;

    snprintf(word, sizeof word, "%.*s", (int)strcspn(name, "."), name); /* crossover.json is no file here */

    for (size_t i = 0; i < embedded_configs_count; i++) {
        standard_name(&embedded_configs[i], known, sizeof known);
        strbuf_addf(&list, "%s%s", i ? ", " : "", known);
        if (suggest_distance(word, known) < best) {
            best = suggest_distance(word, known);
            strcpy(nearest, known);
        }
    }
    err_set(err, ERR_USAGE, "%s: neither a file nor a standard config (%s)%s%s%s", name, strbuf_str(&list),
            *nearest ? "; did you mean " : "", nearest, *nearest ? "?" : "");
    strbuf_fini(&list);
    return false;
}

/* Bit MODE_FORWARD, bit MODE_GRADIENT: those that some cell has. */
static unsigned modes_of(const struct config *config)
{
    const struct spec_key *mode = spec_find("mode");
    unsigned modes = 0;

    for (size_t i = 0; i < config->axis_count; i++)
        for (size_t k = 0; config->axes[i].key == mode && k < config->axes[i].count; k++)
            modes |= 1u << (strcmp(config->axes[i].values[k], mode->values[MODE_GRADIENT]) == 0);
    return modes ? modes : 1u << config->base.mode;
}

static bool check_tables(const struct config *config, struct err *err)
{
    unsigned modes = modes_of(config);

    for (size_t i = 0; i < config->table_count; i++) {
        const struct table_kind *kind = table_kind_find(config->tables[i]);
        if (!kind) {
            tables_unknown(config->tables[i], err);
            return err_wrap(err, "%s: $.tables[%zu]", config->path, i);
        }
        if (!(kind->modes & modes))
            return err_set(err, ERR_CONFIG, "%s: $.tables[%zu]: \"%s\" has nothing to show in mode %s",
                           config->path, i, kind->name,
                           modes & (1u << MODE_GRADIENT) ? "gradient" : "forward");
    }
    return true;
}

bool configs_override(struct config *config, const struct measure_options *options, struct err *err)
{
    for (size_t i = 0; i < options->axes.count; i++)
        if (!config_override_axis(config, options->axes.items[i], err))
            return false;
    if (options->seed.given && !config_override_seed(config, options->seed.value, err))
        return err_wrap(err, "--seed");
    if (options->threads.given && !config_override_threads(config, (uint32_t)options->threads.value, err))
        return err_wrap(err, "--threads");
    return true;
}

bool configs_open(const char *name, const struct measure_options *options, struct config *out,
                  struct err *err)
{
    const struct embedded_config *standard = find_standard(name);
    bool ok;

    if (standard)
        ok = open_standard(standard, name, out, err);
    else if (strcmp(name, "-") != 0 && !strchr(name, '/') && access(name, F_OK) != 0)
        ok = no_such_config(name, err);
    else
        ok = config_load(name, out, err);
    if (!ok)
        return false;
    if (configs_override(out, options, err) && check_tables(out, err))
        return true;
    config_fini(out);
    return false;
}

static const char *const record[] = {"forward",          "gradient",  "batch",  "crossover",
                                     "crossover-record", "reduction", "phases", "scaling"};

bool configs_expand(const struct text_list *names, struct text_list *out, struct err *err)
{
    const size_t members = sizeof record / sizeof *record;

    out->items = mem_calloc(names->count * members, sizeof *out->items, "names of configs", err);
    if (!out->items)
        return false;
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], "record") != 0) {
            out->items[out->count++] = names->items[i];
            continue;
        }
        memcpy(out->items + out->count, record, sizeof record);
        out->count += members;
    }
    return true;
}
