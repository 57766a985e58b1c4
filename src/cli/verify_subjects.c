#include "cli/verify_subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/choose.h"
#include "cli/backends.h"

/* Every device of every backend, chosen or not. */
struct device_list {
    struct device_info *items;
    size_t count;
};

static bool list_all(struct device_list *all, const struct measure_options *options,
                     const struct backend_options *backend, struct err *err)
{
    for (size_t kind = 0; kind < BACKEND_COUNT; kind++) {
        struct device_info *some = NULL;
        struct err trouble = ERR_INIT;
        size_t count = 0, capacity = all->count;
        if (!backend_factories[kind].list(backend, &some, &count, &trouble))
            say(&options->base, "%s", trouble.text);
        err_fini(&trouble);
        void *items = all->items;
        bool ok = mem_grow(&items, &capacity, all->count + count, sizeof *some, "devices", err);
        all->items = items;
        if (ok && count)
            memcpy(all->items + all->count, some, count * sizeof *some);
        free(some);
        if (!ok)
            return false;
        all->count += count;
    }
    return true;
}

/* The rule of a sweep with one backend of each kind. */
static bool choose(const struct device_list *all, const struct measure_options *options, struct choice *out,
                   struct err *err)
{
    static const char text[] =
        "{\"version\": 1, \"name\": \"verify\", \"backends\": ["
        "{\"name\": \"cpu\", \"backend\": \"openmp\"}, {\"name\": \"device\", \"backend\": \"opencl\"}]}";
    struct json *root = json_parse(text, sizeof text - 1, "verify", err);
    struct config config = {0};
    bool ok = root && config_from_json(root, "verify", &config, err) &&
              choose_devices(all->items, all->count, &config, options->devices.items, options->devices.count,
                             options->path, out, err);

    config_fini(&config);
    json_free(root);
    for (size_t i = 0; ok && i < out->note_count; i++)
        say(&options->base, "%s", out->notes[i]);
    return ok;
}

static bool open_one(struct subject *subject, const struct device_info *device,
                     const struct backend_options *backend, struct err *err)
{
    if (!backend_factories[device->backend].create(device->selector, backend, &subject->renderer, err))
        return err_wrap(err, "%s", device->selector);
    if (!verify_variants(device->backend, &subject->variants, &subject->variant_count, err))
        return false;
    while (subject->variants[subject->default_variant].spec.mode != MODE_GRADIENT)
        subject->default_variant++;
    return true;
}

static bool make_rows(struct subjects *s, struct err *err)
{
    size_t count = 0;

    for (size_t i = 0; i < s->count; i++)
        count += s->list[i].variant_count;
    s->rows = mem_calloc(count, sizeof *s->rows, "rows", err);
    for (size_t i = 0; s->rows && i < s->count; i++) {
        const struct subject *subject = &s->list[i];
        for (size_t k = 0; k < subject->variant_count; k++) {
            struct verify_row *row = &s->rows[s->row_count++];
            snprintf(row->name, sizeof row->name, "%s %s", subject->renderer->info.selector,
                     subject->variants[k].name);
            row->subject = i;
            row->gradient = subject->variants[k].spec.mode == MODE_GRADIENT;
            row->is_default = k == subject->default_variant;
        }
    }
    return s->rows != NULL;
}

static bool open_chosen(struct subjects *s, const struct device_list *all, const struct choice *choice,
                        const struct backend_options *backend, struct err *err)
{
    s->list = mem_calloc(choice->used_count, sizeof *s->list, "devices", err);
    for (size_t i = 0; s->list && i < choice->used_count; i++) {
        s->count++;
        if (!open_one(&s->list[i], &all->items[choice->used[i]], backend, err))
            return false;
    }
    return s->list && make_rows(s, err);
}

bool subjects_open(struct subjects *s, const struct measure_options *options, struct err *err)
{
    struct backend_options backend;
    struct device_list all = {0};
    struct choice choice = {0};
    bool ok = measure_backend_options(options, &backend, err) && list_all(&all, options, &backend, err) &&
              choose(&all, options, &choice, err) && open_chosen(s, &all, &choice, &backend, err);

    choice_fini(&choice);
    free(all.items);
    return ok;
}

void subjects_close(struct subjects *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct renderer *renderer = s->list[i].renderer;
        if (renderer)
            renderer->ops->destroy(renderer);
        free(s->list[i].variants);
    }
    free(s->list);
    free(s->rows);
    *s = (struct subjects){0};
}
