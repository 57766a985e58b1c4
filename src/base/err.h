/* Errors as values.
 *
 * A function that can fail takes a `struct err *` last and returns false (or
 * NULL) after filling it once, where the failure happened. Callers pass it up;
 * only cli/ prints it and chooses an exit code. A `struct err` starts zeroed
 * (`struct err err = ERR_INIT`) and is released with err_fini.
 */
#ifndef GPUBENCH_BASE_ERR_H
#define GPUBENCH_BASE_ERR_H

#include <stdbool.h>

#if defined(__GNUC__)
#define GB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define GB_NODISCARD __attribute__((warn_unused_result))
#else
#define GB_PRINTF(fmt, args)
#define GB_NODISCARD
#endif

enum err_code {
    ERR_NONE = 0,
    ERR_USAGE,       /* the command line cannot be understood */
    ERR_CONFIG,      /* a config, scene, image or results file is not what it should be */
    ERR_IO,          /* a file, pipe or process could not be used; native is errno */
    ERR_MEMORY,      /* host memory: allocation failed or a size overflowed */
    ERR_LIMIT,       /* more than a device or a budget allows; the text has both figures */
    ERR_UNSUPPORTED, /* a combination that makes no sense, or that this device cannot do */
    ERR_NO_DEVICE,   /* no device matches what was asked for */
    ERR_OPENCL,      /* an OpenCL call failed; native is its code */
    ERR_BUILD,       /* a kernel did not build; log holds the compiler's output */
    ERR_WORKER,      /* the worker process ended or answered nonsense */
    ERR_TIMEOUT,     /* a time limit was reached */
    ERR_WRONG,       /* a result did not agree with the reference */
    ERR_VERSION,     /* a file of another schema version */
    ERR_INTERRUPTED, /* a signal asked to stop */
    ERR_INTERNAL     /* a broken promise inside gpubench */
};

struct err {
    enum err_code code;
    int native;      /* errno or the OpenCL code, 0 where there is none */
    char text[1024]; /* what failed, on what, and what to do; one line without control characters */
    char *log;       /* owned; NULL, or a build log of any length */
};

#define ERR_INIT {ERR_NONE, 0, {0}, 0}

/* Fills *err unless it already holds an error (the first failure is the cause).
 * Always returns false, so that `return err_set(err, ...)` reads as failure. */
bool err_set(struct err *err, enum err_code code, const char *fmt, ...) GB_PRINTF(3, 4);

/* The same with a native code: errno for ERR_IO (its text is appended), the OpenCL code otherwise. */
bool err_set_native(struct err *err, enum err_code code, int native, const char *fmt, ...)
    GB_PRINTF(4, 5);

/* Puts "context: " in front of the text, for a caller that knows on what. Always returns false. */
bool err_wrap(struct err *err, const char *fmt, ...) GB_PRINTF(2, 3);

/* Short name of a code, lower case ("config", "opencl"): for results files and the worker's protocol.
 * err_code_parse is its inverse and gives ERR_INTERNAL for an unknown name. */
const char *err_code_name(enum err_code code);
enum err_code err_code_parse(const char *name);

/* Releases what err owns and makes it ERR_INIT again. Accepts NULL. */
void err_fini(struct err *err);

#endif
