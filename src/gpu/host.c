#include "gpu/host.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "gpu/error.h"

/* Page-aligned, and whole pages: what drivers ask of memory that they share without copying. */
#define PAGE_BYTES 4096u

static bool map(struct host_array *a, struct opencl_renderer *r, cl_command_queue queue, struct err *err)
{
    cl_int code;
    void *data = clEnqueueMapBuffer(queue, a->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, (size_t)a->bytes, 0,
                                    NULL, NULL, &code);

    if (!data)
        return opencl_fail(err, code, "clEnqueueMapBuffer", r->base.info.name);
    if (a->kind == HOST_SHARED && data != a->data) {
        clEnqueueUnmapMemObject(queue, a->buffer, data, 0, NULL, NULL);
        return err_set(err, ERR_INTERNAL, "%s mapped shared memory to another address", r->base.info.name);
    }
    a->data = data;
    a->lent = false;
    return true;
}

static bool create(struct host_array *a, struct opencl_renderer *r, struct err *err)
{
    cl_mem_flags flags = CL_MEM_READ_WRITE;
    cl_int code;

    if (a->kind != HOST_PINNED && posix_memalign(&a->data, PAGE_BYTES, (size_t)a->bytes) != 0) {
        char text[UNITS_MAX];
        units_bytes(text, a->bytes);
        a->data = NULL;
        return err_set(err, ERR_MEMORY, "host memory for a call's arrays: %s cannot be had", text);
    }
    if (a->kind == HOST_ORDINARY)
        return true;
    flags |= a->kind == HOST_PINNED ? CL_MEM_ALLOC_HOST_PTR : CL_MEM_USE_HOST_PTR;
    a->buffer = clCreateBuffer(r->context, flags, (size_t)a->bytes, a->kind == HOST_PINNED ? NULL : a->data, &code);
    if (!a->buffer)
        return opencl_fail(err, code, "clCreateBuffer for host memory", r->base.info.name);
    a->lent = a->kind == HOST_SHARED;
    return map(a, r, r->queue, err);
}

bool host_array_init(struct host_array *a, struct opencl_renderer *r, enum host_kind kind, uint64_t bytes,
                     struct err *err)
{
    *a = (struct host_array){.kind = kind};
    if (bytes > SIZE_MAX - PAGE_BYTES)
        return err_set(err, ERR_MEMORY, "host memory for a call's arrays: the size overflows");
    a->bytes = (bytes / PAGE_BYTES + 1) * PAGE_BYTES;
    if (!create(a, r, err)) {
        host_array_fini(a, r);
        return false;
    }
    memset(a->data, 0, (size_t)a->bytes);
    return true;
}

void host_array_fini(struct host_array *a, struct opencl_renderer *r)
{
    if (a->buffer) {
        if (a->data && !a->lent && clEnqueueUnmapMemObject(r->queue, a->buffer, a->data, 0, NULL, NULL) == CL_SUCCESS)
            clFinish(r->queue);
        clReleaseMemObject(a->buffer);
    }
    if (a->kind != HOST_PINNED)
        free(a->data);
    *a = (struct host_array){0};
}

bool host_array_lend(struct host_array *a, struct opencl_renderer *r, cl_command_queue queue, struct err *err)
{
    cl_int code;

    if (a->kind != HOST_SHARED || !a->buffer || a->lent)
        return true;
    code = clEnqueueUnmapMemObject(queue, a->buffer, a->data, 0, NULL, NULL);
    a->lent = code == CL_SUCCESS;
    return a->lent || opencl_fail(err, code, "clEnqueueUnmapMemObject", r->base.info.name);
}

bool host_array_reclaim(struct host_array *a, struct opencl_renderer *r, cl_command_queue queue, struct err *err)
{
    return !a->lent || map(a, r, queue, err);
}
