/* Tables for a terminal. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/fit.h"
#include "report/table.h"

#define BOLD "\033[1m"
#define RESET "\033[0m"

static const char *colour_of(enum table_mark mark)
{
    switch (mark) {
    case MARK_WINNER:
        return "\033[32m";
    case MARK_LOSER:
        return "\033[33m";
    case MARK_TIE:
        return "\033[36m";
    case MARK_BAD:
        return "\033[1;31m";
    case MARK_DIM:
        return "\033[2m";
    case MARK_NONE:
        break;
    }
    return "";
}

/* The layout of one table at one width, and where it goes. */
struct page {
    const struct table *t;
    struct strbuf *out;
    size_t width;
    bool colour;
    size_t *widths; /* of each column */
    bool *shown;
    size_t gap;
    size_t header_lines;
};

static const char *field_text(const struct table *t, size_t row, size_t column)
{
    const char *text = t->fields[row * t->column_count + column].text;
    return text ? text : "";
}

/* A run of `len` bytes, of which the width is wanted. */
static size_t run_width(const char *s, size_t len)
{
    char copy[256];

    if (len >= sizeof(copy))
        return len;
    memcpy(copy, s, len);
    copy[len] = '\0';
    return text_width(copy);
}

/* Appends one unbreakable word; *column is where the line has got to. */
static void put_word(const struct page *p, const char *word, size_t len, size_t gap, size_t *column)
{
    size_t width = run_width(word, len);

    if (*column && *column + gap + width > p->width) {
        strbuf_addc(p->out, '\n');
        *column = 0;
    }
    if (*column) {
        strbuf_pad(p->out, ' ', gap);
        *column += gap;
    }
    strbuf_add_bytes(p->out, word, len);
    *column += width;
}

/* A line of words, broken between its parts where that is enough, else between words. */
static void put_line(const struct page *p, const char *line)
{
    const size_t indent = strspn(line, " ");
    size_t column = indent, gap = 0;

    strbuf_pad(p->out, ' ', indent);
    line += indent;
    while (*line) {
        const char *end = strstr(line, TABLE_PART);
        size_t len = end ? (size_t)(end - line) : strlen(line);
        size_t width = run_width(line, len);
        bool whole = width <= p->width;
        const char *next = line + len;

        while (len) {
            size_t word = whole ? len : strcspn(line, " ");
            if (word > len)
                word = len;
            if (word)
                put_word(p, line, word, gap, &column);
            gap = 1;
            line += word;
            len -= word;
            while (len && *line == ' ') {
                line++;
                len--;
            }
        }
        gap = strlen(TABLE_PART);
        for (line = next; *line == ' ';)
            line++;
    }
    strbuf_addc(p->out, '\n');
}

static void put_lines(const struct page *p, char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_line(p, lines[i]);
}

/* The part of a title that stands on header line `line` of `lines`: titles are flush at the bottom. */
static void title_line(const char *title, size_t line, size_t lines, struct strbuf *out)
{
    size_t own = 1;

    for (const char *s = title; *s; s++)
        own += *s == '\n';
    strbuf_reset(out);
    if (line + own < lines)
        return;
    for (size_t skip = line + own - lines; skip; skip--)
        title = strchr(title, '\n') + 1;
    strbuf_add_bytes(out, title, strcspn(title, "\n"));
}

/* One field of a line, with the blanks that earlier ones owe; so no line ends in blanks. */
static void put_text(const struct page *p, size_t column, const char *text, const char *colour, size_t *owed)
{
    size_t pad = p->widths[column] - text_width(text);
    bool right = p->t->columns[column].align == ALIGN_RIGHT;

    if (!*text) {
        *owed += pad + p->gap;
        return;
    }
    strbuf_pad(p->out, ' ', *owed + (right ? pad : 0));
    strbuf_add(p->out, p->colour ? colour : "");
    strbuf_add(p->out, text);
    strbuf_add(p->out, p->colour && *colour ? RESET : "");
    *owed = (right ? 0 : pad) + p->gap;
}

