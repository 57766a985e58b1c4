#include "gpu/driver_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

/* Those of ASCII, and U+0080 to U+009F, by which terminals can be commanded, too. */
static bool is_control(const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text;

    return bytes == 1 ? iscntrl(at[0]) : at[0] == 0xC2 && at[1] < 0xA0;
}

void driver_text(char *out, size_t size, const char *text, size_t length)
{
    const char *end = text + strnlen(text, length);
    size_t used = 0;

    for (size_t step; text < end; text += step) {
        const size_t valid = utf8_sequence(text, (size_t)(end - text));
        const char *shown = !valid ? "?" : is_control(text, valid) ? " " : text;
        const size_t bytes = shown == text ? valid : 1;
        step = valid ? valid : 1;
        if (used == 0 && *shown == ' ')
            continue;
        if (used + bytes >= size)
            break;
        memcpy(out + used, shown, bytes);
        used += bytes;
    }
    while (used > 0 && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
}
