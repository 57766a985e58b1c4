/* "did you mean": the nearest of a set of names to a misspelt one. */
#ifndef GPUBENCH_BASE_SUGGEST_H
#define GPUBENCH_BASE_SUGGEST_H

#include <stddef.h>

/* Offer every candidate in turn, then read `best`: NULL when none is near enough to be what was meant. */
struct suggest {
    const char *word; /* borrowed */
    const char *best; /* one of the candidates, borrowed */
    unsigned distance;
};

void suggest_init(struct suggest *s, const char *word);
void suggest_offer(struct suggest *s, const char *candidate);

/* The same over a NULL-terminated list. */
const char *suggest_from(const char *word, const char *const *candidates);

/* Edits (insertion, deletion, substitution, swap of neighbours) between two words, ASCII case ignored;
 * UINT_MAX where one is longer than 63 bytes. */
unsigned suggest_distance(const char *a, const char *b);

#endif
