/* The sections of a config that are not its grid: scene, target, measure, tables. */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "plan/config_read.h"

static bool read_files(const struct reader *r, const struct json *file, struct scene_config *out)
{
    bool list = json_type(file) == JSON_ARRAY;

    if (list && json_count(file) == 0)
        return reader_fail(r, file, "is an empty list");
    size_t count = list ? json_count(file) : 1;
    out->files = mem_calloc(count, sizeof *out->files, "scene files", r->err);
    out->triangles = mem_calloc(count, sizeof *out->triangles, "scene files", r->err);
    if (!out->files || !out->triangles)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!reader_file(r, list ? json_at(file, i) : file, &out->files[i]))
            return false;
        out->file_count++;
    }
    return true;
}

/* Where $.axes.source tells which scenes there are, they are described side by side. */
static bool read_kind(const struct reader *r, const struct json *object, enum scene_source *out)
{
    const struct json *axis = json_get(json_get(r->root, "axes"), "source"), *kind = json_get(object, "kind");
    int value;

    if (!axis) {
        if (!reader_choice(r, object, "kind", spec_find("source")->values, &value))
            return false;
        *out = (enum scene_source)value;
        return true;
    }
    return !kind || reader_fail(r, kind, "is an axis ($.axes.source) and a fixed value too");
}

bool config_read_scene(const struct reader *r, const struct json *object, struct scene_config *out,
                       enum scene_source *source)
{
    static const char *const random_keys[] = {"kind", "seed", "extent", "background", NULL},
                             *const file_keys[] = {"kind", "seed", "file", NULL},
                             *const all_keys[] = {"seed", "extent", "background", "file", NULL};
    const struct json *file = json_get(object, "file");
    double extent = (double)out->extent;

    if (!object)
        return true;
    if (!reader_expect(r, object, JSON_OBJECT) || !read_kind(r, object, source) ||
        !reader_check_keys(r, object,
                           !json_get(object, "kind")  ? all_keys
                           : *source == SOURCE_FILE ? file_keys
                                                    : random_keys))
        return false;
    if (*source == SOURCE_FILE && !file)
        return reader_fail(r, object, "has no \"file\" (a scene file, or a list of them)");
    if (!reader_u64(r, object, "seed", &out->seed) ||
        !reader_number(r, object, "extent", 0, 1000, &extent) ||
        !reader_colour(r, object, "background", out->background))
        return false;
    out->extent = (float)extent;
    return !file || read_files(r, file, out);
}

bool config_read_target(const struct reader *r, const struct json *object, struct target_config *out)
{
    static const char *const kinds[] = {"flat", "scene", "image", NULL};
    static const char *const keys[][3] = {
        {"kind", "color", NULL}, {"kind", "seed", NULL}, {"kind", "file", NULL}};
    int kind;

    if (!object)
        return true;
    if (!reader_expect(r, object, JSON_OBJECT) || !reader_choice(r, object, "kind", kinds, &kind) ||
        !reader_check_keys(r, object, keys[kind]))
        return false;
    out->kind = (enum target_kind)kind;
    if (!reader_colour(r, object, "color", out->color) || !reader_u64(r, object, "seed", &out->seed))
        return false;
    if (out->kind != TARGET_IMAGE)
        return true;
    const struct json *file = json_get(object, "file");
    if (!file)
        return reader_fail(r, object, "has no \"file\" (a picture)");
    return reader_file(r, file, &out->image);
}

bool config_read_measure(const struct reader *r, const struct json *object, struct measure_config *out)
{
    static const char *const keys[] = {"warmup",      "min_samples",     "max_samples", "target_ci",
                                       "max_seconds", "timeout_seconds", NULL};
    if (!object)
        return true;
    if (!reader_expect(r, object, JSON_OBJECT) || !reader_check_keys(r, object, keys) ||
        !reader_u32(r, object, "warmup", 0, 1000000, &out->warmup) ||
        !reader_u32(r, object, "min_samples", 1, 1000000, &out->min_samples) ||
        !reader_u32(r, object, "max_samples", 1, 1000000, &out->max_samples) ||
        !reader_number(r, object, "target_ci", 0, 1, &out->target_ci) ||
        !reader_number(r, object, "max_seconds", 0, 86400, &out->max_seconds) ||
        !reader_number(r, object, "timeout_seconds", 0.001, 604800, &out->timeout_seconds))
        return false;
    if (out->max_samples >= out->min_samples)
        return true;
    /* The one that was written is the one to complain about. */
    const struct json *max = json_get(object, "max_samples");
    if (max)
        return reader_fail(r, max, "%u is less than min_samples (%u)", out->max_samples, out->min_samples);
    return reader_fail(r, json_get(object, "min_samples"), "%u is more than max_samples (%u)",
                       out->min_samples, out->max_samples);
}

bool config_read_tables(const struct reader *r, const struct json *array, struct config *out)
{
    if (array && !reader_expect(r, array, JSON_ARRAY))
        return false;
    size_t count = array ? json_count(array) : 1;
    out->tables = mem_calloc(count, sizeof *out->tables, "table names", r->err);
    if (!out->tables)
        return false;
    out->table_count = count;
    if (!array) {
        strcpy(out->tables[0], "speedup");
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        const struct json *name = json_at(array, i);
        if (!reader_expect(r, name, JSON_STRING))
            return false;
        if (strlen(json_string(name)) >= sizeof out->tables[i])
            return reader_fail(r, name, "\"%s\" is no table's name", json_string(name));
        strcpy(out->tables[i], json_string(name));
        for (size_t k = 0; k < i; k++)
            if (strcmp(out->tables[k], out->tables[i]) == 0)
                return reader_fail(r, name, "\"%s\" is there twice", json_string(name));
    }
    return true;
}
