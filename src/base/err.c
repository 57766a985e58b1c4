#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const code_names[] = {
    [ERR_NONE] = "none",
    [ERR_USAGE] = "usage",
    [ERR_CONFIG] = "config",
    [ERR_IO] = "io",
    [ERR_MEMORY] = "memory",
    [ERR_LIMIT] = "limit",
    [ERR_UNSUPPORTED] = "unsupported",
    [ERR_NO_DEVICE] = "no-device",
    [ERR_OPENCL] = "opencl",
    [ERR_BUILD] = "build",
    [ERR_WORKER] = "worker",
    [ERR_TIMEOUT] = "timeout",
    [ERR_WRONG] = "wrong",
    [ERR_VERSION] = "version",
    [ERR_INTERRUPTED] = "interrupted",
    [ERR_INTERNAL] = "internal",
};
#define CODE_COUNT (sizeof(code_names) / sizeof(code_names[0]))

/* File names and drivers' texts may hold anything; a terminal is not to be commanded by them. */
static void one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

GB_PRINTF(4, 0)
static void fill(struct err *err, enum err_code code, int native, const char *fmt, va_list args)
{
    err->code = code;
    err->native = native;
    vsnprintf(err->text, sizeof(err->text), fmt, args);
    one_line(err->text);
}

bool err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
    if (!err || err->code != ERR_NONE)
        return false;
    va_list args;
    va_start(args, fmt);
    fill(err, code, 0, fmt, args);
    va_end(args);
    return false;
}

bool err_set_native(struct err *err, enum err_code code, int native, const char *fmt, ...)
{
    if (!err || err->code != ERR_NONE)
        return false;
    va_list args;
    va_start(args, fmt);
    fill(err, code, native, fmt, args);
    va_end(args);
    if (code == ERR_IO && native != 0) {
        size_t used = strlen(err->text);
        snprintf(err->text + used, sizeof(err->text) - used, ": %s", strerror(native));
    }
    return false;
}

bool err_wrap(struct err *err, const char *fmt, ...)
{
    if (!err || err->code == ERR_NONE)
        return false;

    char context[sizeof(err->text)];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(context, sizeof(context), fmt, args);
    va_end(args);
    if (length < 0)
        return false;

    size_t used = strlen(context);
    if (used + 2 >= sizeof(err->text)) /* the cause matters more than where it was met */
        return false;
    size_t kept = strlen(err->text);
    if (kept > sizeof(err->text) - used - 3)
        kept = sizeof(err->text) - used - 3;
    memmove(err->text + used + 2, err->text, kept);
    memcpy(err->text, context, used);
    memcpy(err->text + used, ": ", 2);
    err->text[used + 2 + kept] = '\0';
    one_line(err->text);
    return false;
}

const char *err_code_name(enum err_code code)
{
    return (size_t)code < CODE_COUNT ? code_names[code] : code_names[ERR_INTERNAL];
}

enum err_code err_code_parse(const char *name)
{
    for (size_t i = 0; i < CODE_COUNT; i++)
        if (strcmp(code_names[i], name) == 0)
            return (enum err_code)i;
    return ERR_INTERNAL;
}

void err_fini(struct err *err)
{
    if (!err)
        return;
    free(err->log);
    *err = (struct err)ERR_INIT;
}
