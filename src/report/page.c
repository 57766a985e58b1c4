#include "report/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clocale.h"

void page_text(struct strbuf *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            strbuf_add(out, "&amp;");
            break;
        case '<':
            strbuf_add(out, "&lt;");
            break;
        case '>':
            strbuf_add(out, "&gt;");
            break;
        case '"':
            strbuf_add(out, "&quot;");
            break;
        default:
            strbuf_addc(out, *text);
        }
}

void page_textf(struct strbuf *out, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    locale_t locale = clocale_enter();

    va_start(args, fmt);
    int len = vasprintf(&text, fmt, args);
    va_end(args);
    clocale_leave(locale);
    if (len < 0) {
        out->failed = true;
        return;
    }
    page_text(out, text);
    free(text);
}

/* A line of parts. */
static void add_parts(struct strbuf *out, const char *line)
{
    for (const char *gap; (gap = strstr(line, TABLE_PART)); line = gap + strlen(TABLE_PART)) {
        page_textf(out, "%.*s", (int)(gap - line), line);
        strbuf_add(out, " · ");
    }
    page_text(out, line);
}

static void add_lines(struct strbuf *out, char *const *lines, size_t count, const char *class_name)
{
    for (size_t i = 0; i < count; i++) {
        strbuf_addf(out, "<p class=\"%s\">", class_name);
        add_parts(out, lines[i]);
        strbuf_add(out, "</p>\n");
    }
}

static void add_header(struct strbuf *out, const struct table *t)
{
    strbuf_add(out, "<thead><tr>");
    for (size_t c = 0; c < t->column_count; c++) {
        strbuf_addf(out, "<th scope=\"col\"%s>", t->columns[c].align == ALIGN_RIGHT ? " class=\"r\"" : "");
        page_text(out, t->columns[c].title);
        strbuf_add(out, "</th>");
    }
    strbuf_add(out, "</tr></thead>\n<tbody>\n");
}

static void add_field(struct strbuf *out, const struct table_column *column, const struct table_field *field)
{
    static const char *const classes[] = {
        [MARK_NONE] = "",   [MARK_WINNER] = "winner", [MARK_LOSER] = "loser",
        [MARK_TIE] = "tie", [MARK_BAD] = "bad",       [MARK_DIM] = "dim"};
    bool right = column->align == ALIGN_RIGHT;

    strbuf_add(out, "<td");
    if (right || field->mark != MARK_NONE)
        strbuf_addf(out, " class=\"%s%s%s\"", right ? "r" : "", right && field->mark ? " " : "",
                    classes[field->mark]);
    strbuf_addc(out, '>');
    page_text(out, field->text ? field->text : "");
    strbuf_add(out, "</td>");
}

void page_table(struct strbuf *out, const struct table *t)
{
    strbuf_add(out, "<section class=\"table\"><h3>");
    add_parts(out, t->title ? t->title : t->name);
    strbuf_add(out, "</h3>\n");
    add_lines(out, t->notes, t->note_count, "note");
    if (t->row_count) {
        strbuf_add(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
        page_textf(out, "table %s", t->name);
        strbuf_add(out, "\"><table>\n");
        add_header(out, t);
        for (size_t row = 0; row < t->row_count; row++) {
            strbuf_add(out, "<tr>");
            for (size_t c = 0; c < t->column_count; c++)
                add_field(out, &t->columns[c], &t->fields[row * t->column_count + c]);
            strbuf_add(out, "</tr>\n");
        }
        strbuf_add(out, "</tbody></table></div>\n");
    }
    add_lines(out, t->footer, t->footer_count, "remark");
    strbuf_add(out, "</section>\n");
}

void page_line(struct strbuf *out, const struct view *v)
{
    char text[LABEL_MAX];

    view_heading(v, text);
    strbuf_add(out, "<h3>");
    page_text(out, text);
    strbuf_add(out, "</h3>\n<p class=\"note\">");
    label_point(text, v->results, &v->line->spec, v->free);
    page_text(out, text);
    strbuf_add(out, "</p>\n");
}

double axis_at(const struct axis_scale *a, double value)
{
    double part = a->logarithmic ? (log(value) - log(a->from)) / (log(a->to) - log(a->from))
                                 : (value - a->from) / (a->to - a->from);
    return a->start + part * (a->end - a->start);
}

void svg_open(struct strbuf *out, const char *id, double width, double height, const char *title,
              const char *description)
{
    strbuf_add(out, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"");
    page_text(out, title);
    strbuf_addf(out,
                "\"><svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-labelledby=\"%s-t %s-d\" "
                "style=\"max-width:%.0fpx\"><title id=\"%s-t\">",
                width, height, id, id, width, id);
    page_text(out, title);
    strbuf_addf(out, "</title><desc id=\"%s-d\">", id);
    page_text(out, description);
    strbuf_add(out, "</desc>\n");
}

void svg_open_line(struct strbuf *out, const char *id, double width, double height, const struct view *v,
                   const char *what, const char *figure, const char *description)
{
    struct strbuf title = STRBUF_INIT;
    char heading[LABEL_MAX], point[LABEL_MAX];

    view_heading(v, heading);
    label_point(point, v->results, &v->line->spec, v->free);
    strbuf_addf(&title, "%s: %s; %s; %s", what, heading, point, figure);
    svg_open(out, id, width, height, strbuf_str(&title), description);
    out->failed |= title.failed;
    strbuf_fini(&title);
}

void svg_close(struct strbuf *out)
{
    strbuf_add(out, "</svg></div>\n");
}

void svg_text(struct strbuf *out, double x, double y, const char *anchor, const char *class_name,
              const char *text)
{
    strbuf_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor,
                class_name);
    page_text(out, text);
    strbuf_add(out, "</text>\n");
}

void svg_line(struct strbuf *out, double x1, double y1, double x2, double y2, const char *class_name)
{
    strbuf_addf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2, y2,
                class_name);
}

void svg_rect(struct strbuf *out, double x, double y, double width, double height, const char *class_name,
              const char *title)
{
    strbuf_addf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"><title>", x, y,
                width, height, class_name);
    page_text(out, title);
    strbuf_add(out, "</title></rect>\n");
}
