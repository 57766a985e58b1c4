#include "report/lanes_plot.h"

#include <stdio.h>

#include "report/page.h"

#define MARGIN 16.0
#define LANE 6.0
#define BARS 110.0 /* height of the highest */
#define PANEL (BARS + 46.0)
#define WIDTH (2 * MARGIN + LANES_PLOT_MAX * LANE)

static const char style[] =
    "<style>text{font:13px "
    "sans-serif;fill:#222}.bar{fill:#2a78b8}.box{fill:#e8c9a0;stroke:#a0682a;stroke-width:1}"
    "@media(prefers-color-scheme:dark){svg{background:#161616}text{fill:#ddd}.box{fill:#4d3a22}.bar{fill:#"
    "6fb1e4}}"
    "</style>\n";

static uint32_t most_of(const struct lanes_panel *p, size_t from, size_t to)
{
    uint32_t most = 0;

    for (size_t i = from; i < to && i < p->lanes; i++)
        most = p->steps[i] > most ? p->steps[i] : most;
    return most;
}

static void draw(const struct lanes_panel *p, double top, struct strbuf *out)
{
    uint32_t highest = most_of(p, 0, p->lanes);
    double floor = top + 24 + BARS, scale = highest ? BARS / highest : 0;
    uint64_t used = 0, held = 0;
    char text[160];

    for (size_t start = 0; start < p->lanes; start += p->group) {
        uint32_t most = most_of(p, start, start + p->group);
        snprintf(text, sizeof text, "a group of %u lanes, held for %u steps", (unsigned)p->group,
                 (unsigned)most);
        svg_rect(out, MARGIN + LANE * (double)start, floor - scale * most, LANE * p->group, scale * most,
                 "box", text);
        held += (uint64_t)most * p->group;
        for (size_t i = start; i < start + p->group && i < p->lanes; i++) {
            snprintf(text, sizeof text, "lane %zu: %u steps", i, (unsigned)p->steps[i]);
            if (p->steps[i])
                svg_rect(out, MARGIN + LANE * (double)i + 1, floor - scale * p->steps[i], LANE - 2,
                         scale * p->steps[i], "bar", text);
            used += p->steps[i];
        }
    }
    snprintf(text, sizeof text, "%s: %llu of %llu lane-steps, %.0f %% full", p->title,
             (unsigned long long)used, (unsigned long long)held,
             held ? 100 * (double)used / (double)held : 100.0);
    svg_text(out, MARGIN, top + 14, "start", "", text);
}

void lanes_plot(const struct lanes_panel *panels, size_t count, struct strbuf *out)
{
    strbuf_addf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n"
                "<title>Lanes and the groups that hold them</title>\n",
                WIDTH, 2 * MARGIN + PANEL * (double)count);
    strbuf_add(out, style);
    for (size_t i = 0; i < count; i++)
        draw(&panels[i], MARGIN + PANEL * (double)i, out);
    strbuf_add(out, "</svg>\n");
}
