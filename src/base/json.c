#include "base/json.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clocale.h"
#include "base/json_check.h"
#include "base/mem.h"
#include "base/units.h"
#include "base/utf8.h"

/* A struct json is a cJSON node. Containers use three fields that cJSON leaves empty in them:
 *   valueint     children, so that counting does not walk the list
 *   valuestring  a table of the children (parsed documents), so that json_at does not walk it either;
 *                cJSON_Delete frees it with the node
 *   valuedouble  not 0 when something could not be added for want of memory
 */
#define LINE_COLUMNS 100

static cJSON *item_of(const struct json *node)
{
    return (cJSON *)(uintptr_t)node;
}

static struct json *node_of(const cJSON *item)
{
    return (struct json *)(uintptr_t)item;
}

static bool is_container(const cJSON *item)
{
    return cJSON_IsArray(item) || cJSON_IsObject(item);
}

/* ---- reading ---- */

/* Counts and tabulates the children of item and of all below it. */
static bool tabulate(cJSON *item)
{
    size_t count = 0;
    cJSON *child;

    if (!is_container(item))
        return true;
    for (child = item->child; child; child = child->next, count++)
        if (!tabulate(child))
            return false;
    if (count > INT32_MAX)
        return false;
    item->valueint = (int)count;
    if (count == 0)
        return true;
    cJSON **table = cJSON_malloc(count * sizeof(cJSON *));
    if (!table)
        return false;
    item->valuestring = (char *)table;
    for (child = item->child; child; child = child->next)
        *table++ = child;
    return true;
}

static void drop_table(cJSON *item)
{
    cJSON_free(item->valuestring);
    item->valuestring = NULL;
}

struct json *json_parse(const char *text, size_t len, const char *name, struct err *err)
{
    if (!json_check(text, len, name, err))
        return NULL;

    locale_t locale = clocale_enter();
    cJSON *item = cJSON_ParseWithLength(text, len);
    clocale_leave(locale);
    if (item && tabulate(item))
        return node_of(item);
    cJSON_Delete(item);
    err_set(err, ERR_MEMORY, "%s: no memory for %zu bytes of JSON", name, len);
    return NULL;
}

struct json *json_load(const char *path, struct err *err)
{
    struct strbuf text = STRBUF_INIT;
    struct json *root = NULL;

    if (strbuf_add_file(&text, path, err))
        root = json_parse(strbuf_str(&text), text.len, strcmp(path, "-") == 0 ? "standard input" : path, err);
    strbuf_fini(&text);
    return root;
}

void json_free(struct json *root)
{
    cJSON_Delete(item_of(root));
}

/* cJSON_Duplicate would copy the table of children as a string. */
static cJSON *copy_item(const cJSON *item)
{
    cJSON *copy;

    if (cJSON_IsString(item))
        return cJSON_CreateString(item->valuestring);
    if (cJSON_IsNumber(item))
        return cJSON_CreateNumber(item->valuedouble);
    if (cJSON_IsBool(item))
        return cJSON_CreateBool(cJSON_IsTrue(item));
    if (!is_container(item))
        return cJSON_CreateNull();
    copy = cJSON_IsArray(item) ? cJSON_CreateArray() : cJSON_CreateObject();
    if (!copy)
        return NULL;
    copy->valuedouble = item->valuedouble;
    for (const cJSON *child = item->child; child; child = child->next) {
        cJSON *child_copy = copy_item(child);
        if (!child_copy || !(cJSON_IsArray(item) ? cJSON_AddItemToArray(copy, child_copy)
                                                 : cJSON_AddItemToObject(copy, child->string, child_copy))) {
            cJSON_Delete(child_copy);
            cJSON_Delete(copy);
            return NULL;
        }
    }
    return copy;
}

struct json *json_copy(const struct json *node, struct err *err)
{
    cJSON *copy = copy_item(item_of(node));
    if (copy && tabulate(copy))
        return node_of(copy);
    cJSON_Delete(copy);
    err_set(err, ERR_MEMORY, "no memory to copy a JSON document");
    return NULL;
}

static void make_plain(cJSON *item)
{
    if (cJSON_IsString(item))
        utf8_plain(item->valuestring, strlen(item->valuestring) + 1, item->valuestring,
                   strlen(item->valuestring));
    else if (is_container(item))
        for (cJSON *child = item->child; child; child = child->next)
            make_plain(child);
}

void json_plain(struct json *root)
{
    make_plain(item_of(root));
}

enum json_type json_type(const struct json *node)
{
    const cJSON *item = item_of(node);
    return cJSON_IsObject(item)   ? JSON_OBJECT
           : cJSON_IsArray(item)  ? JSON_ARRAY
           : cJSON_IsString(item) ? JSON_STRING
           : cJSON_IsNumber(item) ? JSON_NUMBER
           : cJSON_IsBool(item)   ? JSON_BOOL
                                  : JSON_NULL;
}

