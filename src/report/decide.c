#include "report/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CORNERS (1u << DECIDE_AXES)

/* The points of a line, or those that it has in common with another one. */
struct surface {
    const struct cell **cells, **others; /* [count]; others: NULLs where there is no other line */
    size_t count;
    double *values[DECIDE_AXES]; /* ascending, one of each */
    size_t value_count[DECIDE_AXES];
};

struct box {
    size_t corners[CORNERS]; /* indices of cells; bit `axis` set: the high end */
    double weight[CORNERS];
    double extent; /* sum of log(high / low) */
};

key_set decide_free_keys(void)
{
    return keys_named("size triangles batch sigma");
}

static bool has_time(const struct cell *cell)
{
    return cell && cell->status == CELL_OK && cell->median_ns > 0;
}

double decide_value(const struct render_spec *spec, enum decide_axis axis)
{
    switch (axis) {
    case DECIDE_SIZE:
        return sqrt((double)spec->width * spec->height);
    case DECIDE_TRIANGLES:
        return fmax(spec->triangles, 0.5);
    case DECIDE_BATCH:
        return fmax(spec->batch, 0.5);
    case DECIDE_SIGMA:
    case DECIDE_AXES:
        break;
    }
    return (double)spec->sigma;
}

const char *decide_basis_name(enum decide_basis basis)
{
    static const char *const names[] = {"nothing", "measured", "interpolated", "nearest"};
    return names[basis];
}

const char *decide_confidence_name(enum decide_confidence confidence)
{
    static const char *const names[] = {"none", "low", "high"};
    return names[confidence];
}

/* ---- surfaces ---- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void surface_fini(struct surface *s)
{
    free(s->cells);
    free(s->others);
    for (size_t a = 0; a < DECIDE_AXES; a++)
        free(s->values[a]);
}

static bool surface_axes(struct surface *s, struct err *err)
{
    for (enum decide_axis a = 0; a < DECIDE_AXES; a++) {
        size_t kept = 0;
        double *values = s->values[a] = mem_calloc(s->count + 1, sizeof(*values), "a line's axes", err);
        if (!values)
            return false;
        for (size_t i = 0; i < s->count; i++)
            values[i] = decide_value(&s->cells[i]->spec, a);
        qsort(values, s->count, sizeof(*values), by_value);
        for (size_t i = 0; i < s->count; i++)
            if (!kept || values[i] > values[kept - 1])
                values[kept++] = values[i];
        s->value_count[a] = kept;
    }
    return true;
}

/* other may be NULL. */
static bool surface_init(struct surface *s, const struct results *results, const struct cell *line,
                         const struct cell *other, struct err *err)
{
    *s = (struct surface){0};
    s->cells = mem_calloc(results->cell_count, sizeof(struct cell *), "a line's points", err);
    s->others = mem_calloc(results->cell_count, sizeof(struct cell *), "a line's points", err);
    for (size_t i = 0; s->cells && s->others && i < results->cell_count; i++) {
        const struct cell *cell = &results->cells[i];
        if (!has_time(cell) || !cells_alike(cell, line, decide_free_keys()))
            continue;
        const struct cell *match =
            other ? select_cell(results, other, decide_free_keys(), &cell->spec) : NULL;
        if (other && !has_time(match))
            continue;
        s->cells[s->count] = cell;
        s->others[s->count++] = match;
    }
    if (s->cells && s->others && surface_axes(s, err))
        return true;
    surface_fini(s);
    return false;
}

static bool surface_find(const struct surface *s, const double at[DECIDE_AXES], size_t *index)
{
    for (*index = 0; *index < s->count; ++*index) {
        bool here = true;
        for (enum decide_axis a = 0; a < DECIDE_AXES; a++)
            here &= !(fabs(decide_value(&s->cells[*index]->spec, a) - at[a]) > 0);
        if (here)
            return true;
    }
    return false;
}

/* ---- boxes ---- */

