/* verify --repeats: which variants give the same bits in every call, and how far the others differ. */
#ifndef GPUBENCH_CLI_VERIFY_REPEATS_H
#define GPUBENCH_CLI_VERIFY_REPEATS_H

#include <signal.h>

#include "cli/verify_subjects.h"

/* Prints a row for each gradient variant of each device, and counts it by its verdict: those that promise the same
 * bits are ok or wrong, the others only shown. false only with ERR_INTERRUPTED. */
bool verify_repeats_print(const struct subjects *subjects, const struct golden_case *c, uint64_t repeats,
                          const volatile sig_atomic_t *stop, size_t by_verdict[VERIFY_FAILED + 1],
                          struct err *err) GB_NODISCARD;

#endif
