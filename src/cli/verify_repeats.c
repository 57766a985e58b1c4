#include "cli/verify_repeats.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/verify_table.h"

static void print_spread(const char *name, const struct verify_spread *s, const char *verdict)
{
    char units[32] = "not finite";

    if (s->units != UINT32_MAX)
        snprintf(units, sizeof units, "%" PRIu32, s->units);
    printf("  %-*s %8" PRIu64 " %9" PRIu64 " %10s %8.1e%s%s\n", VERIFY_NAME_COLUMNS - 2, name, s->values,
           s->differing, units, s->relative, *verdict ? " " : "", verdict);
}

/* What promises nothing is shown, and counts only where it fails. */
static void repeat_variant(const struct subject *subject, const struct verify_variant *variant,
                           const char *name, const struct golden_case *c, uint64_t repeats,
                           size_t by_verdict[VERIFY_FAILED + 1])
{
    struct verify_spread spread;
    struct err err = ERR_INIT;
    enum verify_verdict verdict = VERIFY_OK;

    if (!verify_repeats(subject->renderer, c, variant, repeats, &spread, &err)) {
        verdict = err.code == ERR_UNSUPPORTED || err.code == ERR_LIMIT ? VERIFY_SKIPPED : VERIFY_FAILED;
        printf("  %-*s %s: %s\n", VERIFY_NAME_COLUMNS - 2, name,
               verdict == VERIFY_SKIPPED ? "skipped" : "FAILED", err.text);
        by_verdict[verdict]++;
        err_fini(&err);
        return;
    }
    const bool promised = verify_reproducible(subject->renderer->info.backend, variant);
    if ((promised && spread.differing > 0) || spread.units == UINT32_MAX)
        verdict = VERIFY_WRONG;
    print_spread(name, &spread, verdict == VERIFY_WRONG ? "WRONG" : promised ? "ok" : "");
    if (promised || verdict != VERIFY_OK)
        by_verdict[verdict]++;
}

bool verify_repeats_print(const struct subjects *subjects, const struct golden_case *c, uint64_t repeats,
                          const volatile sig_atomic_t *stop, size_t by_verdict[VERIFY_FAILED + 1],
                          struct err *err)
{
    char title[64];
    size_t row = 0;

    snprintf(title, sizeof title, "the same call %" PRIu64 " times", repeats);
    printf("%-*s %8s %9s %10s %8s\n", VERIFY_NAME_COLUMNS, title, "values", "differing", "last bits",
           "relative");
    for (size_t i = 0; i < subjects->count; i++) {
        const struct subject *subject = &subjects->list[i];
        for (size_t k = 0; k < subject->variant_count; k++, row++) {
            if (*stop)
                return err_set(err, ERR_INTERRUPTED, "interrupted while calls were repeated");
            if (subjects->rows[row].gradient)
                repeat_variant(subject, &subject->variants[k], subjects->rows[row].name, c, repeats,
                               by_verdict);
        }
    }
    putchar('\n');
    return true;
}
