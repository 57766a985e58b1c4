/* What the command line changes in a config: the document is rewritten and read again, so that an override
 * passes the same checks as the file, and results files hold what was run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "base/units.h"
#include "plan/config.h"

#define LIST_MAX 4096 /* values on one axis: beyond it a step was mistyped */

struct value_list {
    char (*text)[SPEC_TEXT_MAX];
    size_t count, capacity;
};

static bool list_add(struct value_list *list, const struct spec_key *key, const char *text, struct err *err)
{
    struct render_spec scratch;
    void *memory = list->text;

    spec_init(&scratch);
    if (!spec_set_text(&scratch, key, text, err))
        return false;
    if (list->count == LIST_MAX)
        return err_set(err, ERR_CONFIG, "more than %d values", LIST_MAX);
    if (!mem_grow(&memory, &list->capacity, list->count + 1, sizeof *list->text, "axis values", err))
        return false;
    list->text = memory;
    spec_text(&scratch, key, list->text[list->count]);
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->text[i], list->text[list->count]) == 0)
            return err_set(err, ERR_CONFIG, "%s is there twice", list->text[i]);
    list->count++;
    return true;
}

/* FIRST:LAST:xFACTOR or FIRST:LAST:+STEP; item is the caller's to cut up. */
static bool add_range(struct value_list *list, const struct spec_key *key, char *item, struct err *err)
{
    char *last_text = strchr(item, ':');
    char *step_text = last_text ? strchr(last_text + 1, ':') : NULL;
    double first, last, step;

    if (key->values)
        return err_set(err, ERR_CONFIG, "\"%s\": %s has names, not numbers: list them", item, key->name);
    if (!step_text || (step_text[1] != 'x' && step_text[1] != '+'))
        return err_set(err, ERR_CONFIG, "\"%s\" is not FIRST:LAST:xFACTOR or FIRST:LAST:+STEP", item);
    bool multiply = step_text[1] == 'x';
    *last_text = *step_text = '\0';
    if (!units_parse_double(item, &first) || !units_parse_double(last_text + 1, &last) ||
        !units_parse_double(step_text + 2, &step)) {
        *last_text = *step_text = ':';
        return err_set(err, ERR_CONFIG, "\"%s\" is not FIRST:LAST:xFACTOR or FIRST:LAST:+STEP", item);
    }
    *last_text = *step_text = ':';
    if (last < first)
        return err_set(err, ERR_CONFIG, "\"%s\": the last is below the first", item);
    if (multiply ? step <= 1 || first <= 0 : step <= 0)
        return err_set(err, ERR_CONFIG, "\"%s\": %s", item,
                       multiply ? "needs a factor above 1 and a first value above 0"
                                : "needs a step above 0");
    for (size_t i = 0;; i++) {
        double value = multiply ? first * pow(step, (double)i) : first + step * (double)i;
        char text[UNITS_MAX];
        /* 0.1 + 2*0.1 is a little over 0.3, which is meant to be the last. */
        if (value > last * (1 + 1e-9))
            return true;
        if (key->type == SPEC_FLOAT)
            units_exact(text, units_shortest_float((float)value));
        else
            units_exact(text, floor(value + 1e-6));
        if (!list_add(list, key, text, err))
            return false;
    }
}

static bool parse_list(struct value_list *list, const struct spec_key *key, char *text, struct err *err)
{
    for (char *item = text; item;) {
        char *comma = strchr(item, ',');
        if (comma)
            *comma = '\0';
        if (strchr(item, ':') ? !add_range(list, key, item, err) : !list_add(list, key, item, err))
            return false;
        item = comma ? comma + 1 : NULL;
    }
    return true;
}

static bool is_square(const char *size)
{
    const char *cross = strchr(size, 'x');

    return cross && strlen(cross + 1) == (size_t)(cross - size) &&
           strncmp(size, cross + 1, strlen(cross + 1)) == 0;
}

/* A value as JSON; spec_text needs no escapes. */
static void add_json(struct strbuf *out, const struct spec_key *key, const char *text)
{
    bool square = key->type == SPEC_SIZE && is_square(text);

    if (square)
        strbuf_add_bytes(out, text, strcspn(text, "x"));
    else if (key->type == SPEC_U32 || key->type == SPEC_FLOAT || key->type == SPEC_BOOL)
        strbuf_add(out, text);
    else
        strbuf_addf(out, "\"%s\"", text);
}

