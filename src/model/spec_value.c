/* The values of a spec's fields as text and JSON, by spec.c's table. */
#include "model/spec.h"

#include <stdio.h>
#include <string.h>

#include "base/clocale.h"
#include "base/suggest.h"
#include "base/units.h"

_Static_assert(sizeof(enum strategy) == sizeof(uint32_t), "enumerations are read and written as 32 bits");

/* Fields by offset: 32-bit ones (enumerations too), and bools. */
static uint32_t get_u32(const struct render_spec *spec, const struct spec_key *key)
{
    uint32_t value;

    memcpy(&value, (const char *)spec + key->offset, sizeof(value));
    return value;
}

static void set_u32(struct render_spec *spec, const struct spec_key *key, uint32_t value)
{
    memcpy((char *)spec + key->offset, &value, sizeof(value));
}

static bool is_bool(const struct spec_key *key)
{
    return key->type == SPEC_BOOL || key->type == SPEC_BOOL_ONOFF;
}

static bool get_bool(const struct render_spec *spec, const struct spec_key *key)
{
    bool value;

    memcpy(&value, (const char *)spec + key->offset, sizeof(value));
    return value;
}

static float get_float(const struct render_spec *spec, const struct spec_key *key)
{
    float value;

    memcpy(&value, (const char *)spec + key->offset, sizeof(value));
    return value;
}

/* `shown` is the value as the message quotes it, `text` the value itself. */
static bool set_name(struct render_spec *spec, const struct spec_key *key, const char *text,
                     const char *shown, struct err *err)
{
    for (uint32_t i = 0; key->values[i]; i++) {
        if (strcmp(key->values[i], text) != 0)
            continue;
        if (is_bool(key)) {
            bool value = i == 1;
            memcpy((char *)spec + key->offset, &value, sizeof(value));
        } else {
            set_u32(spec, key, i);
        }
        return true;
    }

    struct strbuf names = STRBUF_INIT;
    for (uint32_t i = 0; key->values[i]; i++)
        strbuf_addf(&names, "%s%s", i ? ", " : "", key->values[i]);
    const char *near = suggest_from(text, key->values);
    if (near)
        err_set(err, ERR_CONFIG, "%s is not one of %s; did you mean \"%s\"?", shown, strbuf_str(&names),
                near);
    else
        err_set(err, ERR_CONFIG, "%s is not one of %s", shown, strbuf_str(&names));
    strbuf_fini(&names);
    return false;
}

