#include "cpu/openmp.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "cpu/job.h"
#include "model/scene.h"

static struct cpu_job *as_job(struct render_job *job)
{
    return (struct cpu_job *)(void *)job;
}

static const struct cpu_variant_ops *variant_of(const struct render_spec *spec)
{
    return spec->variant == VARIANT_SCALAR ? &cpu_scalar_ops : &cpu_fast_ops;
}

struct cpu_scene cpu_scene_of(const struct cpu_job *job, uint32_t index)
{
    const struct render_spec *spec = &job->base.spec;
    const struct render_io *io = &job->base.io;
    size_t params = (size_t)spec->triangles * SCENE_STRIDE * index;
    size_t image = (size_t)spec->width * spec->height * 3 * index;
    return (struct cpu_scene){
        .width = spec->width,
        .height = spec->height,
        .triangles = spec->triangles,
        .sigma = spec->sigma,
        .params = io->params + params,
        .background = io->background + (size_t)3 * index,
        .target = io->target != NULL ? io->target + image : NULL,
        .upstream = io->upstream != NULL ? io->upstream + image : NULL,
        .image = io->image != NULL ? io->image + image : NULL,
        .loss = io->loss != NULL ? io->loss + index : NULL,
        .grads = io->grads != NULL ? io->grads + params : NULL,
    };
}

/* ---- a job's arrays ---- */

struct io_sizes {
    uint64_t params, background, image, loss; /* elements; grads are as many as params */
};

static bool io_sizes_of(const struct render_spec *spec, struct io_sizes *out)
{
    uint64_t pixels = (uint64_t)spec->width * spec->height;
    out->background = (uint64_t)spec->batch * 3;
    out->loss = spec->batch;
    return mem_mul((uint64_t)spec->batch * SCENE_STRIDE, spec->triangles, &out->params) &&
           mem_mul(pixels * 3, spec->batch, &out->image);
}

/* Allocates count floats; each thread touches the part that its share of the scenes lies in. */
static bool io_array(const struct cpu_job *job, float **out, uint64_t count, const char *what,
                     struct err *err)
{
    float *p = *out = mem_alloc_aligned(count, sizeof *p, what, err);
    uint32_t n = job->threads;
    if (p == NULL)
        return false;
#pragma omp parallel num_threads(n)
    {
        cpu_set_t saved;
        bool moved = topology_enter(&job->cpu->topology, &saved);
#pragma omp for schedule(static)
        for (uint64_t i = 0; i < count; i++)
            p[i] = 0;
        if (moved)
            topology_leave(&saved);
    }
    return true;
}

static bool io_open(struct cpu_job *job, struct err *err)
{
    const struct render_spec *spec = &job->base.spec;
    struct render_io *io = &job->base.io;
    bool gradient = spec->mode == MODE_GRADIENT;
    struct io_sizes n;
    if (!io_sizes_of(spec, &n))
        return err_set(err, ERR_MEMORY, "the job's arrays are larger than 64 bits can say");
    if (!io_array(job, &io->params, n.params, "parameters", err) ||
        !io_array(job, &io->background, n.background, "backgrounds", err))
        return false;
    if (gradient && !io_array(job, spec->upstream ? &io->upstream : &io->target, n.image,
                              spec->upstream ? "upstream gradients" : "targets", err))
        return false;
    if ((!gradient || spec->keep_images) && !io_array(job, &io->image, n.image, "images", err))
        return false;
    if (gradient && !io_array(job, &io->grads, n.params, "gradients", err))
        return false;
    if (gradient && !spec->upstream) {
        io->loss = mem_calloc(n.loss, sizeof *io->loss, "losses", err);
        if (io->loss == NULL)
            return false;
    }
    return true;
}

static void io_close(struct render_io *io)
{
    free(io->params);
    free(io->background);
    free(io->target);
    free(io->upstream);
    free(io->image);
    free(io->loss);
    free(io->grads);
}

/* ---- operations ---- */

static uint32_t threads_of(const struct renderer *r, const struct render_spec *spec)
{
    return spec->threads > 0 ? spec->threads : ((const struct cpu_renderer *)(const void *)r)->threads;
}

