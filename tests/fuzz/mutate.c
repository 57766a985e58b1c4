/* A small driver for fuzz targets where there is no libFuzzer: mutates each seed file a number of times,
 * the same way in every run, and reports in TAP. Sanitizers end the program when something is wrong.
 *
 *   PROGRAM ROUNDS SEED_FILE...
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
static void feed(const struct strbuf *text)
{
    uint8_t *copy = malloc(text->len ? text->len : 1);
    if (!copy)
        abort();
    memcpy(copy, strbuf_str(text), text->len);
    LLVMFuzzerTestOneInput(copy, text->len);
    free(copy);
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
        struct rng rng;

        if (!strbuf_add_file(&seed, argv[i], &err)) {
            printf("not ok %d - %s\n", i - 1, err.text);
            return 1;
        }
        feed(&seed);
        for (uint64_t round = 0; round < rounds; round++) {
            struct strbuf text = STRBUF_INIT;
            rng_init(&rng, 11, round);
            strbuf_add_bytes(&text, strbuf_str(&seed), seed.len);
            for (size_t n = 1 + below(&rng, 4); n > 0; n--)
                mutate(&text, &rng);
            feed(&text);
            strbuf_fini(&text);
        }
        strbuf_fini(&seed);
        printf("ok %d - %s\n", i - 1, argv[i]);
        fflush(stdout);
    }
    return 0;
}
