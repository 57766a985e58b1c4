#include "gpu/tuning.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache_file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/order.h"
#include "gpu/embedded.h"
#include "gpu/job.h"
#include "model/image.h"
#include "model/scene.h"

/* ---- which is faster ---- */

#define CLEARLY 0.95 /* of the rule's time */

/* Places of the sorted times between which the median lies with 95 %: n/2 -+ sqrt(n) (the binomial's normal
 * form). */
static void interval(size_t samples, size_t *low, size_t *high)
{
    size_t half = 1;

    while ((half + 1) * (half + 1) <= samples)
        half++;
    *low = samples / 2 > half ? samples / 2 - half : 0;
    *high = samples / 2 + half < samples ? samples / 2 + half : samples - 1;
}

size_t tuning_pick(uint64_t *times, size_t count, size_t samples)
{
    size_t best = 0, low, high;

    interval(samples, &low, &high);
    for (size_t c = 0; c < count; c++)
        qsort(times + c * samples, samples, sizeof *times, order_u64);
    for (size_t c = 1; c < count; c++) {
        const uint64_t *t = times + c * samples;
        const bool faster =
            (double)t[samples / 2] < CLEARLY * (double)times[samples / 2] && t[high] < times[low];
        if (faster && t[samples / 2] < times[best * samples + samples / 2])
            best = c;
    }
    return best;
}

/* ---- what is remembered ---- */

#define VERSION 1

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t length) /* FNV-1a */
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#define HASH_START UINT64_C(0xcbf29ce484222325)

static uint64_t kernels_hash(void)
{
    uint64_t hash = HASH_START;

    for (size_t i = 0; i < embedded_kernels_count; i++)
        hash = hash_bytes(hash, embedded_kernels[i].text, embedded_kernels[i].length);
    return hash;
}

/* A file for each device and driver. Its text says them again: names may have the same hash. */
static void file_name(const struct device_info *info, char out[64])
{
    uint64_t hash = hash_bytes(HASH_START, info->name, strlen(info->name) + 1);

    hash = hash_bytes(hash, info->driver_version, strlen(info->driver_version) + 1);
    snprintf(out, 64, "tiles-%016" PRIx64 ".json", hash);
}

static bool says(const struct json *root, const char *key, const char *value)
{
    return strcmp(json_string(json_get(root, key)), value) == 0;
}

static bool is_pixels(uint64_t n)
{
    return n >= TILE_LEAST_PIXELS && n <= TILE_MOST_PIXELS && (n & (n - 1)) == 0;
}

static bool understand(const struct json *root, const struct device_info *info, const char *path,
                       uint32_t pixels[TILE_CLASSES])
{
    const struct json *list = json_get(root, "pixels");
    char hash[32];
    uint64_t version, n;

    snprintf(hash, sizeof hash, "%016" PRIx64, kernels_hash());
    if (!json_u64(json_get(root, "version"), &version) || version != VERSION ||
        !says(root, "device", info->name) || !says(root, "driver", info->driver_version) ||
        !says(root, "kernels", hash) || (path && !says(root, "path", path)) ||
        json_count(list) != TILE_CLASSES)
        return false;
    for (size_t c = 0; c < TILE_CLASSES; c++) {
        if (!json_u64(json_at(list, c), &n) || !is_pixels(n))
            return false;
        pixels[c] = (uint32_t)n;
    }
    return true;
}

bool tuning_load(const struct device_info *info, const char *path, uint32_t pixels[TILE_CLASSES],
                 struct err *err)
{
    struct strbuf text = STRBUF_INIT;
    struct err nonsense = ERR_INIT; /* a file that is cut short or was written over is as good as none */
    struct json *root = NULL;
    char name[64];
    bool ok = false;

    file_name(info, name);
    if (cache_file_read(name, &text, err)) {
        root = json_parse(strbuf_str(&text), text.len, name, &nonsense);
        ok = root && understand(root, info, path, pixels);
    }
    json_free(root);
    err_fini(&nonsense);
    strbuf_fini(&text);
    return ok;
}