const char *json_type_name(enum json_type type)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",       [JSON_BOOL] = "true or false", [JSON_NUMBER] = "a number",
        [JSON_STRING] = "a string", [JSON_ARRAY] = "an array",     [JSON_OBJECT] = "an object",
    };
    return names[type];
}

size_t json_count(const struct json *node)
{
    const cJSON *item = item_of(node);
    return is_container(item) ? (size_t)item->valueint : 0;
}

const struct json *json_at(const struct json *node, size_t index)
{
    const cJSON *item = item_of(node);

    if (index >= json_count(node))
        return NULL;
    if (item->valuestring)
        return node_of(((cJSON **)(void *)item->valuestring)[index]);
    const cJSON *child = item->child;
    while (index-- > 0)
        child = child->next;
    return node_of(child);
}

const struct json *json_get(const struct json *object, const char *key)
{
    const cJSON *item = item_of(object);
    return cJSON_IsObject(item) ? node_of(cJSON_GetObjectItemCaseSensitive(item, key)) : NULL;
}

const char *json_key(const struct json *node)
{
    const cJSON *item = item_of(node);
    return item && item->string ? item->string : "";
}

double json_number(const struct json *node)
{
    const cJSON *item = item_of(node);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

bool json_bool(const struct json *node)
{
    return cJSON_IsTrue(item_of(node)) != 0;
}

const char *json_string(const struct json *node)
{
    const cJSON *item = item_of(node);
    return cJSON_IsString(item) ? item->valuestring : "";
}

bool json_u64(const struct json *node, uint64_t *out)
{
    const cJSON *item = item_of(node);

    if (cJSON_IsString(item))
        return units_parse_u64(item->valuestring, out);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) ||
        item->valuedouble > (double)UNITS_MAX_EXACT || item->valuedouble != floor(item->valuedouble))
        return false;
    *out = (uint64_t)item->valuedouble;
    return true;
}

static bool find_path(const cJSON *item, const cJSON *wanted, struct strbuf *out)
{
    size_t len = out->len, index = 0;

    if (item == wanted)
        return true;
    if (!is_container(item))
        return false;
    for (const cJSON *child = item->child; child; child = child->next, index++) {
        if (child != wanted && !is_container(child))
            continue;
        if (cJSON_IsArray(item))
            json_path_index(out, index);
        else
            json_path_key(out, child->string);
        if (find_path(child, wanted, out))
            return true;
        strbuf_cut(out, len);
    }
    return false;
}

void json_path(const struct json *root, const struct json *node, struct strbuf *out)
{
    strbuf_addc(out, '$');
    find_path(item_of(root), item_of(node), out);
}

/* ---- building ---- */

/* Puts item, which it takes over, under key (NULL: at the end of an array). */
static struct json *attach(struct json *parent, const char *key, cJSON *item)
{
    cJSON *container = item_of(parent);
    bool added = false;

    if (container && item && (key ? cJSON_IsObject(container) : cJSON_IsArray(container)) &&
        container->valueint < INT32_MAX) {
        if (!key)
            added = cJSON_AddItemToArray(container, item);
        else if (cJSON_GetObjectItemCaseSensitive(container, key)) {
            added = cJSON_ReplaceItemInObjectCaseSensitive(container, key, item);
            container->valueint--;
        } else
            added = cJSON_AddItemToObject(container, key, item);
    }
    if (added) {
        drop_table(container);
        container->valueint++;
        return node_of(item);
    }
    cJSON_Delete(item);
    if (container && is_container(container))
        container->valuedouble = 1;
    return NULL;
}

static cJSON *new_number(double value)
{
    return isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull();
}

static cJSON *new_u64(uint64_t value)
{
    char digits[24];

    if (value <= UNITS_MAX_EXACT)
        return cJSON_CreateNumber((double)value);
    snprintf(digits, sizeof(digits), "%" PRIu64, value);
    return cJSON_CreateString(digits);
}

static cJSON *new_string(const char *value)
{
    return value ? cJSON_CreateString(value) : cJSON_CreateNull();
}

struct json *json_new_object(void)
{
    return node_of(cJSON_CreateObject());
}

struct json *json_new_array(void)
{
    return node_of(cJSON_CreateArray());
}

struct json *json_set_object(struct json *object, const char *key)
{
    return attach(object, key, cJSON_CreateObject());
}

struct json *json_set_array(struct json *object, const char *key)
{
    return attach(object, key, cJSON_CreateArray());
}

