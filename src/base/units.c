#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clocale.h"

struct scale {
    double factor;
    const char *unit;
};

void units_sig3(char out[UNITS_MAX], double value)
{
    double size = fabs(value);
    locale_t locale = clocale_enter();

    if (value == 0)
        snprintf(out, UNITS_MAX, "0");
    else if (size < 0.9995e-3 || size >= 1e15 || !isfinite(value))
        snprintf(out, UNITS_MAX, "%.2e", value);
    else {
        /* Where rounding reaches the next power of ten, one decimal fewer: 9.996 is 10.0. */
        int decimals = 2;
        for (double limit = 9.995; size >= limit && decimals > 0; limit *= 10)
            decimals--;
        for (double limit = 0.9995; size < limit && decimals < 5; limit /= 10)
            decimals++;
        snprintf(out, UNITS_MAX, "%.*f", decimals, value);
    }
    clocale_leave(locale);
}

/* The largest unit in which the rounded figure is at least 1; units in ascending order. */
static void scaled(char out[UNITS_MAX], uint64_t value, const struct scale *scales, size_t count)
{
    size_t i = 0;
    while (i + 1 < count && (double)value >= 0.9995 * scales[i + 1].factor)
        i++;
    if (i == 0)
        snprintf(out, UNITS_MAX, "%" PRIu64 "%s", value, scales[0].unit);
    else {
        char figure[UNITS_MAX];
        units_sig3(figure, (double)value / scales[i].factor);
        snprintf(out, UNITS_MAX, "%.24s%s", figure, scales[i].unit);
    }
}

#define SCALED(out, value, scales) scaled(out, value, scales, sizeof(scales) / sizeof((scales)[0]))

void units_time(char out[UNITS_MAX], uint64_t ns)
{
    static const struct scale scales[] = {{1, " ns"}, {1e3, " us"}, {1e6, " ms"}, {1e9, " s"}};
    SCALED(out, ns, scales);
}

void units_bytes(char out[UNITS_MAX], uint64_t bytes)
{
    static const struct scale scales[] = {{1, " B"},    {1e3, " kB"},  {1e6, " MB"}, {1e9, " GB"},
                                          {1e12, " TB"}, {1e15, " PB"}, {1e18, " EB"}};
    SCALED(out, bytes, scales);
}

void units_count(char out[UNITS_MAX], uint64_t count)
{
    static const struct scale scales[] = {{1, ""}, {1e3, " k"}, {1e6, " M"}, {1e9, " G"}, {1e12, " T"}};
    SCALED(out, count, scales);
}

void units_items(char out[UNITS_MAX], uint64_t count, const char *what)
{
    snprintf(out, UNITS_MAX, "%" PRIu64 " %.10s%s", count, what, count == 1 ? "" : "s");
}

void units_duration(char out[UNITS_MAX], uint64_t ns)
{
    uint64_t s = ns / 1000000000u + (ns % 1000000000u >= 500000000u);
    if (s < 60)
        snprintf(out, UNITS_MAX, "%" PRIu64 " s", s);
    else if (s < 3600)
        snprintf(out, UNITS_MAX, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
    else
        snprintf(out, UNITS_MAX, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60, s % 60);
}

void units_exact(char out[UNITS_MAX], double value)
{
    double back;
    locale_t locale = clocale_enter();

    if (value == floor(value) && fabs(value) <= (double)UNITS_MAX_EXACT) {
        snprintf(out, UNITS_MAX, "%.0f", value);
    } else {
        /* 15 digits always survive the way to a double and back, except below the normal range. */
        int digits = fabs(value) < 0x1p-1022 ? 1 : 15;
        do
            snprintf(out, UNITS_MAX, "%.*g", digits, value);
        while (++digits <= 17 && (back = strtod(out, NULL), back < value || back > value));
    }
    clocale_leave(locale);
}

double units_shortest_float(float value)
{
    char text[32];
    double shortest = (double)value;

    if (!isfinite(value))
        return shortest;
    locale_t locale = clocale_enter();
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, (double)value);
        float back = strtof(text, NULL);
        if (!(back < value) && !(back > value)) {
            shortest = strtod(text, NULL);
            break;
        }
    }
    clocale_leave(locale);
    return shortest;
}

bool units_parse_double(const char *s, double *out)
{
    /* strtod also takes blanks, hexadecimal, "inf" and "nan" */
    if (*s == '\0' || s[strspn(s, "0123456789+-.eE")] != '\0')
        return false;
    char *end;
    locale_t locale = clocale_enter();
    double value = strtod(s, &end);
    clocale_leave(locale);
    if (*end != '\0' || !isfinite(value))
        return false;
    *out = value;
    return true;
}

bool units_parse_u64(const char *s, uint64_t *out)
{
    if (*s == '\0' || s[strspn(s, "0123456789")] != '\0')
        return false;
    errno = 0;
    unsigned long long value = strtoull(s, NULL, 10);
    if (errno == ERANGE || value > UINT64_MAX)
        return false;
    *out = value;
    return true;
}

bool units_parse_bytes(const char *s, uint64_t *out)
{
    static const char letters[] = "KMGT";
    char number[UNITS_MAX];
    uint64_t factor = 1;
    size_t digits = strspn(s, "0123456789.");

    if (digits == 0 || digits >= sizeof(number))
        return false;
    memcpy(number, s, digits);
    number[digits] = '\0';
    s += digits;
    if (*s != '\0' && *s != 'B') {
        const char *letter = strchr(letters, toupper((unsigned char)*s));
        if (!letter)
            return false;
        uint64_t step = s[1] == 'i' ? 1024 : 1000;
        for (const char *l = letters; l <= letter; l++)
            factor *= step;
        s += step == 1024 ? 2 : 1;
    }
    if (*s == 'B')
        s++;
    if (*s != '\0')
        return false;

    uint64_t whole;
    if (units_parse_u64(number, &whole)) {
        if (__builtin_mul_overflow(whole, factor, &whole))
            return false;
        *out = whole;
        return true;
    }
    double value;
    if (!units_parse_double(number, &value) || value * (double)factor >= 0x1p64)
        return false;
    *out = (uint64_t)(value * (double)factor + 0.5);
    return true;
}
