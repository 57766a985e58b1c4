#include "model/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/suggest.h"
#include "model/rng.h"

#define SCENE_VERSION 1

/* Sets the upstream gradients' streams apart from the scenes' of the same seed. */
#define UPSTREAM_SEED UINT64_C(0x5851F42D4C957F2D)

void scene_fini(struct scene *scene)
{
    if (!scene)
        return;
    free(scene->params);
    *scene = (struct scene){0};
}

void scene_random(float *params, uint32_t triangles, uint64_t seed, uint32_t index, float extent)
{
    struct rng rng;

    rng_init(&rng, seed, index);
    for (uint32_t t = 0; t < triangles; t++) {
        float *p = params + (size_t)t * SCENE_STRIDE;
        float centre[2];

        centre[0] = rng_uniform(&rng);
        centre[1] = rng_uniform(&rng);
        for (int i = 0; i < 6; i++)
            p[i] = centre[i % 2] + rng_range(&rng, -extent, extent);
        for (int i = 6; i < 9; i++)
            p[i] = rng_uniform(&rng);
        p[9] = rng_range(&rng, 0.3f, 0.8f);
    }
}

void scene_random_upstream(float *out, uint64_t count, uint64_t seed, uint32_t index)
{
    struct rng rng;

    rng_init(&rng, seed ^ UPSTREAM_SEED, index);
    for (uint64_t i = 0; i < count; i++)
        out[i] = rng_range(&rng, -1.0f, 1.0f);
}

/* What the readers below share: where a node stands, for messages. */
struct reader {
    const struct json *root;
    const char *name;
    struct err *err;
};

static bool fail(const struct reader *r, const struct json *node, const char *what)
{
    struct strbuf path = STRBUF_INIT;

    json_path(r->root, node, &path);
    err_set(r->err, ERR_CONFIG, "%s: %s: %s", r->name, strbuf_str(&path), what);
    strbuf_fini(&path);
    return false;
}

/* An object with exactly the `count` keys of `keys`, found into nodes[]. */
static bool read_members(const struct reader *r, const struct json *object, const char *const *keys,
                         size_t count, const struct json **nodes)
{
    char what[160];

    if (json_type(object) != JSON_OBJECT) {
        snprintf(what, sizeof(what), "%s where an object should be", json_type_name(json_type(object)));
        return fail(r, object, what);
    }
    for (size_t k = 0; k < count; k++) {
        nodes[k] = json_get(object, keys[k]);
        if (!nodes[k]) {
            snprintf(what, sizeof(what), "\"%s\" is missing", keys[k]);
            return fail(r, object, what);
        }
    }
    if (json_count(object) == count)
        return true;
    for (size_t i = 0; i < json_count(object); i++) {
        const struct json *member = json_at(object, i);
        struct suggest near;
        bool known = false;
        suggest_init(&near, json_key(member));
        for (size_t k = 0; k < count; k++) {
            known = known || strcmp(json_key(member), keys[k]) == 0;
            suggest_offer(&near, keys[k]);
        }
        if (known)
            continue;
        if (near.best)
            snprintf(what, sizeof(what), "unknown key; did you mean \"%s\"?", near.best);
        return fail(r, member, near.best ? what : "unknown key");
    }
    return true;
}

static bool read_float(const struct reader *r, const struct json *node, float *out)
{
    char what[96];

    if (json_type(node) != JSON_NUMBER) {
        snprintf(what, sizeof(what), "%s where a number should be", json_type_name(json_type(node)));
        return fail(r, node, what);
    }
    *out = (float)json_number(node);
    if (isfinite(*out))
        return true;
    snprintf(what, sizeof(what), "%.9g is beyond what a float32 holds", json_number(node));
    return fail(r, node, what);
}

static bool check_array(const struct reader *r, const struct json *node, size_t count, const char *of)
{
    char what[96];

    if (json_type(node) == JSON_ARRAY && json_count(node) == count)
        return true;
    if (json_type(node) == JSON_ARRAY)
        snprintf(what, sizeof(what), "%zu elements where %zu %s should be", json_count(node), count, of);
    else
        snprintf(what, sizeof(what), "%s where %zu %s should be", json_type_name(json_type(node)), count, of);
    return fail(r, node, what);
}

static bool read_floats(const struct reader *r, const struct json *node, size_t count, float *out)
{
    if (!check_array(r, node, count, "numbers"))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!read_float(r, json_at(node, i), &out[i]))
            return false;
    return true;
}

