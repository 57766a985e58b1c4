#include "gpu/variants.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu/embedded.h"
#include "gpu/renderer.h"

struct list {
    const struct opencl_renderer *r;
    struct program_variant *items;
    size_t count, capacity;
};

/* " -DPASS_FORWARD -DSTRATEGY_FUSED" is "fwd fused". */
static void label_from(const char *defines, char out[64])
{
    static const char *const groups[] = {"PASS_", "WITH_", "STRATEGY_", "REDUCTION_"};
    static const char *const shorter[][2] = {{"FORWARD", "fwd"}, {"BACKWARD", "bwd"}, {"IMAGE", "img"}};
    struct strbuf text = STRBUF_INIT;

    for (const char *at = defines; (at = strstr(at, " -D")) != NULL;) {
        at += 3;
        for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
            if (strncmp(at, groups[i], strlen(groups[i])) == 0) {
                at += strlen(groups[i]);
                break;
            }
        size_t length = strcspn(at, " ");
        if (text.len)
            strbuf_addc(&text, ' ');
        for (size_t i = 0; i < sizeof(shorter) / sizeof(shorter[0]); i++)
            if (strncmp(at, shorter[i][0], length) == 0 && shorter[i][0][length] == '\0') {
                strbuf_add(&text, shorter[i][1]);
                at += length;
                length = 0;
            }
        for (; length > 0; length--)
            strbuf_addc(&text, (char)tolower((unsigned char)*at++));
    }
    snprintf(out, 64, "%s", strbuf_str(&text));
    strbuf_fini(&text);
}

static bool add(struct list *l, const char *file, const char *shape, const char *pass,
                const struct render_spec *spec, struct err *err)
{
    struct strbuf defines = STRBUF_INIT;
    struct program_variant v = {.file = file, .has_call = spec != NULL};
    void *items = l->items;
    bool ok = false;

    strbuf_addf(&defines, "%s%s", shape, pass);
    if (!strbuf_ok(&defines, err))
        goto out;
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->items[i].file, file) == 0 && strcmp(l->items[i].defines, strbuf_str(&defines)) == 0) {
            ok = true;
            goto out;
        }
    if (!mem_grow(&items, &l->capacity, l->count + 1, sizeof(*l->items), "the list of kernels", err))
        goto out;
    l->items = items;
    if (!(v.defines = mem_strdup(strbuf_str(&defines), err)))
        goto out;
    label_from(pass, v.label);
    if (spec)
        v.spec = *spec;
    if (spec && spec->triangles >= SPEC_MANY_TRIANGLES)
        snprintf(v.label + strlen(v.label), sizeof(v.label) - strlen(v.label), "%s%u triangles",
                 pass[0] ? ", " : "", (unsigned)spec->triangles);
    if (spec && spec->workgroup)
        snprintf(v.label + strlen(v.label), sizeof(v.label) - strlen(v.label), "%s%u a group",
                 pass[0] ? ", " : "", (unsigned)spec->workgroup);
    l->items[l->count++] = v;
    ok = true;
out:
    strbuf_fini(&defines);
    return ok;
}

/* The programs of one spec's calls. A spec that contradicts itself, or that the device cannot do, has none.
 */
static bool add_spec(struct list *l, const struct render_spec *spec, struct err *err)
{
    struct strbuf shape_text = STRBUF_INIT, pass_text = STRBUF_INIT;
    struct pass passes[MAX_PASSES];
    struct err refused = ERR_INIT;
    struct tile_shape shape;
    bool ok;

    if (!spec_check(spec, BACKEND_OPENCL, &refused) ||
        !renderer_shape(l->r, spec, &shape, &refused)) {
        err_fini(&refused);
        return true;
    }
    shape_defines(l->r->path, &shape, &shape_text);
    ok = strbuf_ok(&shape_text, err) &&
         (shape.whole || add(l, "setup.cl", strbuf_str(&shape_text), "", spec, err));
    if (ok && spec->mode == MODE_GRADIENT && !shape.whole)
        ok = add(l, "gather.cl", strbuf_str(&shape_text), "", spec, err);
    bin_defines(&shape, &shape_text);
    ok = ok && strbuf_ok(&shape_text, err) &&
         (shape.bin_tiles == 0 || add(l, "bin.cl", strbuf_str(&shape_text), "", spec, err));
    for (size_t i = 0, count = passes_of(spec, passes); ok && i < count; i++) {
        strbuf_reset(&pass_text);
        pass_defines(spec, &passes[i], &pass_text);
        ok = strbuf_ok(&pass_text, err) &&
             add(l, pass_file(l->r->path, &shape), strbuf_str(&shape_text), strbuf_str(&pass_text), spec, err);
    }
    strbuf_fini(&shape_text);
    strbuf_fini(&pass_text);
    return ok;
}

