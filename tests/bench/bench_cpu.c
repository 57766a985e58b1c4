/* How fast the fast variant is beside the scalar one, in one run on the same cores. `make bench`.
 *
 *   bench_cpu [threads [isa]]
 *
 * The gradient of the nine cells of the crossover (batch 16, sigma 0.01), and forward of one scene of
 * 512x512 x 1024 at sigma 0.0015 against the scalar variant on one thread. Times are the least of a few
 * calls, the two variants taking turns; results are compared before any time is printed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "cpu/openmp.h"
#include "model/image.h"
#include "model/scene.h"

/* Least times of some calls: by the clock, and of the processors, all threads together. On a machine with
 * other work the clock punishes the longer calls; then the processors' time is the fairer one. */
struct least {
    double wall_ms, cpu_ms;
};

static const struct least never = {INFINITY, INFINITY};

struct contest {
    struct render_job *fast, *scalar;
    struct least fast_time, scalar_time;
};

static bool job_make(struct renderer *r, struct render_spec *spec, enum cpu_variant variant, uint32_t threads,
                     struct render_job **out, struct err *err)
{
    static const float background[3] = {0.1f, 0.11f, 0.14f}, target[3] = {0.4f, 0.5f, 0.6f};
    spec->variant = variant;
    spec->threads = threads;
    if (!r->ops->open(r, spec, out, err))
        return false;
    for (uint32_t b = 0; b < spec->batch; b++) {
        struct render_io *io = &(*out)->io;
        scene_random(io->params + (size_t)b * spec->triangles * SCENE_STRIDE, spec->triangles, 11, b,
                     SCENE_DEFAULT_EXTENT);
        memcpy(io->background + (size_t)3 * b, background, sizeof background);
        if (io->target != NULL)
            image_fill(io->target + (size_t)b * spec->width * spec->height * 3, spec->width, spec->height,
                       target);
    }
    return r->ops->inputs_changed(*out, err);
}

static double cpu_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static bool time_job(struct render_job *job, unsigned calls, struct least *least, struct err *err)
{
    for (unsigned i = 0; i < calls; i++) {
        uint64_t start = clock_now_ns();
        double cpu = cpu_now_ms();
        if (!job->renderer->ops->call(job, err))
            return false;
        cpu = cpu_now_ms() - cpu;
        double wall = (double)(clock_now_ns() - start) * 1e-6;
        least->wall_ms = wall < least->wall_ms ? wall : least->wall_ms;
        least->cpu_ms = cpu < least->cpu_ms ? cpu : least->cpu_ms;
    }
    return true;
}

static double difference(const float *a, const float *b, size_t n)
{
    double d2 = 0, b2 = 0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)a[i] - (double)b[i];
        d2 += d * d;
        b2 += (double)b[i] * (double)b[i];
    }
    return b2 > 0 ? sqrt(d2 / b2) : sqrt(d2);
}

static bool contest_run(struct contest *c, struct err *err)
{
    const struct render_spec *spec = &c->fast->spec;
    if (!time_job(c->fast, 1, &c->fast_time, err) || !time_job(c->scalar, 1, &c->scalar_time, err))
        return false;
    bool gradient = spec->mode == MODE_GRADIENT;
    size_t n = (size_t)spec->batch *
               (gradient ? (size_t)spec->triangles * SCENE_STRIDE : (size_t)spec->width * spec->height * 3);
    double d = gradient ? difference(c->fast->io.grads, c->scalar->io.grads, n)
                        : difference(c->fast->io.image, c->scalar->io.image, n);
    if (!(d < 2e-3))
        return err_set(err, ERR_WRONG, "the two variants differ by %g", d);
    /* Up to 1.5 seconds of the scalar side, three calls at least; the fast one as long a turn, 20 calls at
     * most. */
    double turns = 1500 / c->scalar_time.wall_ms, calls = c->scalar_time.wall_ms / c->fast_time.wall_ms;
    unsigned rounds = turns < 3 ? 3 : turns > 20 ? 20 : (unsigned)turns;
    unsigned fast_calls = calls < 1 ? 1 : calls > 20 ? 20 : (unsigned)calls;
    c->fast_time = never;
    for (unsigned i = 0; i < rounds; i++)
        if (!time_job(c->scalar, 1, &c->scalar_time, err) ||
            !time_job(c->fast, fast_calls, &c->fast_time, err))
            return false;
    return true;
}

static bool compete(struct renderer *r, struct render_spec *spec, uint32_t scalar_threads, struct contest *c,
                    struct err *err)
{
    *c = (struct contest){.fast_time = never, .scalar_time = never};
    bool ok = job_make(r, spec, VARIANT_FAST, 0, &c->fast, err) &&
              job_make(r, spec, VARIANT_SCALAR, scalar_threads, &c->scalar, err) && contest_run(c, err);
    r->ops->close(c->fast);
    r->ops->close(c->scalar);
    return ok;
}

