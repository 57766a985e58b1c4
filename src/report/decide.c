#include "report/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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

const char *decide_range_name(size_t range)
{
    static const char *const names[] = {"size", "triangles", "batch", "sigma", "pairs a pixel"};
    return names[range];
}

static double call_pixels(const struct render_spec *spec)
{
    return (double)spec->width * spec->height * spec->batch;
}

double decide_range_value(const struct decide_question *question, size_t range)
{
    if (range < SURFACE_AXES)
        return surface_value(&question->spec, (enum surface_axis)range);
    return question->pairs > 0 ? question->pairs / call_pixels(&question->spec) : NAN;
}

static double cell_value(const struct cell *cell, size_t range)
{
    if (range < SURFACE_AXES)
        return surface_value(&cell->spec, (enum surface_axis)range);
    return cell->pairs && cell->spec.batch ? (double)cell->pairs / call_pixels(&cell->spec) : NAN;
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

    if (!select_lines(results, 1u << question->mode, surface_keys(), NULL, lines, &all, err))
        return false;
    for (size_t i = 0; i < all; i++) {
        const struct cell *line = (*lines)[i];
        if (line->spec.upstream == question->upstream && line->spec.source == question->source &&
            (!spec_matters(&line->spec, call, line->kind) || line->spec.call == question->call))
            (*lines)[kept++] = line;
    }
    *count = kept;
    return true;
}

static double time_of(const struct cell *cell)
{
    return (double)cell->median_ns;
}

static bool estimate(const struct results *results, const double at[SURFACE_AXES], struct contender *c,
                     struct err *err)
{
    struct surface s;
    struct surface_box box;
    bool found;

    c->ns = NAN;
    if (!surface_init(&s, results, c->line, NULL, err))
        return false;
    bool ok = surface_box(&s, at, &box, &found, err);
    if (ok && found)
        c->ns = surface_interpolate(&s, &box, time_of);
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
static bool weigh(const struct surface *s, const struct surface_box *box, struct decision *d, bool *agree,
                  struct err *err)
{
    double value = 0, low = 0, high = 0;
    enum ratio_verdict verdict = RATIO_NONE;

    *agree = true;
    d->margin = (struct ratio){.valid = true, .has_ci = true, .device = NAN};
    for (unsigned i = 0; i < SURFACE_CORNERS; i++) {
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
    d->high = s->cells[box->corners[SURFACE_CORNERS - 1]];
    if (d->margin.value < 1)
        turn(d);
    d->margin.verdict = d->margin.has_ci ? ratio_judge(d->margin.ci95[0], d->margin.ci95[1])
                                         : ratio_judge(d->margin.value, d->margin.value);
    return true;
}

/* ---- a place ---- */

/* What a call is decided by: the lines, and where between their points it is. */
struct place {
    const struct results *results;
    struct contender *all;
    size_t count;
    double at[SURFACE_AXES];
};

static double pairs_of(const struct cell *cell)
{
    return cell->pairs ? (double)cell->pairs : 0.5;
}

/* NAN: not surrounded by points. */
static bool pairs_at(const struct surface *s, const double at[SURFACE_AXES], double *pairs, struct err *err)
{
    struct surface_box box;
    bool found;

    *pairs = NAN;
    if (!surface_box(s, at, &box, &found, err))
        return false;
    if (found)
        *pairs = surface_interpolate(s, &box, pairs_of);
    return true;
}

/* With how many triangles the line's scenes cover that many pairs, the other axes as in `at`; *found: whether
 * some do. */
static bool solve_triangles(const struct surface *s, double pairs, double at[SURFACE_AXES], bool *found,
                            struct err *err)
{
    const double *values = s->values[SURFACE_TRIANGLES];
    double last = NAN, last_pairs = NAN;