bool tuning_store(const struct device_info *info, const uint32_t pixels[TILE_CLASSES], struct err *err)
{
    struct json *root = json_new_object();
    struct strbuf text = STRBUF_INIT;
    char name[64], hash[32];

    file_name(info, name);
    snprintf(hash, sizeof hash, "%016" PRIx64, kernels_hash());
    json_set_u64(root, "version", VERSION);
    json_set_string(root, "device", info->name);
    json_set_string(root, "driver", info->driver_version);
    json_set_string(root, "kernels", hash);
    json_set_string(root, "path", info->path);
    struct json *list = json_set_array(root, "pixels");
    for (size_t c = 0; c < TILE_CLASSES; c++)
        json_add_u64(list, pixels[c]);
    bool ok = json_print(root, true, &text, err) && cache_file_write(name, &text, err);
    strbuf_fini(&text);
    json_free(root);
    return ok;
}

/* ---- what is in use ---- */

static void say_pixels(struct device_info *info, const uint32_t pixels[TILE_CLASSES], const char *source)
{
    snprintf(info->tiles, sizeof info->tiles, "%u, %u, %u pixels (%s)", (unsigned)pixels[0],
             (unsigned)pixels[1], (unsigned)pixels[2], source);
}

/* A CPU device has one shape; a text of kernels that is not the program's own has nothing to be remembered
 * by. */
static bool is_open(const struct opencl_renderer *r)
{
    return r->base.info.kind != DEVICE_CPU && r->tile.blocks_x == 0 && !r->tile.whole && !r->kernel_dir;
}

void tuning_recall(struct opencl_renderer *r)
{
    struct device_info *info = &r->base.info;
    struct err err = ERR_INIT;

    if (r->tile.whole && can_be_whole(r->path, info, &r->tile)) {
        snprintf(info->tiles, sizeof info->tiles, "scenes whole (option)");
    } else if (r->tile.blocks_x > 0 && r->path != PATH_CPU) {
        const unsigned x = r->tile.blocks_x, y = r->tile.blocks_y, teams = r->path == PATH_PTX ? r->tile.teams : 1;
        snprintf(info->tiles, sizeof info->tiles, "%ux%u blocks, %u team%s a group (option)", x, y, teams,
                 teams == 1 ? "" : "s");
    } else if (is_open(r) && tuning_load(info, info->path, r->tile.pixels, &err)) {
        say_pixels(info, r->tile.pixels, "probe");
    } else if (info->kind != DEVICE_CPU) {
        const uint32_t rule[TILE_CLASSES] = {tile_rule(r->path, TILE_SMALL), tile_rule(r->path, TILE_DEEP),
                                             tile_rule(r->path, TILE_LARGE)};
        say_pixels(info, rule, "rule");
    }
    err_fini(&err); /* tuning_probe, which writes it, will tell */
}

void tuning_describe(struct device_info *info)
{
    uint32_t pixels[TILE_CLASSES];
    struct err err = ERR_INIT;

    if (info->kind == DEVICE_CPU || info->trouble[0] != '\0')
        return;
    if (tuning_load(info, NULL, pixels, &err))
        say_pixels(info, pixels, "probe");
    else
        snprintf(info->tiles, sizeof info->tiles, "what the rule says");
    err_fini(&err);
}

/* ---- the probe ---- */

#define PROBE_LIMIT_NS UINT64_C(1500000000)
#define PROBE_ROUNDS 16
#define PROBE_WARM_ROUNDS 2
#define PROBE_CANDIDATES 3
#define PROBE_BATCH 16

/* An image of each class. */
static const struct {
    uint32_t size, triangles;
} probe_cells[TILE_CLASSES] = {[TILE_SMALL] = {64, 64}, [TILE_DEEP] = {64, 512}, [TILE_LARGE] = {256, 256}};

static void fill(struct render_job *job)
{
    static const float ground[3] = {0.1f, 0.11f, 0.14f}, flat[3] = {0.4f, 0.5f, 0.6f};
    const struct render_spec *s = &job->spec;

    for (uint32_t b = 0; b < s->batch; b++) {
        scene_random(job->io.params + (size_t)b * s->triangles * SCENE_STRIDE, s->triangles, 1, b,
                     SCENE_DEFAULT_EXTENT);
        memcpy(job->io.background + 3 * (size_t)b, ground, sizeof ground);
        image_fill(job->io.target + (size_t)b * s->width * s->height * 3, s->width, s->height, flat);
    }
}