static struct json *list_to_json(const struct value_list *list, const struct spec_key *key, struct err *err)
{
    struct strbuf text = STRBUF_INIT;
    struct json *array = NULL;

    for (size_t i = 0; i < list->count; i++) {
        strbuf_addc(&text, i ? ',' : '[');
        add_json(&text, key, list->text[i]);
    }
    strbuf_addc(&text, ']');
    if (strbuf_ok(&text, err))
        array = json_parse(strbuf_str(&text), text.len, "-a", err);
    strbuf_fini(&text);
    return array;
}

/* A copy of the object, or an empty one for NULL, without one key. */
static struct json *copy_without(const struct json *object, const char *key, struct err *err)
{
    struct json *copy = json_new_object();

    for (size_t i = 0; i < json_count(object); i++) {
        const struct json *member = json_at(object, i);
        if (strcmp(json_key(member), key) != 0)
            json_set(copy, json_key(member), json_copy(member, err));
    }
    return copy;
}

/* The document without the key wherever it may stand (fixed, an axis, a backend's), and with it as an axis of
 * these values, taken over, unless NULL. */
static struct json *replace_key(const struct json *root, const char *key, struct json *values,
                                struct err *err)
{
    struct json *copy = json_new_object();
    struct json *axes = copy_without(json_get(root, "axes"), key, err);

    if (values)
        json_set(axes, key, values);
    const bool kind_too = values && strcmp(key, "source") == 0; /* it stands as the scene's kind */
    for (size_t i = 0; i < json_count(root); i++) {
        const struct json *member = json_at(root, i);
        const char *name = json_key(member);
        if (strcmp(name, "backends") == 0) {
            struct json *backends = json_set_array(copy, name);
            for (size_t k = 0; k < json_count(member); k++)
                json_add(backends, copy_without(json_at(member, k), key, err));
        } else if (kind_too && strcmp(name, "scene") == 0) {
            json_set(copy, name, copy_without(member, "kind", err));
        } else if (strcmp(name, "axes") != 0 && strcmp(name, key) != 0) {
            json_set(copy, name, json_copy(member, err));
        }
    }
    json_set(copy, "axes", axes);
    return copy;
}

/* Reads the changed document in the config's place; takes root over. */
static bool reread(struct config *config, struct json *root, struct err *err)
{
    struct config changed;
    bool ok = err->code == ERR_NONE && config_from_json(root, config->path, &changed, err);

    json_free(root);
    if (!ok)
        return false;
    config_fini(config);
    *config = changed;
    return true;
}

static bool override_axis(struct config *config, const char *text, struct err *err)
{
    struct value_list list = {0};
    char *name = mem_strdup(text, err);
    bool ok = false;

    if (!name)
        return false;
    char *equals = strchr(name, '=');
    if (!equals || equals == name || !equals[1]) {
        err_set(err, ERR_USAGE, "is not NAME=LIST");
        goto out;
    }
    *equals = '\0';
    const struct spec_key *key = spec_find(name);
    if (!key) {
        const char *near = spec_suggest(name);
        err_set(err, ERR_USAGE,
                near ? "\"%s\" is not an axis; did you mean \"%s\"?" : "\"%s\" is not an axis", name, near);
        goto out;
    }
    if (!parse_list(&list, key, equals + 1, err))
        goto out;
    struct json *values = list_to_json(&list, key, err);
    ok = values && reread(config, replace_key(config->json, key->name, values, err), err);
out:
    free(list.text);
    free(name);
    return ok;
}

bool config_override_axis(struct config *config, const char *text, struct err *err)
{
    return override_axis(config, text, err) || err_wrap(err, "-a %s", text);
}

bool config_override_seed(struct config *config, uint64_t seed, struct err *err)
{
    struct json *scene = copy_without(json_get(config->json, "scene"), "seed", err);
    struct json *root = copy_without(config->json, "scene", err);

    if (!json_get(scene, "kind") && !json_get(json_get(config->json, "axes"), "source"))
        json_set_string(scene, "kind", "random");
    json_set_u64(scene, "seed", seed);
    json_set(root, "scene", scene);
    return reread(config, root, err);
}

bool config_override_threads(struct config *config, uint32_t threads, struct err *err)
{
    struct json *root = replace_key(config->json, "threads", NULL, err);

    json_set_u64(root, "threads", threads);
    return reread(config, root, err);
}
