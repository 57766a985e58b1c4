#include "base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

size_t utf8_sequence(const char *s, size_t len)
{
    const unsigned char *p = (const unsigned char *)s;

    if (len == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    size_t n = p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;
    if (n == 0 || n > len)
        return 0;
    /* The second byte is where overlong forms, surrogates and too large code points show. */
    unsigned char low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return n;
}

/* Those of ASCII, and U+0080 to U+009F, by which terminals can be commanded, too. */
static bool is_control(const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text;

    return bytes == 1 ? iscntrl(at[0]) : at[0] == 0xC2 && at[1] < 0xA0;
}

void utf8_plain(char *out, size_t size, const char *text, size_t length)
{
    const char *end = text + strnlen(text, length);
    size_t used = 0;

    for (size_t step; text < end; text += step) {
        const size_t valid = utf8_sequence(text, (size_t)(end - text));
        const char *shown = !valid ? "?" : is_control(text, valid) ? " " : text;
        const size_t bytes = shown == text ? valid : 1;
        step = valid ? valid : 1;
        if (used + bytes >= size)
            break;
        memmove(out + used, shown, bytes);
        used += bytes;
    }
    out[used] = '\0';
}

size_t utf8_length(const char *s)
{
    size_t left = strlen(s), count = 0;

    while (left > 0) {
        size_t n = utf8_sequence(s, left);
        if (n == 0)
            n = 1;
        s += n;
        left -= n;
        count++;
    }
    return count;
}
