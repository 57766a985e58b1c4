#include "report/phase_list.h"

#include <math.h>

const char *phase_name(size_t phase)
{
    static const char *const names[PHASES] = {"pack",     "alloc", "upload",     "dispatch",
                                              "readback", "loss",  "unaccounted"};
    return phase < PHASES ? names[phase] : "?";
}

uint64_t phase_ns(const struct render_phases *p, size_t phase)
{
    const uint64_t ns[] = {p->pack_ns, p->alloc_ns, p->upload_ns, p->dispatch_ns, p->readback_ns, p->loss_ns};
    uint64_t sum = 0;

    if (phase < PHASES - 1)
        return ns[phase];
    for (size_t i = 0; i < PHASES - 1; i++)
        sum += ns[i];
    return p->total_ns > sum ? p->total_ns - sum : 0;
}

double phase_share(const struct cell *cell, size_t phase)
{
    if (!cell->has_phases || !cell->phases.total_ns)
        return NAN;
    return (double)phase_ns(&cell->phases, phase) / (double)cell->phases.total_ns;
}

double phase_sync(const struct cell *cell)
{
    if (cell->status != CELL_OK || !cell->has_phases || !cell->phases.total_ns || !cell->median_ns)
        return NAN;
    return (double)cell->phases.total_ns - (double)cell->median_ns;
}
