#include "plan/config_read.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/suggest.h"

bool reader_wrap(const struct reader *r, const struct json *node)
{
    struct strbuf path = STRBUF_INIT;

    json_path(r->root, node, &path);
    err_wrap(r->err, "%s: %s", r->path, strbuf_str(&path));
    strbuf_fini(&path);
    return false;
}

bool reader_fail(const struct reader *r, const struct json *node, const char *fmt, ...)
{
    char text[sizeof r->err->text];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    err_set(r->err, ERR_CONFIG, "%s", text);
    return reader_wrap(r, node);
}

bool reader_expect(const struct reader *r, const struct json *node, enum json_type type)
{
    if (json_type(node) == type)
        return true;
    return reader_fail(r, node, "is %s, not %s", json_type_name(json_type(node)), json_type_name(type));
}

bool reader_check_keys(const struct reader *r, const struct json *object, const char *const *allowed)
{
    for (size_t i = 0; i < json_count(object); i++) {
        const struct json *member = json_at(object, i);
        const char *key = json_key(member);
        const char *const *known = allowed;

        while (*known && strcmp(*known, key) != 0)
            known++;
        if (*known)
            continue;
        const char *near = suggest_from(key, allowed);
        if (near)
            return reader_fail(r, member, "unknown key; did you mean \"%s\"?", near);
        struct strbuf list = STRBUF_INIT;
        for (known = allowed; *known; known++)
            strbuf_addf(&list, "%s%s", known == allowed ? "" : ", ", *known);
        reader_fail(r, member, "unknown key; known here: %s", strbuf_str(&list));
        strbuf_fini(&list);
        return false;
    }
    return true;
}

bool reader_u64(const struct reader *r, const struct json *object, const char *key, uint64_t *out)
{
    const struct json *node = json_get(object, key);

    if (!node || json_u64(node, out))
        return true;
    return reader_fail(r, node, "is not an integer from 0 to 2^64-1 (over 2^53 as a string of digits)");
}

bool reader_number(const struct reader *r, const struct json *object, const char *key, double min, double max,
                   double *out)
{
    const struct json *node = json_get(object, key);

    if (!node)
        return true;
    if (!reader_expect(r, node, JSON_NUMBER))
        return false;
    double value = json_number(node);
    if (!(value >= min && value <= max))
        return reader_fail(r, node, "%.9g is not a number from %.9g to %.9g", value, min, max);
    *out = value;
    return true;
}

bool reader_u32(const struct reader *r, const struct json *object, const char *key, uint32_t min,
                uint32_t max, uint32_t *out)
{
    const struct json *node = json_get(object, key);

    if (!node)
        return true;
    if (!reader_expect(r, node, JSON_NUMBER))
        return false;
    double value = json_number(node);
    if (!(value >= min && value <= max) || value != (double)(uint32_t)value)
        return reader_fail(r, node, "%.9g is not an integer from %u to %u", value, min, max);
    *out = (uint32_t)value;
    return true;
}

bool reader_colour(const struct reader *r, const struct json *object, const char *key, float out[3])
{
    const struct json *node = json_get(object, key);

    if (!node)
        return true;
    if (!reader_expect(r, node, JSON_ARRAY))
        return false;
    if (json_count(node) != 3)
        return reader_fail(r, node, "has %zu values, not the 3 of a linear RGB colour", json_count(node));
    for (size_t i = 0; i < 3; i++) {
        const struct json *value = json_at(node, i);
        if (!reader_expect(r, value, JSON_NUMBER))
            return false;
        if (!(json_number(value) >= -FLT_MAX && json_number(value) <= FLT_MAX))
            return reader_fail(r, value, "%.9g does not fit a 32-bit float", json_number(value));
        out[i] = (float)json_number(value);
    }
    return true;
}

bool reader_choice(const struct reader *r, const struct json *object, const char *key,
                   const char *const *names, int *out)
{
    const struct json *node = json_get(object, key);
    struct strbuf list = STRBUF_INIT;

    for (const char *const *name = names; *name; name++)
        strbuf_addf(&list, "%s%s", name == names ? "" : ", ", *name);
    bool ok = false;
    if (!node) {
        reader_fail(r, object, "has no \"%s\" (%s)", key, strbuf_str(&list));
        goto out;
    }
    if (!reader_expect(r, node, JSON_STRING))
        goto out;
    for (*out = 0; names[*out]; ++*out) {
        if (strcmp(names[*out], json_string(node)) == 0) {
            ok = true;
            goto out;
        }
    }
    const char *near = suggest_from(json_string(node), names);
    if (near)
        reader_fail(r, node, "\"%s\" is not one of %s; did you mean \"%s\"?", json_string(node),
                    strbuf_str(&list), near);
    else
        reader_fail(r, node, "\"%s\" is not one of %s", json_string(node), strbuf_str(&list));
out:
    strbuf_fini(&list);
    return ok;
}

bool reader_file(const struct reader *r, const struct json *node, char **out)
{
    struct strbuf path = STRBUF_INIT;
    const char *slash = strrchr(r->path, '/');

    if (!reader_expect(r, node, JSON_STRING))
        return false;
    const char *name = json_string(node);
    if (!*name)
        return reader_fail(r, node, "is an empty file name");
    if (*name != '/' && slash)
        strbuf_add_bytes(&path, r->path, (size_t)(slash - r->path) + 1);
    strbuf_add(&path, name);
    bool ok = strbuf_ok(&path, r->err) && (*out = mem_strdup(strbuf_str(&path), r->err)) != NULL;
    strbuf_fini(&path);
    return ok;
}

bool reader_name(const struct reader *r, const struct json *object, const char *key, char out[64])
{
    const struct json *node = json_get(object, key);

    if (!node)
        return reader_fail(r, object, "has no \"%s\"", key);
    if (!reader_expect(r, node, JSON_STRING))
        return false;
    const char *text = json_string(node);
    size_t len = strlen(text);
    size_t good = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    if (len == 0 || len > 63 || good != len)
        return reader_fail(r, node, "\"%s\" is not a name of 1 to 63 letters, digits, - and _", text);
    memcpy(out, text, len + 1);
    return true;
}
