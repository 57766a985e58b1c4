#include "bench/runner_start.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/device_json.h"

/* For what is not the drivers' alone, which DRIVER_LIMIT_S holds: kernels that are compiled to find out what
 * a device can do, the probe of its tiles. */
#define START_LIMIT_NS UINT64_C(120000000000)
#define END_GRACE_NS UINT64_C(1000000000)

static const char *const own_argv[] = {"/proc/self/exe", "worker", NULL};

static const enum backend_kind kinds[] = {BACKEND_OPENMP, BACKEND_OPENCL};

bool runner_add_note(struct runner *r, struct err *err, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    void *array = r->notes;
    size_t capacity = r->note_count;
    if (!mem_grow(&array, &capacity, r->note_count + 1, sizeof(char *), "notes", err))
        return false;
    r->notes = array;
    r->notes[r->note_count] = mem_strdup(line, err);
    if (r->notes[r->note_count] == NULL)
        return false;
    r->note_count++;
    return true;
}

bool runner_lost(struct runner *r, enum session_result result, const char *what, struct err *err)
{
    char how[SESSION_HOW_MAX];
    session_end(&r->session, result == SESSION_LATE ? 0 : END_GRACE_NS, r->options.stop, how);
    if (result == SESSION_STOP)
        return err_set(err, ERR_INTERRUPTED, "interrupted while %s", what);
    if (result == SESSION_LATE)
        return err_set(err, ERR_TIMEOUT, "the worker did not answer in %g s while %s",
                       (double)START_LIMIT_NS * 1e-9, what);
    if (strcmp(how, "SIGALRM") == 0)
        return worker_driver_silent(what, err);
    return err_set(err, ERR_WORKER, "the worker ended while %s%s%s%s", what, how[0] != '\0' ? " (" : "", how,
                   how[0] != '\0' ? ")" : "");
}

static struct json *hello(const struct runner *r)
{
    const struct backend_options *o = &r->options.backend;
    struct json *message = message_new("hello");
    struct json *list = json_set_array(message, "kinds");
    for (size_t i = 0; i < 2; i++)
        if (!r->without[kinds[i]])
            json_add_string(list, backend_kind_name(kinds[i]));
    struct json *options = json_set_object(message, "options");
    json_set_u64(options, "threads", o->threads);
    json_set_string(options, "kernel_dir", o->kernel_dir);
    json_set_string(options, "isa", o->isa);
    json_set_string(options, "path", o->path);
    json_set_string(options, "tile", o->tile);
    json_set_bool(options, "tune", o->tune);
    json_set_u64(options, "memory_budget_bytes", o->memory_budget_bytes);
    json_set_u64(options, "max_submit_ns", o->max_submit_ns);
    return message;
}

/* Sends a request and waits for its answer, remembering what the worker said that it starts with. A worker's
 * error is err; *lost tells when it gave none. */
struct asked {
    struct json *answer; /* owned */
    char what[32];       /* the latest "starting" */
    char selector[32];
    enum session_result result; /* not SESSION_MESSAGE: no answer */
};

static bool ask(struct runner *r, struct json *request, const char *op, struct asked *asked, struct err *err)
{
    struct err gone = ERR_INIT;
    const uint64_t deadline = clock_now_ns() + START_LIMIT_NS;
    *asked = (struct asked){.result = SESSION_MESSAGE};
    if (!channel_send(&r->session.channel, request, &gone))
        asked->result = SESSION_ENDED;
    err_fini(&gone);
    while (asked->result == SESSION_MESSAGE) {
        struct json *message = NULL;
        asked->result = session_receive(&r->session, deadline, r->options.stop, &message);
        if (asked->result != SESSION_MESSAGE)
            break;
        if (message_is(message, op)) {
            asked->answer = message;
            break;
        }
        bool failed = message_is(message, "error");
        if (failed)
            message_take_error(message, err);
        if (message_is(message, "note") &&
            !runner_add_note(r, err, "%s", json_string(json_get(message, "text"))))
            failed = true;
        if (message_is(message, "starting")) {
            snprintf(asked->what, sizeof asked->what, "%s", json_string(json_get(message, "what")));
            snprintf(asked->selector, sizeof asked->selector, "%s",
                     json_string(json_get(message, "selector")));
        }
        json_free(message);
        if (failed)
            return false;
    }
    return true;
}

/* ---- listing ---- */

static bool take_list(struct runner *r, const struct json *answer, struct err *err)
{
    const struct json *devices = json_get(answer, "devices"), *notes = json_get(answer, "notes");
    if (r->all != NULL)
        return true;
    r->all = mem_calloc(json_count(devices), sizeof *r->all, "devices", err);
    if (r->all == NULL)
        return false;
    for (size_t i = 0; i < json_count(devices); i++, r->all_count++)
        if (!device_from_json(&r->all[i], json_at(devices, i), err))
            return false;
    for (size_t i = 0; i < json_count(notes); i++)
        if (!runner_add_note(r, err, "%s", json_string(json_at(notes, i))))
            return false;
    return true;
}