/* Pairs of values around the question on one axis, the same one twice where it is the question itself. */
struct bracket {
    double low, high;
};

static size_t brackets_of(const struct surface *s, enum decide_axis a, double value, struct bracket *out)
{
    size_t count = 0;

    for (size_t i = 0; i < s->value_count[a]; i++)
        for (size_t j = i; j < s->value_count[a]; j++) {
            const double low = s->values[a][i], high = s->values[a][j];
            if (low <= value && value <= high && (i != j || low >= value))
                out[count++] = (struct bracket){low, high};
        }
    return count;
}

static bool box_at(const struct surface *s, const struct bracket *const at[DECIDE_AXES],
                   const struct render_spec *question, struct box *box)
{
    for (unsigned corner = 0; corner < CORNERS; corner++) {
        double place[DECIDE_AXES];
        box->weight[corner] = 1;
        for (enum decide_axis a = 0; a < DECIDE_AXES; a++) {
            const bool high = corner >> a & 1;
            const double span = log(at[a]->high / at[a]->low);
            const double part = span > 0 ? log(decide_value(question, a) / at[a]->low) / span : 0;
            place[a] = high ? at[a]->high : at[a]->low;
            box->weight[corner] *= high ? part : 1 - part;
        }
        if (!surface_find(s, place, &box->corners[corner]))
            return false;
    }
    return true;
}

static double extent_of(const struct bracket *const at[DECIDE_AXES])
{
    double extent = 0;

    for (size_t a = 0; a < DECIDE_AXES; a++)
        extent += log(at[a]->high / at[a]->low);
    return extent;
}

/* Grids may have gaps, so all combinations are tried; *found: whether there is one. */
static bool smallest_box(const struct surface *s, const struct render_spec *question, struct box *box,
                         bool *found, struct err *err)
{
    struct bracket *brackets[DECIDE_AXES] = {0};
    size_t counts[DECIDE_AXES] = {0}, total = 1;
    bool ok = true;

    *found = false;
    box->extent = INFINITY;
    for (enum decide_axis a = 0; ok && a < DECIDE_AXES; a++) {
        const size_t n = s->value_count[a];
        brackets[a] = mem_calloc(n * n + 1, sizeof(**brackets), "brackets", err);
        ok = brackets[a] != NULL;
        counts[a] = ok ? brackets_of(s, a, decide_value(question, a), brackets[a]) : 0;
        total *= counts[a];
    }
    for (size_t i = 0; ok && i < total; i++) {
        const struct bracket *at[DECIDE_AXES];
        size_t rest = i;
        for (size_t a = 0; a < DECIDE_AXES; rest /= counts[a], a++)
            at[a] = &brackets[a][rest % counts[a]];
        struct box candidate = {.extent = extent_of(at)};
        if (candidate.extent < box->extent && box_at(s, at, question, &candidate)) {
            *box = candidate;
            *found = true;
        }
    }
    for (size_t a = 0; a < DECIDE_AXES; a++)
        free(brackets[a]);
    return ok;
}

/* ---- contenders ---- */

struct contender {
    const struct cell *line;
    double ns; /* NAN: does not surround the question */
};

bool decide_contenders(const struct results *results, const struct render_spec *question,
                       const struct cell ***lines, size_t *count, struct err *err)
{
    const struct spec_key *call = spec_find("call");
    size_t all, kept = 0;

    if (!select_lines(results, 1u << question->mode, decide_free_keys(), NULL, lines, &all, err))
        return false;
    for (size_t i = 0; i < all; i++) {
        const struct cell *line = (*lines)[i];
        if (line->spec.upstream == question->upstream &&
            (!spec_matters(&line->spec, call, line->kind) || line->spec.call == question->call))
            (*lines)[kept++] = line;
    }
    *count = kept;
    return true;
}

static bool estimate(const struct results *results, const struct render_spec *question, struct contender *c,
                     struct err *err)
{
    struct surface s;
    struct box box;
    bool found;

