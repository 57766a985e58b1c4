#include "cpu/isa.h"

#include <string.h>

#include "cpu/openmp.h"

#if defined(__x86_64__)
static const char *const names[] = {"avx512", "avx2", "portable"};
#else
static const char *const names[] = {"portable"};
#endif
#define NAMES (sizeof names / sizeof names[0])

const char *const *openmp_isa_names(size_t *count)
{
    *count = NAMES;
    return names;
}

bool openmp_isa_runs(const char *name)
{
#if defined(__x86_64__)
    /* These builtins ask the operating system too: wide registers need its support. */
    __builtin_cpu_init();
    if (strcmp(name, "avx512") == 0)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("fma");
    if (strcmp(name, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return strcmp(name, "portable") == 0;
}

static const struct isa *table(const char *name)
{
#if defined(__x86_64__)
    if (strcmp(name, "avx512") == 0)
        return &isa_avx512;
    if (strcmp(name, "avx2") == 0)
        return &isa_avx2;
#endif
    return strcmp(name, "portable") == 0 ? &isa_portable : NULL;
}

const struct isa *isa_choose(const char *name, struct err *err)
{
    for (size_t i = 0; name == NULL && i < NAMES; i++)
        if (openmp_isa_runs(names[i]))
            return table(names[i]);
    const struct isa *isa = table(name);
    if (isa == NULL) {
        err_set(err, ERR_USAGE, "no instruction-set path is called '%s'; there are avx512, avx2, portable",
                name);
        return NULL;
    }
    if (!openmp_isa_runs(name)) {
        err_set(err, ERR_UNSUPPORTED, "this CPU cannot run the %s path; choose avx2 or portable", name);
        return NULL;
    }
    return isa;
}
