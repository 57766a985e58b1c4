/* The fast variant for AVX2 with FMA: 8 lanes, blocks of 4x2 pixels. */
#if defined(__x86_64__)

#include <immintrin.h>

#include "cpu/isa.h"

#define ISA_NAME "avx2"
#define ISA_TABLE isa_avx2
#define LANES 8u

typedef __m256 vf;
typedef __m256 vm;

/* The operations read as a table, so one line each. */
/* clang-format off */
static inline vf v_set1(float a) { return _mm256_set1_ps(a); }
static inline vf v_load(const float *p) { return _mm256_load_ps(p); }
static inline vf v_loadu(const float *p) { return _mm256_loadu_ps(p); }
static inline void v_store(float *p, vf a) { _mm256_store_ps(p, a); }
static inline vf v_add(vf a, vf b) { return _mm256_add_ps(a, b); }
static inline vf v_sub(vf a, vf b) { return _mm256_sub_ps(a, b); }
static inline vf v_mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
static inline vf v_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
static inline vf v_fnma(vf a, vf b, vf c) { return _mm256_fnmadd_ps(a, b, c); }
static inline vf v_min(vf a, vf b) { return _mm256_min_ps(a, b); }
static inline vf v_clamp_half(vf a) { return _mm256_max_ps(_mm256_min_ps(a, v_set1(0.5f)), v_set1(-0.5f)); }
static inline vm v_lt(vf a, vf b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
static inline vm v_le(vf a, vf b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
static inline vm m_and(vm a, vm b) { return _mm256_and_ps(a, b); }
static inline vm m_or(vm a, vm b) { return _mm256_or_ps(a, b); }
static inline uint64_t m_bits(vm m) { return (uint64_t)(unsigned)_mm256_movemask_ps(m); }
static inline vf v_select(vm m, vf yes, vf no) { return _mm256_blendv_ps(no, yes, m); }
static inline vf v_keep(vm m, vf a) { return _mm256_and_ps(m, a); }
static inline vf v_negate_unless(vm m, vf a)
{
    return _mm256_xor_ps(a, _mm256_andnot_ps(m, v_set1(-0.0f)));
}

/* 4 columns, the same in every row of the block; 2 rows, the same in every column. */
static inline vf v_columns(const float *p) { return _mm256_broadcast_ps((const __m128 *)(const void *)p); }
static inline vf v_rows(const float *p)
{
    return _mm256_insertf128_ps(_mm256_broadcast_ss(p), _mm_broadcast_ss(p + 1), 1);
}

static inline vf v_rsqrt_estimate(vf a) { return _mm256_rsqrt_ps(a); }
/* Not the estimate and a Newton step: a division is fewer instructions, and no slower among the others. */
static inline vf v_rcp(vf a) { return _mm256_div_ps(v_set1(1), a); }
/* v_split: a less its floor, and what v_scale needs to multiply by 2^floor(a). Below 2^-125 a weight is 0
 * anyhow. */
static inline vf v_split(vf a, vf *fraction)
{
    a = _mm256_max_ps(a, v_set1(-125));
    vf whole = _mm256_floor_ps(a);
    *fraction = v_sub(a, whole);
    return whole;
}
static inline vf v_scale(vf p, vf whole)
{
    __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(whole), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), exponent));
}
/* clang-format on */

/* The halves of a added, beside those of b. */
static inline vf fold_halves(vf a, vf b)
{
    return v_add(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}
static inline vf fold_pairs(vf a, vf b)
{
    return v_add(_mm256_shuffle_ps(a, b, 0x44), _mm256_shuffle_ps(a, b, 0xEE));
}
static inline vf fold_last(vf a, vf b)
{
    return v_add(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xDD));
}

/* out[i] = the sum of a[i]'s lanes, i < 10; out[10] and out[11] are 0. A transposing butterfly: each step
 * halves the number of vectors. */
static inline void v_sum10(const vf a[10], float *out)
{
    /* The low half of s[i] ends as sums of a[0..3], the high half as those of a[4..7]. */
    vf s0 = fold_pairs(fold_halves(a[0], a[4]), fold_halves(a[1], a[5]));
    vf s1 = fold_pairs(fold_halves(a[2], a[6]), fold_halves(a[3], a[7]));
    vf h = fold_halves(a[8], a[9]);
    vf t = fold_last(fold_pairs(h, h), fold_pairs(h, h));
    _mm256_storeu_ps(out, fold_last(s0, s1));
    out[8] = _mm256_cvtss_f32(t);
    out[9] = _mm_cvtss_f32(_mm256_extractf128_ps(t, 1));
    out[10] = out[11] = 0;
}

#include "cpu/tile_body.inc"

#endif