    c->ns = NAN;
    if (!surface_init(&s, results, c->line, NULL, err))
        return false;
    bool ok = smallest_box(&s, question, &box, &found, err);
    if (ok && found) {
        double sum = 0;
        for (unsigned i = 0; i < CORNERS; i++)
            sum += box.weight[i] * log((double)s.cells[box.corners[i]]->median_ns);
        c->ns = exp(sum);
    }
    surface_fini(&s);
    return ok;
}

/* The best, and the best of another device; of the same where there is no other. */
static void rank(const struct contender *all, size_t count, const struct contender **first,
                 const struct contender **second)
{
    const struct contender *same = NULL;

    *first = *second = NULL;
    for (size_t i = 0; i < count; i++)
        if (!isnan(all[i].ns) && (!*first || all[i].ns < (*first)->ns))
            *first = &all[i];
    for (size_t i = 0; i < count; i++) {
        if (isnan(all[i].ns) || &all[i] == *first)
            continue;
        const struct contender **place = all[i].line->device != (*first)->line->device ? second : &same;
        if (!*place || all[i].ns < (*place)->ns)
            *place = &all[i];
    }
    if (!*second)
        *second = same;
}

static void turn(struct decision *d)
{
    const struct cell *line = d->winner;
    const double ns = d->winner_ns, low = d->margin.ci95[0];

    d->winner = d->other;
    d->other = line;
    d->winner_ns = d->other_ns;
    d->other_ns = ns;
    d->margin.value = 1 / d->margin.value;
    d->margin.ci95[0] = 1 / d->margin.ci95[1];
    d->margin.ci95[1] = 1 / low;
}

/* The margin in the smallest box that both have; *agree: its corners name the same winner. */
static bool weigh(const struct surface *s, const struct box *box, struct decision *d, bool *agree,
                  struct err *err)
{
    double value = 0, low = 0, high = 0;
    enum ratio_verdict verdict = RATIO_NONE;

    *agree = true;
    d->margin = (struct ratio){.valid = true, .has_ci = true, .device = NAN};
    for (unsigned i = 0; i < CORNERS; i++) {
        struct ratio ratio;
        if (box->weight[i] <= 0)
            continue;
        if (!ratio_of(s->others[box->corners[i]], s->cells[box->corners[i]], &ratio, err))
            return false;
        *agree &= verdict == RATIO_NONE || ratio.verdict == verdict;
        verdict = ratio.verdict;
        d->margin.has_ci &= ratio.has_ci;
        value += box->weight[i] * log(ratio.value);
        low += box->weight[i] * log(ratio.ci95[0]);
        high += box->weight[i] * log(ratio.ci95[1]);
    }
    d->margin.value = exp(value);
    d->margin.ci95[0] = d->margin.has_ci ? exp(low) : NAN;
    d->margin.ci95[1] = d->margin.has_ci ? exp(high) : NAN;
    d->low = s->cells[box->corners[0]];
    d->high = s->cells[box->corners[CORNERS - 1]];
    if (d->margin.value < 1)
        turn(d);
    d->margin.verdict = d->margin.has_ci ? ratio_judge(d->margin.ci95[0], d->margin.ci95[1])
                                         : ratio_judge(d->margin.value, d->margin.value);
    return true;
}

static bool decide_at(const struct results *results, struct contender *all, size_t count,
                      const struct render_spec *question, struct decision *d, struct err *err)
{
    const struct contender *first, *second;
    struct surface s;
    struct box box;
    bool found, agree = true;

    d->basis = DECIDE_NOTHING;
    for (size_t i = 0; i < count; i++)
        if (!estimate(results, question, &all[i], err))
            return false;
    rank(all, count, &first, &second);
    if (!first || !second)
        return true;
    if (!surface_init(&s, results, first->line, second->line, err))
        return false;
    bool ok = smallest_box(&s, question, &box, &found, err);
    if (ok && found) {
        d->at = *question;
        d->winner = first->line;
        d->other = second->line;
        d->winner_ns = first->ns;
        d->other_ns = second->ns;
        d->basis = box.extent > 0 ? DECIDE_INTERPOLATED : DECIDE_MEASURED;
        ok = weigh(&s, &box, d, &agree, err);
        d->confidence =
            agree && d->margin.has_ci && d->margin.verdict == RATIO_SECOND ? CONFIDENCE_HIGH : CONFIDENCE_LOW;
    }
    surface_fini(&s);
    return ok;
}