void json_set_string(struct json *object, const char *key, const char *value)
{
    attach(object, key, new_string(value));
}

void json_set_number(struct json *object, const char *key, double value)
{
    attach(object, key, new_number(value));
}

void json_set_float(struct json *object, const char *key, float value)
{
    attach(object, key, new_number(units_shortest_float(value)));
}

void json_set_u64(struct json *object, const char *key, uint64_t value)
{
    attach(object, key, new_u64(value));
}

void json_set_bool(struct json *object, const char *key, bool value)
{
    attach(object, key, cJSON_CreateBool(value));
}

void json_set_null(struct json *object, const char *key)
{
    attach(object, key, cJSON_CreateNull());
}

void json_set(struct json *object, const char *key, struct json *value)
{
    attach(object, key, item_of(value));
}

void json_add(struct json *array, struct json *value)
{
    attach(array, NULL, item_of(value));
}

struct json *json_add_object(struct json *array)
{
    return attach(array, NULL, cJSON_CreateObject());
}

void json_add_string(struct json *array, const char *value)
{
    attach(array, NULL, new_string(value));
}

void json_add_number(struct json *array, double value)
{
    attach(array, NULL, new_number(value));
}

void json_add_float(struct json *array, float value)
{
    attach(array, NULL, new_number(units_shortest_float(value)));
}

void json_add_u64(struct json *array, uint64_t value)
{
    attach(array, NULL, new_u64(value));
}

/* ---- writing ---- */

/* cJSON's own printer takes values one unit in the last place apart for equal. */
static void print_number(double value, struct strbuf *out)
{
    char text[UNITS_MAX];
    units_exact(text, value);
    strbuf_add(out, text);
}

static void new_line(struct strbuf *out, size_t depth)
{
    strbuf_addc(out, '\n');
    strbuf_pad(out, ' ', 2 * depth);
}

/* On as few lines as fit. */
static void print_numbers(const cJSON *array, size_t depth, struct strbuf *out)
{
    const char *newest = out->len ? memrchr(strbuf_str(out), '\n', out->len) : NULL;
    size_t line_start = newest ? (size_t)(newest - strbuf_str(out)) + 1 : 0;

    strbuf_add(out, array->child ? "[" : "[]");
    for (const cJSON *child = array->child; child; child = child->next) {
        size_t start = out->len;
        print_number(child->valuedouble, out);
        strbuf_add(out, child->next ? "," : "]");
        if (out->len - line_start > LINE_COLUMNS && !out->failed) {
            char number[48];
            size_t length = out->len - start;
            memcpy(number, out->data + start, length);
            strbuf_cut(out, out->data[start - 1] == ' ' ? start - 1 : start);
            new_line(out, depth + 1);
            line_start = out->len - 2 * (depth + 1);
            strbuf_add_bytes(out, number, length);
        }
        if (child->next)
            strbuf_addc(out, ' ');
    }
}

static bool all_numbers(const cJSON *array)
{
    for (const cJSON *child = array->child; child; child = child->next)
        if (!cJSON_IsNumber(child))
            return false;
    return true;
}

/* false where something is missing that could not be allocated */
static bool print_item(const cJSON *item, bool pretty, size_t depth, struct strbuf *out)
{
    bool object = cJSON_IsObject(item), complete = true;

    if (!is_container(item)) {
        if (cJSON_IsString(item))
            json_quote(out, item->valuestring);
        else if (cJSON_IsNumber(item))
            print_number(item->valuedouble, out);
        else
            strbuf_add(out, cJSON_IsTrue(item) ? "true" : cJSON_IsFalse(item) ? "false" : "null");
        return true;
    }
    if (item->valuedouble > 0)
        return false;
    if (pretty && !object && all_numbers(item)) {
        print_numbers(item, depth, out);
        return true;
    }
    strbuf_addc(out, object ? '{' : '[');
    for (const cJSON *child = item->child; child && complete; child = child->next) {
        if (pretty)
            new_line(out, depth + 1);
        if (object) {
            json_quote(out, child->string);
            strbuf_add(out, pretty ? ": " : ":");
        }
        complete = print_item(child, pretty, depth + 1, out);
        if (child->next)
            strbuf_addc(out, ',');
    }
    if (pretty && item->child)
        new_line(out, depth);
    strbuf_addc(out, object ? '}' : ']');
    return complete;
}

bool json_print(const struct json *root, bool pretty, struct strbuf *out, struct err *err)
{
    if (!root || !print_item(item_of(root), pretty, 0, out))
        return err_set(err, ERR_MEMORY, "no memory for a JSON document");
    if (pretty)
        strbuf_addc(out, '\n');
    return strbuf_ok(out, err);
}

const char *json_library_version(void)
{
    return cJSON_Version();
}
