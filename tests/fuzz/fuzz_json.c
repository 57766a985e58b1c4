/* What parses prints, and reads back to the same text; what does not parse says so. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static void round_trip(const struct json *root, bool pretty)
{
    struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
    struct err err = ERR_INIT;

    if (!json_print(root, pretty, &first, &err))
        abort();
    struct json *again = json_parse(strbuf_str(&first), first.len, "printed", &err);
    struct json *copy = again ? json_copy(again, &err) : NULL;
    if (!copy || !json_print(copy, pretty, &second, &err))
        abort();
    if (first.len != second.len || memcmp(first.data, second.data, first.len) != 0)
        abort();
    json_free(again);
    json_free(copy);
    strbuf_fini(&first);
    strbuf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = ERR_INIT;
    struct json *root = json_parse((const char *)data, size, "input", &err);

    if (root) {
        round_trip(root, false);
        round_trip(root, true);
    } else if (err.code != ERR_CONFIG || err.text[0] == '\0') {
        abort();
    }
    json_free(root);
    err_fini(&err);
    return 0;
}