static bool parse_u32(const struct spec_key *key, const char *text, uint32_t *out)
{
    uint64_t value;

    if (!units_parse_u64(text, &value) || (double)value < key->min || (double)value > key->max)
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool set_count(struct render_spec *spec, const struct spec_key *key, const char *text,
                      const char *shown, struct err *err)
{
    uint32_t value;

    if (!parse_u32(key, text, &value))
        return err_set(err, ERR_CONFIG, "%s is not an integer from %.0f to %.0f", shown, key->min, key->max);
    set_u32(spec, key, value);
    return true;
}

static bool set_float(struct render_spec *spec, const struct spec_key *key, const char *text,
                      const char *shown, struct err *err)
{
    double number;

    if (units_parse_double(text, &number) && number <= key->max) {
        /* Rounded first: what is above 0 as a double may be 0 as a float32. */
        float value = (float)number;
        if ((double)value > key->min) {
            memcpy((char *)spec + key->offset, &value, sizeof(value));
            return true;
        }
    }
    return err_set(err, ERR_CONFIG, "%s is not a number above %.0f, up to %.0f", shown, key->min, key->max);
}

static bool set_size(struct render_spec *spec, const struct spec_key *key, const char *text,
                     const char *shown, struct err *err)
{
    char part[SPEC_TEXT_MAX];
    const char *cross = strchr(text, 'x');
    uint32_t width, height;
    bool ok;

    if (cross && (size_t)(cross - text) < sizeof(part)) {
        memcpy(part, text, (size_t)(cross - text));
        part[cross - text] = '\0';
        ok = parse_u32(key, part, &width) && parse_u32(key, cross + 1, &height);
    } else {
        ok = parse_u32(key, text, &width);
        height = width;
    }
    if (!ok)
        return err_set(err, ERR_CONFIG, "%s is not an integer from %.0f to %.0f (square), or \"WxH\"", shown,
                       key->min, key->max);
    spec->width = width;
    spec->height = height;
    return true;
}

static bool set_value(struct render_spec *spec, const struct spec_key *key, const char *text,
                      const char *shown, struct err *err)
{
    switch (key->type) {
    case SPEC_ENUM:
    case SPEC_BOOL:
    case SPEC_BOOL_ONOFF:
        return set_name(spec, key, text, shown, err);
    case SPEC_U32:
        return set_count(spec, key, text, shown, err);
    case SPEC_FLOAT:
        return set_float(spec, key, text, shown, err);
    case SPEC_SIZE:
        return set_size(spec, key, text, shown, err);
    }
    return err_set(err, ERR_INTERNAL, "%s: a key of unknown type", key->name);
}

/* The JSON types that a key may be written in; anything else is shown as it stands and refused as a value
 * that is not one of those allowed. */
static bool json_type_fits(const struct spec_key *key, enum json_type type)
{
    switch (key->type) {
    case SPEC_ENUM:
    case SPEC_BOOL_ONOFF:
        return type == JSON_STRING;
    case SPEC_BOOL:
        return type == JSON_BOOL;
    case SPEC_U32:
    case SPEC_FLOAT:
        return type == JSON_NUMBER;
    case SPEC_SIZE:
        return type == JSON_NUMBER || type == JSON_STRING;
    }
    return false;
}

#define SHOWN_MAX 48

/* At most SHOWN_MAX bytes, on one line. */
static void show(char out[SHOWN_MAX], const char *text)
{
    size_t n = 0;

    for (; text[n] && n < SHOWN_MAX - 1; n++)
        out[n] = (unsigned char)text[n] < ' ' ? '?' : text[n];
    out[n] = '\0';
    if (text[n])
        memcpy(out + SHOWN_MAX - 4, "...", 4);
}

bool spec_set_json(struct render_spec *spec, const struct spec_key *key, const struct json *value,
                   struct err *err)
{
    enum json_type type = json_type(value);
    struct strbuf printed = STRBUF_INIT;
    char shown[SHOWN_MAX];
    bool ok = false;

    if (type == JSON_ARRAY || type == JSON_OBJECT) {
        show(shown, json_type_name(type));
    } else {
        if (!json_print(value, false, &printed, err))
            goto out;
        show(shown, strbuf_str(&printed));
    }
    /* No name is empty, so a value of another type fails with the list of those allowed. */
    const char *text = type == JSON_STRING ? json_string(value) : strbuf_str(&printed);
    ok = set_value(spec, key, json_type_fits(key, type) ? text : "", shown, err);
out:
    strbuf_fini(&printed);
    return ok;
}

bool spec_set_text(struct render_spec *spec, const struct spec_key *key, const char *value, struct err *err)
{
    char shown[SHOWN_MAX];
    struct strbuf quoted = STRBUF_INIT;

    if (key->values || !*value)
        strbuf_addf(&quoted, "\"%s\"", value);
    else
        strbuf_add(&quoted, value);
    show(shown, strbuf_str(&quoted));
    strbuf_fini(&quoted);
    return set_value(spec, key, value, shown, err);
}

/* No decimal that reads back to a float32 needs more than nine digits. */
static void float_text(char out[SPEC_TEXT_MAX], float value)
{
    locale_t previous = clocale_enter();

    snprintf(out, SPEC_TEXT_MAX, "%.9g", units_shortest_float(value));
    clocale_leave(previous);
}

void spec_text(const struct render_spec *spec, const struct spec_key *key, char out[SPEC_TEXT_MAX])
{
    switch (key->type) {
    case SPEC_ENUM:
        snprintf(out, SPEC_TEXT_MAX, "%s", key->values[get_u32(spec, key)]);
        break;
    case SPEC_BOOL:
    case SPEC_BOOL_ONOFF:
        snprintf(out, SPEC_TEXT_MAX, "%s", key->values[get_bool(spec, key)]);
        break;
    case SPEC_U32:
        snprintf(out, SPEC_TEXT_MAX, "%u", get_u32(spec, key));
        break;
    case SPEC_FLOAT:
        float_text(out, get_float(spec, key));
        break;
    case SPEC_SIZE:
        snprintf(out, SPEC_TEXT_MAX, "%ux%u", spec->width, spec->height);
        break;
    }
}

void spec_to_json(const struct render_spec *spec, enum backend_kind kind, struct json *object)
{
    size_t count;
    const struct spec_key *keys = spec_keys(&count);

    for (const struct spec_key *key = keys; key < keys + count; key++) {
        char text[SPEC_TEXT_MAX];
        if (!spec_matters(spec, key, kind))
            continue;
        spec_text(spec, key, text);
        switch (key->type) {
        case SPEC_ENUM:
        case SPEC_BOOL_ONOFF:
            json_set_string(object, key->name, text);
            break;
        case SPEC_BOOL:
            json_set_bool(object, key->name, get_bool(spec, key));
            break;
        case SPEC_U32:
            json_set_u64(object, key->name, get_u32(spec, key));
            break;
        case SPEC_FLOAT:
            json_set_float(object, key->name, get_float(spec, key));
            break;
        case SPEC_SIZE:
            json_set_u64(object, "width", spec->width);
            json_set_u64(object, "height", spec->height);
            break;
        }
    }
}

static bool read_side(const struct json *object, const char *name, const struct spec_key *size, uint32_t *out,
                      struct err *err)
{
    const struct json *node = json_get(object, name);
    uint64_t value;

    if (!node)
        return true;
    if (!json_u64(node, &value) || (double)value < size->min || (double)value > size->max)
        return err_set(err, ERR_CONFIG, "%s: not an integer from %.0f to %.0f", name, size->min, size->max);
    *out = (uint32_t)value;
    return true;
}

bool spec_from_json(struct render_spec *spec, const struct json *object, struct err *err)
{
    size_t count;
    const struct spec_key *keys = spec_keys(&count);

    spec_init(spec);
    for (const struct spec_key *key = keys; key < keys + count; key++) {
        if (key->type == SPEC_SIZE) {
            if (!read_side(object, "width", key, &spec->width, err) ||
                !read_side(object, "height", key, &spec->height, err))
                return false;
            continue;
        }
        const struct json *value = json_get(object, key->name);
        if (value && !spec_set_json(spec, key, value, err))
            return err_wrap(err, "%s", key->name);
    }
    return true;
}

bool spec_equal(const struct render_spec *a, const struct render_spec *b, const struct spec_key *key)
{
    if (key->type == SPEC_SIZE)
        return a->width == b->width && a->height == b->height;
    if (is_bool(key))
        return get_bool(a, key) == get_bool(b, key);
    if (key->type == SPEC_FLOAT)
        return get_float(a, key) == get_float(b, key);
    return get_u32(a, key) == get_u32(b, key);
}
