#include "cli/verify_table.h"

#include <math.h>
#include <stdio.h>

void verify_table_head(const char *title)
{
    printf("%-*s", VERIFY_NAME_COLUMNS, title);
    for (int group = 0; group < AGREE_GROUPS; group++)
        printf(" %8s", agreement_group_name((enum agreement_group)group));
    putchar('\n');
}

void verify_table_row(const char *name, const struct agreement *errors, const char *verdict)
{
    printf("  %-*s", VERIFY_NAME_COLUMNS - 2, name);
    for (int group = 0; group < AGREE_GROUPS; group++) {
        if (isnan(errors->value[group]))
            printf(" %8s", "-");
        else
            printf(" %8.1e", errors->value[group]);
    }
    printf("%s%s\n", *verdict ? " " : "", verdict);
}
