#include "report/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct json *stored_medians(const struct results *results)
{
    return results->head ? json_get(json_get(results->head, "baseline"), "medians_ns") : NULL;
}

size_t baseline_processes(const struct results *results)
{
    uint64_t count;
    const struct json *baseline = results->head ? json_get(results->head, "baseline") : NULL;

    return json_u64(json_get(baseline, "processes"), &count) && count > 0 ? (size_t)count : 1;
}

bool baseline_medians(const struct results *results, const struct cell *cell, uint64_t **out, size_t *count,
                      struct err *err)
{
    const struct json *list = json_get(stored_medians(results), cell->id);
    const size_t stored = list && json_type(list) == JSON_ARRAY ? json_count(list) : 0;

    *count = stored ? stored : 1;
    *out = mem_calloc(*count, sizeof(**out), "medians", err);
    if (!*out)
        return false;
    (*out)[0] = cell->median_ns;
    for (size_t i = 0; i < stored; i++)
        if (!json_u64(json_at(list, i), &(*out)[i]) || !(*out)[i]) {
            free(*out);
            *out = NULL;
            return err_set(err, ERR_CONFIG,
                           "%s: $.baseline.medians_ns[\"%s\"][%zu] must be a positive integer",
                           results->path ? results->path : "the baseline", cell->id, i);
        }
    return true;
}

/* *count: in: runs; out: those that have the cell. */
static const struct cell **cells_of(const struct results *runs, size_t whole, size_t *count, const char *id,
                                    struct err *err)
{
    const struct cell **cells = mem_calloc(*count, sizeof(*cells), "cells", err);
    const size_t all = *count;

    *count = 0;
    for (size_t i = 0; cells && i < all; i++) {
        cells[*count] = results_find(&runs[i], id);
        *count += cells[*count] != NULL;
        if (i < whole && *count <= i) {
            free(cells);
            err_set(err, ERR_UNSUPPORTED, "%s was not measured in every process", id);
            return NULL;
        }
    }
    return cells;
}

static int by_median(const void *a, const void *b)
{
    const struct cell *const *x = a, *const *y = b;
    return ((*x)->median_ns > (*y)->median_ns) - ((*x)->median_ns < (*y)->median_ns);
}

/* *skipped: all of them were. */
static bool check_status(const struct cell *const *cells, size_t count, bool *skipped, struct err *err)
{
    size_t skips = 0;

    for (size_t i = 0; i < count; i++) {
        const struct cell *cell = cells[i];
        skips += cell->status == CELL_SKIPPED;
        if (cell->status != CELL_OK && cell->status != CELL_SKIPPED)
            return err_set(err, cell->status == CELL_WRONG ? ERR_WRONG : ERR_TIMEOUT,
                           "no baseline: %s is %s (%s)", cell->id, cell_status_name(cell->status),
                           cell->reason ? cell->reason : "without a reason");
    }
    *skipped = skips == count;
    if (skips && !*skipped)
        return err_set(err, ERR_UNSUPPORTED, "no baseline: %s was skipped in some processes only",
                       cells[0]->id);
    return true;
}

static bool add_cell(const struct results *runs, size_t whole, size_t count, const char *id,
                     struct results *out, struct json *medians, struct err *err)
{
    const struct cell **cells = cells_of(runs, whole, &count, id, err);
    bool skipped = false;
    bool ok = cells && check_status(cells, count, &skipped, err);

    if (ok && !skipped) {
        struct json *list = json_set_array(medians, id);
        for (size_t i = 0; i < count; i++)
            json_add_u64(list, cells[i]->median_ns);
        qsort(cells, count, sizeof(*cells), by_median);
    }
    ok = ok && results_add(out, cells[(count - 1) / 2], err);
    free(cells);
    return ok;
}

/* The state of the machine during all of the runs. */
static bool add_environment(const struct results *runs, size_t count, struct json *head, struct err *err)
{
    struct json *all = json_new_array();

    for (size_t i = 0; i < count; i++) {
        const struct json *records = json_get(runs[i].head, "environment");
        for (size_t k = 0; k < json_count(records); k++) {
            struct json *copy = json_copy(json_at(records, k), err);
            if (!copy) {
                json_free(all);
                return false;
            }
            json_add(all, copy);
        }
    }
    json_set(head, "environment", all);
    return true;
}

/* Members of a head but for one. */
static struct json *copy_without(const struct json *head, const char *key, struct err *err)
{
    struct json *out = json_new_object();

    for (size_t i = 0; out && i < json_count(head); i++) {
        const struct json *member = json_at(head, i);
        struct json *copy = strcmp(json_key(member), key) != 0 ? json_copy(member, err) : NULL;
        if (copy)
            json_set(out, json_key(member), copy);
    }
    return out;
}

bool baseline_make(const struct results *runs, size_t whole, size_t count, struct results *out, struct err *err)
{
    *out = (struct results){0};
    out->head = copy_without(runs[0].head, "environment", err);
    out->devices = mem_calloc(runs[0].device_count, sizeof(*out->devices), "devices", err);
    if (!out->head || !out->devices) {
        results_fini(out);
        return false;
    }
    out->device_count = runs[0].device_count;
    if (out->device_count)
        memcpy(out->devices, runs[0].devices, out->device_count * sizeof(*out->devices));
    struct json *baseline = json_set_object(out->head, "baseline");
    json_set_u64(baseline, "processes", whole);
    struct json *medians = json_set_object(baseline, "medians_ns");
    bool ok = add_environment(runs, count, out->head, err);
    for (size_t i = 0; ok && i < runs[0].cell_count; i++)
        ok = add_cell(runs, whole, count, runs[0].cells[i].id, out, medians, err);
    if (!ok)
        results_fini(out);
    return ok;
}
