#include "bench/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "bench/estimate.h"
#include "bench/stats.h"

/* Of the machine's memory; the rest is for the reference, the driver and others. */
#define HOST_PERCENT 80
#define MAX_REPEATS 7 /* of the synchronised and of the profiled call */

static uint64_t now_ns(const struct trial *t)
{
    return t->clock->now_ns(t->clock->context);
}

static void stage(const struct trial *t, const char *what)
{
    t->sink->stage(t->sink->context, t->index, what);
}

/* ---- life ---- */

static void set_reason(struct trial *t, const char *reason)
{
    struct err ignored = ERR_INIT;
    free(t->result.reason);
    t->result.reason = mem_strdup(reason, &ignored);
}

static void close_job(struct trial *t)
{
    if (t->job != NULL)
        t->renderer->ops->close(t->job);
    t->job = NULL;
}

void trial_end(struct trial *t, enum cell_status status, const char *reason)
{
    t->result.status = status;
    set_reason(t, reason);
    if (status == CELL_WRONG) {
        t->result.sample_count = t->result.block_count = 0;
        t->result.has_ci = t->result.has_device_time = t->result.has_phases = false;
        t->result.kernel_count = 0;
    }
    t->live = false;
    close_job(t);
}

/* trial_end from an error, which is released: limits and what makes no sense are skipped, disagreement is wrong, the
 * rest failed. */
static void fail(struct trial *t, struct err *cause)
{
    enum cell_status status = CELL_FAILED;
    if (cause->code == ERR_LIMIT || cause->code == ERR_UNSUPPORTED)
        status = CELL_SKIPPED;
    if (cause->code == ERR_WRONG)
        status = CELL_WRONG;
    if (cause->code == ERR_INTERRUPTED)
        status = CELL_INTERRUPTED;
    if (cause->log != NULL)
        t->sink->note(t->sink->context, cause->log);
    trial_end(t, status, cause->text);
    err_fini(cause);
}

uint64_t trial_host_bytes(const struct renderer *renderer, const struct render_footprint *footprint)
{
    uint64_t bytes = footprint->host_bytes;
    if (renderer->info.host_unified && !mem_add(bytes, footprint->device_bytes, &bytes))
        return UINT64_MAX;
    return bytes;
}

/* Host memory that a cell may take: a share of the machine's, and no more than is free. */
static uint64_t host_limit(void)
{
    const uint64_t share = mem_machine_bytes() / 100 * HOST_PERCENT, there = mem_free_bytes();

    return share < there ? share : there;
}

bool trial_footprint(struct renderer *renderer, const struct render_spec *spec, struct render_footprint *out,
                     struct err *err)
{
    struct render_spec verified = *spec;
    struct render_footprint kept = {0};
    verified.keep_images = true;
    if (!renderer->ops->footprint(renderer, spec, out, err) ||
        !renderer->ops->footprint(renderer, &verified, &kept, err))
        return false;
    const uint64_t needed = trial_host_bytes(renderer, &kept), limit = host_limit();
    if (needed <= limit)
        return true;
    char needed_text[UNITS_MAX], limit_text[UNITS_MAX], all_text[UNITS_MAX];
    units_bytes(needed_text, needed);
    units_bytes(limit_text, limit);
    units_bytes(all_text, mem_machine_bytes());
    return err_set(err, ERR_LIMIT,
                   "needs %s of host memory; a cell may take %s here (%d %% of %s, and no more than is free)",
                   needed_text, limit_text, HOST_PERCENT, all_text);
}

bool trial_init(struct trial *t, const struct config *config, const struct grid *grid, size_t index,
                struct renderer *renderer, const char *trouble, struct err *err)
{
    const struct grid_cell *cell = &grid->cells[index];
    t->index = index;
    t->renderer = renderer;
    t->rules = &config->measure;
    t->live = true;
    if (!cell_init(&t->result, cell, &config->backends[cell->backend], err))
        return false;
    struct err cause = ERR_INIT;
    if (cell->refuse != NULL)
        trial_end(t, CELL_SKIPPED, cell->refuse);
    else if (renderer == NULL)
        trial_end(t, CELL_FAILED, trouble);
    else if (!trial_footprint(renderer, &cell->spec, &t->footprint, &cause))
        fail(t, &cause);
    return true;
}

void trial_fini(struct trial *t)
{
    close_job(t);
    sample_side_fini(&t->side);
    reference_fini(&t->own);
    cell_fini(&t->result);
}

/* ---- verifying ---- */

static bool fill_and_call(struct render_job *job, const struct inputs *in, struct err *err)
{
    const struct renderer_ops *ops = job->renderer->ops;
    if (in != NULL)
        inputs_fill(in, &job->io);
    return ops->inputs_changed(job, err) && ops->poison(job, err) && ops->call(job, err);
}

