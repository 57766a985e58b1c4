#include "gpu/driver_text.h"

#include <ctype.h>
#include <string.h>

#include "base/utf8.h"

void driver_text(char *out, size_t size, const char *text, size_t length)
{
    while (length > 0 && (*text == ' ' || iscntrl((unsigned char)*text)) && *text) {
        text++;
        length--;
    }
    utf8_plain(out, size, text, length);
    for (size_t used = strlen(out); used > 0 && out[used - 1] == ' ';)
        out[--used] = '\0';
}
