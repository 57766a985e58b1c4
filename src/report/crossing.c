#include "report/crossing.h"

#include <math.h>

enum curve { CURVE_VALUE, CURVE_LOW, CURVE_HIGH };

static double value_of(const struct ratio *ratio, enum curve curve)
{
    return curve == CURVE_VALUE ? ratio->value : ratio->ci95[curve == CURVE_HIGH];
}

/* Where the curve is 1 between points `from` and `to`, of which one is won by either side: so it is 1
 * somewhere. NAN where the curve is not known at some point. */
static double solve(const double *x, const struct ratio *ratios, size_t stride, size_t from, size_t to,
                    enum curve curve)
{
    size_t last = from;
    double before = log(value_of(&ratios[from * stride], curve));

    for (size_t i = from + 1; i <= to; i++) {
        const struct ratio *ratio = &ratios[i * stride];
        if (!ratio->valid)
            continue;
        double y = log(value_of(ratio, curve));
        if (isnan(y) || isnan(before))
            return NAN;
        if (before * y <= 0)
            return exp(log(x[last]) + (log(x[i]) - log(x[last])) * before / (before - y));
        before = y;
        last = i;
    }
    return NAN;
}

void crossing_find(const double *x, const struct ratio *ratios, size_t stride, size_t count,
                   struct crossing *out)
{
    enum ratio_verdict now = RATIO_NONE;
    size_t last = 0;

    *out = (struct crossing){.at = NAN, .ci95 = {NAN, NAN}};
    for (size_t i = 0; i < count; i++) {
        enum ratio_verdict v = ratios[i * stride].verdict;
        if (v != RATIO_FIRST && v != RATIO_SECOND)
            continue;
        if (now == RATIO_NONE)
            out->below = v;
        else if (v != now && ++out->changes == 1) {
            out->from = last;
            out->to = i;
        }
        now = v;
        last = i;
    }
    if (out->changes != 1)
        return;
    const size_t from = out->from, to = out->to;
    out->at = solve(x, ratios, stride, from, to, CURVE_VALUE);
    double a = solve(x, ratios, stride, from, to, CURVE_LOW);
    double b = solve(x, ratios, stride, from, to, CURVE_HIGH);
    if (!isnan(a) && !isnan(b)) {
        out->ci95[0] = fmin(a, b);
        out->ci95[1] = fmax(a, b);
    }
}
