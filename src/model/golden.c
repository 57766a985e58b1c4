#include "model/golden.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/suggest.h"
#include "model/spec.h"

void golden_fini(struct golden_case *c)
{
    if (!c)
        return;
    scene_fini(&c->scene);
    free(c->target);
    free(c->image);
    free(c->grads);
    *c = (struct golden_case){0};
}

/* ---- case.json ---- */

struct reader {
    const struct json *root;
    const char *path; /* of the file */
    struct err *err;
};

static const struct json *member(const struct reader *r, const struct json *object, const char *key,
                                 enum json_type type)
{
    const struct json *node = json_get(object, key);

    if (node && json_type(node) == type)
        return node;
    err_set(r->err, ERR_CONFIG, "%s: \"%s\" is %s where %s should be", r->path, key,
            node ? json_type_name(json_type(node)) : "missing", json_type_name(type));
    return NULL;
}

static bool read_count(const struct reader *r, const char *key, uint64_t min, uint64_t max, uint64_t *out)
{
    const struct json *node = member(r, r->root, key, JSON_NUMBER);

    if (!node)
        return false;
    if (json_u64(node, out) && *out >= min && *out <= max)
        return true;
    return err_set(r->err, ERR_CONFIG, "%s: \"%s\" is not an integer from %llu to %llu", r->path, key,
                   (unsigned long long)min, (unsigned long long)max);
}

static bool read_positive(const struct reader *r, const struct json *object, const char *key, bool zero,
                          double *out)
{
    const struct json *node = member(r, object, key, JSON_NUMBER);

    if (!node)
        return false;
    *out = json_number(node);
    if (*out > 0.0 || (zero && *out == 0.0))
        return true;
    return err_set(r->err, ERR_CONFIG, "%s: \"%s\" is %g, which is not %s", r->path, key, *out,
                   zero ? "0 or above" : "above 0");
}

static bool read_tolerance(const struct reader *r, struct agreement *out)
{
    const struct json *object = member(r, r->root, "tolerance", JSON_OBJECT);

    for (int g = 0; object && g < AGREE_GROUPS; g++)
        if (!read_positive(r, object, agreement_group_name((enum agreement_group)g), false, &out->value[g]))
            return false;
    return object != NULL;
}

static bool read_vertices_compared(const struct reader *r, bool *summed)
{
    static const char *const ways[] = {"each", "summed", NULL};
    const struct json *node = member(r, r->root, "vertices_compared", JSON_STRING);

    if (!node)
        return false;
    *summed = strcmp(json_string(node), ways[1]) == 0;
    if (*summed || strcmp(json_string(node), ways[0]) == 0)
        return true;
    return err_set(r->err, ERR_CONFIG, "%s: \"vertices_compared\" is neither \"each\" nor \"summed\"",
                   r->path);
}

