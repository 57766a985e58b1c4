#include "bench/choose.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"

void choice_fini(struct choice *choice)
{
    if (choice == NULL)
        return;
    for (size_t i = 0; i < choice->note_count; i++)
        free(choice->notes[i]);
    free(choice->notes);
    free(choice->used);
    /* One allocation holds all backends' arrays: see reserve(). */
    free(choice->of_backend);
    *choice = (struct choice){0};
}

/* As it is written in sentences. */
static const char *kind_title(enum backend_kind kind)
{
    return kind == BACKEND_OPENCL ? "OpenCL" : "OpenMP";
}

static bool add_note(struct choice *choice, const struct strbuf *text, struct err *err)
{
    void *array = choice->notes;
    size_t capacity = choice->note_count;
    if (!strbuf_ok(text, err) ||
        !mem_grow(&array, &capacity, choice->note_count + 1, sizeof(char *), "notes", err))
        return false;
    choice->notes = array;
    choice->notes[choice->note_count] = mem_strdup(strbuf_str(text), err);
    return choice->notes[choice->note_count++] != NULL;
}

struct chooser {
    const struct device_info *all;
    size_t count;
    bool *selected; /* [count]: named by -d */
    bool *used;     /* [count] */
    bool *of;       /* [backends][count] */
    const char *path;
    bool others; /* devices that cannot run the path may be left out: a selector means one that can */
    struct choice *out;
    struct err *err;
};

static bool usable(const struct device_info *device)
{
    return device->trouble[0] == '\0';
}

static bool none_matches(const struct chooser *c, const char *selector, const struct device_info *broken)
{
    if (broken != NULL)
        return err_set(c->err, ERR_NO_DEVICE, "device \"%s\" (%s) cannot be used: %s", selector, broken->name,
                       broken->trouble);
    struct strbuf there = STRBUF_INIT;
    for (size_t i = 0; i < c->count; i++)
        strbuf_addf(&there, "%s%s (%s)", i > 0 ? ", " : "", c->all[i].selector, c->all[i].name);
    err_set(c->err, ERR_NO_DEVICE, "no device matches \"%s\"; there are: %s%s", selector,
            there.len > 0 ? strbuf_str(&there) : "none",
            strcmp(selector, "gpu") == 0 ? ". gpubench devices says what a GPU may be missing" : "");
    strbuf_fini(&there);
    return false;
}

static bool mark(struct chooser *c, const char *selector, bool *marked)
{
    bool found = false;
    const struct device_info *broken = NULL;
    for (size_t i = 0; i < c->count; i++) {
        if (!device_matches(&c->all[i], selector))
            continue;
        if (usable(&c->all[i]))
            marked[i] = found = true;
        else
            broken = &c->all[i];
    }
    return found || (broken != NULL && c->others) || none_matches(c, selector, broken);
}

/* Devices that a selector would have chosen, beside those that it did. */
static bool note_left_out(const struct chooser *c, const char *const *selectors, size_t selector_count)
{
    for (size_t i = 0; i < c->count; i++) {
        struct strbuf note = STRBUF_INIT;
        if (usable(&c->all[i]) || !device_is_asked(&c->all[i], selectors, selector_count))
            continue;
        strbuf_addf(&note, "%s (%s) is left out: %s", c->all[i].selector, c->all[i].name, c->all[i].trouble);
        const bool ok = add_note(c->out, &note, c->err);
        strbuf_fini(&note);
        if (!ok)
            return false;
    }
    return true;
}

/* Why a backend has no device. */
static void add_reason(const struct chooser *c, const struct backend_config *backend, struct strbuf *out)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->all[i].backend == backend->kind) {
            strbuf_addf(out, "%s cannot be used: %s", c->all[i].selector, c->all[i].trouble);
            return;
        }
    }
    strbuf_addf(out, "there is no %s device%s", kind_title(backend->kind),
                backend->kind == BACKEND_OPENCL ? "; the package pocl-opencl-icd makes one of the CPU" : "");
}

