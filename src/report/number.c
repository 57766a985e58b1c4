#include "report/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clocale.h"
#include "base/units.h"

/* Decimals that leave two significant digits, and two between 1 and 2, where ties are decided. */
static int decimals_of(double value)
{
    double size = fabs(value);

    if (size >= 9.95)
        return 0;
    if (size >= 1.995)
        return 1;
    int decimals = 2;
    for (double limit = 0.0995; size > 0 && size < limit && decimals < 9; limit /= 10)
        decimals++;
    return decimals;
}

static void fixed(char out[NUMBER_MAX], double value, int decimals)
{
    locale_t locale = clocale_enter();
    if (!isfinite(value))
        snprintf(out, NUMBER_MAX, "-");
    else if (fabs(value) >= 1e6 || (value != 0 && fabs(value) < 1e-6))
        snprintf(out, NUMBER_MAX, "%.1e", value);
    else
        snprintf(out, NUMBER_MAX, "%.*f", decimals, value);
    clocale_leave(locale);
}

void number_ratio(char out[NUMBER_MAX], double value)
{
    fixed(out, value, decimals_of(value));
}

void number_sig2(char out[NUMBER_MAX], double value)
{
    fixed(out, value, fabs(value) >= 0.995 && fabs(value) < 1.995 ? 1 : decimals_of(value));
}

void number_interval(char out[NUMBER_MAX], const struct ratio *ratio)
{
    char value[NUMBER_MAX], low[NUMBER_MAX], high[NUMBER_MAX];
    int decimals = decimals_of(ratio->value);

    fixed(value, ratio->value, decimals);
    if (!ratio->valid || !ratio->has_ci) {
        snprintf(out, NUMBER_MAX, "%.20s", ratio->valid ? value : "-");
        return;
    }
    bool far = ratio->ci95[0] < ratio->value / 2 || ratio->ci95[1] > 2 * ratio->value;
    fixed(low, ratio->ci95[0], far ? decimals_of(ratio->ci95[0]) : decimals);
    fixed(high, ratio->ci95[1], far ? decimals_of(ratio->ci95[1]) : decimals);
    if (strcmp(low, high) == 0) {
        fixed(value, ratio->value, ++decimals);
        fixed(low, ratio->ci95[0], decimals);
        fixed(high, ratio->ci95[1], decimals);
    }
    snprintf(out, NUMBER_MAX, "%.16s [%.16s,%.16s]", value, low, high);
}

void number_percent(char out[NUMBER_MAX], double change, bool sign)
{
    char number[NUMBER_MAX];
    const double size = fabs(change) * 100;

    if (!isfinite(change)) {
        snprintf(out, NUMBER_MAX, "-");
        return;
    }
    fixed(number, size, size < 9.95 ? 1 : 0);
    const bool zero = strspn(number, "0.") == strlen(number);
    snprintf(out, NUMBER_MAX, "%s%.20s %%", !sign ? "" : zero ? "±" : change < 0 ? "-" : "+", number);
}

void number_error(char out[NUMBER_MAX], double value)
{
    locale_t locale = clocale_enter();
    snprintf(out, NUMBER_MAX, "%.1e", value);
    clocale_leave(locale);

    char *digits = strpbrk(out, "+-"); /* of the exponent: its sign is always written */
    if (!digits++)
        return;
    size_t zeros = strspn(digits, "0");
    if (!digits[zeros])
        zeros--;
    memmove(digits, digits + zeros, strlen(digits + zeros) + 1);
}

void number_size(char out[NUMBER_MAX], uint32_t width, uint32_t height)
{
    if (width == height)
        snprintf(out, NUMBER_MAX, "%" PRIu32 "²", width);
    else
        snprintf(out, NUMBER_MAX, "%" PRIu32 "x%" PRIu32, width, height);
}

struct time_unit number_unit(double typical_ns)
{
    if (typical_ns >= 1e9)
        return (struct time_unit){"s", 1e9};
    if (typical_ns >= 1e6)
        return (struct time_unit){"ms", 1e6};
    return (struct time_unit){"us", 1e3};
}

void number_time(char out[NUMBER_MAX], uint64_t ns, struct time_unit unit)
{
    char text[UNITS_MAX];

    units_sig3(text, (double)ns / unit.ns);
    snprintf(out, NUMBER_MAX, "%s", text);
}