static bool open_candidate(struct opencl_renderer *r, size_t class, uint32_t pixels, struct render_job **out,
                           struct err *err)
{
    struct render_spec spec;

    spec_init(&spec);
    spec.width = spec.height = probe_cells[class].size;
    spec.triangles = probe_cells[class].triangles;
    spec.batch = PROBE_BATCH;
    spec.call = CALL_RESIDENT;
    r->tile.pixels[class] = pixels;
    if (!r->base.ops->open(&r->base, &spec, out, err))
        return false;
    fill(*out);
    return r->base.ops->inputs_changed(*out, err);
}

static bool time_call(struct render_job *job, uint64_t *ns, struct err *err)
{
    struct render_profile profile;
    const uint64_t start = clock_now_ns();

    if (!job->renderer->ops->call_profiled(job, &profile, err))
        return false;
    *ns = profile.valid && profile.device_ns > 0 ? profile.device_ns : clock_now_ns() - start;
    return true;
}

/* Half and twice the rule's pixels beside the rule's own, where there are such tiles. *pixels: the answer. */
static bool probe_class(struct opencl_renderer *r, size_t class, uint64_t deadline_ns, uint32_t *pixels,
                        struct err *err)
{
    const uint32_t rule = tile_rule(r->path, class), wanted[PROBE_CANDIDATES] = {rule, rule / 2, rule * 2};
    struct render_job *jobs[PROBE_CANDIDATES] = {NULL};
    uint32_t kept[PROBE_CANDIDATES];
    uint64_t times[PROBE_CANDIDATES * PROBE_ROUNDS], ns = 0;
    size_t count = 0;
    bool ok = true;

    for (size_t i = 0; i < PROBE_CANDIDATES && ok && clock_now_ns() < deadline_ns; i++) {
        if (!is_pixels(wanted[i]) || (i > 0 && wanted[i] < tile_lanes(r->path, r->lanes)))
            continue;
        ok = open_candidate(r, class, wanted[i], &jobs[count], err);
        kept[count++] = wanted[i];
    }
    for (size_t round = 0; round < PROBE_WARM_ROUNDS + PROBE_ROUNDS && ok; round++)
        for (size_t i = 0; i < count && ok; i++) {
            ok = time_call(jobs[i], &ns, err);
            if (round >= PROBE_WARM_ROUNDS)
                times[i * PROBE_ROUNDS + round - PROBE_WARM_ROUNDS] = ns;
        }
    *pixels = ok && count > 1 ? kept[tuning_pick(times, count, PROBE_ROUNDS)] : rule;
    r->tile.pixels[class] = 0;
    for (size_t i = 0; i < count; i++)
        r->base.ops->close(jobs[i]);
    return ok;
}

bool tuning_probe(struct renderer *renderer, char *note, size_t size, struct err *err)
{
    struct opencl_renderer *r = (struct opencl_renderer *)renderer;
    struct device_info *info = &renderer->info;
    uint32_t pixels[TILE_CLASSES];
    const uint64_t start = clock_now_ns();
    struct err untold = ERR_INIT;

    note[0] = '\0';
    if (!is_open(r) || r->tile.pixels[0] > 0)
        return true;
    for (size_t c = 0; c < TILE_CLASSES; c++)
        if (!probe_class(r, c, start + PROBE_LIMIT_NS, &pixels[c], err))
            return false;
    pool_trim(&r->pool);
    memcpy(r->tile.pixels, pixels, sizeof pixels);
    say_pixels(info, pixels, "probe");
    const bool stored = tuning_store(info, pixels, &untold);
    snprintf(note, size, "%s: tiles of %s, found in %.1f s%s%s", info->name, info->tiles,
             (double)(clock_now_ns() - start) * 1e-9,
             stored ? " and remembered" : "; not remembered: ", untold.text);
    err_fini(&untold);
    return true;
}
