#include "base/suggest.h"

#include <limits.h>
#include <string.h>

#define WORD_MAX 63

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned min_unsigned(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance, three rows at a time. */
unsigned suggest_distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    unsigned rows[3][WORD_MAX + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];

    if (na > WORD_MAX || nb > WORD_MAX)
        return UINT_MAX;
    for (size_t j = 0; j <= nb; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *recycled = before;
        before = above;
        above = row;
        row = recycled;
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            char ca = lower(a[i - 1]), cb = lower(b[j - 1]);
            row[j] = min_unsigned(above[j - 1] + (ca != cb), min_unsigned(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && ca == lower(b[j - 2]) && cb == lower(a[i - 2]))
                row[j] = min_unsigned(row[j], before[j - 2] + 1);
        }
    }
    return row[nb];
}

void suggest_init(struct suggest *s, const char *word)
{
    s->word = word;
    s->best = NULL;
    /* A third of the word may be wrong; of two letters, one. */
    s->distance = (unsigned)(strlen(word) + 2) / 3 + 1;
}

void suggest_offer(struct suggest *s, const char *candidate)
{
    unsigned distance = suggest_distance(s->word, candidate);

    /* Replacing every letter of a short word is no likeness. */
    if (distance < s->distance && distance < strlen(candidate)) {
        s->distance = distance;
        s->best = candidate;
    }
}

const char *suggest_from(const char *word, const char *const *candidates)
{
    struct suggest s;

    suggest_init(&s, word);
    for (; *candidates; candidates++)
        suggest_offer(&s, *candidates);
    return s.best;
}
