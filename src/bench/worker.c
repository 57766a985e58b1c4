#include "bench/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/ceilings.h"
#include "bench/device_json.h"
#include "bench/environment.h"
#include "bench/inputs.h"
#include "bench/measure.h"
#include "bench/protocol.h"
#include "plan/grid.h"

struct worker {
    struct channel channel;
    const struct backend_factory *factories;
    size_t factory_count;
    struct json *hello; /* owns the strings of options */
    struct backend_options options;
    struct config config;
    struct input_files files;
    struct grid grid;
    struct device_info *devices; /* those in use */
    struct renderer **renderers; /* [device_count]; NULL: could not be opened */
    size_t device_count;
    struct nvml *nvml; /* opened with the devices; NULL where there is none */
    bool ceilings_known;
};

/* ---- answers ---- */

/* For what may get lost: a parent that is gone shows in the next answer. */
static void send_or_drop(struct worker *w, struct json *message)
{
    struct err ignored = ERR_INIT;
    if (!channel_send(&w->channel, message, &ignored))
        err_fini(&ignored);
}

static void send_note(void *context, const char *text)
{
    struct json *message = message_new("note");
    json_set_string(message, "text", text);
    send_or_drop(context, message);
}

static bool say_starting(struct worker *w, const char *what, const char *selector, struct err *err)
{
    struct json *message = message_new("starting");
    json_set_string(message, "what", what);
    json_set_string(message, "selector", selector);
    return channel_send(&w->channel, message, err);
}

static const char *string_or_null(const struct json *object, const char *key)
{
    const struct json *node = json_get(object, key);
    return node != NULL && json_type(node) == JSON_STRING ? json_string(node) : NULL;
}

static bool nonsense(const char *op, struct err *err)
{
    return err_set(err, ERR_WORKER, "the worker does not understand the request \"%s\"", op);
}

/* ---- hello: what devices there are ---- */

static bool list_kind(struct worker *w, const struct backend_factory *factory, struct json *devices,
                      struct json *notes, struct err *err)
{
    struct device_info *list = NULL;
    size_t count = 0;
    struct err cause = ERR_INIT;
    if (!say_starting(w, backend_kind_name(factory->kind), NULL, err))
        return false;
    if (!factory->list(&w->options, &list, &count, &cause))
        json_add_string(notes, cause.text);
    err_fini(&cause);
    for (size_t i = 0; i < count; i++)
        device_to_json(&list[i], json_add_object(devices));
    free(list);
    return true;
}

/* "kinds" leaves out a backend that crashed an earlier worker while its devices were listed. */
static bool kind_wanted(const struct json *kinds, enum backend_kind kind)
{
    for (size_t i = 0; i < json_count(kinds); i++)
        if (strcmp(json_string(json_at(kinds, i)), backend_kind_name(kind)) == 0)
            return true;
    return false;
}

static bool on_hello(struct worker *w, struct json *request, struct err *err)
{
    json_free(w->hello);
    w->hello = json_copy(request, err);
    if (w->hello == NULL)
        return false;
    const struct json *options = json_get(w->hello, "options"), *kinds = json_get(w->hello, "kinds");
    uint64_t threads, budget, submit;
    if (!json_u64(json_get(options, "threads"), &threads) || threads > UINT32_MAX ||
        !json_u64(json_get(options, "memory_budget_bytes"), &budget) ||
        !json_u64(json_get(options, "max_submit_ns"), &submit))
        return nonsense("hello", err);
    w->options = (struct backend_options){.threads = (uint32_t)threads,
                                          .kernel_dir = string_or_null(options, "kernel_dir"),
                                          .isa = string_or_null(options, "isa"),
                                          .path = string_or_null(options, "path"),
                                          .tile = string_or_null(options, "tile"),
                                          .tune = json_bool(json_get(options, "tune")),
                                          .memory_budget_bytes = budget,
                                          .max_submit_ns = submit};
    struct json *answer = message_new("listed");
    struct json *devices = json_set_array(answer, "devices"), *notes = json_set_array(answer, "notes");
    for (size_t i = 0; i < w->factory_count; i++) {
        if (kind_wanted(kinds, w->factories[i].kind) &&
            !list_kind(w, &w->factories[i], devices, notes, err)) {
            json_free(answer);
            return false;
        }
    }
    return channel_send(&w->channel, answer, err);
}

