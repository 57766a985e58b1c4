/* Phases as stacked bars: a bar a cell, each phase's share of its synchronised call. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "report/page.h"
#include "report/phase_list.h"
#include "report/view.h"

#define MODES (1u << MODE_FORWARD | 1u << MODE_GRADIENT)
#define BAR_WIDTH 640.0
#define BAR_LEFT 130.0
#define BAR_STEP 26.0
#define LETTER_WIDTH 7.0 /* more than the mean one has at 12 px */

struct phases_page {
    struct strbuf *out;
    unsigned page, count; /* of drawings, for their ids */
};

static bool has_bar(const struct cell *cell)
{
    return cell && cell->status == CELL_OK && cell->has_phases && cell->phases.total_ns;
}

static void add_legend(struct strbuf *out)
{
    strbuf_add(out, "<p class=\"legend\">");
    for (size_t i = 0; i < PHASES; i++)
        strbuf_addf(
            out,
            "<span><svg class=\"swatch\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect width=\"10\" "
            "height=\"10\" class=\"p%zu\"/></svg>%s</span>",
            i, phase_name(i));
    strbuf_add(out, "</p>\n");
}

static void add_bar(struct strbuf *out, const struct cell *cell, double y)
{
    double x = BAR_LEFT;
    char place[LABEL_MAX], time[UNITS_MAX];

    label_place(place, &cell->spec);
    svg_text(out, BAR_LEFT - 8, y + 13, "end", "", place);
    for (size_t i = 0; i < PHASES; i++) {
        uint64_t ns = phase_ns(&cell->phases, i);
        double width = BAR_WIDTH * phase_share(cell, i);
        char title[LABEL_MAX + UNITS_MAX + 32], class_name[8], share[NUMBER_MAX];
        units_time(time, ns);
        number_percent(share, phase_share(cell, i), false);
        snprintf(title, sizeof(title), "%s: %s, %s", phase_name(i), time, share);
        snprintf(class_name, sizeof(class_name), "p%zu", i);
        if (ns)
            svg_rect(out, x, y, width, BAR_STEP - 8, class_name, title);
        snprintf(title, sizeof(title), "%s %s", phase_name(i), share);
        const char *text = width < LETTER_WIDTH * (double)strlen(title) ? share : title;
        if (width >= LETTER_WIDTH * (double)strlen(text))
            svg_text(out, x + width / 2, y + 13, "middle", "on", text);
        x += width;
    }
    units_time(time, cell->phases.total_ns);
    svg_text(out, x + 6, y + 13, "start", "dim", time);
}

/* Of the line's slowest bar: "256² × 512: 233 us, dispatch 70 %". */
static void main_figure(const struct view *v, char out[2 * LABEL_MAX])
{
    const struct plane *p = &v->plane;
    const struct cell *slowest = NULL;
    char place[LABEL_MAX], time[UNITS_MAX], share[NUMBER_MAX];
    size_t longest = 0;

    for (size_t s = 0; s < p->size_count; s++)
        for (size_t i = 0; i < p->triangle_count; i++) {
            const struct cell *cell = view_cell(v, s, i, NULL);
            if (has_bar(cell) && (!slowest || cell->phases.total_ns > slowest->phases.total_ns))
                slowest = cell;
        }
    for (size_t i = 1; i < PHASES; i++)
        if (phase_ns(&slowest->phases, i) > phase_ns(&slowest->phases, longest))
            longest = i;
    label_place(place, &slowest->spec);
    units_time(time, slowest->phases.total_ns);
    number_percent(share, phase_share(slowest, longest), false);
    snprintf(out, 2 * LABEL_MAX, "%s: %s, %s %s", place, time, phase_name(longest), share);
}

static bool add_line(void *context, const struct view *v, struct err *err)
{
    struct phases_page *page = context;
    const struct plane *p = &v->plane;
    size_t bars = 0;
    char id[32], figure[2 * LABEL_MAX];
    (void)err;

    for (size_t s = 0; s < p->size_count; s++)
        for (size_t i = 0; i < p->triangle_count; i++)
            bars += has_bar(view_cell(v, s, i, NULL));
    if (!bars)
        return true;
    if (!page->count) {
        strbuf_add(page->out,
                   "<h2>Where the time goes</h2>\n<p class=\"note\">Phases of a synchronised call, which is "
                   "slower than a free-running one.</p>\n");
        add_legend(page->out);
    }
    page_line(page->out, v);
    snprintf(id, sizeof(id), "phases%u-%u", page->page, page->count++);
    main_figure(v, figure);
    svg_open_line(page->out, id, BAR_LEFT + BAR_WIDTH + 90, BAR_STEP * (double)bars + 4, v,
                  "Phases of a call", figure, "A bar for each size and triangle count, divided into phases.");
    double y = 2;
    for (size_t s = 0; s < p->size_count; s++)
        for (size_t i = 0; i < p->triangle_count; i++) {
            const struct cell *cell = view_cell(v, s, i, NULL);
            if (!has_bar(cell))
                continue;
            add_bar(page->out, cell, y);
            y += BAR_STEP;
        }
    svg_close(page->out);
    return true;
}

bool chart_phases(const struct results *results, unsigned page, struct strbuf *out, struct err *err)
{
    struct phases_page drawn = {out, page, 0};

    return view_each(results, MODES, VIEW_ALL, keys_named("size triangles"), add_line, &drawn, err);
}
