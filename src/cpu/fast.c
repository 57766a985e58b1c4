/* The fast variant: triangles made ready, tiles of all scenes over all threads, sums in a fixed order.
 *
 * A call is one parallel region of three steps with barriers between: pack, tiles, reduce. Which thread
 * takes which tile is left to chance; each tile writes sums of its own, and a triangle's are added tile
 * after tile, so that the result has the same bits for any number of threads. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cpu/bins.h"
#include "cpu/job.h"
#include "cpu/pack.h"
#include "model/oracle.h"
#include "model/scene.h"

#define PAD 16u /* bounds arrays are padded to the widest vector */

struct tile_result {
    uint64_t first; /* of its sums in work->sums */
    uint32_t count;
    double squares;
};

struct fast_work {
    uint32_t threads;
    uint32_t tiles_x, tiles_y;
    uint32_t padded;                /* triangles, to a multiple of PAD */
    float *centre_x, *centre_y;     /* padded to whole tiles */
    struct tile_triangle *triangle; /* [B][T] */
    float *bounds;                  /* [B][left, right, top, bottom][padded] */
    struct bins bins;
    struct tile_result *result;     /* [B][tiles]; NULL in forward mode */
    struct tile_sums *sums;         /* [capacity]: a tile's list after another, in any order of tiles */
    uint32_t *sums_triangle;        /* [capacity] whose sums */
    uint64_t capacity, used;
    struct tile_scratch *scratch[]; /* [threads] */
};

static uint32_t parts_of(uint32_t count, uint32_t size)
{
    return (count + size - 1) / size;
}

static uint32_t part_end(uint32_t count, uint32_t size, uint32_t part)
{
    return count - part * size < size ? count : (part + 1) * size;
}

#define TAPE_FLOATS ((uint64_t)TILE_CHUNK * TILE_TAPE_CAREFUL * TILE_PIXELS)

/* The sums depend on the scenes; a random scene of the benchmark's meets a tenth of the tiles a triangle. */
static uint64_t fast_work_bytes(const struct render_spec *spec, uint32_t threads)
{
    uint64_t tiles = (uint64_t)parts_of(spec->width, TILE_SIZE) * parts_of(spec->height, TILE_SIZE);
    uint64_t scene = (sizeof(struct tile_triangle) + 4 * sizeof(float)) * spec->triangles + bins_bytes(spec);
    uint64_t thread = sizeof(struct tile_scratch) + 12 * (uint64_t)spec->triangles;
    if (spec->mode == MODE_GRADIENT) {
        scene += tiles * sizeof(struct tile_result) +
                 (tiles / 8 + 4) * spec->triangles * (sizeof(struct tile_sums) + sizeof(uint32_t));
        thread += TAPE_FLOATS * sizeof(float) +
                  (uint64_t)parts_of(spec->triangles, TILE_CHUNK) * 3 * TILE_PIXELS * 4;
    }
    uint64_t all;
    if (!mem_mul(scene, spec->batch, &all) || !mem_add(all, thread * threads, &all))
        return UINT64_MAX;
    return all;
}

static void scratch_destroy(struct tile_scratch *s)
{
    if (s == NULL)
        return;
    free(s->list);
    free(s->blocks);
    free(s->tape);
    free(s->checkpoint);
    free(s);
}

static void fast_close(struct cpu_job *job)
{
    struct fast_work *work = job->work;
    if (work == NULL)
        return;
    for (uint32_t i = 0; i < work->threads; i++)
        scratch_destroy(work->scratch[i]);
    free(work->centre_x);
    free(work->centre_y);
    free(work->triangle);
    free(work->bounds);
    bins_fini(&work->bins);
    free(work->result);
    free(work->sums);
    free(work->sums_triangle);
    free(work);
    job->work = NULL;
}

static struct tile_scratch *scratch_create(const struct render_spec *spec, struct err *err)
{
    struct tile_scratch *s = mem_alloc_aligned(1, sizeof *s, "tile", err);
    if (s == NULL)
        return NULL;
    memset(s, 0, sizeof *s);
    s->list = mem_alloc_aligned(spec->triangles, sizeof *s->list, "triangles of a tile", err);
    s->blocks = mem_alloc_aligned(spec->triangles, sizeof *s->blocks, "triangles of a tile", err);
    bool ok = s->list != NULL && s->blocks != NULL;
    if (ok && spec->mode == MODE_GRADIENT) {
        uint32_t chunks = parts_of(spec->triangles, TILE_CHUNK);
        uint64_t kept = chunks > 1 ? (uint64_t)(chunks - 1) * 3 * TILE_PIXELS : 1;
        s->tape = mem_alloc_aligned(TAPE_FLOATS, sizeof(float), "tape of a tile", err);
        s->checkpoint = mem_alloc_aligned(kept, sizeof(float), "checkpoints of a tile", err);
        ok = s->tape != NULL && s->checkpoint != NULL;
    }
    if (!ok) {
        scratch_destroy(s);
        return NULL;
    }
    return s;
}