/* ---- use: the config, and renderers on the chosen devices ---- */

static const struct backend_factory *factory_of(const struct worker *w, enum backend_kind kind)
{
    for (size_t i = 0; i < w->factory_count; i++)
        if (w->factories[i].kind == kind)
            return &w->factories[i];
    return NULL;
}

/* A device that cannot be opened costs its cells, not the run. */
static bool open_device(struct worker *w, size_t index, struct err *err)
{
    struct device_info *device = &w->devices[index];
    const struct backend_factory *factory = factory_of(w, device->backend);
    if (device->trouble[0] != '\0')
        return true;
    if (!say_starting(w, "device", device->selector, err))
        return false;
    struct err cause = ERR_INIT;
    if (factory == NULL)
        snprintf(device->trouble, sizeof device->trouble, "this program has no %s backend",
                 backend_kind_name(device->backend));
    else if (factory->create(device->selector, &w->options, &w->renderers[index], &cause))
        *device = w->renderers[index]->info;
    else
        snprintf(device->trouble, sizeof device->trouble, "%.500s", cause.text);
    if (cause.log != NULL)
        send_note(w, cause.log);
    err_fini(&cause);
    return true;
}

/* What a device could not tell of itself only makes it slower. */
static bool tune_device(struct worker *w, size_t index, struct err *err)
{
    struct renderer *r = w->renderers[index];
    char note[512] = "";
    struct err cause = ERR_INIT;
    if (r == NULL || r->ops->tune == NULL || !w->options.tune)
        return true;
    if (!say_starting(w, "tuning", w->devices[index].selector, err))
        return false;
    if (!r->ops->tune(r, note, sizeof note, &cause))
        snprintf(note, sizeof note, "%.64s is used as it is: %.400s", r->info.name, cause.text);
    if (note[0] != '\0')
        send_note(w, note);
    w->devices[index] = r->info;
    err_fini(&cause);
    return true;
}

static bool open_devices(struct worker *w, const struct json *list, struct err *err)
{
    const size_t count = json_count(list);
    w->devices = mem_calloc(count, sizeof *w->devices, "devices", err);
    w->renderers = mem_calloc(count, sizeof(struct renderer *), "renderers", err);
    if (w->devices == NULL || w->renderers == NULL)
        return false;
    w->device_count = count;
    for (size_t i = 0; i < count; i++)
        if (!device_from_json(&w->devices[i], json_at(list, i), err))
            return false;
    for (size_t i = 0; i < count; i++)
        if (!open_device(w, i, err) || !tune_device(w, i, err))
            return false;
    w->nvml = nvml_open();
    return true;
}

/* "backends": for each of the config's the places of its devices in "devices". */
static bool build_grid(struct worker *w, const struct json *backends, struct err *err)
{
    const size_t count = w->config.backend_count, each = w->device_count;
    struct grid_devices *of = mem_calloc(count, sizeof *of, "backends", err);
    size_t *indices = mem_calloc((uint64_t)count * each, sizeof *indices, "devices", err);
    const char **selectors = mem_calloc((uint64_t)count * each, sizeof *selectors, "devices", err);
    bool ok = of != NULL && indices != NULL && selectors != NULL;
    for (size_t b = 0; b < count && ok; b++) {
        const struct json *places = json_at(backends, b);
        of[b] = (struct grid_devices){indices + b * each, selectors + b * each, json_count(places)};
        for (size_t i = 0; i < of[b].count && ok; i++) {
            uint64_t place;
            ok = i < each && json_u64(json_at(places, i), &place) && place < each;
            if (!ok) {
                nonsense("use", err);
                break;
            }
            indices[b * each + i] = (size_t)place;
            selectors[b * each + i] = w->devices[place].selector;
        }
    }
    ok = ok && grid_build(&w->config, of, &w->grid, err);
    free(of);
    free(indices);
    free(selectors);
    return ok;
}

