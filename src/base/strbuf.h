/* A growable string. A failed allocation is remembered: appends become no-ops and strbuf_ok tells, so a
 * writer checks once, at the end. */
#ifndef GPUBENCH_BASE_STRBUF_H
#define GPUBENCH_BASE_STRBUF_H

#include <stdarg.h>
#include <stddef.h>

#include "base/err.h"

struct strbuf {
    char *data; /* NUL-terminated; NULL while empty */
    size_t len;
    size_t capacity;
    bool failed;
};

#define STRBUF_INIT {0, 0, 0, false}

void strbuf_add(struct strbuf *sb, const char *s);
void strbuf_add_bytes(struct strbuf *sb, const void *data, size_t len);
void strbuf_addc(struct strbuf *sb, char c);
/* Formats in the "C" locale, so that numbers have a decimal point. */
void strbuf_addf(struct strbuf *sb, const char *fmt, ...) GB_PRINTF(2, 3);
void strbuf_addv(struct strbuf *sb, const char *fmt, va_list args) GB_PRINTF(2, 0);
void strbuf_pad(struct strbuf *sb, char c, size_t count);
/* Appends a whole file ("-" is standard input); ERR_IO when it cannot be read or is larger than this. */
#define STRBUF_FILE_MAX (1u << 30)
bool strbuf_add_file(struct strbuf *sb, const char *path, struct err *err) GB_NODISCARD;
/* Makes a file of it, or replaces what is in one; a plain file that could not be written to its end is removed.
 * ERR_IO. */
bool strbuf_save(const struct strbuf *sb, const char *path, struct err *err) GB_NODISCARD;
/* The text so far, "" while empty; owned by sb, valid until the next append. */
const char *strbuf_str(const struct strbuf *sb);
/* false with err filled when an append could not get memory. */
bool strbuf_ok(const struct strbuf *sb, struct err *err) GB_NODISCARD;
/* Shortens to len bytes; nothing when it is no longer. */
void strbuf_cut(struct strbuf *sb, size_t len);
void strbuf_reset(struct strbuf *sb); /* empty, memory kept */
void strbuf_fini(struct strbuf *sb);  /* accepts NULL */

#endif
