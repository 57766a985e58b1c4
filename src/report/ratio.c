#include "report/ratio.h"

#include <math.h>

#include "bench/stats.h"

bool ratio_can_win(const struct cell *cell)
{
    return cell && cell->status == CELL_OK && cell->median_ns > 0 && cell->spec.batch > 0;
}

static struct series samples_of(const struct cell *cell)
{
    return (struct series){cell->samples_ns, cell->sample_count, cell->block_starts, cell->block_count};
}

enum ratio_verdict ratio_judge(double low, double high)
{
    if (low > RATIO_TIE_HIGH)
        return RATIO_SECOND;
    return high < RATIO_TIE_LOW ? RATIO_FIRST : RATIO_TIE;
}

bool ratio_of(const struct cell *first, const struct cell *second, struct ratio *out, struct err *err)
{
    *out = (struct ratio){.value = NAN, .ci95 = {NAN, NAN}, .device = NAN};
    if (!ratio_can_win(first) || !ratio_can_win(second))
        return true;

    struct series a = samples_of(first), b = samples_of(second);
    out->valid = true;
    out->value = (double)first->median_ns / (double)second->median_ns;
    if (second->has_device_time && second->device_ns > 0)
        out->device = (double)first->median_ns / (double)second->device_ns;
    if (!stats_ratio_ci(&a, &b, out->ci95, &out->has_ci, err))
        return false;
    out->verdict =
        out->has_ci ? ratio_judge(out->ci95[0], out->ci95[1]) : ratio_judge(out->value, out->value);
    return true;
}
