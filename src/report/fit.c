#include "report/fit.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "report/table.h"

struct range {
    uint32_t first, last;
};

static bool within(const struct range *ranges, size_t count, uint32_t c)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

static uint32_t decode(const char *s, size_t len)
{
    static const unsigned char lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (unsigned char)s[0] & lead[len];

    for (size_t i = 1; i < len; i++)
        c = c << 6 | ((unsigned char)s[i] & 0x3f);
    return c;
}

size_t text_width(const char *s)
{
    static const struct range zero[] = {
        {0x0300, 0x036f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};
    static const struct range wide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                        {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                        {0xffe0, 0xffe6}, {0x1f300, 0x1f9ff}, {0x20000, 0x3fffd}};
    size_t left = strlen(s), width = 0;

    while (left) {
        size_t len = utf8_sequence(s, left);
        uint32_t c = len ? decode(s, len) : 0;
        if (!len)
            len = 1;
        width += within(zero, sizeof(zero) / sizeof(zero[0]), c)   ? 0
                 : within(wide, sizeof(wide) / sizeof(wide[0]), c) ? 2
                                                                   : 1;
        s += len;
        left -= len;
    }
    return width;
}

static size_t total_width(const size_t *widths, const bool *shown, size_t count, size_t gap)
{
    size_t total = 0, columns = 0;

    for (size_t i = 0; i < count; i++)
        if (shown[i]) {
            total += widths[i];
            columns++;
        }
    return columns ? total + (columns - 1) * gap : 0;
}

size_t fit_columns(const size_t *widths, const int *keep, size_t count, size_t width, bool *shown)
{
    size_t left = count;

    for (size_t i = 0; i < count; i++)
        shown[i] = true;
    for (;;) {
        for (size_t gap = 2; gap >= 1; gap--)
            if (total_width(widths, shown, count, gap) <= width)
                return gap;
        size_t least = count;
        for (size_t i = 0; i < count; i++)
            if (shown[i] && keep[i] < KEEP_ALWAYS && (least == count || keep[i] <= keep[least]))
                least = i;
        if (least == count || left == 1)
            return 1;
        shown[least] = false;
        left--;
    }
}
