/* What each kernel of a call takes on the device, by its events. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/kinds.h"
#include "report/view.h"

#define MODES (1u << MODE_FORWARD | 1u << MODE_GRADIENT)

static void put_heading(struct table *t, const struct view *v)
{
    char point[LABEL_MAX];

    label_point(point, v->results, &v->line->spec, v->free);
    table_title(t, "Kernels of a call    %s", point);
    view_note(v, t, false);
    table_note(
        t,
        "share: of the time from the first kernel's start to the last one's end; what is missing at 100 is "
        "between kernels    bytes: of the arrays that it is given, each once    GB/s: bytes / time");
    view_columns(t);
    table_column(t, ALIGN_LEFT, KEEP_ALWAYS, "kernel");
    table_column(t, ALIGN_RIGHT, 600, "launches");
    table_column(t, ALIGN_RIGHT, 950, "device\nus");
    table_column(t, ALIGN_RIGHT, 940, "share\n%%");
    table_column(t, ALIGN_RIGHT, 800, "bytes");
    table_column(t, ALIGN_RIGHT, 700, "GB/s");
}

static void put_kernel(struct table *t, const struct cell *cell, const struct kernel_time *k)
{
    char text[NUMBER_MAX];

    table_put(t, MARK_NONE, NAN, "%s", k->name);
    table_put(t, MARK_NONE, k->launches, "%" PRIu32, k->launches);
    number_time(text, k->device_ns, (struct time_unit){"us", 1e3});
    table_put(t, MARK_NONE, (double)k->device_ns, "%s", text);
    double share = cell->device_ns ? (double)k->device_ns / (double)cell->device_ns : NAN;
    if (isnan(share))
        table_put(t, MARK_DIM, NAN, "-");
    else
        table_put(t, MARK_NONE, share, "%.1f", 100 * share);
    put_bytes(t, k->bytes);
    put_factor(t, MARK_NONE, k->bytes && k->device_ns ? (double)k->bytes / (double)k->device_ns : NAN);
}

static bool fill(const struct view *v, struct table *t, struct err *err)
{
    const struct plane *p = &v->plane;
    const struct cell **all =
        mem_calloc(p->size_count * p->triangle_count, sizeof(*all), "a table's cells", err);
    size_t count = 0;

    if (!all)
        return false;
    put_heading(t, v);
    for (size_t s = 0; s < p->size_count; s++)
        for (size_t i = 0; i < p->triangle_count; i++) {
            const struct cell *cell = view_cell(v, s, i, NULL);
            if (!cell)
                continue;
            all[count++] = cell;
            for (size_t k = 0; cell->status == CELL_OK && k < cell->kernel_count; k++) {
                table_row(t);
                view_put_place(v, t, s, i);
                put_kernel(t, cell, &cell->kernels[k]);
            }
        }
    if (!t->row_count)
        table_foot(t, "the device tells no kernel's time");
    foot_reasons(t, v->results, all, count);
    free(all);
    return true;
}

bool kernels_make(const struct results *results, struct table **tables, size_t *count, struct err *err)
{
    return view_tables("kernels", results, MODES, VIEW_OPENCL, keys_named("size triangles"), fill, tables,
                       count, err);
}
