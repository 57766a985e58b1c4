/* The parts of a config that span its grid: axes and backends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "plan/config_read.h"

static bool unknown_axis(const struct reader *r, const struct json *member)
{
    const char *near = spec_suggest(json_key(member));
    struct strbuf list = STRBUF_INIT;
    size_t count;
    const struct spec_key *keys = spec_keys(&count);

    if (near)
        return reader_fail(r, member, "not an axis; did you mean \"%s\"?", near);
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&list, "%s%s", i ? ", " : "", keys[i].name);
    reader_fail(r, member, "not an axis; the axes are %s", strbuf_str(&list));
    strbuf_fini(&list);
    return false;
}

static bool read_axis(const struct reader *r, const struct json *values, const struct spec_key *key,
                      struct axis *axis)
{
    struct render_spec scratch;

    if (!reader_expect(r, values, JSON_ARRAY))
        return false;
    if (json_count(values) == 0)
        return reader_fail(r, values, "has no value");
    axis->key = key;
    axis->values = mem_calloc(json_count(values), sizeof *axis->values, "axis values", r->err);
    if (!axis->values)
        return false;
    spec_init(&scratch);
    for (size_t i = 0; i < json_count(values); i++) {
        const struct json *value = json_at(values, i);
        if (!spec_set_json(&scratch, key, value, r->err))
            return reader_wrap(r, value);
        spec_text(&scratch, key, axis->values[i]);
        for (size_t k = 0; k < i; k++)
            if (strcmp(axis->values[k], axis->values[i]) == 0)
                return reader_fail(r, value, "%s is there twice", axis->values[i]);
        axis->count++;
    }
    return true;
}

bool config_read_axes(const struct reader *r, const struct json *object, struct config *out)
{
    size_t key_count;
    const struct spec_key *keys = spec_keys(&key_count);

    if (!object)
        return true;
    if (!reader_expect(r, object, JSON_OBJECT))
        return false;
    out->axes = mem_calloc(json_count(object), sizeof *out->axes, "axes", r->err);
    if (!out->axes)
        return false;
    for (size_t i = 0; i < json_count(object); i++)
        if (!spec_find(json_key(json_at(object, i))))
            return unknown_axis(r, json_at(object, i));
    for (size_t k = 0; k < key_count; k++) {
        const struct json *values = json_get(object, keys[k].name);
        if (!values)
            continue;
        if (json_get(r->root, keys[k].name))
            return reader_fail(r, values, "is an axis and a fixed value ($.%s) too", keys[k].name);
        if (!read_axis(r, values, &keys[k], &out->axes[out->axis_count++]))
            return false;
    }
    return true;
}

static const struct axis *find_axis(const struct config *config, const struct spec_key *key)
{
    for (size_t i = 0; i < config->axis_count; i++)
        if (config->axes[i].key == key)
            return &config->axes[i];
    return NULL;
}

/* ---- scenes from files ---- */

const struct json *config_scene_file(const struct reader *r, size_t index)
{
    const struct json *file = json_get(json_get(r->root, "scene"), "file");

    return json_type(file) == JSON_ARRAY ? json_at(file, index) : file;
}

static bool some_file_has(const struct scene_config *sc, const char *triangles)
{
    char text[SPEC_TEXT_MAX];

    for (size_t i = 0; i < sc->file_count; i++) {
        snprintf(text, sizeof text, "%u", (unsigned)sc->triangles[i]);
        if (strcmp(text, triangles) == 0)
            return true;
    }
    return false;
}

bool config_check_source(const struct reader *r, struct config *out)
{
    const struct scene_config *sc = &out->scene;
    const struct axis *source = find_axis(out, spec_find("source")),
                      *triangles = find_axis(out, spec_find("triangles"));
    const struct json *axes = json_get(r->root, "axes");
    bool from_files = !source && out->base.source == SOURCE_FILE;

    for (size_t i = 0; source && i < source->count; i++)
        from_files |= strcmp(source->values[i], source->key->values[SOURCE_FILE]) == 0;
    if (!from_files)
        return true;
    if (sc->file_count == 0)
        return reader_fail(r, json_get(axes, "source"), "wants files, and $.scene has no \"file\"");
    for (size_t i = 0; triangles && i < triangles->count; i++)
        if (!some_file_has(sc, triangles->values[i]))
            return reader_fail(r, json_at(json_get(axes, "triangles"), i), "no scene file has %s triangles",
                               triangles->values[i]);
    for (size_t i = 1; !triangles && i < sc->file_count; i++)
        if (sc->triangles[i] != sc->triangles[0])
            return reader_fail(r, config_scene_file(r, i),
                               "%s has %u triangles and %s %u; a batch needs the same number in each, or an "
                               "axis \"triangles\" that says which",
                               sc->files[i], sc->triangles[i], sc->files[0], sc->triangles[0]);
    out->base.triangles = sc->triangles[0];
    return true;
}

