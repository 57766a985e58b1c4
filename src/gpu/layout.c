#include "gpu/layout.h"

#include "gpu/renderer.h"
#include "shared.h"

#define MEMBER(type, field) (((struct type *)0)->field)
#define FIELD(type, field, kind, count)                                                                       \
    {#type,                                                                                                   \
     #field,                                                                                                  \
     RULE_##kind,                                                                                             \
     count,                                                                                                   \
     {offsetof(struct type, field), sizeof MEMBER(type, field), __alignof__(MEMBER(type, field))},            \
     {0, 0, 0}},
#define WHOLE(type) {#type, NULL, RULE_U32, 0, {0, sizeof(struct type), _Alignof(struct type)}, {0, 0, 0}},

static const struct layout_row host_rows[] = {SHARED_LAYOUT(FIELD, WHOLE)};

_Static_assert(sizeof(struct layout_place) == 12, "as layout.cl writes them");
_Static_assert(sizeof(host_rows) / sizeof(host_rows[0]) == LAYOUT_ROWS, "one row a field");
_Static_assert(sizeof(struct shared_view) == 72, "passed by value: no padding that a compiler may choose");
/* The kernels read a record as seven float4. */
_Static_assert(sizeof(struct shared_triangle) == 112, "seven float4");
_Static_assert(offsetof(struct shared_triangle, length) == 48, "float4 3: lengths and reach");
_Static_assert(offsetof(struct shared_triangle, inverse) == 64, "float4 4: inverse lengths and opacity");
_Static_assert(offsetof(struct shared_triangle, colour) == 80, "float4 5: colour and alpha");
_Static_assert(offsetof(struct shared_triangle, columns) == 96, "float4 6: bounds, slot and flags");

bool layout_differs(const struct layout_row *row)
{
    return row->host.offset != row->device.offset || row->host.size != row->device.size ||
           row->host.align != row->device.align;
}

static bool compare(const struct layout_row *row, const char *device, struct err *err)
{
    return !layout_differs(row) ||
           err_set(err, ERR_WRONG,
                   "struct %s, %s: at %u, %u bytes, aligned to %u on the host; at %u, %u bytes, aligned to %u on %s",
                   row->structure, row->field ? row->field : "all of it", (unsigned)row->host.offset,
                   (unsigned)row->host.size, (unsigned)row->host.align, (unsigned)row->device.offset,
                   (unsigned)row->device.size, (unsigned)row->device.align, device);
}

bool layout_compare(struct renderer *renderer, struct layout_row rows[LAYOUT_ROWS], struct err *err)
{
    struct opencl_renderer *r = (struct opencl_renderer *)renderer;
    struct layout_place device[LAYOUT_ROWS];
    cl_program program;
    bool ok = renderer_program(r, "layout.cl", "", &program, err) &&
              renderer_ask(r, program, "layout", 1, device, sizeof(device), err);

    for (size_t i = 0; ok && i < LAYOUT_ROWS; i++) {
        rows[i] = host_rows[i];
        rows[i].device = device[i];
    }
    for (size_t i = 0; ok && i < LAYOUT_ROWS; i++)
        ok = compare(&rows[i], renderer->info.name, err);
    return ok;
}
