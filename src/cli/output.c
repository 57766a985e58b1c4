/* How the program speaks on standard error, and which exit code an error is. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "cli/command.h"

static int exit_for(enum err_code code)
{
    switch (code) {
    case ERR_USAGE:
    case ERR_CONFIG:
    case ERR_UNSUPPORTED:
    case ERR_VERSION:
        return EXIT_BAD_USAGE;
    case ERR_WRONG:
        return EXIT_WRONG_RESULT;
    case ERR_INTERRUPTED:
        return EXIT_INTERRUPTED;
    case ERR_NONE:
    case ERR_IO:
    case ERR_MEMORY:
    case ERR_LIMIT:
    case ERR_NO_DEVICE:
    case ERR_OPENCL:
    case ERR_BUILD:
    case ERR_WORKER:
    case ERR_TIMEOUT:
    case ERR_INTERNAL:
        break;
    }
    return EXIT_FAILED;
}

int report_error(struct err *err)
{
    int code = exit_for(err->code);

    fprintf(stderr, "gpubench: error: %s\n", err->text);
    if (err->log)
        fprintf(stderr, "%s%s", err->log, *err->log && err->log[strlen(err->log) - 1] == '\n' ? "" : "\n");
    err_fini(err);
    return code;
}

void say(const struct base_options *options, const char *fmt, ...)
{
    va_list args;

    if (options->quiet)
        return;
    fputs("gpubench: ", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
}

bool print_text(const struct strbuf *text, struct err *err)
{
    errno = 0;
    if (fwrite(strbuf_str(text), 1, text->len, stdout) == text->len && fflush(stdout) == 0)
        return true;
    err_set_native(err, ERR_IO, errno, "standard output");
    clearerr(stdout);
    return false;
}

int finish_output(int code)
{
    errno = 0;
    bool failed = ferror(stdout) != 0;

    if (fflush(stdout) == 0 && !failed)
        return code;
    fprintf(stderr, "gpubench: error: standard output: %s\n", errno ? strerror(errno) : "write failed");
    return worse_exit(code, EXIT_FAILED);
}

int worse_exit(int a, int b)
{
    static const int order[] = {EXIT_BAD_USAGE, EXIT_INTERRUPTED,  EXIT_WRONG_RESULT, EXIT_FAILED,
                                EXIT_SLOWER,    EXIT_INCOMPARABLE, EXIT_NOTHING};

    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return EXIT_OK;
}