/* Leaves out the backend that the worker was listing when it ended; false when there is none to blame. */
static bool leave_out(struct runner *r, const char *what, const struct err *cause, struct err *err)
{
    for (size_t i = 0; i < 2; i++) {
        if (strcmp(what, backend_kind_name(kinds[i])) != 0 || r->without[kinds[i]])
            continue;
        r->without[kinds[i]] = true;
        return runner_add_note(r, err, "%s devices are left out: %s", what, cause->text);
    }
    return false;
}

bool runner_start(struct runner *r, struct err *err)
{
    const char *const *argv = r->options.worker_argv != NULL ? r->options.worker_argv : own_argv;
    for (;;) {
        struct asked asked;
        if (!session_start(&r->session, argv, err))
            return false;
        if (!ask(r, hello(r), "listed", &asked, err))
            return false;
        if (asked.answer != NULL) {
            bool ok = take_list(r, asked.answer, err);
            json_free(asked.answer);
            return ok;
        }
        struct err cause = ERR_INIT;
        char what[64];
        snprintf(what, sizeof what, "listing %s devices", asked.what);
        runner_lost(r, asked.result, what, &cause);
        if (asked.result == SESSION_STOP || !leave_out(r, asked.what, &cause, err))
            err_set(err, cause.code, "%s", cause.text);
        err_fini(&cause);
        if (err->code != ERR_NONE)
            return false;
    }
}

/* ---- using ---- */

static struct json *use_request(const struct runner *r, struct err *err)
{
    const struct config *config = r->options.config;
    struct json *message = message_new("use"), *copy = json_copy(config->json, err);
    if (copy == NULL || message == NULL) {
        json_free(copy);
        json_free(message);
        return NULL;
    }
    json_set(message, "config", copy);
    json_set_string(message, "path", config->path);
    struct json *devices = json_set_array(message, "devices");
    for (size_t i = 0; i < r->choice.used_count; i++)
        device_to_json(&r->devices[i], json_add_object(devices));
    struct json *backends = json_set_array(message, "backends");
    for (size_t b = 0; b < config->backend_count; b++) {
        struct json *places = json_new_array();
        for (size_t i = 0; i < r->choice.of_backend[b].count; i++)
            json_add_u64(places, r->choice.of_backend[b].indices[i]);
        json_add(backends, places);
    }
    return message;
}

static bool take_ready(struct runner *r, const struct json *answer, struct err *err)
{
    const struct json *devices = json_get(answer, "devices");
    uint64_t cells, points;
    if (json_count(devices) != r->choice.used_count || !json_u64(json_get(answer, "cells"), &cells) ||
        !json_u64(json_get(answer, "points"), &points) || cells != r->grid.cell_count ||
        points != r->grid.point_count)
        return err_set(err, ERR_INTERNAL, "the worker made another grid of the config than this process");
    for (size_t i = 0; i < r->choice.used_count; i++)
        if (!device_from_json(&r->devices[i], json_at(devices, i), err))
            return false;
    return true;
}

/* The device that the worker was opening when it ended gets its trouble; false when there is none to blame.
 */
static bool blame_device(struct runner *r, const struct asked *asked, const struct err *cause)
{
    for (size_t i = 0; i < r->choice.used_count; i++) {
        struct device_info *d = &r->devices[i];
        if (strcmp(asked->what, "device") == 0 && strcmp(d->selector, asked->selector) == 0 &&
            d->trouble[0] == '\0') {
            snprintf(d->trouble, sizeof d->trouble, "%.500s", cause->text);
            return true;
        }
    }
    return false;
}

/* A device that did not survive being tuned is used without; false when that is not what happened. */
static bool leave_untuned(struct runner *r, const struct asked *asked, const struct err *cause, struct err *err)
{
    if (strcmp(asked->what, "tuning") != 0 || !r->options.backend.tune)
        return false;
    r->options.backend.tune = false;
    return runner_add_note(r, err, "%s did not survive the probe of its tiles, and is used as it is: %s",
                           asked->selector, cause->text);
}

bool runner_use(struct runner *r, struct err *err)
{
    for (;;) {
        struct asked asked;
        struct json *request = use_request(r, err);
        if (request == NULL)
            return err_set(err, ERR_MEMORY, "out of memory while starting the worker");
        if (!ask(r, request, "ready", &asked, err))
            return false;
        if (asked.answer != NULL) {
            bool ok = take_ready(r, asked.answer, err);
            json_free(asked.answer);
            return ok;
        }
        struct err cause = ERR_INIT;
        char what[96];
        snprintf(what, sizeof what, "opening %s", asked.selector[0] != '\0' ? asked.selector : "its devices");
        runner_lost(r, asked.result, what, &cause);
        if (asked.result == SESSION_STOP ||
            (!leave_untuned(r, &asked, &cause, err) && !blame_device(r, &asked, &cause)))
            err_set(err, cause.code, "%s", cause.text);
        err_fini(&cause);
        if (err->code != ERR_NONE || !runner_start(r, err))
            return false;
    }
}
