#include "bench/cell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/oracle.h"

static const char *const status_names[] = {"ok", "wrong", "skipped", "timeout", "failed", "interrupted"};
static const char *const end_names[] = {NULL,          "target_ci", "max_samples",
                                        "max_seconds", "timeout",   "interrupted"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

bool cell_init(struct cell *cell, const struct grid_cell *from, const struct backend_config *backend,
               struct err *err)
{
    const struct render_spec *s = &from->spec;
    *cell = (struct cell){.kind = backend->kind, .device = from->device, .status = CELL_FAILED, .spec = *s};
    snprintf(cell->backend, sizeof cell->backend, "%s", backend->name);
    agreement_init(&cell->agreement);
    if (backend->kind == BACKEND_OPENCL && s->mode == MODE_GRADIENT && s->strategy == STRATEGY_TAPED)
        cell->tape_bytes = oracle_tape_dense_bytes(s->batch, s->triangles, s->width, s->height);
    cell->id = mem_strdup(from->id, err);
    return cell->id != NULL;
}

void cell_fini(struct cell *cell)
{
    if (cell == NULL)
        return;
    free(cell->id);
    free(cell->reason);
    free(cell->samples_ns);
    free(cell->block_starts);
    free(cell->kernels);
    *cell = (struct cell){0};
}

const char *cell_status_name(enum cell_status status)
{
    return (size_t)status < COUNT(status_names) ? status_names[status] : "?";
}

/* ---- writing ---- */

/* The phases by name, in the order of a call. */
static const struct {
    const char *name;
    size_t offset;
} phase_fields[] = {
    {"pack", offsetof(struct render_phases, pack_ns)},
    {"alloc", offsetof(struct render_phases, alloc_ns)},
    {"upload", offsetof(struct render_phases, upload_ns)},
    {"dispatch", offsetof(struct render_phases, dispatch_ns)},
    {"readback", offsetof(struct render_phases, readback_ns)},
    {"loss", offsetof(struct render_phases, loss_ns)},
};

static uint64_t *phase_at(struct render_phases *phases, size_t index)
{
    return (uint64_t *)(void *)((char *)phases + phase_fields[index].offset);
}

static void write_phases(const struct cell *cell, struct json *object)
{
    if (!cell->has_phases) {
        json_set_null(object, "phases_ns");
        return;
    }
    struct json *out = json_set_object(object, "phases_ns");
    struct render_phases phases = cell->phases;
    uint64_t sum = 0;
    for (size_t i = 0; i < COUNT(phase_fields); i++) {
        json_set_u64(out, phase_fields[i].name, *phase_at(&phases, i));
        sum += *phase_at(&phases, i);
    }
    json_set_u64(out, "unaccounted", phases.total_ns > sum ? phases.total_ns - sum : 0);
    json_set_u64(out, "total", phases.total_ns);
}

static void write_samples(const struct cell *cell, struct json *object)
{
    struct json *samples = json_set_array(object, "samples_ns");
    for (size_t i = 0; i < cell->sample_count; i++)
        json_add_u64(samples, cell->samples_ns[i]);
    if (cell->sample_count > 0)
        json_set_u64(object, "median_ns", cell->median_ns);
    else
        json_set_null(object, "median_ns");
    if (cell->has_ci) {
        struct json *ci = json_set_array(object, "ci95_ns");
        json_add_u64(ci, cell->ci95_ns[0]);
        json_add_u64(ci, cell->ci95_ns[1]);
    } else {
        json_set_null(object, "ci95_ns");
    }
    json_set_string(object, "ended_by", end_names[cell->ended_by]);
    if (cell->has_device_time)
        json_set_u64(object, "device_ns", cell->device_ns);
    else
        json_set_null(object, "device_ns");
}

static void write_kernels(const struct cell *cell, struct json *object)
{
    struct json *list = json_set_array(object, "kernels");
    for (size_t i = 0; i < cell->kernel_count; i++) {
        const struct kernel_time *kernel = &cell->kernels[i];
        struct json *out = json_add_object(list);
        json_set_string(out, "name", kernel->name);
        json_set_u64(out, "launches", kernel->launches);
        json_set_u64(out, "device_ns", kernel->device_ns);
        json_set_u64(out, "bytes", kernel->bytes);
    }
}

static void write_counts(const struct cell *cell, struct json *object)
{
    const struct render_counts *c = &cell->counts;
    struct json *pool = json_set_object(object, "pool");
    json_set_u64(pool, "hits", c->pool_hits);
    json_set_u64(pool, "misses", c->pool_misses);
    json_set_u64(pool, "bytes", c->pool_bytes);
    struct json *counts = json_set_object(object, "counts");
    json_set_u64(counts, "dispatches", c->dispatches);
    json_set_u64(counts, "bytes_up", c->bytes_up);
    json_set_u64(counts, "bytes_down", c->bytes_down);
    json_set_u64(counts, "pairs", cell->pairs);
    json_set_u64(counts, "split", c->split);
    json_set_u64(counts, "pairs_in_bounds", cell->pairs_in_bounds);
    json_set_bool(counts, "pairs_estimated", cell->pairs_estimated);
    json_set_u64(counts, "pairs_opaque", cell->pairs_opaque);
    json_set_u64(counts, "layers_p99", cell->layers_p99);
    json_set_u64(counts, "layers_most", cell->layers_most);
    json_set_u64(counts, "partial_sums", c->partial_sums);
    json_set_u64(counts, "submissions", c->submissions);
    if (c->longest_submission_ns > 0)
        json_set_u64(counts, "longest_submission_ns", c->longest_submission_ns);
    else
        json_set_null(counts, "longest_submission_ns");
}

static void write_details(const struct cell *cell, struct json *object)
{
    json_set_string(object, "kind", backend_kind_name(cell->kind));
    struct json *blocks = json_set_array(object, "blocks");
    for (size_t i = 0; i < cell->block_count; i++)
        json_add_u64(blocks, cell->block_starts[i]);
    json_set_u64(object, "outliers", cell->outliers);
    struct json *checked = json_set_object(object, "checked");
    json_set_u64(checked, "scenes", cell->checked_scenes);
    json_set_u64(checked, "pixels", cell->checked_pixels);
    json_set_u64(object, "tape_bytes", cell->tape_bytes);
    json_set_u64(object, "tape_touched_bytes", cell->tape_touched_bytes);
    json_set_u64(object, "build_ns", cell->build_ns);
}

bool cell_to_json(const struct cell *cell, struct json *object, struct err *err)
{
    if (object == NULL)
        return err_set(err, ERR_MEMORY, "out of memory while writing a cell");
    json_set_string(object, "id", cell->id);
    json_set_string(object, "backend", cell->backend);
    json_set_u64(object, "device", cell->device);
    json_set_string(object, "status", cell_status_name(cell->status));
    json_set_string(object, "reason", cell->reason);
    spec_to_json(&cell->spec, cell->kind, json_set_object(object, "params"));
    agreement_to_json(&cell->agreement, json_set_object(object, "agreement"));
    write_samples(cell, object);
    write_phases(cell, object);
    write_counts(cell, object);
    write_kernels(cell, object);
    write_details(cell, object);
    return true;
}

/* ---- reading ---- */

/* What is being read, for messages. */
struct reader {
    const struct json *cell;
    struct err *err;
};

static bool bad(const struct reader *r, const char *key, const char *wanted)
{
    const struct json *id = json_get(r->cell, "id");
    return err_set(r->err, ERR_CONFIG, "cell \"%.200s\": \"%s\" must be %s",
                   id != NULL ? json_string(id) : "?", key, wanted);
}

/* A count; absent or null leaves *out as it is. */
static bool read_u64(const struct reader *r, const struct json *object, const char *key, uint64_t *out)
{
    const struct json *node = json_get(object, key);
    if (node == NULL || json_type(node) == JSON_NULL)
        return true;
    return json_u64(node, out) || bad(r, key, "a non-negative integer");
}

static bool read_u32(const struct reader *r, const struct json *object, const char *key, uint32_t *out)
{
    uint64_t value = *out;
    if (!read_u64(r, object, key, &value))
        return false;
    if (value > UINT32_MAX)
        return bad(r, key, "below 2^32");
    *out = (uint32_t)value;
    return true;
}

/* The string's place in names; a null name matches JSON null or an absent key. */
static bool read_name(const struct reader *r, const char *key, const char *const *names, size_t count,
                      size_t *out)
{
    const struct json *node = json_get(r->cell, key);
    bool absent = node == NULL || json_type(node) == JSON_NULL;
    for (size_t i = 0; i < count; i++) {
        if (absent ? names[i] == NULL : names[i] != NULL && strcmp(names[i], json_string(node)) == 0) {
            *out = i;
            return true;
        }
    }
    return bad(r, key, "one of the names that this version knows");
}

static bool read_identity(const struct reader *r, struct cell *cell)
{
    const struct json *id = json_get(r->cell, "id"), *backend = json_get(r->cell, "backend");
    if (id == NULL || json_type(id) != JSON_STRING)
        return bad(r, "id", "a string");
    if (backend == NULL || json_type(backend) != JSON_STRING ||
        strlen(json_string(backend)) >= sizeof cell->backend)
        return bad(r, "backend", "a string of at most 63 bytes");
    strcpy(cell->backend, json_string(backend));
    cell->id = mem_strdup(json_string(id), r->err);
    if (cell->id == NULL)
        return false;
    size_t status = 0, kind = 0;
    const char *const kinds[] = {backend_kind_name(BACKEND_OPENMP), backend_kind_name(BACKEND_OPENCL)};
    if (!read_name(r, "status", status_names, COUNT(status_names), &status) ||
        !read_name(r, "kind", kinds, COUNT(kinds), &kind))
        return false;
    cell->status = (enum cell_status)status;
    cell->kind = (enum backend_kind)kind;
    uint64_t device = 0;
    if (!read_u64(r, r->cell, "device", &device))
        return false;
    cell->device = (size_t)device;
    const struct json *reason = json_get(r->cell, "reason");
    if (reason != NULL && json_type(reason) == JSON_STRING) {
        cell->reason = mem_strdup(json_string(reason), r->err);
        return cell->reason != NULL;
    }
    return true;
}

static bool read_list(const struct reader *r, const char *key, uint64_t **out, size_t *count)
{
    const struct json *list = json_get(r->cell, key);
    *count = list != NULL ? json_count(list) : 0;
    if (list != NULL && json_type(list) != JSON_ARRAY)
        return bad(r, key, "an array");
    *out = mem_calloc(*count, sizeof **out, key, r->err);
    if (*out == NULL)
        return false;
    for (size_t i = 0; i < *count; i++)
        if (!json_u64(json_at(list, i), &(*out)[i]))
            return bad(r, key, "an array of non-negative integers");
    return true;
}

static bool read_samples(const struct reader *r, struct cell *cell)
{
    uint64_t *blocks = NULL;
    size_t end = 0;
    bool ok = read_list(r, "samples_ns", &cell->samples_ns, &cell->sample_count) &&
              read_list(r, "blocks", &blocks, &cell->block_count) &&
              read_u64(r, r->cell, "median_ns", &cell->median_ns) &&
              read_name(r, "ended_by", end_names, COUNT(end_names), &end);
    if (!ok)
        goto out;
    ok = false;
    cell->ended_by = (enum cell_end)end;
    cell->block_starts = mem_calloc(cell->block_count, sizeof *cell->block_starts, "blocks", r->err);
    if (cell->block_starts == NULL)
        goto out;
    for (size_t i = 0; i < cell->block_count; i++) {
        if (blocks[i] >= cell->sample_count || (i == 0 ? blocks[i] != 0 : blocks[i] <= blocks[i - 1])) {
            bad(r, "blocks", "ascending places in samples_ns, the first 0");
            goto out;
        }
        cell->block_starts[i] = (size_t)blocks[i];
    }
    const struct json *ci = json_get(r->cell, "ci95_ns");
    cell->has_ci = ci != NULL && json_type(ci) != JSON_NULL;
    if (cell->has_ci && (json_count(ci) != 2 || !json_u64(json_at(ci, 0), &cell->ci95_ns[0]) ||
                         !json_u64(json_at(ci, 1), &cell->ci95_ns[1]))) {
        bad(r, "ci95_ns", "null or two non-negative integers");
        goto out;
    }
    const struct json *device = json_get(r->cell, "device_ns");
    cell->has_device_time = device != NULL && json_type(device) != JSON_NULL;
    ok = read_u64(r, r->cell, "device_ns", &cell->device_ns);
out:
    free(blocks);
    return ok;
}

static bool read_phases(const struct reader *r, struct cell *cell)
{
    const struct json *phases = json_get(r->cell, "phases_ns");
    cell->has_phases = phases != NULL && json_type(phases) == JSON_OBJECT;
    if (!cell->has_phases)
        return true;
    for (size_t i = 0; i < COUNT(phase_fields); i++)
        if (!read_u64(r, phases, phase_fields[i].name, phase_at(&cell->phases, i)))
            return false;
    return read_u64(r, phases, "total", &cell->phases.total_ns);
}

static bool read_kernels(const struct reader *r, struct cell *cell)
{
    const struct json *list = json_get(r->cell, "kernels");
    cell->kernels = mem_calloc(json_count(list), sizeof *cell->kernels, "kernels", r->err);
    if (cell->kernels == NULL)
        return false;
    for (; cell->kernel_count < json_count(list); cell->kernel_count++) {
        const struct json *from = json_at(list, cell->kernel_count);
        struct kernel_time *kernel = &cell->kernels[cell->kernel_count];
        snprintf(kernel->name, sizeof kernel->name, "%s", json_string(json_get(from, "name")));
        if (!read_u32(r, from, "launches", &kernel->launches) ||
            !read_u64(r, from, "device_ns", &kernel->device_ns) || !read_u64(r, from, "bytes", &kernel->bytes))
            return false;
    }
    return true;
}

static bool read_counts(const struct reader *r, struct cell *cell)
{
    const struct json *pool = json_get(r->cell, "pool"), *counts = json_get(r->cell, "counts");
    const struct json *checked = json_get(r->cell, "checked");
    struct render_counts *c = &cell->counts;
    cell->pairs_estimated = json_bool(json_get(counts, "pairs_estimated"));
    return read_u64(r, pool, "hits", &c->pool_hits) && read_u64(r, pool, "misses", &c->pool_misses) &&
           read_u64(r, pool, "bytes", &c->pool_bytes) && read_u64(r, counts, "dispatches", &c->dispatches) &&
           read_u64(r, counts, "bytes_up", &c->bytes_up) &&
           read_u64(r, counts, "partial_sums", &c->partial_sums) &&
           read_u64(r, counts, "submissions", &c->submissions) &&
           read_u64(r, counts, "longest_submission_ns", &c->longest_submission_ns) &&
           read_u64(r, counts, "bytes_down", &c->bytes_down) && read_u64(r, counts, "pairs", &cell->pairs) &&
           read_u32(r, counts, "split", &c->split) &&
           read_u64(r, counts, "pairs_in_bounds", &cell->pairs_in_bounds) &&
           read_u64(r, counts, "pairs_opaque", &cell->pairs_opaque) &&
           read_u32(r, counts, "layers_p99", &cell->layers_p99) &&
           read_u32(r, counts, "layers_most", &cell->layers_most) &&
           read_u32(r, r->cell, "outliers", &cell->outliers) &&
           read_u32(r, checked, "scenes", &cell->checked_scenes) &&
           read_u64(r, checked, "pixels", &cell->checked_pixels) &&
           read_u64(r, r->cell, "tape_bytes", &cell->tape_bytes) &&
           read_u64(r, r->cell, "tape_touched_bytes", &cell->tape_touched_bytes) &&
           read_u64(r, r->cell, "build_ns", &cell->build_ns);
}

bool cell_from_json(struct cell *cell, const struct json *object, struct err *err)
{
    *cell = (struct cell){0};
    agreement_init(&cell->agreement);
    spec_init(&cell->spec);
    struct reader r = {object, err};
    if (object == NULL || json_type(object) != JSON_OBJECT)
        return err_set(err, ERR_CONFIG, "a cell must be an object");
    const struct json *params = json_get(object, "params"), *agreement = json_get(object, "agreement");
    bool ok = read_identity(&r, cell);
    if (ok && (params == NULL || json_type(params) != JSON_OBJECT))
        ok = bad(&r, "params", "an object");
    if (ok && !spec_from_json(&cell->spec, params, err))
        ok = err_wrap(err, "cell \"%.200s\"", cell->id);
    if (ok && agreement != NULL && json_type(agreement) == JSON_OBJECT)
        agreement_from_json(&cell->agreement, agreement);
    ok = ok && read_samples(&r, cell) && read_phases(&r, cell) && read_kernels(&r, cell) &&
         read_counts(&r, cell);
    if (!ok)
        cell_fini(cell);
    return ok;
}
