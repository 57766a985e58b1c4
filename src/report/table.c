#include "report/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clocale.h"
#include "base/mem.h"

void table_init(struct table *t, const char *name)
{
    *t = (struct table){0};
    snprintf(t->name, sizeof(t->name), "%s", name);
}

static void free_lines(char **lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(lines[i]);
    free(lines);
}

void table_fini(struct table *t)
{
    if (!t)
        return;
    free(t->title);
    free_lines(t->notes, t->note_count);
    free_lines(t->footer, t->footer_count);
    for (size_t i = 0; i < t->row_count * t->column_count; i++)
        free(t->fields[i].text);
    free(t->fields);
    for (size_t i = 0; i < t->column_count; i++)
        free(t->columns[i].title);
    free(t->columns);
    *t = (struct table){0};
}

/* NULL, with the table marked, when there is no memory. */
static char *format(struct table *t, const char *fmt, va_list args)
{
    char *text = NULL;
    locale_t locale = clocale_enter();

    if (vasprintf(&text, fmt, args) < 0) {
        text = NULL;
        t->failed = true;
    }
    clocale_leave(locale);
    return text;
}

/* Room for one element more at the end of an array that is grown one by one. */
static void *grown(struct table *t, void *array, size_t count, size_t elem_size)
{
    void *p = t->failed ? NULL : realloc(array, (count + 1) * elem_size);
    if (!p)
        t->failed = true;
    return p;
}

static void add_line(struct table *t, char ***lines, size_t *count, char *text)
{
    char **p = text ? grown(t, *lines, *count, sizeof(**lines)) : NULL;
    if (!p) {
        free(text);
        return;
    }
    p[(*count)++] = text;
    *lines = p;
}

void table_title(struct table *t, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    free(t->title);
    t->title = format(t, fmt, args);
    va_end(args);
}

void table_note(struct table *t, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add_line(t, &t->notes, &t->note_count, format(t, fmt, args));
    va_end(args);
}

void table_foot(struct table *t, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add_line(t, &t->footer, &t->footer_count, format(t, fmt, args));
    va_end(args);
}

void table_column(struct table *t, enum table_align align, int keep, const char *fmt, ...)
{
    va_list args;
    struct table_column *p = t->row_count ? NULL : grown(t, t->columns, t->column_count, sizeof(*p));

    if (!p) {
        t->failed = true;
        return;
    }
    t->columns = p;
    va_start(args, fmt);
    char *title = format(t, fmt, args);
    va_end(args);
    if (title)
        p[t->column_count++] = (struct table_column){title, align, keep};
}

void table_row(struct table *t)
{
    struct table_field *p = grown(t, t->fields, t->row_count, t->column_count * sizeof(*p));
    if (!p)
        return;
    t->fields = p;
    p += t->row_count * t->column_count;
    for (size_t i = 0; i < t->column_count; i++)
        p[i] = (struct table_field){NULL, MARK_NONE, NAN};
    t->row_count++;
    t->next_field = 0;
}

void table_put(struct table *t, enum table_mark mark, double value, const char *fmt, ...)
{
    va_list args;

    if (t->failed || !t->row_count || t->next_field >= t->column_count) {
        t->failed = true;
        return;
    }
    va_start(args, fmt);
    t->fields[(t->row_count - 1) * t->column_count + t->next_field++] =
        (struct table_field){format(t, fmt, args), mark, value};
    va_end(args);
}

bool table_ok(const struct table *t, struct err *err)
{
    return !t->failed || err_set(err, ERR_MEMORY, "table %s: out of memory", t->name);
}

struct table *tables_append(struct table **tables, size_t *count, const char *name, struct err *err)
{
    struct table *p = realloc(*tables, (*count + 1) * sizeof(*p));
    if (!p) {
        err_set(err, ERR_MEMORY, "table %s: out of memory", name);
        return NULL;
    }
    *tables = p;
    p += (*count)++;
    table_init(p, name);
    return p;
}

void tables_free(struct table *tables, size_t count)
{
    for (size_t i = 0; i < count; i++)
        table_fini(&tables[i]);
    free(tables);
}