static bool on_use(struct worker *w, const struct json *request, struct err *err)
{
    if (w->devices != NULL)
        return nonsense("use", err);
    if (!config_from_json(json_get(request, "config"), json_string(json_get(request, "path")), &w->config,
                          err) ||
        !input_files_load(&w->config, &w->files, err) ||
        !open_devices(w, json_get(request, "devices"), err) ||
        !build_grid(w, json_get(request, "backends"), err))
        return false;
    struct json *answer = message_new("ready");
    struct json *devices = json_set_array(answer, "devices");
    for (size_t i = 0; i < w->device_count; i++)
        device_to_json(&w->devices[i], json_add_object(devices));
    json_set_u64(answer, "points", w->grid.point_count);
    json_set_u64(answer, "cells", w->grid.cell_count);
    return channel_send(&w->channel, answer, err);
}

/* ---- environment ---- */

static bool wants_ceilings(const struct config *config)
{
    for (size_t i = 0; i < config->table_count; i++)
        if (strcmp(config->tables[i], "roofline") == 0)
            return true;
    return false;
}

static bool on_environment(struct worker *w, struct err *err)
{
    struct json *answer = message_new("environment"), *record = json_set_object(answer, "record");
    environment_record(w->renderers, w->device_count, w->nvml, record);
    if (!w->ceilings_known && wants_ceilings(&w->config))
        ceilings_record(w->renderers, w->device_count, json_set_array(record, "ceilings"));
    w->ceilings_known = true;
    return channel_send(&w->channel, answer, err);
}

/* ---- footprint ---- */

static bool on_footprint(struct worker *w, const struct json *request, struct err *err)
{
    uint64_t index;
    if (!json_u64(json_get(request, "cell"), &index) || index >= w->grid.cell_count)
        return nonsense("footprint", err);
    const struct grid_cell *cell = &w->grid.cells[index];
    struct renderer *renderer = w->renderers[cell->device];
    struct render_footprint bytes = {0};
    struct err cause = ERR_INIT;
    if (cell->refuse != NULL)
        err_set(&cause, ERR_UNSUPPORTED, "%s", cell->refuse);
    else if (renderer == NULL)
        err_set(&cause, ERR_NO_DEVICE, "%s", w->devices[cell->device].trouble);
    else
        (void)trial_footprint(renderer, &cell->spec, &bytes, &cause);
    struct json *answer = message_new("footprint");
    json_set_bool(answer, "fits", cause.code == ERR_NONE);
    json_set_string(answer, "reason", cause.text);
    json_set_u64(answer, "device_bytes", bytes.device_bytes);
    json_set_u64(answer, "largest_alloc_bytes", bytes.largest_alloc_bytes);
    json_set_u64(answer, "host_bytes", bytes.host_bytes);
    json_set_u64(answer, "tape_bytes", bytes.tape_bytes);
    json_set_u64(answer, "split", bytes.split);
    err_fini(&cause);
    return channel_send(&w->channel, answer, err);
}

/* ---- point ---- */

/* The GPU's state as a block of samples begins. */
static void add_clocks(const struct worker *w, size_t cell, struct json *message)
{
    const struct device_info *device = &w->devices[w->grid.cells[cell].device];
    struct json *gpu = json_new_object();
    json_set_string(gpu, "on", device->selector);
    if (w->nvml != NULL && device->pci[0] != '\0' && nvml_clocks(w->nvml, device->pci, gpu))
        json_set(message, "gpu", gpu);
    else
        json_free(gpu);
}

static void send_stage(void *context, size_t cell, const char *stage)
{
    struct json *message = message_new("stage");
    if (cell != SIZE_MAX)
        json_set_u64(message, "cell", cell);
    json_set_string(message, "stage", stage);
    if (cell != SIZE_MAX && strcmp(stage, STAGE_SAMPLING) == 0)
        add_clocks(context, cell, message);
    send_or_drop(context, message);
}

static bool send_cell(void *context, size_t cell, const struct cell *result, struct err *err)
{
    struct worker *w = context;
    struct json *message = message_new("cell");
    json_set_u64(message, "cell", cell);
    if (!cell_to_json(result, json_set_object(message, "result"), err)) {
        json_free(message);
        return false;
    }
    return channel_send(&w->channel, message, err);
}

/* A parent that speaks, or is gone, while a point is measured wants it to end. */
static bool parent_spoke(void *context)
{
    const struct worker *w = context;
    return channel_pending(&w->channel);
}