/* Where bins say which triangles a tile looks at: that is the same code in every pass, which the fused one walks
 * both ways. */
static bool add_many(struct list *l, struct err *err)
{
    struct render_spec spec;

    spec_init(&spec);
    spec.triangles = SPEC_MANY_TRIANGLES;
    return add_spec(l, &spec, err);
}

/* Scenes that are rendered whole, on a path that does so. */
static bool add_whole(struct list *l, struct err *err)
{
    struct tile_shape shape;
    struct render_spec spec;

    spec_init(&spec);
    spec.width = spec.height = 64;
    spec.triangles = 32;
    if (!renderer_shape(l->r, &spec, &shape, err))
        return false;
    for (unsigned i = 0; shape.whole && i < 4; i++) {
        spec.keep_images = i & 1u;
        spec.upstream = i & 2u;
        if (!add_spec(l, &spec, err))
            return false;
    }
    return true;
}

/* Specs over all values of the keys from `first` on. */
static bool add_specs(struct list *l, struct render_spec spec, size_t first, struct err *err)
{
    size_t count;
    const struct spec_key *keys = spec_keys(&count), *key = &keys[first];

    if (first == count) {
        spec.keep_images = false;
        if (!add_spec(l, &spec, err))
            return false;
        spec.keep_images = true;
        return add_spec(l, &spec, err);
    }
    if (!key->values || !(key->applies & SPEC_FOR_OPENCL))
        return add_specs(l, spec, first + 1, err);
    for (const char *const *value = key->values; *value; value++)
        if (!spec_set_text(&spec, key, *value, err) || !add_specs(l, spec, first + 1, err))
            return false;
    return true;
}

/* Whether calls use it, on this path or another. */
static bool is_of_calls(const char *file)
{
    const struct tile_shape tiles = {0}, whole = {.whole = true};

    return strcmp(file, pass_file(PATH_CPU, &tiles)) == 0 || strcmp(file, pass_file(PATH_LOCAL, &tiles)) == 0 ||
           strcmp(file, pass_file(PATH_PTX, &whole)) == 0;
}

/* Kernels that no call of a spec uses. */
static bool add_others(struct list *l, struct err *err)
{
    struct strbuf shape_text = STRBUF_INIT;
    struct tile_shape shape;
    struct render_spec spec;
    bool ok = true;

    spec_init(&spec);
    if (!renderer_shape(l->r, &spec, &shape, err))
        return false;
    shape_defines(l->r->path, &shape, &shape_text);
    ok = strbuf_ok(&shape_text, err);
    for (size_t i = 0; ok && i < embedded_kernels_count; i++) {
        const char *slash = strrchr(embedded_kernels[i].name, '/');
        const char *file = slash ? slash + 1 : embedded_kernels[i].name, *dot = strrchr(file, '.');
        bool known = !dot || strcmp(dot, ".cl") != 0 /* a header */ ||
                     is_of_calls(file);
        for (size_t k = 0; k < l->count; k++)
            known = known || strcmp(l->items[k].file, file) == 0;
        if (!known)
            ok = add(l, file, strbuf_str(&shape_text), "", NULL, err);
    }
    strbuf_fini(&shape_text);
    return ok;
}

bool variants_list(const struct renderer *renderer, bool workgroups, struct program_variant **out,
                   size_t *count, struct err *err)
{
    struct list l = {.r = (const struct opencl_renderer *)renderer};
    struct render_spec spec;
    bool ok;

    spec_init(&spec);
    ok = add_specs(&l, spec, 0, err);
    for (spec.workgroup = 1; ok && workgroups && spec.workgroup <= renderer->info.max_work_group_size;
         spec.workgroup *= 2)
        ok = add_specs(&l, spec, 0, err);
    ok = ok && add_many(&l, err) && add_whole(&l, err) && add_others(&l, err);
    if (!ok) {
        variants_free(l.items, l.count);
        return false;
    }
    *out = l.items;
    *count = l.count;
    return true;
}

void variants_drop(struct program_variant *variants, size_t *count, size_t kept)
{
    while (*count > kept)
        free(variants[--*count].defines);
}

void variants_free(struct program_variant *variants, size_t count)
{
    variants_drop(variants, &count, 0);
    free(variants);
}
