#include "bench/device_json.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum field_type { TEXT, U32, U64, FLAG };

struct field {
    const char *name;
    enum field_type type;
    size_t offset;
    size_t size; /* of a TEXT */
};

#define FIELD(type, name)                                                                                    \
    {                                                                                                        \
#name, type, offsetof(struct device_info, name), sizeof(((struct device_info *)0)->name)             \
    }

static const struct field fields[] = {
    FIELD(TEXT, selector),
    FIELD(TEXT, name),
    FIELD(TEXT, short_name),
    FIELD(TEXT, vendor),
    FIELD(TEXT, platform),
    FIELD(TEXT, device_version),
    FIELD(TEXT, driver_version),
    FIELD(TEXT, language_version),
    FIELD(TEXT, path),
    FIELD(TEXT, path_note),
    FIELD(TEXT, tiles),
    FIELD(U32, compute_units),
    FIELD(U32, threads),
    FIELD(U32, clock_mhz),
    FIELD(U32, address_bits),
    FIELD(U32, max_work_item_dims),
    FIELD(U64, max_work_group_size),
    FIELD(U64, preferred_group_multiple),
    FIELD(U64, global_bytes),
    FIELD(U64, max_alloc_bytes),
    FIELD(U64, local_bytes),
    FIELD(U64, constant_bytes),
    FIELD(U64, max_parameter_bytes),
    FIELD(U64, timer_resolution_ns),
    FIELD(U64, max_submit_ns),
    FIELD(FLAG, host_unified),
    FIELD(FLAG, local_is_real),
    FIELD(FLAG, has_double),
    FIELD(FLAG, has_subgroups),
    FIELD(FLAG, has_float_atomics),
    FIELD(FLAG, has_watchdog),
    FIELD(FLAG, drives_display),
    FIELD(TEXT, pci),
    FIELD(TEXT, trouble),
    FIELD(TEXT, extensions),
};

static const char *const kind_names[] = {"cpu", "gpu", "accelerator", "other"};

const char *device_kind_name(enum device_kind kind)
{
    return (size_t)kind < COUNT(kind_names) ? kind_names[kind] : "other";
}

static void set_count(struct json *object, const char *name, uint64_t value)
{
    if (value == 0)
        json_set_null(object, name);
    else
        json_set_u64(object, name, value);
}

void device_to_json(const struct device_info *device, struct json *object)
{
    json_set_string(object, "backend", backend_kind_name(device->backend));
    json_set_string(object, "kind", device_kind_name(device->kind));
    for (size_t i = 0; i < COUNT(fields); i++) {
        const struct field *f = &fields[i];
        const char *at = (const char *)device + f->offset;
        if (f->type == TEXT)
            json_set_string(object, f->name, *at != '\0' ? at : NULL);
        else if (f->type == U32)
            set_count(object, f->name, *(const uint32_t *)(const void *)at);
        else if (f->type == U64)
            set_count(object, f->name, *(const uint64_t *)(const void *)at);
        else
            json_set_bool(object, f->name, *(const bool *)(const void *)at);
    }
    struct json *sizes = json_set_array(object, "max_work_item_sizes");
    for (size_t i = 0; i < 3; i++)
        json_add_u64(sizes, device->max_work_item_sizes[i]);
}

static bool bad(struct err *err, const char *key, const char *wanted)
{
    return err_set(err, ERR_CONFIG, "device: \"%s\" must be %s", key, wanted);
}

static bool read_field(struct device_info *device, const struct json *node, const struct field *f,
                       struct err *err)
{
    char *at = (char *)device + f->offset;
    uint64_t value;
    switch (f->type) {
    case TEXT:
        if (json_type(node) != JSON_STRING)
            return bad(err, f->name, "a string");
        snprintf(at, f->size, "%s", json_string(node));
        return true;
    case FLAG:
        *(bool *)(void *)at = json_bool(node);
        return true;
    case U32:
        if (!json_u64(node, &value) || value > UINT32_MAX)
            return bad(err, f->name, "an integer below 2^32");
        *(uint32_t *)(void *)at = (uint32_t)value;
        return true;
    case U64:
        return json_u64(node, (uint64_t *)(void *)at) || bad(err, f->name, "a non-negative integer");
    }
    return true;
}

bool device_from_json(struct device_info *device, const struct json *object, struct err *err)
{
    memset(device, 0, sizeof *device);
    if (object == NULL || json_type(object) != JSON_OBJECT)
        return err_set(err, ERR_CONFIG, "a device must be an object");
    const char *backend = json_string(json_get(object, "backend"));
    if (strcmp(backend, backend_kind_name(BACKEND_OPENCL)) == 0)
        device->backend = BACKEND_OPENCL;
    else if (strcmp(backend, backend_kind_name(BACKEND_OPENMP)) == 0)
        device->backend = BACKEND_OPENMP;
    else
        return bad(err, "backend", "openmp or opencl");
    device->kind = DEVICE_OTHER;
    const char *kind = json_string(json_get(object, "kind"));
    for (size_t i = 0; i < COUNT(kind_names); i++)
        if (strcmp(kind, kind_names[i]) == 0)
            device->kind = (enum device_kind)i;
    for (size_t i = 0; i < COUNT(fields); i++) {
        const struct json *node = json_get(object, fields[i].name);
        if (node != NULL && json_type(node) != JSON_NULL && !read_field(device, node, &fields[i], err))
            return false;
    }
    const struct json *sizes = json_get(object, "max_work_item_sizes");
    for (size_t i = 0; i < 3 && sizes != NULL; i++) {
        const struct json *size = json_at(sizes, i);
        if (size != NULL && !json_u64(size, &device->max_work_item_sizes[i]))
            return bad(err, "max_work_item_sizes", "non-negative integers");
    }
    return true;
}
