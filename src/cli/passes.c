#include "cli/passes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/merge.h"
#include "bench/stats.h"

bool passes_init(struct passes *p, size_t count, size_t cells, struct err *err)
{
    *p = (struct passes){.count = count, .cells = cells};
    p->medians = mem_calloc((uint64_t)cells * count, sizeof *p->medians, "medians", err);
    return p->medians != NULL;
}

void passes_fini(struct passes *p)
{
    free(p->medians);
    *p = (struct passes){0};
}

void passes_note(struct passes *p, size_t index, const struct cell *cell)
{
    if (index < p->cells && cell->status == CELL_OK)
        p->medians[index * p->count + p->now] = cell->median_ns;
}

bool passes_skip(const struct passes *p, size_t index)
{
    const uint64_t *medians = p->medians + index * p->count;

    return medians[p->now] > 0 || (p->now > 0 && medians[p->now - 1] == 0);
}

void passes_restore(struct passes *p, const char *const *ids, const struct json *head)
{
    const struct json *medians = json_get(json_get(head, "passes"), "medians_ns");

    for (size_t i = 0; i < p->cells; i++) {
        const struct json *list = json_get(medians, ids[i]);
        for (size_t k = 0; k < p->count && k < json_count(list); k++)
            if (!json_u64(json_at(list, k), &p->medians[i * p->count + k]))
                break;
    }
}

bool passes_merge(struct results *results, const struct cell *cell, const struct cell **merged,
                  struct err *err)
{
    for (size_t i = 0; i < results->cell_count; i++)
        if (strcmp(results->cells[i].id, cell->id) == 0) {
            *merged = &results->cells[i];
            return cell_merge(&results->cells[i], cell, err);
        }
    return err_set(err, ERR_INTERNAL, "%s was not measured in the first pass", cell->id);
}

void passes_record(const struct passes *p, const char *const *ids, struct results *results)
{
    struct json *passes = json_set_object(results->head, "passes");
    json_set_u64(passes, "count", p->count);
    struct json *medians = json_set_object(passes, "medians_ns");

    for (size_t i = 0; i < p->cells; i++) {
        if (p->medians[i * p->count] == 0)
            continue;
        struct json *list = json_set_array(medians, ids[i]);
        for (size_t k = 0; k < p->count && p->medians[i * p->count + k]; k++)
            json_add_u64(list, p->medians[i * p->count + k]);
    }
}

double passes_first_penalty(const struct passes *p, size_t cells)
{
    double sum = 0;
    size_t counted = 0;

    for (size_t i = 0; i < cells && i < p->cells && p->count > 1; i++) {
        const uint64_t *medians = p->medians + i * p->count;
        struct err ignored = ERR_INIT;
        uint64_t later;
        size_t rest = 1;
        while (rest < p->count && medians[rest])
            rest++;
        if (medians[0] && rest > 1 && stats_median(medians + 1, rest - 1, &later, &ignored) && later) {
            sum += log((double)medians[0] / (double)later);
            counted++;
        }
        err_fini(&ignored);
    }
    return counted ? exp(sum / (double)counted) - 1 : NAN;
}
