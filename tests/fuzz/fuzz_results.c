/* A results file or a journal is read or refused with a reason; what was read can be written, read again, and made
 * into every table. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "record/results.h"
#include "report/table.h"

static void make_tables(const struct results *results)
{
    size_t kinds;
    const struct table_kind *kind = table_kinds(&kinds);

    for (size_t k = 0; k < kinds; k++) {
        struct table *tables = NULL;
        struct strbuf text = STRBUF_INIT;
        struct err err = ERR_INIT;
        size_t count = 0;

        if (kind[k].make(results, &tables, &count, &err))
            for (size_t i = 0; i < count; i++)
                if (!table_write_text(&tables[i], 80, false, &text, &err))
                    abort();
        if (strstr(strbuf_str(&text), "nan") || strstr(strbuf_str(&text), "inf "))
            abort();
        for (size_t i = 0; i < count; i++)
            table_fini(&tables[i]);
        free(tables);
        strbuf_fini(&text);
        err_fini(&err);
    }
}

static void write_and_reread(const struct results *results)
{
    struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
    struct results again;
    struct err err = ERR_INIT;

    if (!results_print(results, &first, &err) ||
        !results_parse(first.data, first.len, "again", &again, &err) || !results_print(&again, &second, &err) ||
        strcmp(first.data, second.data) != 0)
        abort();
    results_fini(&again);
    strbuf_fini(&first);
    strbuf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = ERR_INIT;
    struct results results;

    if (results_parse((const char *)data, size, "input", &results, &err)) {
        write_and_reread(&results);
        make_tables(&results);
        results_fini(&results);
    } else if (err.code == ERR_NONE || err.text[0] == '\0') {
        abort();
    }
    err_fini(&err);
    return 0;
}
