#include "model/spec.h"

#include <string.h>

#include "base/suggest.h"
#include "model/scene.h"

#define SIGMA_MAX 1000.0
#define WORKGROUP_MAX 4096.0

static const char *const modes[] = {"forward", "gradient", NULL};
static const char *const calls[] = {"loader", "pageable", "resident", NULL};
static const char *const variants[] = {"fast", "scalar", NULL};
static const char *const strategies[] = {"fused", "recompute", "taped", NULL};
static const char *const reductions[] = {"ordered", "local", "direct", NULL};
static const char *const dispatches[] = {"batched", "single", NULL};
static const char *const loss_places[] = {"device", "host", NULL};
static const char *const images_kinds[] = {"device", "roundtrip", NULL};
static const char *const sources[] = {"random", "file", NULL};
static const char *const on_off[] = {"off", "on", NULL};
static const char *const booleans[] = {"false", "true", NULL};

#define FIELD(name) .offset = offsetof(struct render_spec, name)

static const struct spec_key keys[] = {
    {.name = "mode",
     .help = "forward, or gradient: forward, loss and backward",
     .type = SPEC_ENUM,
     .applies = SPEC_FOR_ALL,
     .grid_only = true,
     .values = modes,
     FIELD(mode)},
    {.name = "size",
     .help = "image size in pixels: a number (square) or \"WxH\"",
     .type = SPEC_SIZE,
     .applies = SPEC_FOR_ALL,
     .grid_only = true,
     .min = 1,
     .max = SPEC_MAX_SIZE,
     FIELD(width)},
    {.name = "triangles",
     .help = "triangles a scene",
     .type = SPEC_U32,
     .applies = SPEC_FOR_ALL,
     .grid_only = true,
     .min = 0,
     .max = SCENE_MAX_TRIANGLES,
     FIELD(triangles)},
    {.name = "batch",
     .help = "scenes a call",
     .type = SPEC_U32,
     .applies = SPEC_FOR_ALL,
     .grid_only = true,
     .min = 0,
     .max = SPEC_MAX_BATCH,
     FIELD(batch)},
    {.name = "sigma",
     .help = "edge softness, in units of the image's side",
     .type = SPEC_FLOAT,
     .applies = SPEC_FOR_ALL,
     .grid_only = true,
     .min = 0,
     .max = SIGMA_MAX,
     FIELD(sigma)},
    {.name = "source",
     .help = "where scenes come from: drawn at random, or the scene's files",
     .type = SPEC_ENUM,
     .applies = SPEC_FOR_ALL,
     .grid_only = true,
     .values = sources,
     FIELD(source)},
    {.name = "call",
     .help = "what a call moves: targets from pinned memory (loader), from ordinary memory "
             "(pageable), or none (resident)",
     .type = SPEC_ENUM,
     .applies = SPEC_FOR_OPENCL,
     .values = calls,
     FIELD(call)},
    {.name = "upstream",
     .help = "the image's gradients are given in place of a target; there is no loss",
     .type = SPEC_BOOL,
     .applies = SPEC_FOR_ALL,
     .values = booleans,
     FIELD(upstream)},
    {.name = "variant",
     .help = "fast: tiles and SIMD; scalar: the plain one, with a tape",
     .type = SPEC_ENUM,
     .applies = SPEC_FOR_OPENMP,
     .values = variants,
     FIELD(variant)},
    {.name = "threads",
     .help = "threads; 0: one for each physical core that may be used",
     .type = SPEC_U32,
     .applies = SPEC_FOR_OPENMP,
     .min = 0,
     .max = SPEC_MAX_THREADS,
     FIELD(threads)},
    {.name = "strategy",
     .help = "how the backward pass knows the canvas below a triangle",
     .type = SPEC_ENUM,
     .applies = SPEC_FOR_OPENCL,
     .values = strategies,
     .gradient_only = true,
     FIELD(strategy)},
    {.name = "reduction",
     .help = "how gradients are summed over pixels",
     .type = SPEC_ENUM,
     .applies = SPEC_FOR_OPENCL,
     .values = reductions,
     .gradient_only = true,
     FIELD(reduction)},
    {.name = "dispatch",
     .help = "all scenes in one dispatch, or one by one",
     .type = SPEC_ENUM,
     .applies = SPEC_FOR_OPENCL,
     .values = dispatches,
     FIELD(dispatch)},
    {.name = "loss",
     .help = "where the loss is worked out",
     .type = SPEC_ENUM,
     .applies = SPEC_FOR_OPENCL,
     .values = loss_places,
     .gradient_only = true,
     .loss_only = true,
     FIELD(loss)},
    {.name = "pool",
     .help = "buffers kept between calls (on), or allocated by each call (off)",
     .type = SPEC_BOOL_ONOFF,
     .applies = SPEC_FOR_OPENCL,
     .values = on_off,
     FIELD(pool)},
    {.name = "images",
     .help = "the rendered batch stays on the device, or goes to the host and back "
             "between forward and backward (roundtrip)",
     .type = SPEC_ENUM,
     .applies = SPEC_FOR_OPENCL,
     .values = images_kinds,
     .gradient_only = true,
     .loss_only = true,
     FIELD(images)},
    {.name = "workgroup",
     .help = "work-items a group; 0: the device's own best",
     .type = SPEC_U32,
     .applies = SPEC_FOR_OPENCL,
     .min = 0,
     .max = WORKGROUP_MAX,
     FIELD(workgroup)},
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

const struct spec_key *spec_keys(size_t *count)
{
    *count = KEY_COUNT;
    return keys;
}

const struct spec_key *spec_find(const char *name)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

const char *spec_suggest(const char *name)
{
    struct suggest near;

    suggest_init(&near, name);
    for (size_t i = 0; i < KEY_COUNT; i++)
        suggest_offer(&near, keys[i].name);
    return near.best;
}

bool spec_matters(const struct render_spec *spec, const struct spec_key *key, enum backend_kind kind)
{
    if (!(key->applies & (1u << kind)))
        return false;
    if (key->gradient_only && spec->mode == MODE_FORWARD)
        return false;
    return !(key->loss_only && spec->upstream);
}

void spec_init(struct render_spec *spec)
{
    *spec = (struct render_spec){
        .mode = MODE_GRADIENT,
        .width = 256,
        .height = 256,
        .triangles = 512,
        .batch = 16,
        .sigma = 0.01f,
        .call = CALL_LOADER,
        .variant = VARIANT_FAST,
        .strategy = STRATEGY_FUSED,
        .reduction = REDUCTION_ORDERED,
        .dispatch = DISPATCH_BATCHED,
        .loss = LOSS_DEVICE,
        .pool = true,
        .images = IMAGES_DEVICE,
    };
}

bool spec_check(const struct render_spec *spec, enum backend_kind kind, struct err *err)
{
    if (spec->upstream && spec->mode == MODE_FORWARD)
        return err_set(
            err, ERR_UNSUPPORTED,
            "upstream with mode=forward: a forward call has no backward pass to give gradients to");
    if (kind != BACKEND_OPENCL || spec->mode == MODE_FORWARD || spec->upstream ||
        spec->strategy != STRATEGY_FUSED)
        return true;
    if (spec->images == IMAGES_ROUNDTRIP)
        return err_set(err, ERR_UNSUPPORTED,
                       "images=roundtrip with strategy=fused: forward and backward are one kernel, "
                       "there is no image between them to move");
    if (spec->loss == LOSS_HOST)
        return err_set(err, ERR_UNSUPPORTED,
                       "loss=host with strategy=fused: the loss is part of the one kernel, "
                       "no image comes to the host to work it out from");
    return true;
}

const char *backend_kind_name(enum backend_kind kind)
{
    return kind == BACKEND_OPENMP ? "openmp" : "opencl";
}
