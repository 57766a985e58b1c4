/* What the reader of results lets through can be compared with itself, checked against itself, and warned of. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "report/compare.h"
#include "report/regress.h"
#include "report/warnings.h"

/* Tables print, JSON reads back, and there is no figure that is none. */
static void look_at(struct table *tables, size_t count, const struct strbuf *json)
{
    struct strbuf text = STRBUF_INIT;
    struct err err = ERR_INIT;

    for (size_t i = 0; i < count; i++)
        if (!table_write_text(&tables[i], 80, false, &text, &err))
            abort();
    struct json *root = json_parse(json->data, json->len, "the report", &err);
    if (!root)
        abort();
    json_free(root);
    tables_free(tables, count);
    strbuf_fini(&text);
    err_fini(&err);
}

static void compare(const struct results *results)
{
    struct comparison c;
    struct strbuf json = STRBUF_INIT;
    struct table *tables = NULL;
    size_t count = 0;
    struct err err = ERR_INIT;

    if (!compare_runs(results, results, &c, &err) || !comparison_table(&c, &tables, &count, &err) ||
        !comparison_json(&c, &json, &err))
        abort();
    look_at(tables, count, &json);
    strbuf_fini(&json);
    comparison_fini(&c);
}

static void check(const struct results *results)
{
    struct regression r;
    struct strbuf json = STRBUF_INIT;
    struct table *tables = NULL;
    size_t count = 0;
    struct err err = ERR_INIT;

    if (!regress_init(&r, results, results, JUDGE_THRESHOLD, &err)) {
        if (err.text[0] == '\0')
            abort();
        err_fini(&err);
        return;
    }
    bool ok = true;
    for (int i = 0; ok && i < 2 * JUDGE_MOST && regress_pending(&r, NULL) > 0; i++)
        ok = regress_again(&r, results, &err);
    regress_limit(&r, 0);
    if (!ok || !regress_finish(&r, &err)) {
        if (err.text[0] == '\0')
            abort();
    } else {
        if (!regress_table(&r, &tables, &count, &err) || !regress_json(&r, 0, &json, &err))
            abort();
        look_at(tables, count, &json);
        strbuf_reset(&json);
        regress_annotations(&r, &json);
    }
    strbuf_fini(&json);
    regress_fini(&r);
    err_fini(&err);
}

static void hear(void *context, const char *text)
{
    (void)context;
    if (*text == '\0')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = ERR_INIT;
    struct results results;

    if (results_parse((const char *)data, size, "input", &results, &err)) {
        compare(&results);
        check(&results);
        warnings_tell(&results, hear, NULL);
        results_fini(&results);
    }
    err_fini(&err);
    return 0;
}
