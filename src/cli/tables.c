#include "cli/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "report/table.h"

#define DEFAULT_COLUMNS 80

static size_t terminal_columns(void)
{
    struct winsize size;

    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return size.ws_col;
    return DEFAULT_COLUMNS;
}

static bool use_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

struct collection {
    struct table *tables;
    size_t count;
};

static bool write_text(const struct collection *c, const struct results *results, struct strbuf *out,
                       struct err *err)
{
    (void)results;
    for (size_t i = 0; i < c->count; i++) {
        if (i)
            strbuf_addc(out, '\n');
        if (!table_write_text(&c->tables[i], terminal_columns(), use_colour(), out, err))
            return false;
    }
    return true;
}

static bool write_markdown(const struct collection *c, const struct results *results, struct strbuf *out,
                           struct err *err)
{
    (void)results;
    for (size_t i = 0; i < c->count; i++) {
        if (i)
            strbuf_addc(out, '\n');
        if (!table_write_markdown(&c->tables[i], out, err))
            return false;
    }
    return true;
}

static bool write_csv(const struct collection *c, const struct results *results, struct strbuf *out,
                      struct err *err)
{
    (void)c;
    return results_write_csv(results, out, err);
}

static bool write_json(const struct collection *c, const struct results *results, struct strbuf *out,
                       struct err *err)
{
    (void)results;
    return tables_write_json(c->tables, c->count, out, err);
}

static bool write_html(const struct collection *c, const struct results *results, struct strbuf *out,
                       struct err *err)
{
    return results_write_html(results, c->tables, c->count, out, err);
}

const char *const table_formats[] = {"text", "markdown", "csv", "json", "html", NULL};

/* In the order of table_formats. */
static bool (*const writers[])(const struct collection *, const struct results *, struct strbuf *,
                               struct err *) = {write_text, write_markdown, write_csv, write_json,
                                                write_html};

static size_t format_index(const char *format)
{
    for (size_t i = 0; format && table_formats[i]; i++)
        if (strcmp(table_formats[i], format) == 0)
            return i;
    return 0;
}

static bool make_tables(const struct results *results, const char *const *names, size_t count,
                        struct collection *out, struct err *err)
{
    const struct json *own = json_get(json_get(results->head, "config"), "tables");
    size_t total = count ? count : own ? json_count(own) : 1;

    for (size_t i = 0; i < total; i++) {
        const char *name = count ? names[i] : own ? json_string(json_at(own, i)) : "speedup";
        const struct table_kind *kind = table_kind_find(name);
        if (!kind)
            return tables_unknown(name, err);
        if (!kind->make(results, &out->tables, &out->count, err))
            return err_wrap(err, "table %s", name);
    }
    return true;
}

bool tables_show(struct table *tables, size_t count, const char *format, struct err *err)
{
    struct collection c = {tables, count};
    struct strbuf text = STRBUF_INIT;
    bool ok = writers[format_index(format)](&c, NULL, &text, err) && print_text(&text, err);

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

bool tables_write(const struct results *results, const char *const *names, size_t count, const char *format,
                  struct strbuf *out, struct err *err)
{
    struct collection c = {0};
    bool ok = make_tables(results, names, count, &c, err) &&
              writers[format_index(format)](&c, results, out, err) && strbuf_ok(out, err);

    tables_free(c.tables, c.count);
    return ok;
}

bool tables_print(const struct results *results, const char *const *names, size_t count, const char *format,
                  struct err *err)
{
    struct strbuf text = STRBUF_INIT;
    bool ok = tables_write(results, names, count, format, &text, err) && print_text(&text, err);

    strbuf_fini(&text);
    return ok;
}

const char *const verdict_formats[] = {"text", "markdown", "json", NULL};