/* Marks the devices of one backend in marked[count]. */
static bool choose_for(struct chooser *c, const struct backend_config *backend, bool by_user, bool *marked)
{
    struct strbuf note = STRBUF_INIT;
    bool any = false, must = false;
    if (by_user) {
        for (size_t i = 0; i < c->count; i++) {
            marked[i] = c->selected[i] && c->all[i].backend == backend->kind;
            any = any || marked[i];
        }
        if (!any)
            strbuf_addf(&note, "backend \"%s\" is left out: -d names no %s device", backend->name,
                        kind_title(backend->kind));
    } else if (backend->device[0] != '\0') {
        if (!mark(c, backend->device, marked))
            return err_wrap(c->err, "backend \"%s\"", backend->name);
        any = true;
    } else {
        size_t i = device_best(c->all, c->count, backend->kind);
        any = i < c->count;
        if (any)
            marked[i] = true;
        must = c->path != NULL && backend->kind == BACKEND_OPENCL;
        if (!must)
            strbuf_addf(&note, "backend \"%s\" is left out: ", backend->name);
        add_reason(c, backend, &note);
    }
    bool ok = any || (must ? err_set(c->err, ERR_NO_DEVICE, "%s", strbuf_str(&note)) : add_note(c->out, &note, c->err));
    strbuf_fini(&note);
    return ok;
}

/* Turns marks into lists. */
static bool collect(struct chooser *c, const struct config *config)
{
    struct choice *out = c->out;
    size_t backends = config->backend_count, *place = mem_calloc(c->count, sizeof *place, "devices", c->err);
    out->used = mem_calloc(c->count, sizeof *out->used, "devices", c->err);
    size_t each = sizeof *out->of_backend + c->count * (sizeof(size_t) + sizeof(char *));
    out->of_backend = mem_calloc(backends, each, "devices", c->err);
    bool ok = place != NULL && out->used != NULL && out->of_backend != NULL;
    if (!ok)
        goto out;
    for (size_t i = 0; i < c->count; i++) {
        if (!c->used[i])
            continue;
        place[i] = out->used_count;
        out->used[out->used_count++] = i;
    }
    const char **selectors = (const char **)(void *)(out->of_backend + backends);
    size_t *indices = (size_t *)(void *)(selectors + backends * c->count);
    for (size_t b = 0; b < backends; b++, selectors += c->count, indices += c->count) {
        size_t n = 0;
        for (size_t i = 0; i < c->count; i++) {
            if (!c->of[b * c->count + i])
                continue;
            selectors[n] = c->all[i].selector;
            indices[n++] = place[i];
        }
        out->of_backend[b] = (struct grid_devices){indices, selectors, n};
    }
out:
    free(place);
    return ok;
}

bool choose_devices(const struct device_info *all, size_t count, const struct config *config,
                    const char *const *selectors, size_t selector_count, const char *path, struct choice *out,
                    struct err *err)
{
    *out = (struct choice){0};
    struct chooser c = {.all = all, .count = count, .path = path, .out = out, .err = err};
    c.selected = mem_calloc(count, sizeof(bool), "devices", err);
    c.used = mem_calloc(count, sizeof(bool), "devices", err);
    c.of = mem_calloc((uint64_t)count * config->backend_count, sizeof(bool), "devices", err);
    bool ok = c.selected != NULL && c.used != NULL && c.of != NULL;
    for (size_t i = 0; i < count && ok && path != NULL; i++)
        c.others = c.others || (all[i].backend == BACKEND_OPENCL && usable(&all[i]) &&
                                device_is_asked(&all[i], selectors, selector_count));
    for (size_t i = 0; i < selector_count && ok; i++)
        ok = mark(&c, selectors[i], c.selected);
    ok = ok && note_left_out(&c, selectors, selector_count);
    for (size_t b = 0; b < config->backend_count && ok; b++) {
        ok = choose_for(&c, &config->backends[b], selector_count > 0, c.of + b * count);
        for (size_t i = 0; i < count && ok; i++)
            c.used[i] = c.used[i] || c.of[b * count + i];
    }
    ok = ok && collect(&c, config);
    if (ok && out->used_count == 0)
        ok = err_set(err, ERR_NO_DEVICE, "nothing to run on: %s",
                     out->note_count > 0 ? out->notes[0] : "the config has no backend");
    free(c.selected);
    free(c.used);
    free(c.of);
    if (!ok)
        choice_fini(out);
    return ok;
}