    *found = false;
    for (size_t i = 0; i < s->value_count[SURFACE_TRIANGLES]; i++) {
        double here;
        at[SURFACE_TRIANGLES] = values[i];
        if (!pairs_at(s, at, &here, err))
            return false;
        if (isnan(here))
            continue;
        *found = true;
        if (fabs(here / pairs - 1) < 1e-9)
            return true;
        if (last_pairs < pairs && pairs < here) {
            at[SURFACE_TRIANGLES] =
                last * pow(values[i] / last, log(pairs / last_pairs) / log(here / last_pairs));
            return true;
        }
        last = values[i];
        last_pairs = here;
    }
    *found = false;
    return true;
}

/* The place of a question of pairs; *found: whether a line has one. */
static bool place_by_pairs(struct place *p, double pairs, bool *found, struct err *err)
{
    *found = false;
    for (size_t i = 0; i < p->count && !*found; i++) {
        struct surface s;
        if (!surface_init(&s, p->results, p->all[i].line, NULL, err))
            return false;
        bool ok = solve_triangles(&s, pairs, p->at, found, err);
        surface_fini(&s);
        if (!ok)
            return false;
    }
    return true;
}

static bool decide_at(struct place *p, struct decision *d, struct err *err)
{
    const struct contender *first, *second;
    struct surface s;
    struct surface_box box;
    bool found, agree = true;

    d->basis = DECIDE_NOTHING;
    for (size_t i = 0; i < p->count; i++)
        if (!estimate(p->results, p->at, &p->all[i], err))
            return false;
    rank(p->all, p->count, &first, &second);
    if (!first || !second)
        return true;
    if (!surface_init(&s, p->results, first->line, second->line, err))
        return false;
    bool ok = surface_box(&s, p->at, &box, &found, err);
    if (ok && found) {
        d->winner = first->line;
        d->other = second->line;
        d->winner_ns = first->ns;
        d->other_ns = second->ns;
        d->pairs = surface_interpolate(&s, &box, pairs_of);
        d->basis = box.extent > 0 ? DECIDE_INTERPOLATED : DECIDE_MEASURED;
        ok = weigh(&s, &box, d, &agree, err);
        d->confidence =
            agree && d->margin.has_ci && d->margin.verdict == RATIO_SECOND ? CONFIDENCE_HIGH : CONFIDENCE_LOW;
    }
    surface_fini(&s);
    return ok;
}

/* ---- the question ---- */

static double distance(const struct cell *cell, const struct decide_question *question, bool by_pairs)
{
    double sum = 0;

    for (size_t r = 0; r < DECIDE_RANGES; r++)
        if (r != (by_pairs ? (size_t)SURFACE_TRIANGLES : (size_t)DECIDE_PAIRS))
            sum += pow(log(cell_value(cell, r) / decide_range_value(question, r)), 2);
    return sum;
}

/* Ranges, and the nearest point that two contenders have; NULL without one. */
static const struct cell *look_around(const struct place *p, const struct decide_question *question,
                                      bool by_pairs, struct decision *d)
{
    const struct cell *nearest = NULL;

    for (size_t r = 0; r < DECIDE_RANGES; r++)
        d->measured[r][0] = d->measured[r][1] = NAN;
    for (size_t i = 0; i < p->results->cell_count; i++) {
        const struct cell *cell = &p->results->cells[i];
        size_t here = 0;
        bool ours = false;
        for (size_t l = 0; ratio_can_win(cell) && l < p->count; l++) {
            ours |= cells_alike(cell, p->all[l].line, surface_keys());
            here += ratio_can_win(select_cell(p->results, p->all[l].line, surface_keys(), &cell->spec));
        }
        if (!ours || here < 2)
            continue;
        for (size_t r = 0; r < DECIDE_RANGES; r++) {
            d->measured[r][0] = fmin(d->measured[r][0], cell_value(cell, r));
            d->measured[r][1] = fmax(d->measured[r][1], cell_value(cell, r));
        }
        if (!nearest || distance(cell, question, by_pairs) < distance(nearest, question, by_pairs))
            nearest = cell;
    }
    for (size_t r = 0; r < DECIDE_RANGES; r++) {
        const double value = decide_range_value(question, r);
        const bool asked = r != (by_pairs ? (size_t)SURFACE_TRIANGLES : (size_t)DECIDE_PAIRS);
        /* A pixel's pairs as typed are rounded. */
        if (asked && (value < d->measured[r][0] * (1 - 1e-9) || value > d->measured[r][1] * (1 + 1e-9)))
            d->outside |= 1u << r;
    }
    return nearest;
}

static bool decide_by(struct place *p, const struct decide_question *question, bool by_pairs,
                      struct decision *d, struct err *err)
{
    bool found = true;

