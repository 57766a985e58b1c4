#include "plan/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/scene.h"
#include "plan/config_read.h"

static void set_defaults(struct config *config)
{
    memset(config, 0, sizeof *config);
    spec_init(&config->base);
    config->scene.extent = SCENE_DEFAULT_EXTENT;
    for (size_t i = 0; i < 3; i++)
        config->target.color[i] = 0.5f;
    config->measure = (struct measure_config){.warmup = 2,
                                              .min_samples = 10,
                                              .max_samples = 200,
                                              .target_ci = 0.02,
                                              .max_seconds = 2,
                                              .timeout_seconds = 60};
}

static bool read_version(const struct reader *r)
{
    const struct json *node = json_get(r->root, "version");
    uint64_t version;

    if (!node)
        return reader_fail(r, r->root, "has no \"version\" (%d)", CONFIG_VERSION);
    if (!reader_expect(r, node, JSON_NUMBER))
        return false;
    if (!json_u64(node, &version) || version != CONFIG_VERSION)
        return reader_fail(r, node, "the file's version is %.9g, this gpubench reads version %d",
                           json_number(node), CONFIG_VERSION);
    return true;
}

/* Values that every cell has in common, unless an axis varies them. */
static bool read_fixed(const struct reader *r, struct config *out)
{
    static const char *const fixed[] = {"mode", "sigma", "upstream", "threads"};

    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        const struct json *node = json_get(r->root, fixed[i]);
        if (node && !spec_set_json(&out->base, spec_find(fixed[i]), node, r->err))
            return reader_wrap(r, node);
    }
    out->threads = out->base.threads;
    return true;
}

/* How many triangles a file's scene has decides what cells there are, so that much of it is read here. */
static bool count_triangles(const struct reader *r, struct config *out)
{
    struct scene_config *sc = &out->scene;

    for (size_t i = 0; i < sc->file_count; i++) {
        struct scene scene = {0};
        if (!scene_load(sc->files[i], &scene, r->err))
            return reader_wrap(r, config_scene_file(r, i));
        sc->triangles[i] = scene.triangles;
        scene_fini(&scene);
    }
    return true;
}

static bool check_top_keys(const struct reader *r)
{
    static const char *const keys[] = {"version",  "name",    "mode",  "axes",   "sigma",
                                       "upstream", "threads", "scene", "target", "backends",
                                       "measure",  "tables",  NULL};

    for (size_t i = 0; i < json_count(r->root); i++) {
        const struct json *member = json_at(r->root, i);
        const char *const *known = keys;
        while (*known && strcmp(*known, json_key(member)) != 0)
            known++;
        const struct spec_key *key = *known ? NULL : spec_find(json_key(member));
        if (key)
            return reader_fail(r, member, "belongs %s",
                               key->grid_only ? "under $.axes, as a list of values"
                                              : "under $.axes or to a backend");
    }
    return reader_check_keys(r, r->root, keys);
}

static bool read_all(const struct reader *r, struct config *out)
{
    return reader_expect(r, r->root, JSON_OBJECT) && read_version(r) && check_top_keys(r) &&
           reader_name(r, r->root, "name", out->name) && read_fixed(r, out) &&
           config_read_scene(r, json_get(r->root, "scene"), &out->scene, &out->base.source) &&
           count_triangles(r, out) &&
           config_read_target(r, json_get(r->root, "target"), &out->target) &&
           config_read_axes(r, json_get(r->root, "axes"), out) && config_check_source(r, out) &&
           config_read_backends(r, json_get(r->root, "backends"), out) &&
           config_read_measure(r, json_get(r->root, "measure"), &out->measure) &&
           config_read_tables(r, json_get(r->root, "tables"), out);
}

bool config_from_json(const struct json *root, const char *path, struct config *out, struct err *err)
{
    const struct reader r = {root, path, err};

    set_defaults(out);
    if (read_all(&r, out) && (out->path = mem_strdup(path, err)) && (out->json = json_copy(root, err)))
        return true;
    config_fini(out);
    return false;
}

bool config_load(const char *path, struct config *out, struct err *err)
{
    struct json *root = json_load(path, err);

    if (!root)
        return false;
    bool ok = config_from_json(root, strcmp(path, "-") == 0 ? "standard input" : path, out, err);
    json_free(root);
    return ok;
}

void config_fini(struct config *config)
{
    if (!config)
        return;
    free(config->path);
    for (size_t i = 0; i < config->axis_count; i++)
        free(config->axes[i].values);
    free(config->axes);
    for (size_t i = 0; i < config->scene.file_count; i++)
        free(config->scene.files[i]);
    free(config->scene.files);
    free(config->scene.triangles);
    free(config->target.image);
    free(config->backends);
    free(config->tables);
    json_free(config->json);
    memset(config, 0, sizeof *config);
}
