#include "bench/measure.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/estimate.h"

struct point {
    const struct measure_request *request;
    const struct measure_sink *sink;
    struct trial *trials;
    size_t count;
    struct inputs inputs;
    struct reference reference;
};

static bool interrupted(const struct point *p)
{
    const struct sample_clock *clock = p->request->clock;
    return clock->stop != NULL && clock->stop(clock->context);
}

static bool deliver(const struct point *p, struct trial *t, struct err *err)
{
    return p->sink->cell(p->sink->context, t->index, &t->result, err);
}

static size_t count_live(const struct point *p)
{
    size_t live = 0;
    for (size_t i = 0; i < p->count; i++)
        live += p->trials[i].live;
    return live;
}

static bool init_trials(struct point *p, struct err *err)
{
    const struct measure_request *r = p->request;
    p->trials = mem_calloc(r->cell_count, sizeof *p->trials, "cells", err);
    if (p->trials == NULL)
        return false;
    for (size_t i = 0; i < r->cell_count; i++) {
        struct trial *t = &p->trials[p->count++];
        const size_t device = r->grid->cells[r->cells[i]].device;
        t->sink = p->sink;
        t->clock = r->clock;
        if (!trial_init(t, r->config, r->grid, r->cells[i], r->renderers[device], r->devices[device].trouble,
                        err) ||
            (!t->live && !deliver(p, t, err)))
            return false;
    }
    return true;
}

/* Cells that cannot end within their time are refused before they take the machine's memory and minutes: by
 * estimates, which a large point alone is worth. */
static bool refuse_slow(struct point *p, struct err *cause, struct err *err)
{
    const struct render_spec *spec = &p->request->grid->points[p->request->point].spec;
    const struct inputs bare = {.files = p->request->files, .spec = *spec};
    const double most = (double)spec->width * spec->height * spec->triangles * spec->batch;
    struct inputs part;
    uint64_t pairs;

    if (estimate_part(&bare, most < 1e19 ? (uint64_t)most : UINT64_MAX, &part) <= 1)
        return true;
    if (!reference_pairs(&bare, &pairs, cause))
        return true;
    const double times = estimate_part(&bare, pairs, &part);
    for (size_t i = 0; times > 1 && i < p->count; i++) {
        struct trial *t = &p->trials[i];
        if (!t->live)
            continue;
        if (interrupted(p))
            return err_set(err, ERR_INTERRUPTED, "interrupted");
        trial_check_time(t, &part, times);
        if (!t->live && !deliver(p, t, err))
            return false;
    }
    if (count_live(p) > 0)
        p->sink->stage(p->sink->context, SIZE_MAX, STAGE_INPUTS);
    return true;
}

/* Inputs and reference; what fails here fails every cell of the point. */
static bool prepare_point(struct point *p, struct err *err)
{
    struct err cause = ERR_INIT;
    const struct render_spec *spec = &p->request->grid->points[p->request->point].spec;
    p->sink->stage(p->sink->context, SIZE_MAX, STAGE_INPUTS);
    if (!refuse_slow(p, &cause, err)) {
        err_fini(&cause);
        return false;
    }
    bool ok = cause.code == ERR_NONE;
    if (ok && count_live(p) == 0)
        return true;
    ok = ok && inputs_init(&p->inputs, p->request->files, spec, &cause);
    if (ok) {
        p->sink->stage(p->sink->context, SIZE_MAX, STAGE_REFERENCE);
        ok = reference_init(&p->reference, &p->inputs, &reference_limits, &cause);
    }
    if (ok)
        return true;
    for (size_t i = 0; i < p->count; i++) {
        struct trial *t = &p->trials[i];
        if (!t->live)
            continue;
        trial_end(t, CELL_FAILED, cause.text);
        if (!deliver(p, t, err)) {
            err_fini(&cause);
            return false;
        }
    }
    err_fini(&cause);
    return true;
}

/* How many trials from `first` on may be open at the same time: the arrays of all of them within half of the
 * machine's memory, and within half of what each renderer may take: a job that verifies keeps more. At least one. */
static size_t group_length(const struct point *p, size_t first)
{
    const uint64_t machine = mem_machine_bytes() / 2;
    uint64_t host = 0;
    size_t length = 0;
    for (size_t i = first; i < p->count; i++, length++) {
        const struct trial *t = &p->trials[i];
        if (!t->live)
            continue;
        uint64_t device = 0;
        for (size_t j = first; j <= i; j++)
            if (p->trials[j].live && p->trials[j].renderer == t->renderer &&
                !mem_add(device, p->trials[j].footprint.device_bytes, &device))
                return length > 0 ? length : 1;
        if (!mem_add(host, trial_host_bytes(t->renderer, &t->footprint), &host))
            host = UINT64_MAX;
        const uint64_t budget = t->footprint.budget_bytes;
        if (length > 0 && (host > machine || (budget > 0 && device > budget / 2)))
            break;
    }
    return length > 0 ? length : 1;
}

/* Samples all that are ready, side by side. */
static bool sample_group(struct point *p, size_t first, size_t length, struct err *err)
{
    struct sample_side *sides = mem_calloc(length, sizeof *sides, "sides", err);
    if (sides == NULL)
        return false;
    size_t n = 0;
    for (size_t i = first; i < first + length; i++)
        if (p->trials[i].live)
            sides[n++] = p->trials[i].side;
    bool ok = sample_run(sides, n, &p->request->config->measure, p->request->clock, err);
    n = 0;
    for (size_t i = first; i < first + length; i++)
        if (p->trials[i].live)
            p->trials[i].side = sides[n++];
    free(sides);
    return ok;
}

static bool measure_group(struct point *p, size_t first, size_t length, struct err *err)
{
    for (size_t i = first; i < first + length; i++) {
        struct trial *t = &p->trials[i];
        if (!t->live)
            continue;
        if (interrupted(p))
            return err_set(err, ERR_INTERRUPTED, "interrupted");
        trial_prepare(t, &p->inputs, &p->reference);
        if (!t->live && !deliver(p, t, err))
            return false;
    }
    if (!sample_group(p, first, length, err))
        return false;
    for (size_t i = first; i < first + length; i++) {
        struct trial *t = &p->trials[i];
        if (!t->live)
            continue;
        if (t->side.ended_by == END_INTERRUPTED || interrupted(p))
            return err_set(err, ERR_INTERRUPTED, "interrupted");
        trial_finish(t);
        if (!deliver(p, t, err))
            return false;
    }
    return true;
}

bool measure_point(const struct measure_request *request, const struct measure_sink *sink, struct err *err)
{
    struct point p = {.request = request, .sink = sink};
    bool ok = init_trials(&p, err);
    if (ok && count_live(&p) > 0)
        ok = prepare_point(&p, err);
    for (size_t first = 0; ok && first < p.count;) {
        size_t length = group_length(&p, first);
        ok = measure_group(&p, first, length, err);
        first += length;
    }
    for (size_t i = 0; i < p.count; i++)
        trial_fini(&p.trials[i]);
    free(p.trials);
    reference_fini(&p.reference);
    inputs_fini(&p.inputs);
    return ok;
}
