#include "report/match.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "report/select.h"

void match_fini(struct match_list *list)
{
    if (!list)
        return;
    free(list->items);
    *list = (struct match_list){0};
}

static const char *selector_of(const struct results *results, const struct cell *cell)
{
    return cell->device < results->device_count ? results->devices[cell->device].selector : "";
}

/* The same backend, in every key that matters; where it runs on several devices of its run, on the same one.
 */
static bool same_keys(const struct cell *a, const struct cell *b)
{
    size_t count;
    const struct spec_key *keys = spec_keys(&count);

    if (strcmp(a->backend, b->backend) != 0 || a->kind != b->kind)
        return false;
    for (size_t i = 0; i < count; i++) {
        const bool matters =
            spec_matters(&a->spec, &keys[i], a->kind) || spec_matters(&b->spec, &keys[i], b->kind);
        if (matters && !spec_equal(&a->spec, &b->spec, &keys[i]))
            return false;
    }
    return true;
}

static bool one_device(const struct results *results, const struct cell *cell)
{
    for (size_t i = 0; i < results->cell_count; i++)
        if (strcmp(results->cells[i].backend, cell->backend) == 0 && results->cells[i].device != cell->device)
            return false;
    return true;
}

static const struct cell *partner(const struct results *was, const struct cell *cell,
                                  const struct results *now)
{
    const struct cell *same = results_find(now, cell->id);

    for (size_t i = 0; !same && i < now->cell_count; i++) {
        const struct cell *other = &now->cells[i];
        const bool places = (one_device(was, cell) && one_device(now, other)) ||
                            strcmp(selector_of(was, cell), selector_of(now, other)) == 0;
        if (places && same_keys(cell, other) && !results_find(was, other->id))
            same = other;
    }
    return same;
}

bool match_cells(const struct results *was, const struct results *now, struct match_list *out,
                 struct err *err)
{
    bool *taken = mem_calloc(now->cell_count, sizeof(*taken), "cells", err);

    *out = (struct match_list){0};
    out->items = mem_calloc(was->cell_count + now->cell_count, sizeof(*out->items), "cells", err);
    if (!taken || !out->items) {
        free(taken);
        match_fini(out);
        return false;
    }
    for (size_t i = 0; i < was->cell_count; i++) {
        const struct cell *other = partner(was, &was->cells[i], now);
        if (other && taken[other - now->cells])
            other = NULL;
        if (other) {
            taken[other - now->cells] = true;
            out->both++;
        }
        out->items[out->count++] = (struct match){&was->cells[i], other};
    }
    for (size_t i = 0; i < now->cell_count; i++)
        if (!taken[i])
            out->items[out->count++] = (struct match){NULL, &now->cells[i]};
    free(taken);
    return true;
}

bool match_same_pairs(const struct cell *was, const struct cell *now)
{
    return fabs((double)now->pairs - (double)was->pairs) <= MATCH_PAIRS_TOLERANCE * (double)was->pairs;
}

bool match_same_work(const struct match *match, char why[MATCH_WHY_MAX])
{
    static const char *const names[] = {"mode", "size", "triangles", "batch", "sigma", "source", "upstream"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct spec_key *key = spec_find(names[i]);
        char before[SPEC_TEXT_MAX], after[SPEC_TEXT_MAX];
        if (spec_equal(&match->was->spec, &match->now->spec, key))
            continue;
        spec_text(&match->was->spec, key, before);
        spec_text(&match->now->spec, key, after);
        snprintf(why, MATCH_WHY_MAX, "%s %s -> %s", names[i], before, after);
        return false;
    }
    if (match->was->pairs == 0 || match->now->pairs == 0 || match_same_pairs(match->was, match->now))
        return true;
    snprintf(why, MATCH_WHY_MAX, "pairs %" PRIu64 " -> %" PRIu64 ": other scenes", match->was->pairs,
             match->now->pairs);
    return false;
}

/* ---- machines ---- */

/* A scalar as text; "" where it is null or absent. */
static void text_of(const struct json *node, char out[64])
{
    uint64_t number;

    out[0] = '\0';
    if (node && json_type(node) == JSON_STRING)
        snprintf(out, 64, "%.63s", json_string(node));
    else if (node && json_u64(node, &number))
        snprintf(out, 64, "%" PRIu64, number);
}

static bool same_cpu(const struct results *was, const struct results *now, char why[MATCH_WHY_MAX])
{
    static const char *const parts[] = {"model", "sockets", "cores", "threads"};
    static const char *const words[] = {"CPU", "CPU sockets", "CPU cores", "CPU threads"};
    const struct json *before = json_get(json_get(was->head, "machine"), "cpu");
    const struct json *after = json_get(json_get(now->head, "machine"), "cpu");

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char old[64], new[64];
        text_of(json_get(before, parts[i]), old);
        text_of(json_get(after, parts[i]), new);
        if (strcmp(old, new) != 0) {
            snprintf(why, MATCH_WHY_MAX, "%s %s -> %s", words[i], *old ? old : "unknown",
                     *new ? new : "unknown");
            return false;
        }
    }
    return true;
}

bool match_same_machine(const struct results *was, const struct results *now, char why[MATCH_WHY_MAX])
{
    why[0] = '\0';
    if (!same_cpu(was, now, why))
        return false;
    for (size_t i = 0; i < was->device_count; i++)
        for (size_t k = 0; k < now->device_count; k++) {
            const struct device_info *a = &was->devices[i], *b = &now->devices[k];
            if (strcmp(a->selector, b->selector) == 0 && strcmp(a->name, b->name) != 0) {
                snprintf(why, MATCH_WHY_MAX, "device %s %.56s -> %.56s", a->selector, a->name, b->name);
                return false;
            }
        }
    return true;
}
