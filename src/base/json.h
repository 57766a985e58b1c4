/* JSON in and out. The only file pair that knows cJSON.
 *
 * Stricter than JSON where silence would hide a mistake: a duplicate key, a number that is not finite,
 * a byte after the document, invalid UTF-8, and nesting deeper than 64 are errors that name the document,
 * the JSON path ($.axes.size[2]) and the line. Independent of the locale.
 */
#ifndef GPUBENCH_BASE_JSON_H
#define GPUBENCH_BASE_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

struct json; /* a node; a parsed or built document is released through its root */

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* ---- reading ---- */

/* Parses len bytes; `name` (a file name, "the worker") appears in messages. NULL on error. */
struct json *json_parse(const char *text, size_t len, const char *name, struct err *err) GB_NODISCARD;
/* Reads a file ("-" is standard input). A missing file is ERR_IO, bad JSON is ERR_CONFIG. */
struct json *json_load(const char *path, struct err *err) GB_NODISCARD;
void json_free(struct json *root); /* accepts NULL */
struct json *json_copy(const struct json *node, struct err *err) GB_NODISCARD;

/* Makes every string below root, keys aside, one that commands no terminal (utf8_plain). Accepts NULL. */
void json_plain(struct json *root);

enum json_type json_type(const struct json *node);
const char *json_type_name(enum json_type type); /* "a number", "an object" */
size_t json_count(const struct json *node);      /* members or elements; 0 for scalars */
const struct json *json_at(const struct json *node, size_t index);         /* NULL outside */
const struct json *json_get(const struct json *object, const char *key);   /* NULL when absent */
const char *json_key(const struct json *node);   /* the key under which node stands; "" in an array */
double json_number(const struct json *node);     /* 0 unless a number */
bool json_bool(const struct json *node);
const char *json_string(const struct json *node); /* "" unless a string */
/* A non-negative integer given as a number, or as a string of digits (integers over 2^53). */
bool json_u64(const struct json *node, uint64_t *out) GB_NODISCARD;
/* Writes "$.axes.size[2]" for a node of root. */
void json_path(const struct json *root, const struct json *node, struct strbuf *out);

/* ---- building; a failed allocation makes the calls return NULL / do nothing and json_print fail ---- */

struct json *json_new_object(void);
struct json *json_new_array(void);
struct json *json_set_object(struct json *object, const char *key); /* adds and returns an empty one */
struct json *json_set_array(struct json *object, const char *key);
void json_set_string(struct json *object, const char *key, const char *value); /* NULL value: null */
/* Not finite becomes null. */
void json_set_number(struct json *object, const char *key, double value);
/* The shortest decimal that reads back to this float: 0.01f is 0.01, not 0.009999999776482582. */
void json_set_float(struct json *object, const char *key, float value);
void json_set_u64(struct json *object, const char *key, uint64_t value); /* a string over 2^53 */
void json_set_bool(struct json *object, const char *key, bool value);
void json_set_null(struct json *object, const char *key);
void json_set(struct json *object, const char *key, struct json *value); /* takes value over */
void json_add(struct json *array, struct json *value);                   /* takes value over */
struct json *json_add_object(struct json *array);
void json_add_string(struct json *array, const char *value);
void json_add_number(struct json *array, double value);
void json_add_float(struct json *array, float value);
void json_add_u64(struct json *array, uint64_t value);

/* Compact, on one line, or indented by two spaces with short arrays of numbers kept on one line.
 * Floating-point numbers are printed with the fewest digits that read back to the same double. */
bool json_print(const struct json *root, bool pretty, struct strbuf *out, struct err *err) GB_NODISCARD;

/* Version of the library behind it, as it is loaded: "1.7.15". */
const char *json_library_version(void);

#endif
