/* Strictness that cJSON does not have; used by json.c alone. */
#ifndef GPUBENCH_BASE_JSON_CHECK_H
#define GPUBENCH_BASE_JSON_CHECK_H

#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"

#define JSON_MAX_DEPTH 64   /* arrays and objects inside each other */
#define JSON_MAX_NUMBER 63  /* characters of a number; cJSON's buffer holds no more */

/* RFC 8259's grammar to the letter, and what json.h refuses beyond it. The message names the document,
 * the line and the JSON path. */
bool json_check(const char *text, size_t len, const char *name, struct err *err) GB_NODISCARD;

/* Appends one step of a JSON path: .key or ["a key"]. */
void json_path_key(struct strbuf *path, const char *key);
void json_path_index(struct strbuf *path, size_t index);

/* Appends s as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void json_quote(struct strbuf *out, const char *s);

#endif
