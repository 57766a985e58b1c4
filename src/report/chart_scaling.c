/* Time over triangles (or over pixels) in log-log: a colour a size, the reference dashed, with each crossing
 * and its interval. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "report/crossing.h"
#include "report/page.h"
#include "report/view.h"

#define MODES (1u << MODE_FORWARD | 1u << MODE_GRADIENT)
#define WIDTH 760.0
#define HEIGHT 360.0
#define COLOURS 6

struct scaling_page {
    struct strbuf *out;
    unsigned page, count;
};

/* A drawing's curves: one a size over triangles; or a single one over sizes. */
struct drawing {
    const struct view *v;
    bool over_sizes;
    struct plane all;      /* owned; with what sweep --refine added, which curves go through, too */
    size_t curves, points; /* points: of `all` */
    struct axis_scale x, y;
};

static size_t points_of(const struct drawing *d, const struct plane *p)
{
    return d->over_sizes ? p->size_count : p->triangle_count;
}

static double x_of(const struct drawing *d, const struct plane *p, size_t point)
{
    return d->over_sizes ? sqrt((double)p->sizes[point].width * p->sizes[point].height)
                         : fmax((double)p->triangles[point].triangles, 0.5);
}

static const struct cell *cell_of(const struct drawing *d, size_t curve, size_t point, bool reference)
{
    const struct view *v = d->v;
    const struct render_spec at = view_along(v, &d->all, d->over_sizes, curve, point);

    return reference ? select_partner(v->results, v->reference, &at)
                     : select_cell(v->results, v->line, v->free, &at);
}

static double time_of(const struct cell *cell)
{
    return cell && cell->status == CELL_OK && cell->median_ns ? (double)cell->median_ns : NAN;
}

/* The largest of 1, 2 and 5 times a power of ten that is not above, or the smallest not below. */
static double round_scale(double value, bool up)
{
    static const double steps[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(value))), best = power;

    for (size_t i = 0; i < 4; i++) {
        if (up && steps[i] * power >= value * 0.999999)
            return steps[i] * power;
        if (!up && steps[i] * power <= value * 1.000001)
            best = steps[i] * power;
    }
    return up ? 10 * power : best;
}

static bool scale(struct drawing *d)
{
    double low = INFINITY, high = 0;

    for (size_t c = 0; c < d->curves; c++)
        for (size_t i = 0; i < d->points; i++)
            for (int reference = 0; reference < 2; reference++) {
                double t = time_of(cell_of(d, c, i, reference));
                if (isnan(t))
                    continue;
                low = fmin(low, t);
                high = fmax(high, t);
            }
    if (high <= 0)
        return false;
    low = round_scale(low, false);
    high = round_scale(high, true);
    d->x = (struct axis_scale){x_of(d, &d->all, 0), x_of(d, &d->all, d->points - 1), 70, WIDTH - 120, true};
    d->y = (struct axis_scale){low, high > low ? high : 2 * low, HEIGHT - 40, 15, true};
    return true;
}

static void add_axes(struct strbuf *out, const struct drawing *d)
{
    char text[UNITS_MAX];

    for (double t = d->y.from; t <= d->y.to * 1.000001; t = round_scale(t * 1.5, true)) {
        double y = axis_at(&d->y, t);
        units_time(text, (uint64_t)llround(t));
        svg_line(out, d->x.start, y, d->x.end, y, "grid");
        svg_text(out, d->x.start - 6, y + 4, "end", "dim", text);
    }
    for (size_t i = 0; i < points_of(d, &d->v->plane); i++) {
        double x = axis_at(&d->x, x_of(d, &d->v->plane, i));
        svg_line(out, x, d->y.end, x, d->y.start, "grid");
        if (d->over_sizes)
            snprintf(text, sizeof(text), "%.0f²", x_of(d, &d->v->plane, i));
        else
            snprintf(text, sizeof(text), "%u", (unsigned)d->v->plane.triangles[i].triangles);
        svg_text(out, x, d->y.start + 16, "middle", "dim", text);
    }
    svg_text(out, (d->x.start + d->x.end) / 2, HEIGHT - 6, "middle", "dim",
             d->over_sizes ? "size" : "triangles");
}

static void add_curve(struct strbuf *out, const struct drawing *d, size_t curve, bool reference)
{
    const char *joint = "M";

    strbuf_addf(out, "<path class=\"curve s%zu%s\" d=\"", curve % COLOURS, reference ? " cpu" : "");
    for (size_t i = 0; i < d->points; i++) {
        double t = time_of(cell_of(d, curve, i, reference));
        if (isnan(t))
            continue;
        strbuf_addf(out, "%s%.1f %.1f", joint, axis_at(&d->x, x_of(d, &d->all, i)), axis_at(&d->y, t));
        joint = "L";
    }
    strbuf_add(out, "\"/>\n");
}

struct end_label {
    double y;
    char text[2 * LABEL_MAX];
};

static int by_height(const void *a, const void *b)
{
    double x = ((const struct end_label *)a)->y, y = ((const struct end_label *)b)->y;
    return (x > y) - (x < y);
}

