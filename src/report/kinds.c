#include "report/kinds.h"

#include <string.h>

#define FORWARD (1u << MODE_FORWARD)
#define GRADIENT (1u << MODE_GRADIENT)

static const struct table_kind kinds[] = {
    {"speedup", "any grid: CPU time, device time, speedup, worst error", FORWARD | GRADIENT, speedup_make},
    {"forward", "the same for forward cells alone", FORWARD, forward_make},
    {"gradient", "taped, recompute and fused side by side, with error and tape", GRADIENT, gradient_make},
    {"batch", "one scene after the other against all at once", FORWARD | GRADIENT, batch_make},
    {"crossover", "size by triangles: CPU time / device time, the winner, both times", GRADIENT,
     crossover_make},
    {"reduction", "direct, local and ordered sums side by side", GRADIENT, reduction_make},
    {"phases", "where a call's time goes, and what each phase could gain", FORWARD | GRADIENT, phases_make},
    {"kernels", "each kernel's time on the device, its share and bytes", FORWARD | GRADIENT, kernels_make},
    {"what-if", "what remedies were expected to gain, and what they gained", FORWARD | GRADIENT,
     what_if_make},
    {"scaling", "cost of four times the pixels and the triangles, of a triangle, of a pair",
     FORWARD | GRADIENT, scaling_make},
    {"roofline", "pairs, FLOP and bytes a second beside the device's measured ceilings", FORWARD | GRADIENT,
     roofline_make},
};

const struct table_kind *table_kinds(size_t *count)
{
    *count = sizeof(kinds) / sizeof(kinds[0]);
    return kinds;
}

const struct table_kind *table_kind_find(const char *name)
{
    size_t count;
    const struct table_kind *all = table_kinds(&count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    return NULL;
}
