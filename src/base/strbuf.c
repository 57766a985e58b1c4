#include "base/strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clocale.h"
#include "base/mem.h"

/* Room for `extra` more bytes and the NUL. */
static bool reserve(struct strbuf *sb, size_t extra)
{
    if (sb->failed)
        return false;
    uint64_t need;
    void *data = sb->data;
    if (!mem_add(sb->len, (uint64_t)extra + 1, &need) || need <= extra ||
        !mem_grow(&data, &sb->capacity, (size_t)need, 1, "text", NULL))
        sb->failed = true;
    else
        sb->data = data;
    return !sb->failed;
}

void strbuf_add(struct strbuf *sb, const char *s)
{
    strbuf_add_bytes(sb, s, strlen(s));
}

void strbuf_add_bytes(struct strbuf *sb, const void *data, size_t len)
{
    if (!reserve(sb, len))
        return;
    if (len > 0)
        memcpy(sb->data + sb->len, data, len);
    sb->len += len;
    sb->data[sb->len] = '\0';
}

void strbuf_addc(struct strbuf *sb, char c)
{
    strbuf_add_bytes(sb, &c, 1);
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    strbuf_addv(sb, fmt, args);
    va_end(args);
}

void strbuf_addv(struct strbuf *sb, const char *fmt, va_list args)
{
    va_list measured;
    locale_t locale = clocale_enter();

    va_copy(measured, args);
    int length = vsnprintf(NULL, 0, fmt, measured);
    va_end(measured);
    if (length < 0) {
        sb->failed = true;
    } else if (reserve(sb, (size_t)length)) {
        vsnprintf(sb->data + sb->len, (size_t)length + 1, fmt, args);
        sb->len += (size_t)length;
    }
    clocale_leave(locale);
}

void strbuf_pad(struct strbuf *sb, char c, size_t count)
{
    if (!reserve(sb, count))
        return;
    memset(sb->data + sb->len, c, count);
    sb->len += count;
    sb->data[sb->len] = '\0';
}

bool strbuf_add_file(struct strbuf *sb, const char *path, struct err *err)
{
    bool is_stdin = strcmp(path, "-") == 0, ok = true;
    const char *name = is_stdin ? "standard input" : path;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    char chunk[16384];
    size_t n;

    if (!file)
        return err_set_native(err, ERR_IO, errno, "%s: cannot open", name);
    errno = 0;
    while (sb->len <= STRBUF_FILE_MAX && (n = fread(chunk, 1, sizeof(chunk), file)) > 0)
        strbuf_add_bytes(sb, chunk, n);
    if (sb->len > STRBUF_FILE_MAX)
        ok = err_set(err, ERR_IO, "%s: more than %u MiB, which nothing that is read here takes", name,
                     STRBUF_FILE_MAX >> 20);
    else if (ferror(file))
        ok = err_set_native(err, ERR_IO, errno, "%s: cannot read", name);
    else if (!strbuf_ok(sb, err))
        ok = err_wrap(err, "%s", name);
    if (!is_stdin)
        fclose(file);
    return ok;
}

bool strbuf_save(const struct strbuf *sb, const char *path, struct err *err)
{
    FILE *file = fopen(path, "wbe");
    struct stat s;

    if (!file)
        return err_set_native(err, ERR_IO, errno, "cannot write %s", path);
    const bool plain = fstat(fileno(file), &s) == 0 && S_ISREG(s.st_mode);
    bool ok = fwrite(strbuf_str(sb), 1, sb->len, file) == sb->len;
    ok = fclose(file) == 0 && ok;
    if (ok)
        return true;
    err_set_native(err, ERR_IO, errno, "cannot write %s", path);
    if (plain)
        unlink(path);
    return false;
}

const char *strbuf_str(const struct strbuf *sb)
{
    return sb->data ? sb->data : "";
}

bool strbuf_ok(const struct strbuf *sb, struct err *err)
{
    return sb->failed ? err_set(err, ERR_MEMORY, "text: no memory after %zu bytes", sb->len) : true;
}

void strbuf_cut(struct strbuf *sb, size_t len)
{
    if (len >= sb->len)
        return;
    sb->len = len;
    sb->data[len] = '\0';
}

void strbuf_reset(struct strbuf *sb)
{
    sb->len = 0;
    sb->failed = false;
    if (sb->data)
        sb->data[0] = '\0';
}

void strbuf_fini(struct strbuf *sb)
{
    if (!sb)
        return;
    free(sb->data);
    *sb = (struct strbuf)STRBUF_INIT;
}
