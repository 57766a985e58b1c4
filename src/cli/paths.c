#include "cli/paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool paths_find(const char *name, char *out, size_t size)
{
    /* $PREFIX/bin/gpubench; build/FLAGS/gpubench in a tree, or a copy at its top. */
    static const char *const places[] = {"../share/gpubench", "../../tests", "../..", "tests", "."};
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    if (length <= 0)
        return false;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash)
        return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int n = snprintf(out, size, "%s/%s/%s", program, places[i], name);
        if (n > 0 && (size_t)n < size && access(out, R_OK) == 0) {
            char plain[PATH_MAX];
            if (realpath(out, plain) && strlen(plain) < size)
                strcpy(out, plain);
            return true;
        }
    }
    return false;
}
