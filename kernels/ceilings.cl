/* What a device can do at most, in the vectors of its code path: multiply-adds and exponentials in chains
 * that do not wait for each other, and hardly a loop around them. */
#ifdef PATH_CPU
#include "cpu_math.h"
#else
#include "geometry.h"
#endif

/* src/gpu/ceilings.c counts by these. Exponentials of a vector take more registers. */
#define FMA_CHAINS 12
#define FMA_UNROLL 8
#define EXP_CHAINS 4

kernel void ceiling_fma(global float *out, uint rounds)
{
    const float start = (float)(get_global_id(0) % 1024u) * 1e-4f;
    const real by = (real)(0.999f), plus = (real)(1e-3f);
    real x[FMA_CHAINS], sum = (real)(0.0f);
#pragma unroll
    for (int i = 0; i < FMA_CHAINS; ++i)
        x[i] = (real)(start + (float)i);
    for (uint r = 0; r < rounds; ++r) {
#pragma unroll
        for (int k = 0; k < FMA_UNROLL; ++k) {
#pragma unroll
            for (int i = 0; i < FMA_CHAINS; ++i)
                x[i] = FMA(x[i], by, plus);
        }
    }
#pragma unroll
    for (int i = 0; i < FMA_CHAINS; ++i)
        sum += x[i];
    *(global real *)(out + get_global_id(0) * WIDTH) = sum;
}

/* 2^-x stays between 0 and 1. */
kernel void ceiling_exp(global float *out, uint rounds)
{
    const float start = (float)(get_global_id(0) % 1024u) * 1e-4f;
    real x[EXP_CHAINS], sum = (real)(0.0f);
#pragma unroll
    for (int i = 0; i < EXP_CHAINS; ++i)
        x[i] = (real)(start + 0.01f * (float)i);
    for (uint r = 0; r < rounds; ++r) {
#pragma unroll
        for (int i = 0; i < EXP_CHAINS; ++i)
            x[i] = exp2_of(-x[i]);
    }
#pragma unroll
    for (int i = 0; i < EXP_CHAINS; ++i)
        sum += x[i];
    *(global real *)(out + get_global_id(0) * WIDTH) = sum;
}
