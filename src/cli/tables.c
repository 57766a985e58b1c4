#include "cli/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "report/table.h"

#define DEFAULT_COLUMNS 80

static size_t terminal_columns(void)
{
    struct winsize size;
    const char *told = getenv("COLUMNS");
    const unsigned long columns = told ? strtoul(told, NULL, 10) : 0;

    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return size.ws_col;
    if (columns >= 40 && columns <= 10000)
        return columns;
    return DEFAULT_COLUMNS;
}

static bool use_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

static bool write_text(const struct table_run *runs, size_t count, struct strbuf *out, struct err *err)
{
    for (size_t r = 0; r < count; r++) {
        if (count > 1)
            strbuf_addf(out, "%s==> %s <==\n", r ? "\n" : "", runs[r].results->path);
        for (size_t i = 0; i < runs[r].count; i++) {
            if (i)
                strbuf_addc(out, '\n');
            if (!table_write_text(&runs[r].tables[i], terminal_columns(), use_colour(), out, err))
                return false;
        }
    }
    return true;
}

static bool write_markdown(const struct table_run *runs, size_t count, struct strbuf *out, struct err *err)
{
    for (size_t r = 0; r < count; r++) {
        if (count > 1)
            strbuf_addf(out, "%s## %s\n\n", r ? "\n" : "", runs[r].results->path);
        for (size_t i = 0; i < runs[r].count; i++) {
            if (i)
                strbuf_addc(out, '\n');
            if (!table_write_markdown(&runs[r].tables[i], out, err))
                return false;
        }
    }
    return true;
}

const char *const table_formats[] = {"text", "markdown", "csv", "json", "html", NULL};

/* In the order of table_formats. */
static bool (*const writers[])(const struct table_run *, size_t, struct strbuf *, struct err *) = {
    write_text, write_markdown, results_write_csv, tables_write_json, results_write_html};

static size_t format_index(const char *format)
{
    for (size_t i = 0; format && table_formats[i]; i++)
        if (strcmp(table_formats[i], format) == 0)
            return i;
    return 0;
}

static bool make_tables(struct table_run *run, const char *const *names, size_t count, struct err *err)
{
    const struct json *own = json_get(json_get(run->results->head, "config"), "tables");
    size_t total = count ? count : own ? json_count(own) : 1;

    for (size_t i = 0; i < total; i++) {
        const char *name = count ? names[i] : own ? json_string(json_at(own, i)) : "speedup";
        const struct table_kind *kind = table_kind_find(name);
        if (!kind)
            return tables_unknown(name, err);
        if (!kind->make(run->results, &run->tables, &run->count, err))
            return err_wrap(err, "table %s", name);
    }
    for (size_t i = 0; run->results->partial && i < run->count; i++)
        table_note(&run->tables[i], "partial: the run was interrupted before all was measured");
    return true;
}

bool tables_show(struct table *tables, size_t count, const char *format, struct err *err)
{
    const struct table_run run = {NULL, tables, count};
    struct strbuf text = STRBUF_INIT;
    bool ok = writers[format_index(format)](&run, 1, &text, err) && print_text(&text, err);

    strbuf_fini(&text);
    return ok;
}

bool tables_unknown(const char *name, struct err *err)
{
    struct strbuf list = STRBUF_INIT;
    struct suggest near;
    size_t count;
    const struct table_kind *kinds = table_kinds(&count);

    suggest_init(&near, name);
    for (size_t i = 0; i < count; i++) {
        suggest_offer(&near, kinds[i].name);
        strbuf_addf(&list, "%s%s", i ? ", " : "", kinds[i].name);
    }
    if (near.best)
        err_set(err, ERR_CONFIG, "\"%s\" is not a table; did you mean \"%s\"?", name, near.best);
    else
        err_set(err, ERR_CONFIG, "\"%s\" is not a table; there are %s", name, strbuf_str(&list));
    strbuf_fini(&list);
    return false;
}

bool tables_check_names(const char *const *names, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        if (!table_kind_find(names[i]))
            return tables_unknown(names[i], err);
    return true;
}

bool tables_write(const struct results *results, size_t run_count, const char *const *names, size_t count,
                  const char *format, struct strbuf *out, struct err *err)
{
    struct table_run *runs = mem_calloc(run_count, sizeof *runs, "runs", err);
    bool ok = runs != NULL;

    for (size_t i = 0; ok && i < run_count; i++) {
        runs[i].results = &results[i];
        ok = make_tables(&runs[i], names, count, err);
    }
    ok = ok && writers[format_index(format)](runs, run_count, out, err) && strbuf_ok(out, err);
    for (size_t i = 0; runs && i < run_count; i++)
        tables_free(runs[i].tables, runs[i].count);
    free(runs);
    return ok;
}

bool tables_print(const struct results *results, size_t run_count, const char *const *names, size_t count,
                  const char *format, struct err *err)
{
    struct strbuf text = STRBUF_INIT;
    bool ok = tables_write(results, run_count, names, count, format, &text, err) && print_text(&text, err);

    strbuf_fini(&text);
    return ok;
}

const char *const verdict_formats[] = {"text", "markdown", "json", NULL};
