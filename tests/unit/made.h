/* Results made in memory: a CPU of two threads, a GPU, and cells with the samples that a test wants. */
#ifndef GPUBENCH_TESTS_UNIT_MADE_H
#define GPUBENCH_TESTS_UNIT_MADE_H

#include "unit/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "record/results.h"
#include "report/table.h"

#define MADE_CELLS 256
#define MADE_CPU 0
#define MADE_GPU 1
#define MADE_POCL 2

static inline void made_init(struct results *r)
{
    struct err err = ERR_INIT;

    *r = (struct results){0};
    r->devices = mem_calloc(3, sizeof(*r->devices), "devices", &err);
    r->cells = mem_calloc(MADE_CELLS, sizeof(*r->cells), "cells", &err);
    assert_true(r->devices && r->cells);
    r->cell_capacity = MADE_CELLS;
    r->device_count = 3;
    r->devices[MADE_CPU] = (struct device_info){.backend = BACKEND_OPENMP,
                                                .kind = DEVICE_CPU,
                                                .selector = "openmp",
                                                .name = "AMD EPYC 7B13 64-Core Processor",
                                                .short_name = "CPU",
                                                .path = "avx2",
                                                .threads = 2};
    r->devices[MADE_GPU] = (struct device_info){.backend = BACKEND_OPENCL,
                                                .kind = DEVICE_GPU,
                                                .selector = "ocl:0:0",
                                                .name = "NVIDIA H200",
                                                .short_name = "H200",
                                                .path = "ptx"};
    r->devices[MADE_POCL] = (struct device_info){.backend = BACKEND_OPENCL,
                                                 .kind = DEVICE_CPU,
                                                 .selector = "ocl:1:0",
                                                 .name = "pthread-AMD EPYC 7B13",
                                                 .short_name = "PoCL",
                                                 .path = "cpu",
                                                 .host_unified = true};
    r->head = json_new_object();
    struct json *scene = json_set_object(json_set_object(r->head, "config"), "scene");
    json_set_string(scene, "kind", "random");
}

/* Takes what results_fini would, so that these tests need no reader of files. */
static inline void made_fini(struct results *r)
{
    for (size_t i = 0; i < r->cell_count; i++)
        cell_fini(&r->cells[i]);
    free(r->cells);
    free(r->devices);
    json_free(r->head);
}

/* A cell with `count` samples within 1 % of median_ns; the last one added may be changed by the test. */
static inline struct cell *made_cell(struct results *r, const char *backend, size_t device, uint32_t size,
                                     uint32_t triangles, uint64_t median_ns, size_t count)
{
    struct err err = ERR_INIT;
    struct cell *c = &r->cells[r->cell_count++];

    assert_true(r->cell_count <= MADE_CELLS);
    snprintf(c->backend, sizeof(c->backend), "%s", backend);
    c->kind = r->devices[device].backend;
    c->device = device;
    spec_init(&c->spec);
    c->spec.width = c->spec.height = size;
    c->spec.triangles = triangles;
    c->samples_ns = mem_calloc(count, sizeof(*c->samples_ns), "samples", &err);
    assert_non_null(c->samples_ns);
    c->sample_count = count;
    for (size_t i = 0; i < count; i++)
        c->samples_ns[i] = median_ns - median_ns / 100 + median_ns / 50 * i / (count > 1 ? count - 1 : 1);
    c->median_ns = median_ns;
    c->has_ci = count >= 6;
    agreement_init(&c->agreement);
    c->agreement.value[AGREE_VERTICES] = 2.2e-5;
    c->agreement.value[AGREE_COLOUR] = 4.0e-7;
    c->counts.split = 1;
    if (c->kind == BACKEND_OPENCL) {
        c->has_device_time = true;
        c->device_ns = median_ns / 2;
    }
    return c;
}

static inline void made_fail(struct cell *c, enum cell_status status, const char *reason)
{
    struct err err = ERR_INIT;

    c->status = status;
    c->reason = mem_strdup(reason, &err);
    c->sample_count = 0;
}

/* The nine cells of a crossover with times that grow with both axes; the GPU wins from about 100 triangles.
 */
static inline void made_crossover(struct results *r, size_t device, size_t samples)
{
    static const uint32_t sizes[] = {64, 128, 256}, triangles[] = {32, 128, 512};

    for (size_t s = 0; s < 3; s++)
        for (size_t t = 0; t < 3; t++) {
            uint64_t pairs = (uint64_t)sizes[s] * sizes[s] * triangles[t];
            made_cell(r, "cpu", MADE_CPU, sizes[s], triangles[t], 100 + pairs, samples);
            made_cell(r, "device", device, sizes[s], triangles[t], 200000 + pairs / 4, samples);
        }
}

/* Phases that add up to `total_ns`, but for 3 %. */
static inline void made_phases(struct cell *c, uint64_t total_ns)
{
    c->has_phases = true;
    c->phases = (struct render_phases){.pack_ns = total_ns / 100,
                                       .alloc_ns = total_ns / 50,
                                       .upload_ns = total_ns / 5,
                                       .dispatch_ns = total_ns * 7 / 10,
                                       .readback_ns = total_ns / 25,
                                       .total_ns = total_ns};
    c->counts.pool_hits = 6;
    c->counts.pool_bytes = 25493504;
}

static inline char *made_text(const struct table *t, size_t width, bool colour)
{
    struct strbuf sb = STRBUF_INIT;
    struct err err = ERR_INIT;

    assert_true(table_write_text(t, width, colour, &sb, &err));
    return sb.data;
}

#endif
