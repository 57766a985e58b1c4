#include "cli/verify_pairs.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/verify_table.h"

static bool add_pair(struct verify_pairs *p, size_t row, size_t base, struct err *err)
{
    void *pairs = p->pairs;

    if (!mem_grow(&pairs, &p->capacity, p->count + 1, sizeof *p->pairs, "pairs", err))
        return false;
    p->pairs = pairs;
    struct verify_pair *pair = &p->pairs[p->count++];
    *pair = (struct verify_pair){.row = row, .base = base};
    agreement_init(&pair->worst);
    return true;
}

bool verify_pairs_init(struct verify_pairs *p, const struct verify_row *rows, size_t count, struct err *err)
{
    *p = (struct verify_pairs){0};
    for (size_t base = 0; base < count; base++) {
        if (!rows[base].is_default)
            continue;
        bool first = rows[base].subject == 0;
        for (size_t row = 0; row < count; row++) {
            bool later = rows[row].subject > rows[base].subject && rows[row].is_default;
            if (row == base || !rows[row].gradient || !(first || later))
                continue;
            if (!add_pair(p, row, base, err))
                return false;
        }
    }
    return true;
}

bool verify_pairs_add(struct verify_pairs *p, const struct golden_case *c,
                      const struct verify_result *results, struct err *err)
{
    struct agreement tolerance = c->tolerance;

    for (size_t i = 0; i < AGREE_GROUPS; i++)
        tolerance.value[i] *= 2;
    for (size_t i = 0; i < p->count; i++) {
        struct verify_pair *pair = &p->pairs[i];
        struct agreement errors;
        enum agreement_group group;
        if (!results[pair->row].grads || !results[pair->base].grads)
            continue;
        if (!verify_compare(c, &results[pair->row], &results[pair->base], &errors, err))
            return false;
        agreement_worst(&pair->worst, &errors);
        pair->compared = true;
        pair->wrong = pair->wrong || !agreement_within(&errors, &tolerance, &group);
    }
    return true;
}

void verify_pairs_print(const struct verify_pairs *p, const struct verify_row *rows, size_t *right,
                        size_t *wrong)
{
    size_t base = SIZE_MAX;

    for (size_t i = 0; i < p->count; i++) {
        const struct verify_pair *pair = &p->pairs[i];
        if (!pair->compared)
            continue;
        if (pair->base != base) {
            struct strbuf title = STRBUF_INIT;
            base = pair->base;
            strbuf_addf(&title, "against %s", rows[base].name);
            verify_table_head(strbuf_str(&title));
            strbuf_fini(&title);
        }
        verify_table_row(rows[pair->row].name, &pair->worst, pair->wrong ? "WRONG" : "ok");
        ++*(pair->wrong ? wrong : right);
        if (i + 1 == p->count || p->pairs[i + 1].base != base)
            putchar('\n');
    }
}

void verify_pairs_fini(struct verify_pairs *p)
{
    free(p->pairs);
    *p = (struct verify_pairs){0};
}
