/* The roofline: what each cell reached over what it computes a byte, below the ceilings of its device. */
#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "bench/ceilings.h"
#include "report/page.h"
#include "report/roofline.h"
#include "report/view.h"

#define MODES (1u << MODE_FORWARD | 1u << MODE_GRADIENT)
#define WIDTH 760.0
#define HEIGHT 380.0
#define COLOURS 6
#define NAMED_MAX 12 /* points a device that have their place beside them */

/* Marks around 0, one a device, so that colour is not all that tells them apart: square, circle, diamond,
 * triangle. */
static const char *const shapes[] = {"M-4-4h8v8h-8z", "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
                                     "M0-6l6 6l-6 6l-6-6z", "M0-5l5.5 9h-11z"};

struct drawing {
    const struct results *results;
    struct strbuf *out;
    struct axis_scale x, y; /* FLOP a byte; FLOP/s */
    size_t points;
};

/* FLOP a byte and FLOP a second; false: not known. */
static bool place_of(const struct results *results, const struct cell *cell, double *x, double *y)
{
    const struct roofline_work w = roofline_work_of(results, cell);

    *x = w.flop / w.bytes;
    *y = w.flop / w.ns * 1e9;
    return cell->status == CELL_OK && cell->pairs && isfinite(*x) && isfinite(*y) && *x > 0 && *y > 0;
}

static bool roof_of(const struct results *results, size_t device, struct render_ceilings *top)
{
    const char *trouble;

    return device < results->device_count &&
           ceilings_find(json_get(results->head, "environment"), &results->devices[device], top, &trouble) &&
           top->flop > 0 && top->copy_bytes > 0;
}

static size_t points_of(const struct results *results, size_t device)
{
    size_t count = 0;

    for (size_t i = 0; i < results->cell_count; i++) {
        double x, y;
        count += results->cells[i].device == device && place_of(results, &results->cells[i], &x, &y);
    }
    return count;
}

static void widen(struct axis_scale *axis, double value)
{
    axis->from = fmin(axis->from, value);
    axis->to = fmax(axis->to, value);
}

/* Whole decades around the points and the corners of the roofs. */
static void scale(struct drawing *d)
{
    d->x = (struct axis_scale){INFINITY, 0, 95, WIDTH - 30, true};
    d->y = (struct axis_scale){INFINITY, 0, HEIGHT - 45, 20, true};
    for (size_t i = 0; i < d->results->cell_count; i++) {
        struct render_ceilings top;
        double x, y;
        if (!place_of(d->results, &d->results->cells[i], &x, &y) ||
            !roof_of(d->results, d->results->cells[i].device, &top))
            continue;
        d->points++;
        widen(&d->x, x);
        widen(&d->x, top.flop / top.copy_bytes / 3);
        widen(&d->y, y);
        widen(&d->y, top.flop * 1.5);
    }
    struct axis_scale *const axes[] = {&d->x, &d->y};
    for (size_t i = 0; d->points && i < 2; i++) {
        axes[i]->from = pow(10, floor(log10(axes[i]->from)));
        axes[i]->to = pow(10, ceil(log10(axes[i]->to)));
    }
}

static void rate(char out[UNITS_MAX + 8], double value, const char *unit)
{
    char count[UNITS_MAX];

    units_count(count, (uint64_t)llround(value));
    snprintf(out, UNITS_MAX + 8, "%s%s%s", count, value < 1000 ? " " : "", unit);
}

static void add_axes(const struct drawing *d)
{
    char text[UNITS_MAX + 8];

    for (double x = d->x.from; x <= d->x.to * 1.001; x *= 10) {
        snprintf(text, sizeof text, "%g", x);
        svg_line(d->out, axis_at(&d->x, x), d->y.end, axis_at(&d->x, x), d->y.start, "grid");
        svg_text(d->out, axis_at(&d->x, x), d->y.start + 16, "middle", "dim", text);
    }
    for (double y = d->y.from; y <= d->y.to * 1.001; y *= 10) {
        rate(text, y, "FLOP/s");
        svg_line(d->out, d->x.start, axis_at(&d->y, y), d->x.end, axis_at(&d->y, y), "grid");
        svg_text(d->out, d->x.start - 6, axis_at(&d->y, y) + 4, "end", "dim", text);
    }
    svg_text(d->out, (d->x.start + d->x.end) / 2, HEIGHT - 8, "middle", "dim", "FLOP a byte of memory");
}

static void open_mark(const struct drawing *d, size_t device, double x, double y)
{
    strbuf_addf(d->out, "<path d=\"%s\" transform=\"translate(%.1f %.1f)\" class=\"d%zu\">",
                shapes[device % (sizeof shapes / sizeof shapes[0])], x, y, device % COLOURS);
}

