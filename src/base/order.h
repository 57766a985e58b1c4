/* What qsort and bsearch compare numbers by: ascending. */
#ifndef GPUBENCH_BASE_ORDER_H
#define GPUBENCH_BASE_ORDER_H

#include <stdint.h>

static inline int order_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* No NAN among them. */
static inline int order_double(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

#endif
