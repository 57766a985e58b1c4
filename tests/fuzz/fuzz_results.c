/* A results file or a journal is read or refused with a reason; what was read can be written, read again, and
 * made into every table, a page, a CSV and an answer. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "record/results.h"
#include "report/decide.h"
#include "report/refine.h"
#include "report/table.h"

/* Numbers that are none; names in the file may be called so. */
static bool has_no_number(const char *text)
{
    return strstr(text, "nan") || strstr(text, "inf ");
}

static void make_tables(const struct results *results)
{
    struct strbuf file = STRBUF_INIT;
    struct err unwritten = ERR_INIT;
    size_t kinds;
    const struct table_kind *kind = table_kinds(&kinds);

    if (!results_print(results, &file, &unwritten))
        abort();
    const bool said = has_no_number(strbuf_str(&file));
    strbuf_fini(&file);

    for (size_t k = 0; k < kinds; k++) {
        struct table *tables = NULL;
        struct strbuf text = STRBUF_INIT;
        struct err err = ERR_INIT;
        size_t count = 0;

        if (kind[k].make(results, &tables, &count, &err))
            for (size_t i = 0; i < count; i++)
                if (!table_write_text(&tables[i], 80, false, &text, &err))
                    abort();
        if (has_no_number(strbuf_str(&text)) && !said)
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
        !results_parse(first.data, first.len, "again", &again, &err) ||
        !results_print(&again, &second, &err) || strcmp(first.data, second.data) != 0)
        abort();
    results_fini(&again);
    strbuf_fini(&first);
    strbuf_fini(&second);
}

static void write_page(const struct results *results)
{
    const struct table_run run = {.results = results};
    struct strbuf page = STRBUF_INIT, csv = STRBUF_INIT;
    struct err err = ERR_INIT;

    if (!results_write_html(&run, 1, &page, &err) || !results_write_csv(&run, 1, &csv, &err))
        err_fini(&err);
    strbuf_fini(&page);
    strbuf_fini(&csv);
}

/* About a place between the first cell's and something near, by triangles and by pairs. */
static void ask(const struct results *results)
{
    struct decide_question question = {.has_triangles = true};
    struct refine_place *places = NULL;
    struct decision decision;
    struct err err = ERR_INIT;
    size_t count;

    if (results->cell_count == 0)
        return;
    question.spec = results->cells[0].spec;
    question.spec.width += question.spec.width / 2;
    for (int by_pairs = 0; by_pairs < 2; by_pairs++) {
        struct json *object = json_new_object();
        question.pairs = by_pairs ? 1.5 * (double)results->cells[0].pairs : 0;
        if (decide(results, &question, &decision, &err) &&
            decide_rule_to_json(results, &question.spec, object, &err))
            decision_to_json(results, &decision, object);
        err_fini(&err);
        json_free(object);
    }
    if (!refine_places(results, &places, &count, &err))
        err_fini(&err);
    free(places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = ERR_INIT;
    struct results results;

    if (results_parse((const char *)data, size, "input", &results, &err)) {
        write_and_reread(&results);
        make_tables(&results);
        write_page(&results);
        ask(&results);
        results_fini(&results);
    } else if (err.code == ERR_NONE || err.text[0] == '\0') {
        abort();
    }
    err_fini(&err);
    return 0;
}
