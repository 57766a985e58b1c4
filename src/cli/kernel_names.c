#include "cli/kernel_names.h"

#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "gpu/embedded.h"

bool kernel_is_called(const char *file, const char *name)
{
    const size_t length = strcspn(file, ".");

    return strncmp(name, file, length) == 0 && (!name[length] || strcmp(name + length, ".cl") == 0);
}

bool kernel_names_check(const struct text_list *names, struct err *err)
{
    for (size_t n = 0; n < names->count; n++) {
        struct suggest near;
        char words[32][32]; /* outlive the suggestion */
        size_t count = 0;
        bool found = false;
        suggest_init(&near, names->items[n]);
        for (size_t i = 0; i < embedded_kernels_count && count < 32; i++) {
            const char *file = strrchr(embedded_kernels[i].name, '/') + 1;
            if (!strstr(file, ".cl"))
                continue;
            found = found || kernel_is_called(file, names->items[n]);
            snprintf(words[count], sizeof words[count], "%.*s", (int)strcspn(file, "."), file);
            suggest_offer(&near, words[count++]);
        }
        if (!found)
            return err_set(err, ERR_USAGE,
                           near.best ? "no kernel file is called \"%s\"; did you mean \"%s\"?"
                                     : "no kernel file is called \"%s\"",
                           names->items[n], near.best);
    }
    return true;
}