static bool cpu_footprint(struct renderer *r, const struct render_spec *spec, struct render_footprint *out,
                          struct err *err)
{
    struct io_sizes n;
    memset(out, 0, sizeof *out);
    if (!spec_check(spec, BACKEND_OPENMP, err))
        return false;
    if (!io_sizes_of(spec, &n))
        return err_set(err, ERR_LIMIT, "the job's arrays are larger than 64 bits can say");
    bool gradient = spec->mode == MODE_GRADIENT;
    uint64_t images = (gradient ? 1u : 0u) + (!gradient || spec->keep_images ? 1u : 0u), bytes;
    uint64_t work = variant_of(spec)->work_bytes(spec, threads_of(r, spec));
    uint64_t params = n.params * (gradient ? 2 : 1) + n.background;
    if (!mem_mul(n.image, images * sizeof(float), &bytes) ||
        !mem_add(bytes, params * sizeof(float) + n.loss * sizeof(double), &bytes) ||
        !mem_add(bytes, work, &bytes))
        bytes = UINT64_MAX;
    out->host_bytes = bytes;
    out->split = 1;
    if (spec->variant == VARIANT_SCALAR && gradient)
        out->tape_bytes = work;
    uint64_t memory = r->info.global_bytes;
    if (memory > 0 && bytes > memory) {
        char need[UNITS_MAX], have[UNITS_MAX];
        units_bytes(need, bytes);
        units_bytes(have, memory);
        out->split = 0;
        return err_set(err, ERR_LIMIT, "the OpenMP renderer needs %s of memory, this machine has %s", need,
                       have);
    }
    return true;
}

static void cpu_job_close(struct render_job *job)
{
    if (job == NULL)
        return;
    as_job(job)->ops->close(as_job(job));
    io_close(&job->io);
    free(job);
}

static bool cpu_open(struct renderer *r, const struct render_spec *spec, struct render_job **out,
                     struct err *err)
{
    *out = NULL;
    if (!spec_check(spec, BACKEND_OPENMP, err))
        return false;
    struct cpu_job *job = mem_calloc(1, sizeof *job, "job", err);
    if (job == NULL)
        return false;
    job->base.renderer = r;
    job->base.spec = *spec;
    job->cpu = (const struct cpu_renderer *)(const void *)r;
    job->ops = variant_of(spec);
    job->threads = threads_of(r, spec);
    if (!io_open(job, err) || !job->ops->open(job, err)) {
        cpu_job_close(&job->base);
        return false;
    }
    *out = &job->base;
    return true;
}

/* Nothing is cached: every call reads the caller's arrays. */
static bool cpu_inputs_changed(struct render_job *job, struct err *err)
{
    (void)job;
    (void)err;
    return true;
}

static bool cpu_call_phased(struct render_job *base, struct render_phases *out, struct err *err)
{
    struct cpu_job *job = as_job(base);
    uint64_t start = clock_now_ns();
    memset(out, 0, sizeof *out);
    job->regions = 0;
    job->allocations = 0;
    bool ok = job->ops->call(job, out, err);
    out->total_ns = clock_now_ns() - start;
    return ok;
}

static bool cpu_call(struct render_job *base, struct err *err)
{
    struct render_phases phases;
    return cpu_call_phased(base, &phases, err);
}

static bool cpu_call_profiled(struct render_job *base, struct render_profile *out, struct err *err)
{
    /* Not valid, and nothing to remark: there are no device events. */
    memset(out, 0, sizeof *out);
    return cpu_call(base, err);
}

static bool cpu_poison(struct render_job *job, struct err *err)
{
    struct io_sizes n;
    if (!io_sizes_of(&job->spec, &n))
        return err_set(err, ERR_INTERNAL, "a job of impossible size");
    if (job->io.image != NULL)
        mem_poison(job->io.image, n.image * sizeof(float));
    if (job->io.loss != NULL)
        mem_poison(job->io.loss, n.loss * sizeof(double));
    if (job->io.grads != NULL)
        mem_poison(job->io.grads, n.params * sizeof(float));
    return true;
}

static void cpu_counts(const struct render_job *base, struct render_counts *out)
{
    const struct cpu_job *job = (const struct cpu_job *)(const void *)base;
    memset(out, 0, sizeof *out);
    out->dispatches = job->regions;
    out->pool_misses = job->allocations;
    out->split = 1;
}

static void cpu_destroy(struct renderer *r)
{
    free(r);
}

/* ---- the renderer ---- */