    *d = (struct decision){.at = question->spec, .pairs = NAN};
    for (enum surface_axis a = 0; a < SURFACE_AXES; a++)
        p->at[a] = surface_value(&question->spec, a);
    const struct cell *nearest = look_around(p, question, by_pairs, d);
    if (by_pairs && !place_by_pairs(p, question->pairs, &found, err))
        return false;
    if (found && !decide_at(p, d, err))
        return false;
    d->at.triangles = (uint32_t)lround(p->at[SURFACE_TRIANGLES] < 1 ? 0 : p->at[SURFACE_TRIANGLES]);
    if (d->basis != DECIDE_NOTHING || !nearest)
        return true;
    d->at.width = nearest->spec.width;
    d->at.height = nearest->spec.height;
    d->at.triangles = nearest->spec.triangles;
    d->at.batch = nearest->spec.batch;
    d->at.sigma = nearest->spec.sigma;
    for (enum surface_axis a = 0; a < SURFACE_AXES; a++)
        p->at[a] = surface_value(&d->at, a);
    bool ok = decide_at(p, d, err);
    if (d->basis != DECIDE_NOTHING)
        d->basis = DECIDE_NEAREST;
    d->confidence = CONFIDENCE_NONE;
    return ok;
}

/* Scenes that cover more or less than the measured ones with as many triangles lie between the two answers.
 */
static bool hear_triangles(struct place *p, const struct decide_question *question, struct decision *d,
                           struct err *err)
{
    struct decision other;

    if (!decide_by(p, question, false, &other, err))
        return false;
    const bool told = other.basis == DECIDE_MEASURED || other.basis == DECIDE_INTERPOLATED;
    d->outside |= other.outside;
    if (told) {
        d->by_triangles = other.winner;
        d->by_triangles_margin = other.margin.value;
    }
    const bool agree = told && other.confidence == CONFIDENCE_HIGH && d->winner == other.winner;
    if (d->confidence == CONFIDENCE_HIGH && !agree)
        d->confidence = CONFIDENCE_LOW;
    return true;
}

static void choose_call(const struct results *results, struct render_spec *question)
{
    for (size_t i = 0; i < results->cell_count; i++)
        if (results->cells[i].kind == BACKEND_OPENCL && results->cells[i].spec.mode == question->mode) {
            question->call = results->cells[i].spec.call;
            return;
        }
}

static void choose_source(const struct results *results, struct render_spec *question)
{
    for (size_t i = 0; i < results->cell_count; i++)
        if (results->cells[i].spec.mode == question->mode) {
            question->source = results->cells[i].spec.source;
            return;
        }
}

bool decide(const struct results *results, struct decide_question *question, struct decision *out,
            struct err *err)
{
    struct place p = {.results = results};
    const struct cell **lines;

    if (!question->by_call)
        choose_call(results, &question->spec);
    if (!question->by_source)
        choose_source(results, &question->spec);
    if (!decide_contenders(results, &question->spec, &lines, &p.count, err))
        return false;
    p.all = mem_calloc(p.count + 1, sizeof(*p.all), "contenders", err);
    bool ok = p.all != NULL;
    for (size_t i = 0; ok && i < p.count; i++)
        p.all[i].line = lines[i];
    ok = ok && decide_by(&p, question, question->pairs > 0, out, err);
    if (ok && question->pairs > 0 && question->has_triangles)
        ok = hear_triangles(&p, question, out, err);
    free(p.all);
    free(lines);
    return ok;
}

bool decide_by_thumb(const struct device_info *device, const struct decide_question *question)
{
    const double work = call_pixels(&question->spec) * question->spec.triangles;
    const bool enough =
        question->pairs > 0 ? question->pairs >= DECIDE_THUMB_PAIRS : work >= DECIDE_THUMB_WORK;

    return device->kind != DEVICE_CPU && !device->host_unified && enough;
}
