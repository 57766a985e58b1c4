/* Size by triangles as coloured fields: the ratio of the call, and of the device's own time. */
#include <math.h>
#include <string.h>

#include "report/page.h"
#include "report/view.h"

#define MODES (1u << MODE_FORWARD | 1u << MODE_GRADIENT)

/* From "CPU far ahead" to "device far ahead"; the middle is a tie. */
static const char *heat_class(double ratio)
{
    if (!isfinite(ratio))
        return "hx";
    if (ratio < RATIO_TIE_LOW)
        return ratio < 0.5 ? "h0" : "h1";
    if (ratio <= RATIO_TIE_HIGH)
        return "h2";
    return ratio < 3 ? "h3" : ratio < 10 ? "h4" : "h5";
}

struct heat {
    struct strbuf *out;
    bool any;
};

static const char *winner_of(enum ratio_verdict verdict, char names[2][LABEL_MAX])
{
    return verdict == RATIO_TIE ? "tie" : names[verdict == RATIO_SECOND];
}

static void add_call(struct strbuf *out, const struct view *v, const struct ratio *ratio,
                     const struct cell *second, const struct cell *first)
{
    char text[NUMBER_MAX], names[2][LABEL_MAX];

    label_sides(names[0], names[1], v->results, v->reference, v->line);
    strbuf_addf(out, "<td class=\"%s\">",
                ratio->verdict == RATIO_TIE ? "h2" : heat_class(ratio->valid ? ratio->value : NAN));
    if (!ratio->valid) {
        const struct cell *bad = second && second->status != CELL_OK ? second : first;
        page_text(out, bad && bad->status == CELL_OK ? "-" : label_status(bad));
        strbuf_add(out, "</td>");
        return;
    }
    number_interval(text, ratio);
    const size_t figure = strcspn(text, " ");
    strbuf_addf(out, "<b>%.*s", (int)figure, text);
    if (text[figure])
        strbuf_addf(out, " <i>%s</i>", text + figure + 1);
    strbuf_add(out, "</b><small>");
    page_textf(out, "%s%s", winner_of(ratio->verdict, names), ratio->has_ci ? "" : "?");
    strbuf_add(out, "</small></td>");
}

static void add_device(struct strbuf *out, const struct view *v, const struct ratio *ratio)
{
    char text[NUMBER_MAX], names[2][LABEL_MAX];

    label_sides(names[0], names[1], v->results, v->reference, v->line);
    number_ratio(text, ratio->device);
    strbuf_addf(out, "<td class=\"%s\"><b>%s</b>", heat_class(ratio->device), text);
    if (isfinite(ratio->device)) {
        strbuf_add(out, "<small>");
        page_text(out, winner_of(ratio_judge(ratio->device, ratio->device), names));
        strbuf_add(out, "</small>");
    }
    strbuf_add(out, "</td>");
}

static bool add_map(struct strbuf *out, const struct view *v, bool device, struct err *err)
{
    const struct plane *p = &v->plane;
    char heading[LABEL_MAX], point[LABEL_MAX];
    const char *what = device ? "the device's own time" : "the call";

    view_heading(v, heading);
    label_point(point, v->results, &v->line->spec, v->free);
    strbuf_add(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    page_textf(out, "heat map, %s: %s; %s", what, heading, point);
    strbuf_addf(out, "\"><table class=\"heat\"><caption>%s%s</caption>\n<thead><tr><td></td>", what,
                device ? " (by events: no interval)" : "");
    for (size_t i = 0; i < p->triangle_count; i++)
        strbuf_addf(out, "<th scope=\"col\">%u%s</th>", (unsigned)p->triangles[i].triangles,
                    i                                ? ""
                    : p->triangles[i].triangles == 1 ? " triangle"
                                                     : " triangles");
    strbuf_add(out, "</tr></thead>\n<tbody>\n");
    for (size_t s = 0; s < p->size_count; s++) {
        char size[NUMBER_MAX];
        number_size(size, p->sizes[s].width, p->sizes[s].height);
        strbuf_addf(out, "<tr><th scope=\"row\">%s</th>", size);
        for (size_t i = 0; i < p->triangle_count; i++) {
            const struct cell *first = view_partner(v, s, i), *second = view_cell(v, s, i, NULL);
            struct ratio ratio;
            if (!ratio_of(first, second, &ratio, err))
                return false;
            if (device)
                add_device(out, v, &ratio);
            else
                add_call(out, v, &ratio, second, first);
        }
        strbuf_add(out, "</tr>\n");
    }
    strbuf_add(out, "</tbody></table></div>\n");
    return true;
}

static bool add_line(void *context, const struct view *v, struct err *err)
{
    struct heat *heat = context;

    if (!heat->any)
        strbuf_add(heat->out,
                   "<h2>Who wins where</h2>\n<p class=\"note\">Reference time / device time, with the 95 % "
                   "interval: above 1 the device is faster.</p>\n");
    heat->any = true;
    page_line(heat->out, v);
    strbuf_add(heat->out, "<div class=\"pair\">\n");
    bool ok =
        add_map(heat->out, v, false, err) && (!v->line->has_device_time || add_map(heat->out, v, true, err));
    strbuf_add(heat->out, "</div>\n");
    return ok;
}

bool chart_heat(const struct results *results, struct strbuf *out, struct err *err)
{
    struct heat heat = {out, false};

    return view_each(results, MODES, VIEW_OTHERS, keys_named("size triangles"), add_line, &heat, err);
}
