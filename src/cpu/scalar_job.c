/* Scenes of a job over threads, one thread a scene: how a plain CPU renderer would be used. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cpu/job.h"
#include "cpu/scalar.h"
#include "model/oracle.h"

/* One thread's arrays. */
struct scalar_thread {
    float *canvas;  /* [H][W][3]; NULL where io.image takes its place */
    float *adjoint; /* [H][W][3]; NULL in forward mode */
    float *tape;
    uint64_t tape_bytes;
};

struct scalar_work {
    uint32_t threads;
    struct scalar_thread thread[];
};

static uint32_t scalar_threads(uint32_t batch, uint32_t threads)
{
    uint32_t n = batch < threads ? batch : threads;
    return n > 0 ? n : 1;
}

/* The tape depends on the scenes; a random scene of the benchmark touches about a tenth of the canvas a
 * triangle, and no triangle touches more than all of it. */
static uint64_t scalar_work_bytes(const struct render_spec *spec, uint32_t threads)
{
    uint64_t image = (uint64_t)spec->width * spec->height * 3 * sizeof(float), each = 2 * image, tape, all;
    if (spec->mode == MODE_GRADIENT) {
        if (!mem_mul(image / 8 + 1, spec->triangles, &tape) || !mem_add(each, tape, &each))
            return UINT64_MAX;
    }
    return mem_mul(each, scalar_threads(spec->batch, threads), &all) ? all : UINT64_MAX;
}

static void scalar_close(struct cpu_job *job)
{
    struct scalar_work *work = job->work;
    if (work == NULL)
        return;
    for (uint32_t i = 0; i < work->threads; i++) {
        free(work->thread[i].canvas);
        free(work->thread[i].adjoint);
        free(work->thread[i].tape);
    }
    free(work);
    job->work = NULL;
}

static bool scalar_open(struct cpu_job *job, struct err *err)
{
    const struct render_spec *spec = &job->base.spec;
    uint64_t floats = (uint64_t)spec->width * spec->height * 3;
    uint32_t n = scalar_threads(spec->batch, job->threads);
    struct scalar_work *work =
        mem_calloc(1, sizeof *work + n * sizeof work->thread[0], "scalar renderer", err);
    if (work == NULL)
        return false;
    job->work = work;
    work->threads = n;
    for (uint32_t i = 0; i < n; i++) {
        struct scalar_thread *t = &work->thread[i];
        if (job->base.io.image == NULL) {
            t->canvas = mem_alloc_aligned(floats, sizeof(float), "canvas", err);
            if (t->canvas == NULL)
                return false;
        }
        if (spec->mode == MODE_GRADIENT) {
            t->adjoint = mem_alloc_aligned(floats, sizeof(float), "adjoint", err);
            if (t->adjoint == NULL)
                return false;
        }
    }
    return true;
}

/* Every thread may get any scene, so each has room for the largest tape. */
static bool reserve_tapes(struct cpu_job *job, struct err *err)
{
    const struct render_spec *spec = &job->base.spec;
    struct scalar_work *work = job->work;
    uint64_t need = 0;
    for (uint32_t i = 0; i < spec->batch; i++) {
        struct cpu_scene scene = cpu_scene_of(job, i);
        uint64_t bytes =
            oracle_tape_touched_bytes(scene.params, spec->triangles, spec->sigma, spec->width, spec->height);
        need = bytes > need ? bytes : need;
    }
    for (uint32_t i = 0; i < work->threads; i++) {
        struct scalar_thread *t = &work->thread[i];
        if (t->tape != NULL && t->tape_bytes >= need)
            continue;
        free(t->tape);
        t->tape_bytes = 0;
        t->tape = mem_alloc_aligned(need, 1, "tape of touched rectangles", err);
        if (t->tape == NULL)
            return false;
        t->tape_bytes = need;
        job->allocations++;
    }
    return true;
}

static void render_scene(const struct cpu_scene *scene, struct scalar_thread *t)
{
    float *canvas = scene->image != NULL ? scene->image : t->canvas;
    scalar_forward(scene, canvas, scene->grads != NULL ? t->tape : NULL);
    if (scene->grads == NULL)
        return;
    if (scene->upstream != NULL)
        memcpy(t->adjoint, scene->upstream, (size_t)scene->width * scene->height * 3 * sizeof *t->adjoint);
    else
        *scene->loss = scalar_loss(scene, canvas, t->adjoint);
    scalar_backward(scene, t->tape, t->adjoint);
}

static bool scalar_call(struct cpu_job *job, struct render_phases *phases, struct err *err)
{
    struct scalar_work *work = job->work;
    uint32_t batch = job->base.spec.batch;
    uint64_t start = clock_now_ns();
    if (job->base.spec.mode == MODE_GRADIENT && !reserve_tapes(job, err))
        return false;
    uint64_t reserved = clock_now_ns();
    if (batch > 0) {
        uint32_t n = work->threads;
        job->regions = 1;
#pragma omp parallel num_threads(n)
        {
            cpu_set_t saved;
            struct scalar_thread *thread = &work->thread[omp_get_thread_num()];
            bool moved = topology_enter(&job->cpu->topology, &saved);
#pragma omp for schedule(dynamic, 1)
            for (uint32_t i = 0; i < batch; i++) {
                struct cpu_scene scene = cpu_scene_of(job, i);
                render_scene(&scene, thread);
            }
            if (moved)
                topology_leave(&saved);
        }
    }
    phases->alloc_ns = reserved - start;
    phases->dispatch_ns = clock_now_ns() - reserved;
    return true;
}

const struct cpu_variant_ops cpu_scalar_ops = {
    .work_bytes = scalar_work_bytes,
    .open = scalar_open,
    .call = scalar_call,
    .close = scalar_close,
};