/* Pixel centres, by the model's division; those past the image serve no pixel but must be numbers. */
static float *centres_create(uint32_t pixels, struct err *err)
{
    uint32_t padded = parts_of(pixels, TILE_SIZE) * TILE_SIZE;
    float *c = mem_alloc_aligned(padded, sizeof *c, "pixel centres", err);
    for (uint32_t i = 0; c != NULL && i < padded; i++)
        c[i] = ((float)i + 0.5f) / (float)pixels;
    return c;
}

static bool fast_open(struct cpu_job *job, struct err *err)
{
    const struct render_spec *spec = &job->base.spec;
    uint32_t n = job->threads;
    struct fast_work *work = mem_calloc(1, sizeof *work + n * sizeof work->scratch[0], "fast renderer", err);
    if (work == NULL)
        return false;
    job->work = work;
    work->threads = n;
    work->tiles_x = parts_of(spec->width, TILE_SIZE);
    work->tiles_y = parts_of(spec->height, TILE_SIZE);
    work->padded = (spec->triangles + PAD - 1) / PAD * PAD;
    uint64_t tiles = (uint64_t)work->tiles_x * work->tiles_y;
    uint64_t triangles = (uint64_t)spec->batch * spec->triangles;
    uint64_t padded = (uint64_t)spec->batch * work->padded;
    work->centre_x = centres_create(spec->width, err);
    work->centre_y = centres_create(spec->height, err);
    work->triangle = mem_alloc_aligned(triangles, sizeof *work->triangle, "prepared triangles", err);
    /* Zeroed: the padding is bounds that hold no pixel. */
    work->bounds = mem_alloc_aligned(4 * padded, sizeof(float), "bounds", err);
    if (work->centre_x == NULL || work->centre_y == NULL || work->triangle == NULL || work->bounds == NULL)
        return false;
    memset(work->bounds, 0, (4 * padded) * sizeof(float));
    if (!bins_init(&work->bins, spec, err))
        return false;
    if (spec->mode == MODE_GRADIENT) {
        work->result = mem_alloc_aligned(spec->batch * tiles, sizeof *work->result, "tile results", err);
        if (work->result == NULL)
            return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        work->scratch[i] = scratch_create(spec, err);
        if (work->scratch[i] == NULL)
            return false;
    }
    return true;
}

/* ---- a call ---- */

/* Room for the sums of `need` entries, which the bounds say is the most there can be. */
static bool reserve_sums(struct cpu_job *job, uint64_t need, struct err *err)
{
    struct fast_work *work = job->work;
    work->used = 0;
    if (need <= work->capacity && work->sums != NULL)
        return true;
    free(work->sums);
    free(work->sums_triangle);
    work->capacity = 0;
    work->sums = mem_alloc_aligned(need, sizeof *work->sums, "sums of tiles", err);
    work->sums_triangle = mem_alloc_aligned(need, sizeof *work->sums_triangle, "sums of tiles", err);
    if (work->sums == NULL || work->sums_triangle == NULL)
        return false;
    work->capacity = need;
    job->allocations++;
    return true;
}

static struct pack_bounds bounds_arrays(const struct fast_work *work, uint32_t scene)
{
    size_t n = work->padded;
    float *b = work->bounds + 4 * n * scene;
    return (struct pack_bounds){b, b + n, b + 2 * n, b + 3 * n};
}

/* That one thread makes ready at a time: no two threads write the same word of a bin. */
#define PACK_TRIANGLES BIN_WORD

static uint64_t pack_part(const struct cpu_job *job, uint32_t scene, uint32_t part)
{
    const struct render_spec *spec = &job->base.spec;
    uint32_t first = part * PACK_TRIANGLES, end = part_end(spec->triangles, PACK_TRIANGLES, part);
    const struct fast_work *work = job->work;
    struct pack_bounds bounds = bounds_arrays(work, scene);
    struct pack_geometry g = {spec->width, spec->height, spec->sigma};
    uint64_t tiles = pack_triangles(&g, job->base.io.params + (size_t)scene * spec->triangles * SCENE_STRIDE, first,
                                    end, work->triangle + (size_t)scene * spec->triangles, &bounds);
    if (work->bins.x > 0)
        bins_pack(&work->bins, scene, part, end, &bounds);
    return tiles;
}

