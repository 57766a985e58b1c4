#include "gpu/layout.h"

#include "gpu/error.h"
#include "shared.h"

#define FIELD(type, field) {#type, #field, offsetof(struct type, field), sizeof(((struct type *)0)->field), 0}
#define WHOLE(type) {#type, NULL, sizeof(struct type), sizeof(struct type), 0}

/* The order is kernels/layout.cl's. */
static const struct layout_row host_rows[] = {
    FIELD(shared_view, width),
    FIELD(shared_view, height),
    FIELD(shared_view, triangles),
    FIELD(shared_view, tiles_x),
    FIELD(shared_view, tiles_y),
    FIELD(shared_view, slot_capacity),
    FIELD(shared_view, in_first),
    FIELD(shared_view, in_scenes),
    FIELD(shared_view, out_first),
    FIELD(shared_view, out_scenes),
    FIELD(shared_view, goal_first),
    FIELD(shared_view, image_first),
    FIELD(shared_view, sigma),
    FIELD(shared_view, softness),
    FIELD(shared_view, exp2_scale),
    FIELD(shared_view, loss_scale),
    WHOLE(shared_view),
    FIELD(shared_triangle, edge),
    FIELD(shared_triangle, length),
    FIELD(shared_triangle, reach),
    FIELD(shared_triangle, inverse),
    FIELD(shared_triangle, opacity),
    FIELD(shared_triangle, colour),
    FIELD(shared_triangle, alpha),
    FIELD(shared_triangle, columns),
    FIELD(shared_triangle, rows),
    FIELD(shared_triangle, slot),
    FIELD(shared_triangle, flags),
    WHOLE(shared_triangle),
};

_Static_assert(sizeof(host_rows) / sizeof(host_rows[0]) == LAYOUT_ROWS, "one row a field");
_Static_assert(sizeof(struct shared_view) == 64, "passed by value: no padding that a compiler may choose");
/* The kernels read a record as seven float4. */
_Static_assert(sizeof(struct shared_triangle) == 112, "seven float4");
_Static_assert(offsetof(struct shared_triangle, length) == 48, "float4 3: lengths and reach");
_Static_assert(offsetof(struct shared_triangle, inverse) == 64, "float4 4: inverse lengths and opacity");
_Static_assert(offsetof(struct shared_triangle, colour) == 80, "float4 5: colour and alpha");
_Static_assert(offsetof(struct shared_triangle, columns) == 96, "float4 6: bounds, slot and flags");

bool layout_compare(struct opencl_renderer *r, struct layout_row rows[LAYOUT_ROWS], struct err *err)
{
    uint32_t device[LAYOUT_ROWS] = {0};
    const char *name = r->base.info.name;
    const size_t one = 1;
    cl_mem buffer = NULL;
    cl_kernel kernel = NULL;
    bool ok = false;
    cl_int code;
    cl_program program;

    if (!renderer_program(r, "layout.cl", "", &program, err))
        return false;
    kernel = clCreateKernel(program, "layout", &code);
    if (!kernel) {
        opencl_fail(err, code, "clCreateKernel(layout)", name);
        goto out;
    }
    buffer = clCreateBuffer(r->context, CL_MEM_WRITE_ONLY, sizeof(device), NULL, &code);
    if (!buffer) {
        opencl_fail(err, code, "clCreateBuffer", name);
        goto out;
    }
    if ((code = clSetKernelArg(kernel, 0, sizeof(buffer), &buffer)) != CL_SUCCESS ||
        (code = clEnqueueNDRangeKernel(r->queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL)) != CL_SUCCESS ||
        (code = clEnqueueReadBuffer(r->queue, buffer, CL_TRUE, 0, sizeof(device), device, 0, NULL, NULL)) !=
            CL_SUCCESS) {
        opencl_fail(err, code, "running the layout kernel", name);
        goto out;
    }
    ok = true;
    for (size_t i = 0; i < LAYOUT_ROWS; i++) {
        rows[i] = host_rows[i];
        rows[i].offset_device = device[i];
        if (rows[i].offset_device != rows[i].offset_host)
            ok = err_set(err, ERR_INTERNAL, "struct %s, %s: at %u on the host, at %u on %s", rows[i].structure,
                         rows[i].field ? rows[i].field : "size", (unsigned)rows[i].offset_host,
                         (unsigned)rows[i].offset_device, name);
    }
out:
    if (buffer)
        clReleaseMemObject(buffer);
    if (kernel)
        clReleaseKernel(kernel);
    return ok;
}
