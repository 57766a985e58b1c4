/* What the CPU can do at most on the threads that a call uses, and along its instruction-set path. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cpu/job.h"

/* Short loops and many of them, well below a scheduler's slice: on a busy machine the best are undisturbed.
 */
#define FMA_ROUNDS (1u << 17)
#define EXP_ROUNDS (1u << 14)
#define LOOPS 50
/* A chunk after the other of arrays that are more than caches hold. */
#define CHUNKS 16
#define CHUNK_BYTES ((size_t)8 << 20)
#define COPY_BYTES (CHUNKS * CHUNK_BYTES)

enum work { WORK_NOTHING, WORK_FMA, WORK_EXP, WORK_TOUCH, WORK_COPY };

struct bench {
    const struct cpu_renderer *cpu;
    char *from, *to; /* [COPY_BYTES], a part of each chunk a thread */
    size_t chunk;    /* that is copied next */
    float sum;       /* so that no loop is left out by the compiler */
};

static float do_work(const struct bench *b, enum work work, size_t thread, size_t threads)
{
    const size_t bytes = CHUNK_BYTES / threads, first = bytes * thread;

    switch (work) {
    case WORK_FMA:
        return b->cpu->isa->fma_rounds(FMA_ROUNDS);
    case WORK_EXP:
        return b->cpu->isa->exp_rounds(EXP_ROUNDS);
    case WORK_TOUCH:
        for (size_t at = first; at < COPY_BYTES; at += CHUNK_BYTES) {
            memset(b->from + at, 1, bytes);
            memset(b->to + at, 2, bytes);
        }
        break;
    case WORK_COPY:
        memcpy(b->to + b->chunk * CHUNK_BYTES + first, b->from + b->chunk * CHUNK_BYTES + first, bytes);
        break;
    case WORK_NOTHING:
        break;
    }
    return 0;
}

/* One parallel region, as a call makes them. */
static uint64_t time_region(struct bench *b, enum work work)
{
    const struct cpu_renderer *cpu = b->cpu;
    const uint32_t n = cpu->threads;
    const uint64_t start = clock_now_ns();
    float sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    {
        cpu_set_t saved;
        bool moved = topology_enter(&cpu->topology, &saved);
        sum += do_work(b, work, (size_t)omp_get_thread_num(), (size_t)omp_get_num_threads());
        if (moved)
            topology_leave(&saved);
    }
    b->sum += sum;
    return clock_now_ns() - start;
}

static double best_ns(struct bench *b, enum work work, int repeats)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i <= repeats; i++) {
        b->chunk = (size_t)i % CHUNKS;
        uint64_t ns = time_region(b, work);
        if (i > 0 && ns < best) /* one warms up */
            best = ns;
    }
    return (double)(best > 0 ? best : 1);
}

bool cpu_ceilings(struct renderer *renderer, struct render_ceilings *out, struct err *err)
{
    const struct cpu_renderer *cpu = (const struct cpu_renderer *)(const void *)renderer;
    struct bench b = {.cpu = cpu};
    const double lanes = (double)cpu->threads * cpu->isa->lanes * ISA_CHAINS;

    *out = (struct render_ceilings){0};
    b.from = mem_alloc_aligned(COPY_BYTES, 1, "a copy", err);
    b.to = b.from != NULL ? mem_alloc_aligned(COPY_BYTES, 1, "a copy", err) : NULL;
    const bool ok = b.to != NULL;
    if (ok) {
        time_region(&b, WORK_TOUCH);
        out->copy_bytes = 2e9 * (double)CHUNK_BYTES / best_ns(&b, WORK_COPY, LOOPS);
        out->flop = 2e9 * lanes * FMA_ROUNDS / best_ns(&b, WORK_FMA, LOOPS);
        out->exp = 1e9 * lanes * EXP_ROUNDS / best_ns(&b, WORK_EXP, LOOPS);
        out->launch_ns = best_ns(&b, WORK_NOTHING, LOOPS);
    }
    free(b.from);
    free(b.to);
    return ok;
}
