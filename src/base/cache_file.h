/* Small files that are remembered from run to run, in $XDG_CACHE_HOME/gpubench or ~/.cache/gpubench. What
 * another user owns or could write there is not trusted: neither read nor written over. */
#ifndef GPUBENCH_BASE_CACHE_FILE_H
#define GPUBENCH_BASE_CACHE_FILE_H

#include "base/err.h"
#include "base/strbuf.h"

#define CACHE_FILE_MAX 65536 /* bytes */

/* Reads the file of this name into out. false without an error: there is none; false with ERR_IO: it cannot
 * be read, or is not trusted, and the text says why. */
bool cache_file_read(const char *name, struct strbuf *out, struct err *err) GB_NODISCARD;

/* Writes it: for this user alone, complete or not at all. ERR_IO. */
bool cache_file_write(const char *name, const struct strbuf *text, struct err *err) GB_NODISCARD;

#endif