static void render_tile(const struct cpu_job *job, struct fast_work *work, struct tile_scratch *scratch,
                        uint64_t index)
{
    const struct isa *isa = job->cpu->isa;
    uint64_t tiles = (uint64_t)work->tiles_x * work->tiles_y;
    uint32_t b = (uint32_t)(index / tiles), t = (uint32_t)(index % tiles);
    struct cpu_scene scene = cpu_scene_of(job, b);
    struct pack_bounds bounds = bounds_arrays(work, b);
    float s = scene.sigma > 1e-8f ? scene.sigma : 1e-8f;
    struct tile tile = {
        .x0 = t % work->tiles_x * TILE_SIZE,
        .y0 = t / work->tiles_x * TILE_SIZE,
        .width = scene.width,
        .height = scene.height,
        .triangles = scene.triangles,
        .bounds = {bounds.left, bounds.right, bounds.top, bounds.bottom},
        .bin = bins_of_tile(&work->bins, b, t % work->tiles_x, t / work->tiles_x),
        .triangle = work->triangle + (size_t)b * scene.triangles,
        .centre_x = work->centre_x,
        .centre_y = work->centre_y,
        .background = scene.background,
        .target = scene.upstream != NULL ? scene.upstream : scene.target,
        .image = scene.image,
        .upstream = scene.upstream != NULL,
        .exp2_scale = -0.72134752f / s,
        .loss_scale = (float)(2.0 / (3.0 * scene.width * scene.height)),
    };
    isa->scan(&tile, scratch);
    if (scene.grads == NULL) {
        isa->forward(&tile, scratch);
        return;
    }
    struct tile_result *result = &work->result[index];
    uint64_t first;
#pragma omp atomic capture
    {
        first = work->used;
        work->used += scratch->count;
    }
    result->first = first;
    result->count = scratch->count;
    memcpy(work->sums_triangle + first, scratch->list, scratch->count * sizeof *scratch->list);
    result->squares = isa->gradient(&tile, scratch, work->sums + first);
}

/* First entry of a tile's list that is not before `triangle`; lists are in order. */
static uint32_t lower_bound(const uint32_t *list, uint32_t count, uint32_t triangle)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list[middle] < triangle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Triangles of a scene that one thread adds up at a time: few enough that one scene keeps several threads
 * busy, many enough that looking for them in every tile's list costs nothing (3 % of a call with 64; at 1024x1024 and
 * 10^5 small triangles 29 % with 128, 11 % with 781). */
#define REDUCE_LEAST 128u
#define REDUCE_MOST 1024u

static uint32_t reduce_triangles(uint32_t triangles)
{
    const uint32_t wanted = triangles / 128;

    return wanted < REDUCE_LEAST ? REDUCE_LEAST : wanted < REDUCE_MOST ? wanted : REDUCE_MOST;
}

/* Their gradients: sums over the tiles, in the tiles' order, in double precision. */
static void reduce_part(const struct cpu_job *job, uint32_t b, uint32_t part)
{
    const struct fast_work *work = job->work;
    uint64_t tiles = (uint64_t)work->tiles_x * work->tiles_y;
    struct cpu_scene scene = cpu_scene_of(job, b);
    const uint32_t size = reduce_triangles(scene.triangles);
    uint32_t first = part * size, end = part_end(scene.triangles, size, part);
    double sum[REDUCE_MOST][TILE_SUMS];
    memset(sum, 0, (end - first) * sizeof sum[0]);
    for (uint64_t t = 0; t < tiles; t++) {
        const struct tile_result *result = &work->result[b * tiles + t];
        const uint32_t *list = work->sums_triangle + result->first;
        for (uint32_t e = lower_bound(list, result->count, first); e < result->count && list[e] < end; e++) {
            const float *value = work->sums[result->first + e].value;
            double *into = sum[list[e] - first];
            for (int j = 0; j < TILE_SUMS; j++)
                into[j] += (double)value[j];
        }
    }
    double s = scene.sigma > 1e-8f ? (double)scene.sigma : 1e-8;
    for (uint32_t i = first; i < end; i++) {
        float alpha = scene.params[(size_t)i * SCENE_STRIDE + 9];
        double opacity = alpha > 0 ? alpha < 1 ? (double)alpha : 1 : 0;
        float *grads = scene.grads + (size_t)i * SCENE_STRIDE;
        for (int j = 0; j < 6; j++)
            grads[j] = (float)(-0.5 * opacity / s * sum[i - first][j]);
        for (int j = 6; j < 9; j++)
            grads[j] = (float)sum[i - first][j];
        grads[9] = alpha > 0 && alpha < 1 ? (float)sum[i - first][9] : 0;
    }
}