/* ---- the question ---- */

/* Ranges, and the nearest point that two contenders have; NULL without one. */
static const struct cell *look_around(const struct results *results, const struct cell *const *lines,
                                      size_t count, const struct render_spec *question, struct decision *d)
{
    const struct cell *nearest = NULL;
    double best = INFINITY;

    for (size_t a = 0; a < DECIDE_AXES; a++)
        d->measured[a][0] = d->measured[a][1] = NAN;
    for (size_t i = 0; i < results->cell_count; i++) {
        const struct cell *cell = &results->cells[i];
        size_t here = 0;
        bool ours = false;
        for (size_t l = 0; has_time(cell) && l < count; l++) {
            ours |= cells_alike(cell, lines[l], decide_free_keys());
            here += has_time(select_cell(results, lines[l], decide_free_keys(), &cell->spec));
        }
        if (!ours || here < 2)
            continue;
        double distance = 0;
        for (enum decide_axis a = 0; a < DECIDE_AXES; a++) {
            const double value = decide_value(&cell->spec, a);
            d->measured[a][0] = fmin(d->measured[a][0], value);
            d->measured[a][1] = fmax(d->measured[a][1], value);
            distance += pow(log(value / decide_value(question, a)), 2);
        }
        if (distance < best) {
            best = distance;
            nearest = cell;
        }
    }
    for (enum decide_axis a = 0; a < DECIDE_AXES; a++) {
        const double value = decide_value(question, a);
        if (value < d->measured[a][0] || value > d->measured[a][1])
            d->outside |= 1u << a;
    }
    return nearest;
}

static void choose_call(const struct results *results, struct render_spec *question)
{
    for (size_t i = 0; i < results->cell_count; i++)
        if (results->cells[i].kind == BACKEND_OPENCL && results->cells[i].spec.mode == question->mode) {
            question->call = results->cells[i].spec.call;
            return;
        }
}

bool decide(const struct results *results, struct render_spec *question, bool by_call, struct decision *out,
            struct err *err)
{
    const struct cell **lines;
    size_t count;

    *out = (struct decision){.at = *question};
    if (!by_call)
        choose_call(results, question);
    if (!decide_contenders(results, question, &lines, &count, err))
        return false;
    struct contender *all = mem_calloc(count + 1, sizeof(*all), "contenders", err);
    bool ok = all != NULL;
    for (size_t i = 0; ok && i < count; i++)
        all[i].line = lines[i];
    const struct cell *nearest = ok ? look_around(results, lines, count, question, out) : NULL;
    ok = ok && decide_at(results, all, count, question, out, err);
    if (ok && out->basis == DECIDE_NOTHING && nearest) {
        struct render_spec at = *question;
        at.width = nearest->spec.width;
        at.height = nearest->spec.height;
        at.triangles = nearest->spec.triangles;
        at.batch = nearest->spec.batch;
        at.sigma = nearest->spec.sigma;
        ok = decide_at(results, all, count, &at, out, err);
        if (out->basis != DECIDE_NOTHING)
            out->basis = DECIDE_NEAREST;
        out->confidence = CONFIDENCE_NONE;
    }
    free(all);
    free(lines);
    return ok;
}

bool decide_by_thumb(const struct device_info *device, const struct render_spec *question)
{
    const double work = (double)question->width * question->height * question->triangles * question->batch;

    return device->kind != DEVICE_CPU && !device->host_unified && work >= DECIDE_THUMB_WORK;
}
