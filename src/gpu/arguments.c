#include "gpu/arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu/error.h"

/* What the host sets, in order; a '*' marks buffers. gpu/launch.c, and what runs the other kernels, does so.
 */
static const struct host_kernel {
    const char *kernel;
    const char *arguments[ARGUMENTS_MAX + 1];
} host_kernels[] = {
    {"setup", {"view", "*in", "*triangles", "*bounds", "*out", "flags"}},
    {"bin", {"view", "*bounds", "*bins"}},
    {"tile_pass",
     {"view", "*triangles", "*bounds", "*in", "*goal", "*image", "*tape", "*slots", "*out",
      "*loss_partials", "*bins"}},
    {"scene_pass", {"view", "*in", "*goal", "*image", "*slots", "*out", "*loss_partials", "*counts"}},
    {"gather", {"view", "*triangles", "*slots", "*loss_partials", "*out", "first"}},
    {"adam",
     {"values", "capacity", "index", "turn", "rate_position", "rate_colour", "rate_alpha", "correction1",
      "correction2", "*params", "*out", "*moments", "*best", "*state", "*losses"}},
    {"layout", {"*out"}},
    {"lanes", {"*out"}},
    {"probe", {"*out"}},
    {"walk_lists",
     {"*order", "*first", "*list", "*params", "*image", "width", "height", "softness", "background"}},
    {"march_rays", {"*order", "*directions", "*circles", "*steps", "limits", "counts"}},
    {"canary_arithmetic", {"*out", "rounds"}},
    {"canary_memory", {"*in", "*out"}},
    {"canary_launch", {"*out", "never"}},
    {"ceiling_fma", {"*out", "rounds"}},
    {"ceiling_exp", {"*out", "rounds"}},
};

static const char *space_name(cl_kernel_arg_address_qualifier space)
{
    switch (space) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL:
        return "global";
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
        return "local";
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
        return "constant";
    case CL_KERNEL_ARG_ADDRESS_PRIVATE:
        return "private";
    default:
        return "?";
    }
}

static void arg_text(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what, char *out, size_t size)
{
    char text[256] = "";

    if (clGetKernelArgInfo(kernel, index, what, sizeof(text) - 1, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    snprintf(out, size, "%.*s", (int)size - 1, text);
}

bool arguments_of(cl_kernel kernel, struct kernel_argument out[ARGUMENTS_MAX], size_t *count, struct err *err)
{
    cl_uint all = 0;
    cl_int code = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(all), &all, NULL);

    *count = 0;
    if (code != CL_SUCCESS)
        return err_set_native(err, ERR_OPENCL, code, "clGetKernelInfo(CL_KERNEL_NUM_ARGS): %s (%d)",
                              opencl_code_name(code), (int)code);
    if (all > ARGUMENTS_MAX)
        return err_set(err, ERR_OPENCL, "a kernel of %u arguments", (unsigned)all);
    for (cl_uint i = 0; i < all; i++) {
        cl_kernel_arg_address_qualifier space = 0;
        if (clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(space), &space, NULL) !=
            CL_SUCCESS)
            space = 0;
        arg_text(kernel, i, CL_KERNEL_ARG_NAME, out[i].name, sizeof(out[i].name));
        arg_text(kernel, i, CL_KERNEL_ARG_TYPE_NAME, out[i].type, sizeof(out[i].type));
        out[i].space = space_name(space);
    }
    *count = all;
    return true;
}

/* ---- the text ---- */

/* A copy without comments. */
static char *strip_comments(const char *source, struct err *err)
{
    char *out = mem_calloc(strlen(source) + 1, 1, "a kernel's text", err), *to = out;

    for (const char *at = source; out && *at;) {
        if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
            *to++ = ' ';
        } else if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else {
            *to++ = *at++;
        }
    }
    return out;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The next occurrence of a whole word before `end`. */
static const char *find_word(const char *from, const char *end, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = from; (at = strstr(at, word)) != NULL && at < end; at += length)
        if ((at == from || !is_word(at[-1])) && !is_word(at[length]))
            return at;
    return NULL;
}

/* Behind the bracket that closes the one at *at; NULL where there is none. */
static const char *behind_bracket(const char *at, char open, char close)
{
    unsigned depth = 0;

    for (; *at; at++) {
        depth += *at == open;
        depth -= *at == close;
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

/* The body of the function of this name: from its '{' to *end. */
static const char *find_body(const char *text, const char *name, const char **end)
{
    const char *stop = text + strlen(text);

    for (const char *at = text; (at = find_word(at, stop, name)) != NULL; at += strlen(name)) {
        const char *bracket = at + strlen(name) + strspn(at + strlen(name), " \n");
        const char *behind = *bracket == '(' ? behind_bracket(bracket, '(', ')') : NULL;
        const char *body = behind ? behind + strspn(behind, " \n") : NULL;
        if (body && *body == '{' && (*end = behind_bracket(body, '{', '}')) != NULL)
            return body;
    }
    return NULL;
}

/* ---- checking ---- */

static bool check_set(const struct host_kernel *host, const struct kernel_argument *arguments, size_t count,
                      struct err *err)
{
    size_t set = 0;

    while (host->arguments[set])
        set++;
    for (size_t i = 0; i < count && i < set; i++) {
        const struct kernel_argument *a = &arguments[i];
        bool buffer = host->arguments[i][0] == '*';
        const char *name = host->arguments[i] + buffer;
        if (a->name[0] && strcmp(a->name, name) != 0)
            return err_set(err, ERR_WRONG, "kernel %s: argument %zu is %s, and the host sets %s there",
                           host->kernel, i, a->name, name);
        if (strcmp(a->space, "?") != 0 && buffer != (strcmp(a->space, "private") != 0))
            return err_set(err, ERR_WRONG, "kernel %s: argument %s is %s %s, and the host sets a %s",
                           host->kernel, name, a->space, a->type, buffer ? "buffer" : "value");
    }
    if (count > set)
        return err_set(err, ERR_WRONG, "kernel %s: argument %zu, %s, is declared and never set", host->kernel,
                       set, arguments[set].name);
    return count == set || err_set(err, ERR_WRONG, "kernel %s: the host sets %s, which is not declared",
                                   host->kernel, host->arguments[count]);
}

static bool check_used(const struct host_kernel *host, const char *source, struct err *err)
{
    char *text = strip_comments(source, err);
    const char *end = NULL, *body = text ? find_body(text, host->kernel, &end) : NULL;
    bool ok = body != NULL;

    if (text && !body)
        err_set(err, ERR_WRONG, "kernel %s has no text of its own", host->kernel);
    for (size_t i = 0; ok && host->arguments[i]; i++) {
        const char *name = host->arguments[i] + (host->arguments[i][0] == '*');
        if (!find_word(body, end, name))
            ok = err_set(err, ERR_WRONG, "kernel %s: argument %s is set and never used", host->kernel, name);
    }
    free(text);
    return ok;
}

bool arguments_check(const char *kernel, const struct kernel_argument *arguments, size_t count,
                     const char *source, struct err *err)
{
    for (size_t i = 0; i < sizeof(host_kernels) / sizeof(host_kernels[0]); i++)
        if (strcmp(host_kernels[i].kernel, kernel) == 0)
            return check_set(&host_kernels[i], arguments, count, err) &&
                   check_used(&host_kernels[i], source, err);
    return err_set(err, ERR_WRONG, "kernel %s is one that the host never runs", kernel);
}