static void add_roof(const struct drawing *d, size_t device, const struct render_ceilings *top)
{
    const double corner = top->flop / top->copy_bytes, start = fmax(d->x.from, d->y.from / top->copy_bytes);
    char name[LABEL_MAX], flop[UNITS_MAX + 8], bytes[UNITS_MAX + 8], text[2 * LABEL_MAX];

    strbuf_addf(d->out, "<path class=\"curve s%zu\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>\n",
                device % COLOURS, axis_at(&d->x, start), axis_at(&d->y, start * top->copy_bytes),
                axis_at(&d->x, corner), axis_at(&d->y, top->flop), d->x.end, axis_at(&d->y, top->flop));
    label_device(name, d->results, device);
    rate(flop, top->flop, "FLOP/s");
    rate(bytes, top->copy_bytes, "B/s");
    snprintf(text, sizeof text, "%s: %s, %s", name, flop, bytes);
    svg_text(d->out, d->x.end - 14, axis_at(&d->y, top->flop) - 6, "end", "", text);
    open_mark(d, device, d->x.end - 5, axis_at(&d->y, top->flop) - 10);
    strbuf_add(d->out, "</path>\n");
}

static void add_points(const struct drawing *d, size_t device)
{
    const bool named = points_of(d->results, device) <= NAMED_MAX;

    for (size_t i = 0; i < d->results->cell_count; i++) {
        const struct cell *cell = &d->results->cells[i];
        double x, y;
        char place[LABEL_MAX], reached[UNITS_MAX + 8];
        if (cell->device != device || !place_of(d->results, cell, &x, &y))
            continue;
        label_place(place, &cell->spec);
        rate(reached, y, "FLOP/s");
        open_mark(d, device, axis_at(&d->x, x), axis_at(&d->y, y));
        strbuf_add(d->out, "<title>");
        page_textf(d->out, "%s: %s, %.3g FLOP a byte", cell->id ? cell->id : place, reached, x);
        strbuf_add(d->out, "</title></path>\n");
        if (named)
            svg_text(d->out, axis_at(&d->x, x) + 8, axis_at(&d->y, y) + 4, "start", "dim", place);
    }
}

/* "Roofline: H200 reaches 4.56 TFLOP/s of 60.0 TFLOP/s at 256² × 512": each device's best point. */
static void add_title(const struct drawing *d, struct strbuf *title)
{
    const char *joint = "Roofline: ";

    for (size_t i = 0; i < d->results->device_count; i++) {
        struct render_ceilings top;
        const struct cell *best = NULL;
        double x, y, most = 0;
        char name[LABEL_MAX], place[LABEL_MAX], reached[UNITS_MAX + 8], roof[UNITS_MAX + 8];
        for (size_t c = 0; c < d->results->cell_count; c++) {
            const struct cell *cell = &d->results->cells[c];
            if (cell->device == i && place_of(d->results, cell, &x, &y) && y > most) {
                best = cell;
                most = y;
            }
        }
        if (!best || !roof_of(d->results, i, &top))
            continue;
        label_device(name, d->results, i);
        label_place(place, &best->spec);
        rate(reached, most, "FLOP/s");
        rate(roof, top.flop, "FLOP/s");
        strbuf_addf(title, "%s%s reaches %s of %s at %s", joint, name, reached, roof, place);
        joint = "; ";
    }
}

bool chart_roofline(const struct results *results, unsigned page, struct strbuf *out, struct err *err)
{
    struct drawing d = {.results = results, .out = out};
    struct strbuf title = STRBUF_INIT;
    struct render_ceilings top;
    char id[32];
    (void)err;

    scale(&d);
    if (!d.points)
        return true;
    strbuf_add(out,
               "<h2>Below the roofs</h2>\n<p class=\"note\">What each cell reached, over what it computes a "
               "byte that cannot but cross memory; the lines are what its device could do at most, as "
               "measured in the same run.</p>\n");
    snprintf(id, sizeof id, "roofline%u", page);
    add_title(&d, &title);
    svg_open(
        out, id, WIDTH, HEIGHT, strbuf_str(&title),
        "Points for cells below a line for each device, which rises with memory bandwidth and then is flat "
        "at its rate of arithmetic; a shape a device. Figures are in the table roofline.");
    add_axes(&d);
    for (size_t i = 0; i < results->device_count; i++)
        if (points_of(results, i) && roof_of(results, i, &top)) {
            add_roof(&d, i, &top);
            add_points(&d, i);
        }
    svg_close(out);
    out->failed |= title.failed;
    strbuf_fini(&title);
    return true;
}
