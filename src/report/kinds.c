#include "report/kinds.h"

#include <string.h>

#define TABLE_ROW(make, name, help, modes) {name, help, modes, make},
static const struct table_kind kinds[] = {TABLE_KINDS(TABLE_ROW)};

const struct table_kind *table_kinds(size_t *count)
{
    *count = sizeof(kinds) / sizeof(kinds[0]);
    return kinds;
}

const struct table_kind *table_kind_find(const char *name)
{
    size_t count;
    const struct table_kind *all = table_kinds(&count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    return NULL;
}
