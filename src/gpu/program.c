#include "gpu/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu/embedded.h"
#include "gpu/error.h"

#define MAX_DEPTH 16
#define MAX_SOURCE_BYTES (1u << 20)

struct program_entry {
    char *file, *options; /* owned */
    cl_program program;
};

/* What one source is put together with. */
struct expansion {
    const char *kernel_dir;
    struct strbuf *out;
    size_t depth; /* of files that include each other */
};

static const char *embedded_file(size_t i)
{
    const char *name = strrchr(embedded_kernels[i].name, '/');

    return name ? name + 1 : embedded_kernels[i].name;
}

static bool read_embedded(const char *file, struct strbuf *out)
{
    for (size_t i = 0; i < embedded_kernels_count; i++) {
        if (strcmp(embedded_file(i), file) == 0) {
            strbuf_add_bytes(out, embedded_kernels[i].text, embedded_kernels[i].length);
            return true;
        }
    }
    return false;
}

static bool read_from_dir(const char *dir, const char *file, struct strbuf *out, struct err *err)
{
    char path[4096], chunk[4096];
    size_t got;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    f = fopen(path, "rb");
    if (!f)
        return err_set_native(err, ERR_IO, errno, "the kernel %s", path);
    while ((got = fread(chunk, 1, sizeof(chunk), f)) > 0 && out->len < MAX_SOURCE_BYTES)
        strbuf_add_bytes(out, chunk, got);
    if (ferror(f)) {
        fclose(f);
        return err_set_native(err, ERR_IO, errno, "reading the kernel %s", path);
    }
    fclose(f);
    return true;
}

static bool expand(struct expansion *x, const char *file, struct err *err)
{
    struct strbuf text = STRBUF_INIT;
    unsigned line_number = 0;
    bool ok = false;

    /* A file may come again: its guard decides, as the first may stand where a condition leaves it out. */
    if (x->depth == MAX_DEPTH)
        return err_set(err, ERR_INTERNAL, "the kernel %s is included too deep", file);
    x->depth++;
    if (x->kernel_dir) {
        if (!read_from_dir(x->kernel_dir, file, &text, err))
            goto out;
    } else if (!read_embedded(file, &text)) {
        err_set(err, ERR_INTERNAL, "there is no kernel %s in the program", file);
        goto out;
    }
    if (!strbuf_ok(&text, err))
        goto out;
    /* Compilers take nothing for a program without kernels; who left a file empty wants to know here. */
    if (x->depth == 1 && strspn(strbuf_str(&text), " \t\r\n") == text.len) {
        err_set(err, ERR_BUILD, "kernels/%s is empty", file);
        goto out;
    }
    strbuf_addf(x->out, "#line 1 \"kernels/%s\"\n", file);
    for (const char *at = strbuf_str(&text); *at;) {
        size_t length = strcspn(at, "\n");
        char included[64];
        line_number++;
        if (sscanf(at, "#include \"%63[^\"\n]\"", included) == 1) {
            if (!expand(x, included, err))
                goto out;
            strbuf_addf(x->out, "#line %u \"kernels/%s\"\n", line_number + 1, file);
        } else {
            strbuf_add_bytes(x->out, at, length);
            strbuf_addc(x->out, '\n');
        }
        at += length + (at[length] == '\n');
    }
    ok = strbuf_ok(x->out, err);
out:
    x->depth--;
    strbuf_fini(&text);
    return ok;
}

bool program_source(const char *file, const char *kernel_dir, struct strbuf *out, struct err *err)
{
    struct expansion x = {.kernel_dir = kernel_dir, .out = out, .depth = 0};

    return expand(&x, file, err);
}

bool program_check_dir(const char *kernel_dir, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < embedded_kernels_count; i++) {
        const char *ending = strrchr(embedded_file(i), '.');
        struct strbuf source = STRBUF_INIT;
        ok = (ending && strcmp(ending, ".cl") != 0) || program_source(embedded_file(i), kernel_dir, &source, err);
        strbuf_fini(&source);
    }
    return ok;
}

/* Where a line of a source lies by its #line directives; false: before the first of them. */
static bool line_origin(const char *source, unsigned line, char file[64], unsigned *number)
{
    bool known = false;

    for (unsigned i = 1; *source && i < line; i++) {
        unsigned next;
        if (sscanf(source, "#line %u \"%63[^\"\n]\"", &next, file) == 2) {
            *number = next;
            known = true;
        } else if (known) {
            ++*number;
        }
        source += strcspn(source, "\n");
        source += *source == '\n';
    }
    return known;
}