static uint32_t threads_from_environment(void)
{
    const char *text = getenv("OMP_NUM_THREADS");
    if (text == NULL)
        return 0;
    /* "4,2" is a list for nested regions: the first counts here. */
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    return end != text && n > 0 && n <= SPEC_MAX_THREADS ? (uint32_t)n : 0;
}

static uint32_t default_threads(const struct topology *t)
{
    uint32_t n = threads_from_environment();
    return n > 0 ? n : topology_threads(t);
}

static void list_isas(char *out, size_t size)
{
    size_t count, used = 0;
    const char *const *names = openmp_isa_names(&count);
    for (size_t i = 0; i < count; i++)
        if (openmp_isa_runs(names[i]) && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? " " : "", names[i]);
}

/* The fastest clock that the kernel knows of, 0 where it knows none (virtual machines). */
static uint32_t clock_mhz(void)
{
    unsigned long khz = 0;
    FILE *f = fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "r");
    if (f == NULL)
        return 0;
    if (fscanf(f, "%lu", &khz) != 1)
        khz = 0;
    fclose(f);
    return (uint32_t)(khz / 1000);
}

static void fill_info(struct device_info *info, const struct topology *t, uint32_t threads, const char *path)
{
    memset(info, 0, sizeof *info);
    info->backend = BACKEND_OPENMP;
    info->kind = DEVICE_CPU;
    snprintf(info->selector, sizeof info->selector, "openmp");
    snprintf(info->name, sizeof info->name, "%s", t->cpu_name);
    snprintf(info->short_name, sizeof info->short_name, "CPU");
    snprintf(info->vendor, sizeof info->vendor, "%s", t->vendor);
    snprintf(info->platform, sizeof info->platform, "OpenMP");
    snprintf(info->language_version, sizeof info->language_version, "OpenMP %d", _OPENMP);
    snprintf(info->driver_version, sizeof info->driver_version, "%s", __VERSION__);
    snprintf(info->path, sizeof info->path, "%s", path);
    list_isas(info->extensions, sizeof info->extensions);
    info->compute_units = t->usable_cores;
    info->threads = threads;
    info->clock_mhz = clock_mhz();
    info->address_bits = 8 * sizeof(void *);
    info->timer_resolution_ns = 1;
    info->host_unified = true;
    info->has_double = true;
    info->global_bytes = mem_machine_bytes();
}

static const struct renderer_ops cpu_ops = {
    .footprint = cpu_footprint,
    .open = cpu_open,
    .inputs_changed = cpu_inputs_changed,
    .call = cpu_call,
    .call_phased = cpu_call_phased,
    .call_profiled = cpu_call_profiled,
    .poison = cpu_poison,
    .counts = cpu_counts,
    .ceilings = cpu_ceilings,
    .close = cpu_job_close,
    .destroy = cpu_destroy,
};

bool openmp_create(uint32_t threads, const char *isa, struct renderer **out, struct err *err)
{
    *out = NULL;
    const struct isa *chosen = isa_choose(isa, err);
    if (chosen == NULL)
        return false;
    struct cpu_renderer *r = mem_calloc(1, sizeof *r, "OpenMP renderer", err);
    if (r == NULL)
        return false;
    topology_init(&r->topology);
    /* Who asked OpenMP for a binding of threads gets that one. */
    if (omp_get_proc_bind() != omp_proc_bind_false)
        r->topology.cores = 0;
    r->isa = chosen;
    r->threads = threads > 0 ? threads : default_threads(&r->topology);
    r->base.ops = &cpu_ops;
    fill_info(&r->base.info, &r->topology, r->threads, chosen->name);
    *out = &r->base;
    return true;
}

/* Asks hwloc anew: it is called once, to print. */
uint32_t openmp_default_threads(void)
{
    uint32_t n = 1;
    struct topology *t = calloc(1, sizeof *t);
    if (t == NULL)
        return n;
    topology_init(t);
    n = default_threads(t);
    free(t);
    return n;
}

void openmp_info(uint32_t threads, const char *isa, struct device_info *out)
{
    struct err err = ERR_INIT;
    struct renderer *r;
    if (openmp_create(threads, isa, &r, &err)) {
        *out = r->info;
        r->ops->destroy(r);
    } else {
        memset(out, 0, sizeof *out);
        out->backend = BACKEND_OPENMP;
        snprintf(out->selector, sizeof out->selector, "openmp");
        snprintf(out->trouble, sizeof out->trouble, "%.500s", err.text);
    }
    err_fini(&err);
}
