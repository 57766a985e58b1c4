#include "base/float_text.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void float_text(char out[FLOAT_TEXT_MAX], float value)
{
    const char *point = localeconv()->decimal_point;

    for (int digits = 1; digits <= 9; digits++) {
        snprintf(out, FLOAT_TEXT_MAX, "%.*g", digits, (double)value);
        if (strtof(out, NULL) == value)
            break;
    }
    /* Printed and read in the same locale; only what leaves has to have a point. */
    char *at = strcmp(point, ".") ? strstr(out, point) : NULL;
    if (at) {
        *at = '.';
        memmove(at + 1, at + strlen(point), strlen(at + strlen(point)) + 1);
    }
}