/* ---- backends ---- */

static const char *const common_keys[] = {"name", "backend", "device"};

static bool has_option(enum backend_kind kind, const struct spec_key *key)
{
    return !key->grid_only && (key->applies & (1u << kind));
}

static bool unknown_option(const struct reader *r, const struct json *member, enum backend_kind kind)
{
    const struct spec_key *known = spec_find(json_key(member));
    struct suggest near;
    size_t count;
    const struct spec_key *keys = spec_keys(&count);

    if (known && known->grid_only)
        return reader_fail(r, member, "is the same for every backend: an axis, not a backend's key");
    if (known || strcmp(json_key(member), "device") == 0)
        return reader_fail(r, member, "is no key of an %s backend", backend_kind_name(kind));
    suggest_init(&near, json_key(member));
    for (size_t i = 0; i < (kind == BACKEND_OPENCL ? 3 : 2); i++)
        suggest_offer(&near, common_keys[i]);
    for (size_t i = 0; i < count; i++)
        if (has_option(kind, &keys[i]))
            suggest_offer(&near, keys[i].name);
    if (near.best)
        return reader_fail(r, member, "unknown key; did you mean \"%s\"?", near.best);
    return reader_fail(r, member, "unknown key of an %s backend", backend_kind_name(kind));
}

static bool read_option(const struct reader *r, const struct json *member, const struct config *config,
                        struct backend_config *out)
{
    const char *name = json_key(member);
    const struct spec_key *key = spec_find(name);

    if (strcmp(name, "name") == 0 || strcmp(name, "backend") == 0)
        return true;
    if (strcmp(name, "device") == 0 && out->kind == BACKEND_OPENCL) {
        if (!reader_expect(r, member, JSON_STRING))
            return false;
        if (strlen(json_string(member)) >= sizeof out->device)
            return reader_fail(r, member, "is longer than %zu bytes", sizeof out->device - 1);
        strcpy(out->device, json_string(member));
        return true;
    }
    if (!key || !has_option(out->kind, key))
        return unknown_option(r, member, out->kind);
    if (find_axis(config, key))
        return reader_fail(r, member, "is an axis ($.axes.%s) and a backend's key too", name);
    return spec_set_json(&out->options, key, member, r->err) || reader_wrap(r, member);
}

bool config_read_backends(const struct reader *r, const struct json *array, struct config *out)
{
    static const char *const kinds[] = {"openmp", "opencl", NULL};
    int kind;

    if (!array)
        return reader_fail(r, r->root, "has no \"backends\"");
    if (!reader_expect(r, array, JSON_ARRAY))
        return false;
    if (json_count(array) == 0)
        return reader_fail(r, array, "has no backend");
    out->backends = mem_calloc(json_count(array), sizeof *out->backends, "backends", r->err);
    if (!out->backends)
        return false;
    for (size_t i = 0; i < json_count(array); i++) {
        const struct json *object = json_at(array, i);
        struct backend_config *backend = &out->backends[i];
        if (!reader_expect(r, object, JSON_OBJECT) || !reader_choice(r, object, "backend", kinds, &kind) ||
            !reader_name(r, object, "name", backend->name))
            return false;
        backend->kind = (enum backend_kind)kind;
        backend->options = out->base;
        out->backend_count++;
        for (size_t k = 0; k < json_count(object); k++)
            if (!read_option(r, json_at(object, k), out, backend))
                return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(out->backends[k].name, backend->name) == 0)
                return reader_fail(r, json_get(object, "name"), "\"%s\" is another backend's name too",
                                   backend->name);
    }
    return true;
}