static bool read_triangle(const struct reader *r, const struct json *node, float *params)
{
    static const char *const keys[] = {"verts", "color", "alpha"};
    const struct json *nodes[3];

    if (!read_members(r, node, keys, 3, nodes) || !check_array(r, nodes[0], 3, "vertices"))
        return false;
    for (size_t v = 0; v < 3; v++)
        if (!read_floats(r, json_at(nodes[0], v), 2, params + 2 * v))
            return false;
    return read_floats(r, nodes[1], 3, params + 6) && read_float(r, nodes[2], params + 9);
}

static bool read_triangles(const struct reader *r, const struct json *node, struct scene *out)
{
    char what[96];

    if (json_type(node) != JSON_ARRAY) {
        snprintf(what, sizeof(what), "%s where a list of triangles should be",
                 json_type_name(json_type(node)));
        return fail(r, node, what);
    }
    if (json_count(node) > SCENE_MAX_TRIANGLES) {
        snprintf(what, sizeof(what), "%zu triangles; at most %u are allowed", json_count(node),
                 SCENE_MAX_TRIANGLES);
        return fail(r, node, what);
    }
    out->triangles = (uint32_t)json_count(node);
    out->params = mem_calloc((uint64_t)out->triangles * SCENE_STRIDE, sizeof(float), "a scene", r->err);
    if (!out->params)
        return false;
    for (uint32_t t = 0; t < out->triangles; t++)
        if (!read_triangle(r, json_at(node, t), out->params + (size_t)t * SCENE_STRIDE))
            return false;
    return true;
}

bool scene_from_json(const struct json *root, const char *name, struct scene *out, struct err *err)
{
    static const char *const keys[] = {"version", "background", "triangles"};
    const struct reader r = {root, name, err};
    const struct json *nodes[3];

    *out = (struct scene){0};
    /* The version decides what else may be there, so it is looked at first. */
    const struct json *version = json_type(root) == JSON_OBJECT ? json_get(root, keys[0]) : NULL;
    if (version && json_type(version) != JSON_NUMBER)
        return fail(&r, version, "not a number");
    if (version && json_number(version) != SCENE_VERSION)
        return err_set(err, ERR_VERSION, "%s: $.version: %g, and scenes of version %d are what is read here",
                       name, json_number(version), SCENE_VERSION);
    if (read_members(&r, root, keys, 3, nodes) && read_floats(&r, nodes[1], 3, out->background) &&
        read_triangles(&r, nodes[2], out))
        return true;
    scene_fini(out);
    return false;
}

bool scene_load(const char *path, struct scene *out, struct err *err)
{
    struct json *root = json_load(path, err);

    *out = (struct scene){0};
    bool ok = root && scene_from_json(root, path, out, err);
    json_free(root);
    return ok;
}

static void add_floats(struct json *array, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_add_float(array, values[i]);
}

static struct json *to_json(const struct scene *scene)
{
    struct json *root = json_new_object();

    json_set_u64(root, "version", SCENE_VERSION);
    add_floats(json_set_array(root, "background"), scene->background, 3);
    struct json *triangles = json_set_array(root, "triangles");
    for (uint32_t t = 0; t < scene->triangles; t++) {
        const float *p = scene->params + (size_t)t * SCENE_STRIDE;
        struct json *triangle = json_add_object(triangles);
        struct json *verts = json_set_array(triangle, "verts");
        for (size_t v = 0; v < 3; v++) {
            struct json *vertex = json_new_array();
            add_floats(vertex, p + 2 * v, 2);
            json_add(verts, vertex);
        }
        add_floats(json_set_array(triangle, "color"), p + 6, 3);
        json_set_float(triangle, "alpha", p[9]);
    }
    return root;
}

bool scene_save(const char *path, const struct scene *scene, struct err *err)
{
    struct strbuf sb = STRBUF_INIT;

    for (uint64_t i = 0; i < (uint64_t)scene->triangles * SCENE_STRIDE; i++)
        if (!isfinite(scene->params[i]))
            return err_set(err, ERR_CONFIG,
                           "%s: triangle %llu holds a number that is not finite; not written", path,
                           (unsigned long long)(i / SCENE_STRIDE));

    struct json *root = to_json(scene);
    bool ok = json_print(root, true, &sb, err) && strbuf_save(&sb, path, err);
    json_free(root);
    strbuf_fini(&sb);
    return ok;
}
