/* Every sample as a dot, a strip a cell, over the cell's median. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "report/page.h"
#include "report/view.h"

#define STRIPS_MAX 60
#define STRIP_LEFT 260.0
#define STRIP_WIDTH 520.0
#define STRIP_STEP 20.0
#define FROM 0.8
#define TO 1.6

static bool has_strip(const struct cell *cell)
{
    return cell->status == CELL_OK && cell->sample_count && cell->median_ns;
}

/* Of its id, what stands behind backend, size, triangles and batch: "call=loader". */
static const char *more_axes(const struct cell *cell)
{
    const char *at = cell->id;

    for (size_t i = 0; at && i < 4; i++)
        at = strchr(at + (i > 0), '/');
    return at ? at + 1 : "";
}

/* Dots of one path: a line of no length with round ends each. Those off the scale sit on its end. */
static void add_strip(struct strbuf *out, const struct cell *cell, const struct axis_scale *axis, double y)
{
    char place[LABEL_MAX], time[UNITS_MAX];
    const char *more = more_axes(cell);
    size_t beyond = 0;

    label_place(place, &cell->spec);
    units_time(time, cell->median_ns);
    strbuf_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", STRIP_LEFT - 10, y + 4);
    page_textf(out, "%s, %s%s%s, %s", place, cell->backend, *more ? " " : "", more, time);
    strbuf_addf(out, "</text>\n<path class=\"dots\" d=\"");
    for (size_t i = 0; i < cell->sample_count; i++) {
        double ratio = (double)cell->samples_ns[i] / (double)cell->median_ns;
        beyond += ratio > TO || ratio < FROM;
        strbuf_addf(out, "M%.1f %.1fh0", axis_at(axis, fmin(fmax(ratio, FROM), TO)), y);
    }
    strbuf_add(out, "\"/>\n");
    if (beyond) {
        snprintf(place, sizeof(place), "%zu beyond", beyond);
        svg_text(out, STRIP_LEFT + STRIP_WIDTH + 8, y + 4, "start", "dim", place);
    }
}

/* "Samples of 18 cells on CPU, H200: 5 to 200 each". */
static void add_title(const struct results *results, size_t strips, struct strbuf *title)
{
    size_t least = SIZE_MAX, most = 0;
    const char *joint = " on ";

    strbuf_addf(title, "Samples of %zu cell%s", strips, strips == 1 ? "" : "s");
    for (size_t i = 0; i < results->device_count; i++) {
        char name[LABEL_MAX];
        label_device(name, results, i);
        strbuf_addf(title, "%s%s", joint, name);
        joint = ", ";
    }
    for (size_t i = 0; i < results->cell_count; i++) {
        const struct cell *cell = &results->cells[i];
        if (!has_strip(cell))
            continue;
        least = cell->sample_count < least ? cell->sample_count : least;
        most = cell->sample_count > most ? cell->sample_count : most;
    }
    strbuf_addf(title, ": %zu to %zu each", least, most);
}

bool chart_samples(const struct results *results, unsigned page, struct strbuf *out, struct err *err)
{
    const struct axis_scale axis = {FROM, TO, STRIP_LEFT, STRIP_LEFT + STRIP_WIDTH, false};
    struct strbuf title = STRBUF_INIT;
    size_t strips = 0, shown = 0;
    char id[32];
    (void)err;

    for (size_t i = 0; i < results->cell_count; i++)
        strips += has_strip(&results->cells[i]);
    if (!strips)
        return true;
    double height = STRIP_STEP * (double)(strips < STRIPS_MAX ? strips : STRIPS_MAX) + 30;
    strbuf_add(out,
               "<h2>Every sample</h2>\n<p class=\"note\">A dot a sample, over the median of its cell.</p>\n");
    snprintf(id, sizeof(id), "samples%u", page);
    add_title(results, strips, &title);
    svg_open(out, id, STRIP_LEFT + STRIP_WIDTH + 90, height, strbuf_str(&title),
             "A strip for each cell: its samples divided by their median.");
    for (double tick = FROM; tick < TO + 0.01; tick += 0.2) {
        char text[16];
        snprintf(text, sizeof(text), "%.1f", tick);
        svg_line(out, axis_at(&axis, tick), 0, axis_at(&axis, tick), height - 20, "grid");
        svg_text(out, axis_at(&axis, tick), height - 5, "middle", "dim", text);
    }
    for (size_t i = 0; i < results->cell_count && shown < STRIPS_MAX; i++)
        if (has_strip(&results->cells[i])) {
            add_strip(out, &results->cells[i], &axis, STRIP_STEP * ((double)shown + 0.5));
            shown++;
        }
    svg_close(out);
    out->failed |= title.failed;
    strbuf_fini(&title);
    if (strips > shown)
        strbuf_addf(out, "<p class=\"note\">and %zu more cells</p>\n", strips - shown);
    return true;
}
