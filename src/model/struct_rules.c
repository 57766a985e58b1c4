#include "model/struct_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {"u32", "f32", "vec2", "vec3", "vec4"};
#define TYPES (sizeof type_names / sizeof type_names[0])

const char *rules_name(enum struct_rules rules)
{
    return rules == RULES_OPENCL ? "OpenCL" : "WGSL";
}

void rule_type_text(const struct rule_field *field, char out[RULE_NAME_MAX])
{
    if (field->count)
        snprintf(out, RULE_NAME_MAX, "%s[%u]", type_names[field->type], (unsigned)field->count);
    else
        snprintf(out, RULE_NAME_MAX, "%s", type_names[field->type]);
}

static uint32_t round_up(uint32_t value, uint32_t to)
{
    return (value + to - 1) / to * to;
}

static uint32_t align_of(const struct rule_field *field)
{
    static const uint32_t bytes[TYPES] = {4, 4, 8, 16, 16};

    return bytes[field->type];
}

static uint32_t size_of(enum struct_rules rules, const struct rule_field *field)
{
    uint32_t align = align_of(field);
    uint32_t one = field->type == RULE_VEC3 && rules == RULES_WGSL ? 12 : align;

    return field->count ? round_up(one, align) * field->count : one;
}

/* The structure's size with the fields in this order (NULL: as they stand); places may be NULL. */
static uint32_t place_in_order(enum struct_rules rules, const struct rule_field *fields, size_t count,
                               const size_t *order, struct rule_place *places)
{
    uint32_t end = 0, strictest = 1;

    for (size_t i = 0; i < count; i++) {
        const struct rule_field *field = &fields[order ? order[i] : i];
        uint32_t align = align_of(field), size = size_of(rules, field), offset = round_up(end, align);
        if (places)
            places[i] = (struct rule_place){offset, size, align, offset - end};
        end = offset + size;
        strictest = align > strictest ? align : strictest;
    }
    return round_up(end, strictest);
}

uint32_t rules_place(enum struct_rules rules, const struct rule_field *fields, size_t count,
                     struct rule_place *places)
{
    return place_in_order(rules, fields, count, NULL, places);
}

uint32_t rules_size_in_order(enum struct_rules rules, const struct rule_field *fields, size_t count,
                             const size_t *order)
{
    return place_in_order(rules, fields, count, order, NULL);
}

void rules_best_order(enum struct_rules rules, const struct rule_field *fields, size_t count, size_t *order)
{
    bool taken[RULE_FIELDS_MAX] = {false};
    uint32_t end = 0;

    for (size_t n = 0; n < count; n++) {
        size_t best = count;
        uint32_t best_hole = 0;
        for (size_t i = 0; i < count; i++) {
            uint32_t align = align_of(&fields[i]), hole = round_up(end, align) - end;
            if (!taken[i] && (best == count || hole < best_hole ||
                              (hole == best_hole && align > align_of(&fields[best])))) {
                best = i;
                best_hole = hole;
            }
        }
        taken[best] = true;
        order[n] = best;
        end += best_hole + size_of(rules, &fields[best]);
    }
    /* Equal is no reason to move anything. */
    if (rules_size_in_order(rules, fields, count, order) >= rules_place(rules, fields, count, NULL))
        for (size_t i = 0; i < count; i++)
            order[i] = i;
}

/* Of an array's count: more than these would not fit a structure that anyone passes. */
#define COUNT_DIGITS 5

/* "vec3", "u32[4]", "mat4x3" (four columns of vec3). */
static bool parse_type(const char *word, struct rule_field *field)
{
    unsigned columns, rows;
    char end;

    if (sscanf(word, "mat%1ux%1u%c", &columns, &rows, &end) == 2 && columns >= 2 && columns <= 4 &&
        rows >= 2 && rows <= 4) {
        field->type = (enum rule_type)(RULE_VEC2 + rows - 2);
        field->count = columns;
        return true;
    }
    for (size_t i = 0; i < TYPES; i++) {
        size_t length = strlen(type_names[i]);
        if (strncmp(word, type_names[i], length) != 0)
            continue;
        field->type = (enum rule_type)i;
        field->count = 0;
        if (word[length] == '\0')
            return true;
        const size_t digits = strspn(word + length + 1, "0123456789");
        field->count = (uint32_t)strtoul(word + length + 1, NULL, 10);
        return word[length] == '[' && digits > 0 && digits <= COUNT_DIGITS && field->count > 0 &&
               strcmp(word + length + 1 + digits, "]") == 0;
    }
    return false;
}

bool rules_parse(const char *text, struct rule_field fields[RULE_FIELDS_MAX], size_t *count, struct err *err)
{
    *count = 0;
    while (*text) {
        size_t length = strcspn(text, ",");
        char part[128], type[64] = "", extra[2] = "";
        struct rule_field *field = &fields[*count];
        if (*count == RULE_FIELDS_MAX)
            return err_set(err, ERR_USAGE, "more than %d fields", RULE_FIELDS_MAX);
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        *field = (struct rule_field){.count = 0};
        if (length >= sizeof part || sscanf(part, " %63s %31s %1s", type, field->name, extra) < 1 || *extra ||
            !parse_type(type, field))
            return err_set(
                err, ERR_USAGE,
                "\"%s\" is not TYPE or TYPE NAME; types are u32, f32, vec2, vec3, vec4, matCxR, and "
                "arrays of the first five as in f32[8], of at most 99999",
                part);
        if (!*field->name)
            snprintf(field->name, sizeof field->name, "%zu", *count);
        for (size_t i = 0; i < *count; i++)
            if (strcmp(fields[i].name, field->name) == 0)
                return err_set(err, ERR_USAGE, "two fields are called \"%s\"", field->name);
        ++*count;
        text += length;
        if (*text == ',' && !*++text)
            return err_set(err, ERR_USAGE, "nothing stands behind the last comma");
    }
    return *count > 0 || err_set(err, ERR_USAGE, "no fields");
}