/* One small scene: more threads must not make it slower. */
static bool small_scene(struct renderer *r, struct err *err)
{
    struct render_job *one = NULL, *all = NULL;
    struct render_spec spec;
    struct least one_time = never, all_time = never;
    spec_init(&spec);
    spec.width = spec.height = 64;
    spec.triangles = 32;
    spec.batch = 1;
    bool ok = job_make(r, &spec, VARIANT_FAST, 1, &one, err) &&
              job_make(r, &spec, VARIANT_FAST, 0, &all, err) && time_job(one, 1000, &one_time, err) &&
              time_job(all, 1000, &all_time, err);
    if (ok)
        printf("gradient, one scene, 64^2 x 32: one thread %.1f us, up to %u threads %.1f us\n",
               one_time.wall_ms * 1e3, r->info.threads, all_time.wall_ms * 1e3);
    r->ops->close(one);
    r->ops->close(all);
    return ok;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_ratio_summary(const char *what, double ratio[9])
{
    qsort(ratio, 9, sizeof ratio[0], by_value);
    printf("%s: median ratio %.1f, worst %.1f\n", what, ratio[4], ratio[0]);
}

static bool nine_cells(struct renderer *r, struct err *err)
{
    static const uint32_t sizes[] = {64, 128, 256}, triangles[] = {32, 128, 512};
    double wall[9], cpu[9];
    printf("gradient, batch 16, sigma 0.01\n%9s %9s %10s %9s %7s %13s\n", "size", "triangles", "scalar ms",
           "fast ms", "ratio", "of CPU times");
    for (unsigned i = 0; i < 9; i++) {
        struct contest c;
        struct render_spec spec;
        spec_init(&spec);
        spec.width = spec.height = sizes[i / 3];
        spec.triangles = triangles[i % 3];
        spec.batch = 16;
        spec.sigma = 0.01f;
        if (!compete(r, &spec, 0, &c, err))
            return false;
        wall[i] = c.scalar_time.wall_ms / c.fast_time.wall_ms;
        cpu[i] = c.scalar_time.cpu_ms / c.fast_time.cpu_ms;
        printf("%6u^2 %10u %10.2f %9.3f %7.1f %13.1f\n", spec.width, spec.triangles, c.scalar_time.wall_ms,
               c.fast_time.wall_ms, wall[i], cpu[i]);
        fflush(stdout);
    }
    printf("(the original renderer: 256^2 x 512 in 1920 to 2140 ms on 2 cores of an EPYC)\n");
    print_ratio_summary("by the clock", wall);
    print_ratio_summary("by CPU time", cpu);
    return true;
}

static bool sharp_forward(struct renderer *r, struct err *err)
{
    struct contest c;
    struct render_spec spec;
    spec_init(&spec);
    spec.mode = MODE_FORWARD;
    spec.width = spec.height = 512;
    spec.triangles = 1024;
    spec.batch = 1;
    spec.sigma = 0.0015f;
    if (!compete(r, &spec, 1, &c, err))
        return false;
    printf("forward, one scene, 512^2 x 1024, sigma 0.0015: scalar on one thread %.2f ms, fast %.3f ms, "
           "ratio %.1f (%.1f a thread, by CPU time)\n",
           c.scalar_time.wall_ms, c.fast_time.wall_ms, c.scalar_time.wall_ms / c.fast_time.wall_ms,
           c.scalar_time.cpu_ms / c.fast_time.cpu_ms);
    return true;
}

static bool run(struct renderer *r, struct err *err)
{
    printf("%s, %u threads, %s\n", r->info.name, r->info.threads, r->info.path);
    return nine_cells(r, err) && sharp_forward(r, err) && small_scene(r, err);
}

int main(int argc, char **argv)
{
    struct err err = ERR_INIT;
    struct renderer *r = NULL;
    uint64_t threads = 0;
    if (argc > 3 || (argc > 1 && (!units_parse_u64(argv[1], &threads) || threads > SPEC_MAX_THREADS))) {
        fprintf(stderr, "usage: bench_cpu [threads [isa]]   (threads 0: all cores)\n");
        return 2;
    }
    bool ok = openmp_create((uint32_t)threads, argc > 2 ? argv[2] : NULL, &r, &err) && run(r, &err);
    if (!ok)
        fprintf(stderr, "bench_cpu: %s\n", err.text);
    if (r != NULL)
        r->ops->destroy(r);
    err_fini(&err);
    return ok ? 0 : 1;
}