static void reduce_loss(const struct cpu_job *job, uint32_t b)
{
    const struct fast_work *work = job->work;
    uint64_t tiles = (uint64_t)work->tiles_x * work->tiles_y;
    struct cpu_scene scene = cpu_scene_of(job, b);
    double sum = 0;
    for (uint64_t t = 0; t < tiles; t++)
        sum += work->result[b * tiles + t].squares;
    if (scene.loss != NULL)
        *scene.loss = sum / (3.0 * scene.width * scene.height);
}

/* How many threads a call is worth: THREAD_NS of work each at least. Pairs are guessed from the extents of
 * a few triangles; the same scenes always give the same number. */
#define THREAD_NS 15e3

static uint32_t threads_for(const struct cpu_job *job)
{
    const struct render_spec *spec = &job->base.spec;
    uint64_t all = (uint64_t)spec->batch * spec->triangles, step = all / 64 + 1, seen = 0;
    double area = 0, pixels = (double)spec->width * spec->height;
    for (uint64_t i = 0; i < all; i += step, seen++) {
        struct bounds b =
            bounds_of(job->base.io.params + i * SCENE_STRIDE, spec->sigma, spec->width, spec->height);
        area += (double)(b.right - b.left) * (b.bottom - b.top);
    }
    double pairs = seen > 0 ? area / (double)seen * (double)all : 0;
    double ns =
        pairs * (spec->mode == MODE_GRADIENT ? 2.0 : 1.0) + (double)all * 40 + pixels * spec->batch * 1.0;
    double n = ns / THREAD_NS + 1;
    return n < job->threads ? (uint32_t)n : job->threads;
}

/* What the threads of a call share. */
struct fast_region {
    uint64_t tiles, chunk;           /* of all scenes; tiles that a thread takes at a time */
    uint64_t entries;                /* bound on the tiles' lists together */
    uint64_t packed_ns, reserved_ns; /* when those steps were done */
    bool ok;
};

/* The work of a call, by every thread of the region. */
static void fast_steps(struct cpu_job *job, struct fast_region *region, struct err *err)
{
    const struct render_spec *spec = &job->base.spec;
    struct fast_work *work = job->work;
    struct tile_scratch *scratch = work->scratch[omp_get_thread_num()];
    uint32_t batch = spec->batch, pack_parts = parts_of(spec->triangles, PACK_TRIANGLES);
    uint32_t reduce_parts = parts_of(spec->triangles, reduce_triangles(spec->triangles));
    uint64_t entries = 0;
#pragma omp for collapse(2) schedule(static) nowait
    for (uint32_t b = 0; b < batch; b++)
        for (uint32_t part = 0; part < pack_parts; part++)
            entries += pack_part(job, b, part);
#pragma omp atomic
    region->entries += entries;
#pragma omp barrier
#pragma omp single
    {
        region->packed_ns = clock_now_ns();
        region->ok = spec->mode != MODE_GRADIENT || reserve_sums(job, region->entries, err);
        region->reserved_ns = clock_now_ns();
    }
    if (!region->ok)
        return;
#pragma omp for schedule(dynamic, region->chunk)
    for (uint64_t t = 0; t < region->tiles; t++)
        render_tile(job, work, scratch, t);
    if (spec->mode != MODE_GRADIENT)
        return;
#pragma omp for collapse(2) schedule(static) nowait
    for (uint32_t b = 0; b < batch; b++)
        for (uint32_t part = 0; part < reduce_parts; part++)
            reduce_part(job, b, part);
#pragma omp for schedule(static) nowait
    for (uint32_t b = 0; b < batch; b++)
        reduce_loss(job, b);
}

static bool fast_call(struct cpu_job *job, struct render_phases *phases, struct err *err)
{
    const struct fast_work *work = job->work;
    uint64_t start = clock_now_ns();
    if (job->base.spec.batch == 0)
        return true;
    uint32_t n = threads_for(job);
    struct fast_region region = {.tiles = (uint64_t)work->tiles_x * work->tiles_y * job->base.spec.batch};
    /* 64 turns a thread where there are as many tiles: even at the end, and few enough. */
    region.chunk = region.tiles / (n * 64) + 1;
    job->regions = 1;
#pragma omp parallel num_threads(n)
    {
        cpu_set_t saved;
        bool moved = topology_enter(&job->cpu->topology, &saved);
        fast_steps(job, &region, err);
        if (moved)
            topology_leave(&saved);
    }
    phases->pack_ns = region.packed_ns - start;
    phases->alloc_ns = region.reserved_ns - region.packed_ns;
    phases->dispatch_ns = clock_now_ns() - region.reserved_ns;
    return region.ok;
}

const struct cpu_variant_ops cpu_fast_ops = {
    .work_bytes = fast_work_bytes,
    .open = fast_open,
    .call = fast_call,
    .close = fast_close,
};