static bool check_keys(const struct reader *r)
{
    static const char *const keys[] = {"note",      "width", "height",     "sigma",     "target",
                                       "triangles", "loss",  "tape_bytes", "tolerance", "vertices_compared",
                                       NULL};

    for (size_t i = 0; i < json_count(r->root); i++) {
        const char *key = json_key(json_at(r->root, i));
        const char *const *known = keys;
        while (*known && strcmp(*known, key) != 0)
            known++;
        if (*known)
            continue;
        const char *near = suggest_from(key, keys);
        return err_set(r->err, ERR_CONFIG, "%s: unknown key \"%s\"%s%s%s", r->path, key,
                       near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    return true;
}

/* triangles: what the file says, for a comparison with the scene. */
static bool read_case(const struct reader *r, struct golden_case *c, uint64_t *triangles)
{
    uint64_t width, height;
    double sigma;

    if (json_type(r->root) != JSON_OBJECT)
        return err_set(r->err, ERR_CONFIG, "%s: %s where an object should be", r->path,
                       json_type_name(json_type(r->root)));
    agreement_init(&c->tolerance);
    if (!check_keys(r) || !read_count(r, "width", 1, SPEC_MAX_SIZE, &width) ||
        !read_count(r, "height", 1, SPEC_MAX_SIZE, &height) ||
        !read_positive(r, r->root, "sigma", false, &sigma) ||
        !read_count(r, "triangles", 0, SCENE_MAX_TRIANGLES, triangles) ||
        !read_positive(r, r->root, "loss", true, &c->loss) ||
        !read_count(r, "tape_bytes", 0, UINT64_MAX, &c->tape_bytes) || !read_tolerance(r, &c->tolerance) ||
        !read_vertices_compared(r, &c->vertices_summed))
        return false;
    c->width = (uint32_t)width;
    c->height = (uint32_t)height;
    c->sigma = (float)sigma;
    const struct json *note = json_get(r->root, "note");
    snprintf(c->note, sizeof(c->note), "%s", note ? json_string(note) : "");
    return true;
}

static bool load_case(const char *dir, struct golden_case *c, uint64_t *triangles, struct err *err)
{
    struct strbuf path = STRBUF_INIT;

    strbuf_addf(&path, "%s/case.json", dir);
    struct json *root = json_load(strbuf_str(&path), err);
    const struct reader r = {root, strbuf_str(&path), err};
    bool ok = root && read_case(&r, c, triangles);
    json_free(root);
    strbuf_fini(&path);
    return ok;
}

/* ---- arrays ---- */

static float from_le32(const unsigned char *b)
{
    uint32_t bits = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static bool read_values(FILE *file, const char *path, uint64_t count, float *out, struct err *err)
{
    struct stat st;
    unsigned char bytes[4096];

    if (fstat(fileno(file), &st) != 0)
        return err_set_native(err, ERR_IO, errno, "cannot read %s", path);
    if ((uint64_t)st.st_size != count * 4)
        return err_set(err, ERR_CONFIG, "%s: %lld bytes where %llu should be (%llu float32 values)", path,
                       (long long)st.st_size, (unsigned long long)(count * 4), (unsigned long long)count);
    for (uint64_t i = 0; i < count;) {
        size_t values = count - i < sizeof(bytes) / 4 ? (size_t)(count - i) : sizeof(bytes) / 4;
        if (fread(bytes, 4, values, file) != values)
            return err_set_native(err, ERR_IO, errno, "cannot read %s", path);
        for (size_t v = 0; v < values; v++, i++) {
            out[i] = from_le32(bytes + 4 * v);
            if (!isfinite(out[i]))
                return err_set(err, ERR_CONFIG, "%s: value %llu is not finite", path, (unsigned long long)i);
        }
    }
    return true;
}

/* An array of its own of count float32 values; NULL on error. */
static float *load_floats(const char *dir, const char *name, uint64_t count, struct err *err)
{
    struct strbuf path = STRBUF_INIT;
    float *values = NULL;
    bool ok = false;

    strbuf_addf(&path, "%s/%s", dir, name);
    FILE *file = fopen(strbuf_str(&path), "rb");
    if (!file) {
        err_set_native(err, ERR_IO, errno, "%s: cannot open", strbuf_str(&path));
        goto out;
    }
    values = mem_calloc(count, sizeof(float), strbuf_str(&path), err);
    ok = values && read_values(file, strbuf_str(&path), count, values, err);
    fclose(file);
out:
    strbuf_fini(&path);
    if (!ok) {
        free(values);
        return NULL;
    }
    return values;
}

static double *load_doubles(const char *dir, const char *name, uint64_t count, struct err *err)
{
    float *values = load_floats(dir, name, count, err);
    double *out = values ? mem_calloc(count, sizeof(double), name, err) : NULL;

    for (uint64_t i = 0; out && i < count; i++)
        out[i] = (double)values[i];
    free(values);
    return out;
}

static bool load_scene(const char *dir, struct golden_case *c, uint64_t triangles, struct err *err)
{
    struct strbuf path = STRBUF_INIT;

    strbuf_addf(&path, "%s/scene.json", dir);
    bool ok = scene_load(strbuf_str(&path), &c->scene, err);
    if (ok && c->scene.triangles != triangles)
        ok = err_set(err, ERR_CONFIG, "%s: %u triangles, where case.json says %llu", strbuf_str(&path),
                     c->scene.triangles, (unsigned long long)triangles);
    strbuf_fini(&path);
    return ok;
}

bool golden_load(const char *dir, struct golden_case *out, struct err *err)
{
    uint64_t triangles;

    *out = (struct golden_case){0};
    if (!load_case(dir, out, &triangles, err) || !load_scene(dir, out, triangles, err))
        goto fail;
    uint64_t values = (uint64_t)out->width * out->height * 3;
    out->target = load_floats(dir, "target.f32", values, err);
    out->image = out->target ? load_doubles(dir, "image.f32", values, err) : NULL;
    out->grads = out->image ? load_doubles(dir, "grads.f32", triangles * SCENE_STRIDE, err) : NULL;
    if (!out->grads)
        goto fail;
    size_t len = strlen(dir);
    while (len > 1 && dir[len - 1] == '/')
        len--;
    size_t start = len;
    while (start > 0 && dir[start - 1] != '/')
        start--;
    snprintf(out->name, sizeof(out->name), "%.*s", (int)(len - start), dir + start);
    return true;
fail:
    golden_fini(out);
    return false;
}

/* ---- folders ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_case(const char *dir, const char *name)
{
    struct strbuf path = STRBUF_INIT;
    struct stat st;

    strbuf_addf(&path, "%s/%s/case.json", dir, name);
    bool found = name[0] != '.' && stat(strbuf_str(&path), &st) == 0;
    strbuf_fini(&path);
    return found;
}

bool golden_list(const char *dir, char ***names, size_t *count, struct err *err)
{
    size_t capacity = 0;
    const struct dirent *entry;
    bool ok = true;

    *names = NULL;
    *count = 0;
    DIR *folder = opendir(dir);
    if (!folder)
        return err_set_native(err, ERR_IO, errno, "%s: cannot open", dir);
    while (ok && (entry = readdir(folder))) {
        if (!is_case(dir, entry->d_name))
            continue;
        ok = mem_grow((void **)names, &capacity, *count + 1, sizeof(**names), "golden cases", err);
        char *name = ok ? mem_strdup(entry->d_name, err) : NULL;
        if (name)
            (*names)[(*count)++] = name;
        ok = name != NULL;
    }
    closedir(folder);
    if (ok && *count == 0)
        ok = err_set(err, ERR_CONFIG, "%s: no golden case (a folder that holds a case.json) is in it", dir);
    if (!ok) {
        golden_list_free(*names, *count);
        *names = NULL;
        *count = 0;
        return false;
    }
    qsort(*names, *count, sizeof(**names), compare_names);
    return true;
}

void golden_list_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}