static bool on_point(struct worker *w, const struct json *request, struct err *err)
{
    const struct json *list = json_get(request, "cells");
    const size_t count = json_count(list);
    uint64_t point;
    if (!json_u64(json_get(request, "point"), &point) || point >= w->grid.point_count)
        return nonsense("point", err);
    size_t *cells = mem_calloc(count, sizeof *cells, "cells", err);
    if (cells == NULL)
        return false;
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        uint64_t cell = 0;
        ok = (json_u64(json_at(list, i), &cell) && cell < w->grid.cell_count &&
              w->grid.cells[cell].point == point) ||
             nonsense("point", err);
        cells[i] = (size_t)cell;
    }
    const struct sample_clock clock = {w, sample_host_clock.now_ns, sample_host_clock.sleep_ns, parent_spoke};
    const struct measure_request measure = {.config = &w->config,
                                            .files = &w->files,
                                            .grid = &w->grid,
                                            .point = (size_t)point,
                                            .cells = cells,
                                            .cell_count = count,
                                            .renderers = w->renderers,
                                            .devices = w->devices,
                                            .clock = &clock};
    const struct measure_sink sink = {w, send_stage, send_cell, send_note};
    ok = ok && measure_point(&measure, &sink, err);
    free(cells);
    return ok && channel_send(&w->channel, message_new("done"), err);
}

/* ---- the loop ---- */

static bool answer(struct worker *w, struct json *request, struct err *err)
{
    const char *op = json_string(json_get(request, "op"));
    if (strcmp(op, "hello") == 0)
        return on_hello(w, request, err);
    if (strcmp(op, "use") == 0)
        return on_use(w, request, err);
    if (strcmp(op, "footprint") == 0)
        return on_footprint(w, request, err);
    if (strcmp(op, "environment") == 0)
        return on_environment(w, err);
    if (strcmp(op, "point") == 0)
        return on_point(w, request, err);
    return nonsense(op, err);
}

/* false: there is nobody left to talk to. */
static bool serve(struct worker *w, bool *quit)
{
    struct err err = ERR_INIT;
    struct json *request = NULL;
    enum channel_result got = channel_receive(&w->channel, -1, &request, &err);
    bool ok = got == CHANNEL_MESSAGE || got == CHANNEL_TIMEOUT;
    *quit = got == CHANNEL_CLOSED || (got == CHANNEL_MESSAGE && message_is(request, "quit"));
    if (got == CHANNEL_MESSAGE && !*quit && !answer(w, request, &err)) {
        struct err lost = ERR_INIT;
        ok = channel_send(&w->channel, message_error(&err), &lost);
        err_fini(&lost);
    }
    json_free(request);
    err_fini(&err);
    return ok || *quit;
}

static void worker_fini(struct worker *w)
{
    for (size_t i = 0; i < w->device_count; i++)
        if (w->renderers[i] != NULL)
            w->renderers[i]->ops->destroy(w->renderers[i]);
    free(w->renderers);
    nvml_close(w->nvml);
    free(w->devices);
    grid_fini(&w->grid);
    input_files_fini(&w->files);
    config_fini(&w->config);
    json_free(w->hello);
    channel_fini(&w->channel);
}

bool worker_driver_silent(const char *what, struct err *err)
{
    return err_set(err, ERR_TIMEOUT,
                   "an OpenCL driver did not answer in %d s while %s; OCL_ICD_VENDORS can name those that do",
                   DRIVER_LIMIT_S, what);
}

int worker_main(int in_fd, int out_fd, const struct backend_factory *factories, size_t factory_count)
{
    struct worker w = {.factories = factories, .factory_count = factory_count};
    bool quit = false, ok = true;
    /* Compilers that drivers start must not hold the pipes open. */
    fcntl(in_fd, F_SETFD, FD_CLOEXEC);
    fcntl(out_fd, F_SETFD, FD_CLOEXEC);
    signal(SIGPIPE, SIG_IGN);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    channel_init(&w.channel, in_fd, out_fd);
    while (ok && !quit)
        ok = serve(&w, &quit);
    worker_fini(&w);
    return ok ? WORKER_DONE : WORKER_PROTOCOL;
}