void program_log_lines(const char *log, const char *source, struct strbuf *out)
{
    static const char whole[] = "<kernel>:";

    for (const char *at; (at = strstr(log, whole)) != NULL;) {
        char file[64], *end;
        unsigned number;
        const unsigned long line = strtoul(at + strlen(whole), &end, 10);
        strbuf_add_bytes(out, log, (size_t)(at - log));
        if (line > 0 && line <= UINT32_MAX && line_origin(source, (unsigned)line, file, &number))
            strbuf_addf(out, "%s:%u", file, number);
        else
            strbuf_add_bytes(out, at, (size_t)(end - at));
        log = end;
    }
    strbuf_add(out, log);
}

/* Compilers write less; a longer length is nonsense. */
#define MAX_LOG_BYTES ((size_t)1 << 28)

char *program_log(cl_program program, cl_device_id device)
{
    size_t size = 0;
    char *log;

    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS ||
        size > MAX_LOG_BYTES)
        return NULL;
    log = calloc(size + 1, 1);
    if (log && clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL) != CL_SUCCESS) {
        free(log);
        log = NULL;
    }
    return log;
}

static char *build_log(cl_program program, cl_device_id device, const char *source)
{
    struct strbuf named = STRBUF_INIT;
    struct err lost = ERR_INIT;
    char *log = program_log(program, device), *copy;

    if (!log)
        return NULL;
    program_log_lines(log, source, &named);
    if (strbuf_ok(&named, &lost) && (copy = mem_strdup(strbuf_str(&named), &lost)) != NULL) {
        free(log);
        log = copy;
    }
    err_fini(&lost);
    strbuf_fini(&named);
    return log;
}

bool program_build(cl_context context, cl_device_id device, const char *device_name, const char *file,
                   const char *kernel_dir, const char *options, cl_program *out, struct err *err)
{
    struct strbuf source = STRBUF_INIT;
    cl_program program = NULL;
    bool ok = false;
    cl_int code;

    *out = NULL;
    if (!program_source(file, kernel_dir, &source, err))
        goto out;
    program = clCreateProgramWithSource(context, 1, (const char *[]){strbuf_str(&source)},
                                        (const size_t[]){source.len}, &code);
    if (!program) {
        opencl_fail(err, code, "clCreateProgramWithSource", device_name);
        goto out;
    }
    code = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (code != CL_SUCCESS) {
        bool first = err && err->code == ERR_NONE;
        err_set_native(err, ERR_BUILD, code, "building kernels/%s for %s (%s): %s (%d)", file, device_name, options,
                       opencl_code_name(code), (int)code);
        if (first)
            err->log = build_log(program, device, strbuf_str(&source));
        goto out;
    }
    *out = program;
    program = NULL;
    ok = true;
out:
    if (program)
        clReleaseProgram(program);
    strbuf_fini(&source);
    return ok;
}

bool program_cache_get(struct program_cache *cache, cl_context context, cl_device_id device,
                       const char *device_name, const char *file, const char *kernel_dir, const char *options,
                       cl_program *out, struct err *err)
{
    struct program_entry entry = {0};

    for (size_t i = 0; i < cache->count; i++) {
        if (strcmp(cache->entries[i].file, file) == 0 && strcmp(cache->entries[i].options, options) == 0) {
            *out = cache->entries[i].program;
            return true;
        }
    }
    if (!mem_grow((void **)&cache->entries, &cache->capacity, cache->count + 1, sizeof(*cache->entries),
                  "the list of kernels", err))
        return false;
    entry.file = mem_strdup(file, err);
    entry.options = mem_strdup(options, err);
    if (!entry.file || !entry.options ||
        !program_build(context, device, device_name, file, kernel_dir, options, &entry.program, err)) {
        free(entry.file);
        free(entry.options);
        return false;
    }
    cache->entries[cache->count++] = entry;
    *out = entry.program;
    return true;
}

void program_cache_fini(struct program_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < cache->count; i++) {
        clReleaseProgram(cache->entries[i].program);
        free(cache->entries[i].file);
        free(cache->entries[i].options);
    }
    free(cache->entries);
    *cache = (struct program_cache){0};
}
