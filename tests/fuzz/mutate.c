/* A small driver for fuzz targets where there is no libFuzzer: mutates each seed file a number of times,
 * the same way in every run, and reports in TAP. Sanitizers end the program when something is wrong.
 *
 *   PROGRAM ROUNDS SEED_FILE...
 *
 * The inputs of a NAME.corpus (tests/fuzz/corpus.py) are fed as they are.
 */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "model/rng.h"
#include "base/units.h"

static const char *const tokens[] = {"{",  "}",    "[",     "]",   ",",     ":",   "\"",     "\\",  "\\u0000", "null",
                                     "-1", "1e99", "1e999", "0.5", "65536", "1.7", "\"a\":", "P6 ", "\n",      "\xFF"};

static size_t below(struct rng *rng, size_t limit)
{
    return limit ? (size_t)(rng_next(rng) % limit) : 0;
}

/* Replaces `cut` bytes at `at` by len bytes. */
static void splice(struct strbuf *text, size_t at, size_t cut, const char *bytes, size_t len)
{
    struct strbuf out = STRBUF_INIT;
    strbuf_add_bytes(&out, strbuf_str(text), at);
    strbuf_add_bytes(&out, bytes, len);
    strbuf_add_bytes(&out, strbuf_str(text) + at + cut, text->len - at - cut);
    strbuf_fini(text);
    *text = out;
}

static void mutate(struct strbuf *text, struct rng *rng)
{
    size_t at = below(rng, text->len + 1), room = text->len - at;
    size_t span = below(rng, room < 40 ? room + 1 : 40);
    const char *token = tokens[below(rng, sizeof(tokens) / sizeof(tokens[0]))];
    char byte = (char)rng_next(rng);

    switch (below(rng, 5)) {
    case 0:
        splice(text, at, span, "", 0);
        break;
    case 1:
        splice(text, at, 0, token, strlen(token));
        break;
    case 2:
        splice(text, at, span, token, strlen(token));
        break;
    case 3:
        splice(text, at, room > 0, &byte, 1);
        break;
    default: {
        char copy[40];
        memcpy(copy, strbuf_str(text) + at, span);
        splice(text, below(rng, text->len + 1), 0, copy, span);
    }
    }
}

/* An exact copy on the heap, so that a read past the end is seen. */
static void feed(const char *text, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);
    if (!copy)
        abort();
    memcpy(copy, text, len);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
}

static void feed_mutated(const struct strbuf *seed, uint64_t rounds)
{
    struct rng rng;

    feed(strbuf_str(seed), seed->len);
    for (uint64_t round = 0; round < rounds; round++) {
        struct strbuf text = STRBUF_INIT;
        rng_init(&rng, 11, round);
        strbuf_add_bytes(&text, strbuf_str(seed), seed->len);
        for (size_t n = 1 + below(&rng, 4); n > 0; n--)
            mutate(&text, &rng);
        feed(strbuf_str(&text), text.len);
        strbuf_fini(&text);
    }
}

/* Inputs behind their lengths. false: it is cut short, or empty. */
static bool feed_corpus(const struct strbuf *packed)
{
    const char *data = strbuf_str(packed);
    size_t at = 0;

    while (packed->len - at >= 4) {
        size_t len = 0;
        for (int i = 3; i >= 0; i--)
            len = len << 8 | (unsigned char)data[at + (size_t)i];
        at += 4;
        if (len > packed->len - at)
            return false;
        feed(data + at, len);
        at += len;
    }
    return packed->len > 0 && at == packed->len;
}

int main(int argc, char **argv)
{
    uint64_t rounds = 0;
    if (argc < 3 || !units_parse_u64(argv[1], &rounds))
        return 2;

    printf("1..%d\n", argc - 2);
    for (int i = 2; i < argc; i++) {
        struct strbuf seed = STRBUF_INIT;
        struct err err = ERR_INIT;
        const char *ending = strrchr(argv[i], '.');

        if (!strbuf_add_file(&seed, argv[i], &err)) {
            printf("not ok %d - %s\n", i - 1, err.text);
            return 1;
        }
        bool ok = true;
        if (ending && strcmp(ending, ".corpus") == 0)
            ok = feed_corpus(&seed);
        else
            feed_mutated(&seed, rounds);
        strbuf_fini(&seed);
        printf("%s %d - %s\n", ok ? "ok" : "not ok", i - 1, argv[i]);
        fflush(stdout);
    }
    return 0;
}
