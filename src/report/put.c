#include "report/put.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

/* Reasons under a table, and places of each, before the rest is counted. */
#define REASONS_MAX 5

enum table_mark mark_status(const struct cell *cell)
{
    if (!cell || cell->status == CELL_SKIPPED || cell->status == CELL_INTERRUPTED)
        return MARK_DIM;
    return cell->status == CELL_OK ? MARK_NONE : MARK_BAD;
}

void put_time(struct table *t, const struct cell *cell, struct time_unit unit)
{
    char text[NUMBER_MAX];

    if (!cell || cell->status != CELL_OK) {
        table_put(t, mark_status(cell), NAN, "%s", label_status(cell));
        return;
    }
    number_time(text, cell->median_ns, unit);
    if (cell->counts.split > 1)
        table_put(t, MARK_NONE, (double)cell->median_ns, "%s÷%" PRIu32, text, cell->counts.split);
    else
        table_put(t, MARK_NONE, (double)cell->median_ns, "%s", text);
}

void put_factor(struct table *t, enum table_mark mark, double value)
{
    char text[NUMBER_MAX];

    number_ratio(text, value);
    table_put(t, isfinite(value) ? mark : MARK_DIM, isfinite(value) ? value : NAN, "%s", text);
}

void put_bytes(struct table *t, uint64_t bytes)
{
    char text[UNITS_MAX] = "-";

    if (bytes)
        units_bytes(text, bytes);
    table_put(t, bytes ? MARK_NONE : MARK_DIM, bytes ? (double)bytes : NAN, "%s", text);
}

/* Sums logarithms, for a geometric mean. */
static void add_time(const struct cell *cell, double *sum, size_t *count)
{
    if (cell && cell->status == CELL_OK && cell->median_ns) {
        *sum += log((double)cell->median_ns);
        ++*count;
    }
}

struct time_unit unit_of_cells(const struct cell *const *cells, size_t count)
{
    double sum = 0;
    size_t known = 0;

    for (size_t i = 0; i < count; i++)
        add_time(cells[i], &sum, &known);
    return number_unit(known ? exp(sum / (double)known) : 0);
}

struct time_unit unit_of_line(const struct results *results, const struct cell *line, key_set free)
{
    double sum = 0;
    size_t known = 0;

    for (size_t i = 0; i < results->cell_count; i++)
        if (cells_alike(&results->cells[i], line, free))
            add_time(&results->cells[i], &sum, &known);
    return number_unit(known ? exp(sum / (double)known) : 0);
}

void put_ratio(struct table *t, const struct ratio *ratio, const char *first, const char *second)
{
    static const enum table_mark marks[] = {[RATIO_NONE] = MARK_DIM,
                                            [RATIO_FIRST] = MARK_LOSER,
                                            [RATIO_SECOND] = MARK_WINNER,
                                            [RATIO_TIE] = MARK_TIE};
    const char *const names[] = {
        [RATIO_NONE] = "", [RATIO_FIRST] = first, [RATIO_SECOND] = second, [RATIO_TIE] = "tie"};
    char text[NUMBER_MAX];

    if (!ratio->valid) {
        table_put(t, MARK_DIM, NAN, "-");
        return;
    }
    number_interval(text, ratio);
    const char *name = names[ratio->verdict];
    table_put(t, marks[ratio->verdict], ratio->value, "%s%s%s%s", text, *name ? " " : "", name,
              ratio->has_ci ? "" : "?");
}

