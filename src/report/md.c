/* Tables as Markdown (GitHub's dialect). */
#include <string.h>

#include "report/table.h"

/* Text in a table's field, or in a line: what Markdown would read as markup is escaped. */
static void add_escaped(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        if (strncmp(text, TABLE_PART, strlen(TABLE_PART)) == 0) {
            strbuf_add(out, " · ");
            text += strlen(TABLE_PART) - 1;
        } else if (*text == '\n')
            strbuf_addc(out, ' ');
        else {
            if (*text == '|' || *text == '*' || *text == '_' || *text == '`' || *text == '<' || *text == '[')
                strbuf_addc(out, '\\');
            strbuf_addc(out, *text);
        }
    }
}

static void add_list(struct strbuf *out, char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t indent = strspn(lines[i], " "); /* an item of the one above */
        strbuf_add(out, indent ? "  - " : "- ");
        add_escaped(out, lines[i] + indent);
        strbuf_addc(out, '\n');
    }
    if (count)
        strbuf_addc(out, '\n');
}

static void add_header(struct strbuf *out, const struct table *t)
{
    strbuf_addc(out, '|');
    for (size_t c = 0; c < t->column_count; c++) {
        strbuf_addc(out, ' ');
        add_escaped(out, t->columns[c].title);
        strbuf_add(out, " |");
    }
    strbuf_add(out, "\n|");
    for (size_t c = 0; c < t->column_count; c++)
        strbuf_add(out, t->columns[c].align == ALIGN_RIGHT ? "---:|" : ":---|");
    strbuf_addc(out, '\n');
}

/* Whether a row goes on with the one above: its first field is empty. */
static bool continues(const struct table *t, size_t row)
{
    const char *text = row < t->row_count ? t->fields[row * t->column_count].text : NULL;
    return row > 0 && row < t->row_count && !(text && *text);
}

static void add_field(struct strbuf *out, const struct table_field *field)
{
    const char *text = field->text ? field->text : "";
    const char *bold = *text && (field->mark == MARK_WINNER || field->mark == MARK_BAD) ? "**" : "";

    strbuf_add(out, bold);
    add_escaped(out, text);
    strbuf_add(out, bold);
}

/* A row of the Markdown table: one of the table, and those that go on with it as further lines. Returns how
 * many. */
static size_t add_row(struct strbuf *out, const struct table *t, size_t row)
{
    size_t rows = 1;

    while (continues(t, row + rows))
        rows++;
    strbuf_addc(out, '|');
    for (size_t c = 0; c < t->column_count; c++) {
        strbuf_addc(out, ' ');
        for (size_t i = 0; i < rows; i++) {
            strbuf_add(out, i && c ? "<br>" : "");
            add_field(out, &t->fields[(row + i) * t->column_count + c]);
        }
        strbuf_add(out, " |");
    }
    strbuf_addc(out, '\n');
    return rows;
}

bool table_write_markdown(const struct table *t, struct strbuf *out, struct err *err)
{
    if (!table_ok(t, err))
        return false;
    if (t->title) {
        strbuf_add(out, "**");
        add_escaped(out, t->title);
        strbuf_add(out, "**\n\n");
    }
    add_list(out, t->notes, t->note_count);
    if (t->row_count)
        add_header(out, t);
    for (size_t row = 0; row < t->row_count;)
        row += add_row(out, t, row);
    if (t->row_count)
        strbuf_addc(out, '\n');
    add_list(out, t->footer, t->footer_count);
    return strbuf_ok(out, err);
}
