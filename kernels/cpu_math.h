/* Arithmetic on the vectors of CPU devices. */
#ifndef GPUBENCH_KERNELS_CPU_MATH_H
#define GPUBENCH_KERNELS_CPU_MATH_H

#include "lanes.h"

#pragma OPENCL FP_CONTRACT OFF

#define INLINE static inline __attribute__((always_inline))

/* One instruction each, where fmin and fmax would look for NaNs first. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* 2^x for x <= 0: 2^n 2^f with f in [-1/2, 1/2], 2^f by a polynomial that is minimax in the relative error:
 * 1.6e-7. Library calls of a vector become one call an element on some devices. */
INLINE real exp2_of(real exponent)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer in the low bits */
    const real x = MAX(exponent, (real)(-126.0f));
    const real shifted = x + magic, f = x - (shifted - magic), f2 = f * f;
    const real high = FMA(1.32764725e-3f, f, 9.67554096e-3f), middle = FMA(5.55071309e-2f, f, 2.40221202e-1f);
    const real low = FMA(6.93146944e-1f, f, 1.00000012f);
    return AS_REAL(AS_MASK(FMA(FMA(high, f2, middle), f2, low)) + (AS_MASK(shifted) << 23));
}

#endif
