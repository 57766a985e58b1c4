#include "gpu/stall.h"

#include "gpu/error.h"
#include "gpu/job.h"

/* One group: a chain of multiply-adds, each of which waits for the one before, for some 4 cycles. */
#define ROUNDS 49152u

static bool make(struct opencl_renderer *r, struct stall *s, struct err *err)
{
    const cl_uint rounds = ROUNDS;
    cl_int code;

    if (!canary_buffer(&r->base, CANARY_GROUP * sizeof(cl_float), &s->out, err) ||
        !job_kernel(r, "canary.cl", "canary_arithmetic", "", &s->kernel, err))
        return false;
    code = clSetKernelArg(s->kernel, 0, sizeof(cl_mem), &s->out);
    code = code ? code : clSetKernelArg(s->kernel, 1, sizeof(rounds), &rounds);
    return code == CL_SUCCESS || opencl_fail(err, code, "clSetKernelArg", r->base.info.name);
}

bool stall_enqueue(struct opencl_renderer *r, cl_command_queue queue, struct err *err)
{
    const size_t items = CANARY_GROUP;
    cl_int code;

    if (!r->stall.kernel && !make(r, &r->stall, err)) {
        stall_fini(&r->stall);
        return false;
    }
    code = clEnqueueNDRangeKernel(queue, r->stall.kernel, 1, NULL, &items, &items, 0, NULL, NULL);
    return code == CL_SUCCESS || opencl_fail(err, code, "clEnqueueNDRangeKernel", r->base.info.name);
}

void stall_fini(struct stall *stall)
{
    if (stall->kernel)
        clReleaseKernel(stall->kernel);
    if (stall->out)
        clReleaseMemObject(stall->out);
    *stall = (struct stall){0};
}