/* The pictures of a gradient call are looked at in a job that keeps them; the one that is timed does not. */
static bool verify_images(struct trial *t, const struct inputs *in, const struct reference *ref,
                          struct err *err)
{
    struct render_spec spec = t->result.spec;
    struct render_job *job = NULL;
    struct agreement *worst = &t->result.agreement;
    const bool sampled = ref->pixels != NULL;
    spec.keep_images = true;
    stage(t, STAGE_BUILDING);
    if (!t->renderer->ops->open(t->renderer, &spec, &job, err))
        return false;
    stage(t, STAGE_VERIFYING);
    bool ok = fill_and_call(job, in, err) && reference_check(ref, &job->io, sampled, worst, err);
    if (ok && sampled) {
        ok = reference_from_outputs(&t->own, ref, &job->io, err);
        t->reference = &t->own;
        reference_narrow(ref, &job->io);
        ok = ok && fill_and_call(job, NULL, err);
        /* The picture is the same as before; its place in io may hold what narrowing was made from. */
        ok = ok && reference_check(ref, &job->io, false, worst, err);
    }
    t->renderer->ops->close(job);
    return ok;
}

static bool verify_timed(struct trial *t, const struct inputs *in, struct err *err)
{
    const uint64_t start = now_ns(t);
    stage(t, STAGE_BUILDING);
    if (!t->renderer->ops->open(t->renderer, &t->result.spec, &t->job, err))
        return false;
    t->result.build_ns = now_ns(t) - start;
    stage(t, STAGE_VERIFYING);
    return fill_and_call(t->job, in, err) &&
           reference_check(t->reference, &t->job->io, false, &t->result.agreement, err);
}

/* ---- being sampled ---- */

static bool side_call(void *context, struct err *err)
{
    struct trial *t = context;
    return t->renderer->ops->call(t->job, err);
}

/* Poisoned here, a result that a later call of the block does not write shows in the last check. */
static bool side_before_block(void *context, struct err *err)
{
    struct trial *t = context;
    stage(t, STAGE_SAMPLING);
    return t->renderer->ops->poison(t->job, err);
}

/* A call that allocates times the allocator. */
static bool side_after_call(void *context, struct err *err)
{
    struct trial *t = context;
    struct render_counts counts = {0};
    t->renderer->ops->counts(t->job, &counts);
    if (!t->result.spec.pool || counts.pool_misses == 0)
        return true;
    return err_set(err, ERR_INTERNAL,
                   "the buffer pool missed %llu times in a call after warm-up: it is too small, or it "
                   "does not recognise its buffers",
                   (unsigned long long)counts.pool_misses);
}

void trial_check_time(struct trial *t, const struct inputs *part, double times)
{
    const uint64_t start = now_ns(t);
    struct estimate estimate;
    struct err cause = ERR_INIT;

    stage(t, STAGE_ESTIMATING);
    if (!estimate_measure(t->renderer, &t->result.spec, part, times, t->clock, &estimate, &cause) ||
        !estimate_fits(&estimate, t->rules, &cause))
        fail(t, &cause);
    t->side.spent_ns = now_ns(t) - start;
}

void trial_prepare(struct trial *t, const struct inputs *in, const struct reference *ref)
{
    struct err cause = ERR_INIT;
    const uint64_t start = now_ns(t);
    t->reference = ref;
    t->result.pairs = ref->pairs;
    t->result.pairs_opaque = ref->opaque;
    t->result.pairs_in_bounds = ref->in_bounds;
    t->result.pairs_estimated = ref->pairs_estimated;
    t->result.layers_p99 = ref->layers_p99;
    t->result.layers_most = ref->layers_most;
    t->result.checked_scenes = (uint32_t)ref->scene_count;
    t->result.checked_pixels = ref->pixel_count;
    t->result.tape_touched_bytes = ref->tape_touched_bytes;
    if ((t->result.spec.mode == MODE_GRADIENT && !verify_images(t, in, ref, &cause)) ||
        !verify_timed(t, in, &cause)) {
        fail(t, &cause);
        return;
    }
    t->side = (struct sample_side){.context = t,
                                   .call = side_call,
                                   .before_block = side_before_block,
                                   .after_call = side_after_call,
                                   .lingers = t->result.kind == BACKEND_OPENMP,
                                   .spent_ns = t->side.spent_ns + now_ns(t) - start};
}

/* ---- afterwards ---- */

static bool take_samples(struct trial *t, struct err *err)
{
    struct sample_side *side = &t->side;
    struct cell *r = &t->result;
    r->samples_ns = side->samples_ns;
    r->sample_count = side->sample_count;
    r->block_starts = side->block_starts;
    r->block_count = side->block_count;
    r->ended_by = side->ended_by;
    side->samples_ns = NULL;
    side->block_starts = NULL;
    struct series s = {r->samples_ns, r->sample_count, r->block_starts, r->block_count};
    return stats_median(r->samples_ns, r->sample_count, &r->median_ns, err) &&
           stats_median_ci(&s, r->ci95_ns, &r->has_ci, err) &&
           stats_outliers(r->samples_ns, r->sample_count, &r->outliers, err);
}

static int compare_phases(const void *a, const void *b)
{
    uint64_t x = ((const struct render_phases *)a)->total_ns, y = ((const struct render_phases *)b)->total_ns;
    return (x > y) - (x < y);
}

