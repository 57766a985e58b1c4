/* The fast variant for any CPU: vectors of 4 floats in GCC's and Clang's own extension, blocks of 4x1. */
#include <math.h>
#include <string.h>

#include "cpu/isa.h"

#define ISA_NAME "portable"
#define ISA_TABLE isa_portable
#define LANES 4u

typedef float vf __attribute__((vector_size(16)));
typedef int32_t vm __attribute__((vector_size(16)));

/* The operations read as a table, so one line each. */
/* clang-format off */
static inline vf v_set1(float a) { return (vf){a, a, a, a}; }
static inline vf v_load(const float *p) { return *(const vf *)(const void *)p; }
static inline vf v_loadu(const float *p)
{
    vf a;
    memcpy(&a, p, sizeof a);
    return a;
}
static inline void v_store(float *p, vf a) { *(vf *)(void *)p = a; }
static inline vf v_add(vf a, vf b) { return a + b; }
static inline vf v_sub(vf a, vf b) { return a - b; }
static inline vf v_mul(vf a, vf b) { return a * b; }
static inline vf v_fma(vf a, vf b, vf c) { return a * b + c; }
static inline vf v_fnma(vf a, vf b, vf c) { return c - a * b; }
static inline vm v_lt(vf a, vf b) { return a < b; }
static inline vm v_le(vf a, vf b) { return a <= b; }
static inline vm m_and(vm a, vm b) { return a & b; }
static inline vm m_or(vm a, vm b) { return a | b; }
static inline uint64_t m_bits(vm m)
{
    return (uint64_t)((m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8));
}
static inline vf v_select(vm m, vf yes, vf no) { return (vf)((m & (vm)yes) | (~m & (vm)no)); }
static inline vf v_keep(vm m, vf a) { return (vf)(m & (vm)a); }
static inline vf v_min(vf a, vf b) { return v_select(a < b, a, b); }
static inline vf v_max(vf a, vf b) { return v_select(a > b, a, b); }
static inline vf v_clamp_half(vf a) { return v_max(v_min(a, v_set1(0.5f)), v_set1(-0.5f)); }
static inline vf v_negate_unless(vm m, vf a) { return (vf)((vm)a ^ (~m & (vm)v_set1(-0.0f))); }

static inline vf v_columns(const float *p) { return v_load(p); }
static inline vf v_rows(const float *p) { return v_set1(*p); }

static inline vf v_rcp(vf a) { return 1 / a; }
static inline vf v_rsqrt_estimate(vf a)
{
    return 1 / (vf){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])};
}

/* v_split: a less its floor, or up to a rounding beside it, and what v_scale needs to multiply by 2^floor(a).
 * Below 2^-125 a weight is 0 anyhow. Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits. */
static inline vf v_split(vf a, vf *fraction)
{
    a = v_max(a, v_set1(-125));
    vf whole = ((a - 0.5f) + 12582912.0f) - 12582912.0f;
    *fraction = a - whole;
    return whole;
}
static inline vf v_scale(vf p, vf whole)
{
    return (vf)((vm)p + (((vm)(whole + 12582912.0f) - 0x4B400000) * (1 << 23)));
}
/* clang-format on */

static inline float sum4(vf a)
{
    return (a[0] + a[2]) + (a[1] + a[3]);
}
/* out[i] = the sum of a[i]'s lanes, i < 10; out[10] and out[11] are 0. */
static inline void v_sum10(const vf a[10], float *out)
{
    for (unsigned i = 0; i < 10; i++)
        out[i] = sum4(a[i]);
    out[10] = out[11] = 0;
}

#include "cpu/tile_body.inc"
