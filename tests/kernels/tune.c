/* Times the renderer's kernels on the best OpenCL device, for tuning:
 *
 *   tune [-v] [-p PATH] [-t TILE] [-o BUILD_OPTIONS] [-k KERNEL_DIR] [-s STRATEGY/REDUCTION] [-m forward]
 *        [-c CALL] [-b FILE] CELL...
 *
 * CELL: WIDTHxHEIGHT:TRIANGLES:BATCH[:SIGMA]. Prints, a cell: the median of the call's host time, of the
 * device's time, and of each kernel's, in microseconds. -b: writes the last pass as the driver holds it (NVIDIA's:
 * PTX). No check of the results: the tests do that. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "gpu/job.h"
#include "gpu/opencl.h"
#include "model/image.h"
#include "model/scene.h"

#define CALLS 60
#define PROFILED_CALLS 20

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static double median_us(uint64_t *ns, size_t count)
{
    qsort(ns, count, sizeof(*ns), compare_u64);
    return (double)ns[count / 2] / 1000.0;
}

static void fill(struct render_job *job)
{
    static const float ground[3] = {0.1f, 0.11f, 0.14f}, flat[3] = {0.4f, 0.5f, 0.6f};
    const struct render_spec *s = &job->spec;

    for (uint32_t b = 0; b < s->batch; b++) {
        scene_random(job->io.params + (size_t)b * s->triangles * SCENE_STRIDE, s->triangles, 11, b, 0.15f);
        memcpy(job->io.background + 3 * (size_t)b, ground, sizeof(ground));
        if (job->io.target)
            image_fill(job->io.target + (size_t)b * s->width * s->height * 3, s->width, s->height, flat);
    }
}

static bool time_job(struct render_job *job, const char *label, struct err *err)
{
    const struct renderer_ops *ops = job->renderer->ops;
    uint64_t call_ns[CALLS], device_ns[PROFILED_CALLS], kernel_ns[PROFILE_MAX_KERNELS][PROFILED_CALLS];
    struct render_profile profile = {0};
    size_t calls = CALLS, profiled = PROFILED_CALLS;

    fill(job);
    if (!ops->inputs_changed(job, err))
        return false;
    for (size_t i = 0; i < calls + 3; i++) {
        uint64_t start = clock_now_ns();
        if (!ops->call(job, err))
            return false;
        if (i >= 3)
            call_ns[i - 3] = clock_now_ns() - start;
        if (i == 3 && call_ns[0] > 20000000u) {
            calls = 7;
            profiled = 3;
        }
    }
    for (size_t i = 0; i < profiled; i++) {
        if (!ops->call_profiled(job, &profile, err))
            return false;
        device_ns[i] = profile.device_ns;
        for (uint32_t k = 0; k < profile.kernels; k++)
            kernel_ns[k][i] = profile.kernel[k].device_ns;
    }
    printf("%-22s call %8.1f  device %8.1f ", label, median_us(call_ns, calls), median_us(device_ns, profiled));
    for (uint32_t k = 0; k < profile.kernels; k++)
        printf(" %s %.1f", profile.kernel[k].name, median_us(kernel_ns[k], profiled));
    printf("\n");
    fflush(stdout);
    return true;
}

/* What the compiler said of the last pass: registers and spills, where -cl-nv-verbose is among the options. */
static void print_log(const struct render_job *base)
{
    const struct opencl_job *job = (const struct opencl_job *)base;
    static char log[1 << 16];
    cl_program program;

    if (clGetKernelInfo(job->pass_kernels[job->pass_count - 1], CL_KERNEL_PROGRAM, sizeof(program), &program, NULL) ==
            CL_SUCCESS &&
        clGetProgramBuildInfo(program, job->r->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL) == CL_SUCCESS)
        printf("%s\n", log);
}

static void write_binary(const struct render_job *base, const char *path)
{
    const struct opencl_job *job = (const struct opencl_job *)base;
    unsigned char *binary = NULL;
    cl_program program;
    size_t size = 0;
    FILE *f;

    if (clGetKernelInfo(job->pass_kernels[job->pass_count - 1], CL_KERNEL_PROGRAM, sizeof(program), &program, NULL) !=
            CL_SUCCESS ||
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL) != CL_SUCCESS ||
        !(binary = malloc(size)) ||
        clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL) != CL_SUCCESS ||
        !(f = fopen(path, "wb"))) {
        fprintf(stderr, "tune: no binary\n");
    } else {
        fwrite(binary, 1, size, f);
        fclose(f);
    }
    free(binary);
}

static bool parse_cell(const char *text, struct render_spec *spec)
{
    unsigned w, h, t, b;
    float sigma = 0.01f;

    if (sscanf(text, "%ux%u:%u:%u:%f", &w, &h, &t, &b, &sigma) < 4)
        return false;
    spec->width = w;
    spec->height = h;
    spec->triangles = t;
    spec->batch = b;
    spec->sigma = sigma;
    return true;
}

int main(int argc, char **argv)
{
    struct opencl_options options = {0};
    struct render_spec spec;
    struct device_info *devices = NULL;
    struct renderer *r = NULL;
    struct err err = ERR_INIT;
    size_t count = 0;
    const char *binary = NULL;
    bool verbose = false;
    int option, status = 1;

    spec_init(&spec);
    spec.call = CALL_RESIDENT;
    while ((option = getopt(argc, argv, "p:t:o:s:m:c:k:b:v")) != -1) {
        switch (option) {
        case 'p':
            options.path = optarg;
            break;
        case 't':
            options.tile = optarg;
            break;
        case 'o':
            options.build_options = optarg;
            break;
        case 'k':
            options.kernel_dir = optarg;
            break;
        case 's':
            spec.strategy = strstr(optarg, "taped") ? STRATEGY_TAPED
                            : strstr(optarg, "recompute") ? STRATEGY_RECOMPUTE
                                                          : STRATEGY_FUSED;
            spec.reduction = strstr(optarg, "local") ? REDUCTION_LOCAL
                             : strstr(optarg, "direct") ? REDUCTION_DIRECT
                                                        : REDUCTION_ORDERED;
            break;
        case 'm':
            spec.mode = strcmp(optarg, "forward") == 0 ? MODE_FORWARD : MODE_GRADIENT;
            break;
        case 'c':
            spec.call = strcmp(optarg, "loader") == 0 ? CALL_LOADER
                        : strcmp(optarg, "pageable") == 0 ? CALL_PAGEABLE
                                                          : CALL_RESIDENT;
            break;
        case 'b':
            binary = optarg;
            break;
        case 'v':
            verbose = true;
            break;
        default:
            return 2;
        }
    }
    if (!opencl_list(NULL, &devices, &count, &err) || device_best(devices, count, BACKEND_OPENCL) == count ||
        !opencl_create(devices[device_best(devices, count, BACKEND_OPENCL)].selector, &options, &r, &err))
        goto out;
    for (int i = optind; i < argc; i++) {
        struct render_job *job = NULL;
        if (!parse_cell(argv[i], &spec))
            goto out;
        bool ok = r->ops->open(r, &spec, &job, &err) && time_job(job, argv[i], &err);
        if (ok && verbose)
            print_log(job);
        if (ok && binary)
            write_binary(job, binary);
        r->ops->close(job);
        if (!ok)
            goto out;
    }
    status = 0;
out:
    if (status)
        fprintf(stderr, "tune: %s\n%s", err.text, err.log ? err.log : "");
    if (r)
        r->ops->destroy(r);
    free(devices);
    err_fini(&err);
    return status;
}