void put_interval(struct table *t, const struct ratio *ratio)
{
    put_ratio(t, ratio, "", "");
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether b is told with a. */
static bool same_reason(const struct cell *a, const struct cell *b)
{
    return b && a->status == b->status && a->device == b->device && same_text(a->reason, b->reason);
}

static bool has_reason(const struct cell *const *cells, size_t i)
{
    if (!cells[i] || cells[i]->status == CELL_OK)
        return false;
    for (size_t j = 0; j < i; j++)
        if (same_reason(cells[i], cells[j]))
            return false;
    return true;
}

/* "16² × 4, 16² × 8": where the reason of cell i holds; a place that several cells have is named once. */
static void add_places(struct strbuf *out, const struct cell *const *cells, size_t count, size_t i)
{
    char place[LABEL_MAX], last[LABEL_MAX] = "";
    size_t told = 0, more = 0;

    for (size_t j = i; j < count; j++) {
        if (!same_reason(cells[i], cells[j]))
            continue;
        label_place(place, &cells[j]->spec);
        if (strcmp(place, last) == 0)
            continue;
        strcpy(last, place);
        if (told == REASONS_MAX) {
            more++;
            continue;
        }
        strbuf_addf(out, "%s%s", told++ ? ", " : "", place);
    }
    if (more)
        strbuf_addf(out, " and %zu more", more);
}

void foot_reasons(struct table *t, const struct results *results, const struct cell *const *cells,
                  size_t count)
{
    size_t told = 0, more = 0;

    for (size_t i = 0; i < count; i++) {
        char device[LABEL_MAX];
        struct strbuf places = STRBUF_INIT;
        if (!has_reason(cells, i))
            continue;
        if (told == REASONS_MAX) {
            more++;
            continue;
        }
        add_places(&places, cells, count, i);
        label_device(device, results, cells[i]->device);
        table_foot(t, "%s on %s %s: %s", strbuf_str(&places), device, label_status(cells[i]),
                   cells[i]->reason ? cells[i]->reason : "no reason given");
        strbuf_fini(&places);
        told++;
    }
    if (more)
        table_foot(t, "and %zu more without a time", more);
}

struct worst {
    const struct cell *cell;
    enum agreement_group group;
    double share; /* of what it may be */
};

/* Keeps the worst of the groups from `first` on. */
static void widen(struct worst *worst, const struct cell *cell, size_t first)
{
    struct agreement tolerance;

    agreement_tolerance(&tolerance, cell->spec.sigma, false, NULL, 0);
    for (size_t i = first; i < AGREE_GROUPS; i++) {
        double share = cell->agreement.value[i] / tolerance.value[i];
        if (!isnan(share) && (!worst->cell || share > worst->share))
            *worst = (struct worst){cell, (enum agreement_group)i, share};
    }
}

static void put_worst(struct table *t, const struct worst *worst, bool named)
{
    char text[NUMBER_MAX] = "not finite";

    if (!worst->cell) {
        table_put(t, MARK_DIM, NAN, "-");
        return;
    }
    double value = worst->cell->agreement.value[worst->group];
    if (isfinite(value))
        number_error(text, value);
    table_put(t, mark_status(worst->cell), isfinite(value) ? value : NAN, "%s%s%s",
              named ? agreement_group_name(worst->group) : "", named ? " " : "", text);
}

void put_worst_error(struct table *t, const struct cell *cell)
{
    struct worst worst = {NULL, AGREE_IMAGE, 0};

    widen(&worst, cell, AGREE_IMAGE);
    put_worst(t, &worst, true);
}

void put_gradient_error(struct table *t, const struct cell *const *cells, size_t count)
{
    struct worst worst = {NULL, AGREE_VERTICES, 0};

    for (size_t i = 0; i < count; i++)
        if (cells[i])
            widen(&worst, cells[i], AGREE_VERTICES);
    put_worst(t, &worst, false);
}

void key_columns(struct table *t, key_set set)
{
    size_t count;
    const struct spec_key *keys = spec_keys(&count);

    for (size_t i = 0; i < count; i++)
        if (set >> i & 1) {
            bool words = keys[i].type != SPEC_U32 && keys[i].type != SPEC_FLOAT && keys[i].type != SPEC_SIZE;
            bool point = keys_of_point() >> i & 1;
            table_column(t, words ? ALIGN_LEFT : ALIGN_RIGHT, point ? KEEP_ALWAYS : 700, "%s", keys[i].name);
        }
}

void put_keys(struct table *t, key_set set, const struct cell *cell)
{
    size_t count;
    const struct spec_key *keys = spec_keys(&count);

    for (size_t i = 0; i < count; i++) {
        char value[SPEC_TEXT_MAX], size[NUMBER_MAX];
        if (!(set >> i & 1))
            continue;
        spec_text(&cell->spec, &keys[i], value);
        number_size(size, cell->spec.width, cell->spec.height);
        bool matters = spec_matters(&cell->spec, &keys[i], cell->kind);
        table_put(t, matters ? MARK_NONE : MARK_DIM, NAN, "%s",
                  !matters                    ? "-"
                  : keys[i].type == SPEC_SIZE ? size
                                              : value);
    }
}
