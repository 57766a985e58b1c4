#include "bench/ceilings.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct {
    const char *key;
    size_t offset;
} fields[] = {
    {"flop_per_s", offsetof(struct render_ceilings, flop)},
    {"exp_per_s", offsetof(struct render_ceilings, exp)},
    {"copy_bytes_per_s", offsetof(struct render_ceilings, copy_bytes)},
    {"launch_ns", offsetof(struct render_ceilings, launch_ns)},
    {"up_pinned_bytes_per_s", offsetof(struct render_ceilings, up_pinned_bytes)},
    {"up_pageable_bytes_per_s", offsetof(struct render_ceilings, up_pageable_bytes)},
    {"down_pinned_bytes_per_s", offsetof(struct render_ceilings, down_pinned_bytes)},
    {"down_pageable_bytes_per_s", offsetof(struct render_ceilings, down_pageable_bytes)},
};

static double *field(struct render_ceilings *ceilings, size_t i)
{
    return (double *)(void *)((char *)ceilings + fields[i].offset);
}

static void add(struct renderer *r, struct json *entry)
{
    struct render_ceilings ceilings;
    struct err err = ERR_INIT;

    if (!r->ops->ceilings(r, &ceilings, &err)) {
        ceilings = (struct render_ceilings){0};
        json_set_string(entry, "trouble", err.text);
    }
    err_fini(&err);
    for (size_t i = 0; i < COUNT(fields); i++) {
        double value = *field(&ceilings, i);
        if (value > 0)
            json_set_number(entry, fields[i].key, value);
        else
            json_set_null(entry, fields[i].key);
    }
}

void ceilings_record(struct renderer *const *renderers, size_t count, struct json *list)
{
    for (size_t i = 0; i < count; i++) {
        if (renderers[i] == NULL || renderers[i]->ops->ceilings == NULL)
            continue;
        struct json *entry = json_add_object(list);
        json_set_string(entry, "on", renderers[i]->info.selector);
        add(renderers[i], entry);
    }
}

static const struct json *entry_of(const struct json *record, const struct device_info *device)
{
    const struct json *list = json_get(record, "ceilings");
    for (size_t i = 0; i < json_count(list); i++)
        if (strcmp(json_string(json_get(json_at(list, i), "on")), device->selector) == 0)
            return json_at(list, i);
    return NULL;
}

bool ceilings_find(const struct json *records, const struct device_info *device, struct render_ceilings *out,
                   const char **trouble)
{
    const struct json *entry = NULL;

    *out = (struct render_ceilings){0};
    *trouble = NULL;
    for (size_t i = 0; entry == NULL && i < json_count(records); i++)
        entry = entry_of(json_at(records, i), device);
    for (size_t i = 0; entry != NULL && i < COUNT(fields); i++) {
        const struct json *value = json_get(entry, fields[i].key);
        if (value != NULL && json_type(value) == JSON_NUMBER && json_number(value) > 0)
            *field(out, i) = json_number(value);
    }
    if (entry != NULL && json_get(entry, "trouble") != NULL)
        *trouble = json_string(json_get(entry, "trouble"));
    return entry != NULL;
}