/* How often a call that takes call_ns is repeated: an eighth of the cell's time, 1 to MAX_REPEATS. */
static size_t repeats(const struct trial *t)
{
    double fit = t->rules->max_seconds * 1e9 / 8 / ((double)t->result.median_ns + 1);
    return fit < 1 ? 1 : fit > MAX_REPEATS ? MAX_REPEATS : (size_t)fit;
}

/* Whether so many more calls end within the cell's time, for sure: where they do not, its samples are lost, too. They are
 * slower than those that were sampled, and a busy machine may hold them up. */
static bool time_for(const struct trial *t, size_t calls)
{
    const double spent_ns = (double)t->side.spent_ns + (double)(now_ns(t) - t->sampled_ns);
    return spent_ns + 2 * (double)calls * (double)t->result.median_ns <= t->rules->timeout_seconds * 1e9;
}

static void no_time_note(const struct trial *t, const char *what)
{
    char text[512];
    snprintf(text, sizeof text, "%s: no %s: samples took its %g s (measure.timeout_seconds)", t->result.id, what,
             t->rules->timeout_seconds);
    t->sink->note(t->sink->context, text);
}

static bool measure_phases(struct trial *t, struct err *err)
{
    struct render_phases phases[MAX_REPEATS + 1];
    const size_t count = repeats(t);
    if (!time_for(t, count + 1)) {
        no_time_note(t, "phases");
        return true;
    }
    for (size_t i = 0; i <= count; i++) {
        memset(&phases[i], 0, sizeof phases[i]);
        if (!t->renderer->ops->call_phased(t->job, &phases[i], err))
            return false;
    }
    /* The first one warms up. */
    qsort(phases + 1, count, sizeof *phases, compare_phases);
    t->result.phases = phases[1 + (count - 1) / 2];
    t->result.has_phases = true;
    return true;
}

static void profile_note(const struct trial *t, const char *why)
{
    char text[512];
    snprintf(text, sizeof text, "%s: no device time: %s", t->result.id, why);
    t->sink->note(t->sink->context, text);
}

static int compare_profiles(const void *a, const void *b)
{
    uint64_t x = ((const struct render_profile *)a)->device_ns;
    uint64_t y = ((const struct render_profile *)b)->device_ns;
    return (x > y) - (x < y);
}

static bool keep_profile(struct trial *t, const struct render_profile *profile, struct err *err)
{
    struct cell *r = &t->result;
    r->kernels = mem_calloc(profile->kernels, sizeof *r->kernels, "kernels", err);
    if (r->kernels == NULL)
        return false;
    memcpy(r->kernels, profile->kernel, profile->kernels * sizeof *r->kernels);
    r->kernel_count = profile->kernels;
    r->device_ns = profile->device_ns;
    r->has_device_time = true;
    return true;
}

/* Device and host clocks have different zero points; durations can still be compared. */
static bool measure_device_time(struct trial *t, struct err *err)
{
    struct render_profile profiles[MAX_REPEATS];
    const size_t count = repeats(t);
    size_t good = 0;
    if (!time_for(t, count + 1)) {
        no_time_note(t, "device time");
        return true;
    }
    for (size_t i = 0; i <= count; i++) {
        struct render_profile profile = {0};
        uint64_t start = now_ns(t);
        if (!t->renderer->ops->call_profiled(t->job, &profile, err))
            return false;
        uint64_t host_ns = now_ns(t) - start;
        if (!profile.valid) {
            if (t->result.kind == BACKEND_OPENCL)
                profile_note(t, profile.note);
            return true;
        }
        if (profile.device_ns > host_ns) {
            profile_note(t, "its events took longer than the whole call");
            return true;
        }
        /* The first one warms up. */
        if (i > 0 && profile.device_ns > 0)
            profiles[good++] = profile;
    }
    if (good == 0)
        return true;
    qsort(profiles, good, sizeof *profiles, compare_profiles);
    return keep_profile(t, &profiles[(good - 1) / 2], err);
}

static bool finish(struct trial *t, struct err *err)
{
    if (!take_samples(t, err))
        return false;
    t->renderer->ops->counts(t->job, &t->result.counts);
    if (t->side.err.code != ERR_NONE)
        return err_set_native(err, t->side.err.code, t->side.err.native, "%s", t->side.err.text);
    if (t->result.ended_by == END_TIMEOUT) {
        char text[128];
        snprintf(text, sizeof text, "over its %g s after %zu samples", t->rules->timeout_seconds,
                 t->result.sample_count);
        trial_end(t, CELL_TIMEOUT, text);
        return true;
    }
    return reference_check(t->reference, &t->job->io, false, &t->result.agreement, err) &&
           measure_phases(t, err) && measure_device_time(t, err);
}

void trial_finish(struct trial *t)
{
    struct err cause = ERR_INIT;
    stage(t, STAGE_PROFILING);
    t->sampled_ns = now_ns(t);
    if (!finish(t, &cause)) {
        fail(t, &cause);
        return;
    }
    if (t->live)
        t->result.status = CELL_OK;
    t->live = false;
    close_job(t);
}