/* At the right ends of the curves: which size, and whose; moved apart where they would overlap. */
static bool add_labels(struct strbuf *out, const struct drawing *d, struct err *err)
{
    struct end_label *labels = mem_calloc(2 * d->curves, sizeof(*labels), "a drawing", err);
    char names[2][LABEL_MAX], size[NUMBER_MAX] = "";
    size_t count = 0;

    if (!labels)
        return false;
    label_sides(names[0], names[1], d->v->results, d->v->reference, d->v->line);
    for (size_t c = 0; c < d->curves; c++)
        for (int reference = 0; reference < 2; reference++) {
            double t = time_of(cell_of(d, c, d->points - 1, reference));
            if (isnan(t))
                continue;
            if (!d->over_sizes)
                number_size(size, d->v->plane.sizes[c].width, d->v->plane.sizes[c].height);
            labels[count].y = axis_at(&d->y, t) + 4;
            snprintf(labels[count++].text, sizeof(labels->text), "%s %s", size, names[reference ? 0 : 1]);
        }
    qsort(labels, count, sizeof(*labels), by_height);
    for (size_t i = 0; i < count; i++) {
        if (i)
            labels[i].y = fmax(labels[i].y, labels[i - 1].y + 13);
        svg_text(out, d->x.end + 6, labels[i].y, "start", "", labels[i].text);
    }
    free(labels);
    return true;
}

/* "64²: 170 [163,178]"; over sizes "94² [94,95]", for there is one curve. */
static void crossing_text(const struct drawing *d, size_t curve, const struct crossing *crossing,
                          char out[128])
{
    const char *square = d->over_sizes ? "²" : "";
    char name[NUMBER_MAX] = "", interval[48] = "";

    if (!d->over_sizes)
        number_size(name, d->v->plane.sizes[curve].width, d->v->plane.sizes[curve].height);
    if (!isnan(crossing->ci95[0]))
        snprintf(interval, sizeof(interval), " [%.0f,%.0f]", crossing->ci95[0], crossing->ci95[1]);
    snprintf(out, 128, "%s%s%.0f%s%s", name, *name ? ": " : "", crossing->at, square, interval);
}

static bool add_crossing(struct strbuf *out, const struct drawing *d, size_t curve, struct err *err)
{
    struct view_crossing found;
    bool ok = view_crossing(d->v, d->over_sizes, curve, true, &found, err);
    const struct crossing crossing = found.crossing;

    view_crossing_fini(&found);
    if (ok && crossing.changes == 1) {
        double at = axis_at(&d->x, crossing.at);
        char text[128];
        if (!isnan(crossing.ci95[0])) {
            double low = axis_at(&d->x, crossing.ci95[0]), high = axis_at(&d->x, crossing.ci95[1]);
            snprintf(text, sizeof(text), "crosses between %.0f and %.0f", crossing.ci95[0], crossing.ci95[1]);
            svg_rect(out, low, d->y.end, high - low, d->y.start - d->y.end, "band", text);
        }
        crossing_text(d, curve, &crossing, text);
        const bool left = at > (d->x.start + d->x.end) / 2; /* where there is room */
        svg_line(out, at, d->y.end, at, d->y.start, "mark");
        svg_text(out, left ? at - 4 : at + 4, d->y.end + 12 + 14 * (double)curve, left ? "end" : "start", "",
                 text);
    }
    return ok;
}

/* Of the last place: "256² × 512: CPU 33.6 ms, H200 8.59 ms". */
static void main_figure(const struct drawing *d, char out[4 * LABEL_MAX])
{
    const struct render_spec at = view_along(d->v, &d->all, d->over_sizes, d->curves - 1, d->points - 1);
    char place[LABEL_MAX], names[2][LABEL_MAX], times[2][UNITS_MAX] = {"-", "-"};

    label_place(place, &at);
    label_sides(names[0], names[1], d->v->results, d->v->reference, d->v->line);
    for (int i = 0; i < 2; i++) {
        const double ns = time_of(cell_of(d, d->curves - 1, d->points - 1, i == 0));
        if (!isnan(ns))
            units_time(times[i], (uint64_t)ns);
    }
    snprintf(out, 4 * LABEL_MAX, "%s: %s %s, %s %s", place, names[0], times[0], names[1], times[1]);
}

static bool draw(struct scaling_page *page, struct drawing *d, struct err *err)
{
    char id[32], figure[4 * LABEL_MAX];
    bool ok = true;

    if (!page->count)
        strbuf_add(
            page->out,
            "<h2>How time grows</h2>\n<p class=\"note\">Median of the call, both axes logarithmic; the "
            "reference is dashed; a dotted line is where the two cross, its band the 95 % "
            "interval.</p>\n");
    page_line(page->out, d->v);
    snprintf(id, sizeof(id), "scaling%u-%u", page->page, page->count++);
    main_figure(d, figure);
    svg_open_line(page->out, id, WIDTH, HEIGHT, d->v, "Time of a call", figure,
                  "Lines of time over size in log-log scale.");
    add_axes(page->out, d);
    for (size_t c = 0; ok && c < d->curves; c++) {
        ok = add_crossing(page->out, d, c, err);
        for (int reference = 0; reference < 2; reference++)
            add_curve(page->out, d, c, reference);
    }
    ok = ok && add_labels(page->out, d, err);
    svg_close(page->out);
    return ok;
}

static bool add_line(void *context, const struct view *v, struct err *err)
{
    struct drawing d = {.v = v, .over_sizes = v->plane.triangle_count < 2};

    d.curves = d.over_sizes ? v->plane.triangle_count : v->plane.size_count;
    if (points_of(&d, &v->plane) < 2)
        return true;
    if (!plane_init(&d.all, v->results, v->line, v->free, true, err))
        return false;
    d.points = points_of(&d, &d.all);
    bool ok = !scale(&d) || draw(context, &d, err);
    plane_fini(&d.all);
    return ok;
}

bool chart_scaling(const struct results *results, unsigned page, struct strbuf *out, struct err *err)
{
    struct scaling_page drawn = {out, page, 0};

    return view_each(results, MODES, VIEW_OTHERS, keys_named("size triangles"), add_line, &drawn, err);
}