static void put_header(const struct page *p)
{
    struct strbuf text = STRBUF_INIT;

    for (size_t line = 0; line < p->header_lines; line++) {
        size_t owed = 0;
        for (size_t c = 0; c < p->t->column_count; c++)
            if (p->shown[c]) {
                title_line(p->t->columns[c].title, line, p->header_lines, &text);
                put_text(p, c, strbuf_str(&text), BOLD, &owed);
            }
        strbuf_addc(p->out, '\n');
    }
    p->out->failed |= text.failed;
    strbuf_fini(&text);
}

static void put_row(const struct page *p, size_t row)
{
    size_t owed = 0;

    for (size_t c = 0; c < p->t->column_count; c++)
        if (p->shown[c])
            put_text(p, c, field_text(p->t, row, c),
                     colour_of(p->t->fields[row * p->t->column_count + c].mark), &owed);
    strbuf_addc(p->out, '\n');
}

static void put_dropped(const struct page *p)
{
    const struct table *t = p->t;
    struct strbuf line = STRBUF_INIT;

    for (size_t c = 0; c < t->column_count; c++) {
        if (p->shown[c])
            continue;
        strbuf_add(&line, line.len ? ", " : "not shown for want of width: ");
        for (const char *s = t->columns[c].title; *s; s++) {
            if (s[0] == '-' && s[1] == '\n')
                s++; /* "unac-" above "counted" */
            else
                strbuf_addc(&line, *s == '\n' ? ' ' : *s);
        }
    }
    if (line.len)
        put_line(p, strbuf_str(&line));
    p->out->failed |= line.failed;
    strbuf_fini(&line);
}

/* Widest line and number of lines of a title. */
static size_t title_width(const char *title, size_t *lines)
{
    size_t widest = 0;

    for (*lines = 1;; (*lines)++) {
        size_t len = strcspn(title, "\n"), width = run_width(title, len);
        widest = width > widest ? width : widest;
        if (!title[len])
            return widest;
        title += len + 1;
    }
}

static bool lay_out(struct page *p, struct err *err)
{
    const struct table *t = p->t;
    int *keep = mem_calloc(t->column_count, sizeof(*keep), "a table's layout", err);

    p->widths = mem_calloc(t->column_count, sizeof(*p->widths), "a table's layout", err);
    p->shown = mem_calloc(t->column_count, sizeof(*p->shown), "a table's layout", err);
    bool ok = keep && p->widths && p->shown;
    if (ok) {
        for (size_t c = 0; c < t->column_count; c++) {
            size_t lines;
            keep[c] = t->columns[c].keep;
            p->widths[c] = title_width(t->columns[c].title, &lines);
            for (size_t row = 0; row < t->row_count; row++) {
                size_t width = text_width(field_text(t, row, c));
                if (width > p->widths[c])
                    p->widths[c] = width;
            }
        }
        p->gap = fit_columns(p->widths, keep, t->column_count, p->width, p->shown);
        for (size_t c = 0; c < t->column_count; c++) {
            size_t lines;
            (void)title_width(t->columns[c].title, &lines);
            if (p->shown[c] && lines > p->header_lines)
                p->header_lines = lines;
        }
    }
    free(keep);
    return ok;
}

bool table_write_text(const struct table *t, size_t width, bool colour, struct strbuf *out, struct err *err)
{
    struct page page = {.t = t, .out = out, .width = width ? width : 80, .colour = colour};
    bool ok = table_ok(t, err) && lay_out(&page, err);

    if (ok) {
        if (t->title) {
            strbuf_add(out, colour ? BOLD : "");
            put_line(&page, t->title);
            if (colour) {
                out->data[--out->len] = '\0'; /* the reset goes before the line's end */
                strbuf_add(out, RESET "\n");
            }
        }
        put_lines(&page, t->notes, t->note_count);
        if (t->row_count)
            put_header(&page);
        for (size_t row = 0; row < t->row_count; row++)
            put_row(&page, row);
        put_dropped(&page);
        put_lines(&page, t->footer, t->footer_count);
        ok = strbuf_ok(out, err);
    }
    free(page.widths);
    free(page.shown);
    return ok;
}
