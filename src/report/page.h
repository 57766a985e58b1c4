/* Pieces of an HTML page: text with its markup escaped, tables, and drawings in SVG. */
#ifndef GPUBENCH_REPORT_PAGE_H
#define GPUBENCH_REPORT_PAGE_H

#include "base/strbuf.h"
#include "report/table.h"
#include "report/view.h"

/* Appends text with & < > " escaped. */
void page_text(struct strbuf *out, const char *text);
void page_textf(struct strbuf *out, const char *fmt, ...) GB_PRINTF(2, 3);
/* A table as a reader sees it, with its notes and remarks. */
void page_table(struct strbuf *out, const struct table *t);
/* A line's heading, and its point in small. */
void page_line(struct strbuf *out, const struct view *v);
/* The style sheet of the page, without its element. */
extern const char page_style[];

/* An axis of a drawing: values from `from` to `to` over `start` to `end`, in the drawing's units. */
struct axis_scale {
    double from, to; /* above 0 where logarithmic */
    double start, end;
    bool logarithmic;
};
double axis_at(const struct axis_scale *axis, double value);

/* Opens a drawing with a title and a description that screen readers say; `id` is unique in the page. */
void svg_open(struct strbuf *out, const char *id, double width, double height, const char *title,
              const char *description);
/* The same of a line: "WHAT: the line's heading; its point; FIGURE"; figure: the main one of the drawing. */
void svg_open_line(struct strbuf *out, const char *id, double width, double height, const struct view *v,
                   const char *what, const char *figure, const char *description);
void svg_close(struct strbuf *out);
/* anchor: "start", "middle" or "end". class_name: of the style sheet; may be "". */
void svg_text(struct strbuf *out, double x, double y, const char *anchor, const char *class_name,
              const char *text);
void svg_line(struct strbuf *out, double x1, double y1, double x2, double y2, const char *class_name);
/* A rectangle that says what it is when pointed at. */
void svg_rect(struct strbuf *out, double x, double y, double width, double height, const char *class_name,
              const char *title);

/* The drawings of a run: nothing is appended where the results have nothing to draw. page: the number of the
 * run, for ids. */
bool chart_heat(const struct results *results, struct strbuf *out, struct err *err) GB_NODISCARD;
bool chart_phases(const struct results *results, unsigned page, struct strbuf *out,
                  struct err *err) GB_NODISCARD;
bool chart_scaling(const struct results *results, unsigned page, struct strbuf *out,
                   struct err *err) GB_NODISCARD;
bool chart_roofline(const struct results *results, unsigned page, struct strbuf *out,
                    struct err *err) GB_NODISCARD;
bool chart_samples(const struct results *results, unsigned page, struct strbuf *out,
                   struct err *err) GB_NODISCARD;

#endif
