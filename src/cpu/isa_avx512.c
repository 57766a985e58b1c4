/* The fast variant for AVX-512 (F, DQ, BW, VL) with FMA: 16 lanes, blocks of 4x4 pixels. */
#if defined(__x86_64__)

#include <immintrin.h>

#include "cpu/isa.h"

#define ISA_NAME "avx512"
#define ISA_TABLE isa_avx512
#define LANES 16u

typedef __m512 vf;
typedef __mmask16 vm;

/* The operations read as a table, so one line each. */
/* clang-format off */
static inline vf v_set1(float a) { return _mm512_set1_ps(a); }
static inline vf v_load(const float *p) { return _mm512_load_ps(p); }
static inline vf v_loadu(const float *p) { return _mm512_loadu_ps(p); }
static inline void v_store(float *p, vf a) { _mm512_store_ps(p, a); }
static inline vf v_add(vf a, vf b) { return _mm512_add_ps(a, b); }
static inline vf v_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
static inline vf v_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
static inline vf v_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
static inline vf v_fnma(vf a, vf b, vf c) { return _mm512_fnmadd_ps(a, b, c); }
static inline vf v_min(vf a, vf b) { return _mm512_min_ps(a, b); }
/* The smaller in magnitude of a and 0.5, with a's sign. */
static inline vf v_clamp_half(vf a) { return _mm512_range_ps(a, v_set1(0.5f), 0x2); }
static inline vm v_lt(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
static inline vm v_le(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
static inline vm m_and(vm a, vm b) { return _kand_mask16(a, b); }
static inline vm m_or(vm a, vm b) { return _kor_mask16(a, b); }
static inline uint64_t m_bits(vm m) { return _cvtmask16_u32(m); }
static inline vf v_select(vm m, vf yes, vf no) { return _mm512_mask_blend_ps(m, no, yes); }
static inline vf v_keep(vm m, vf a) { return _mm512_maskz_mov_ps(m, a); }
static inline vf v_negate_unless(vm m, vf a)
{
    __m512i bits = _mm512_castps_si512(a);
    return _mm512_castsi512_ps(
        _mm512_mask_xor_epi32(bits, (vm)~m, bits, _mm512_set1_epi32((int)0x80000000u)));
}

/* 4 columns, the same in every row of the block; 4 rows, the same in every column. */
static inline vf v_columns(const float *p) { return _mm512_broadcast_f32x4(_mm_load_ps(p)); }
static inline vf v_rows(const float *p)
{
    const __m512i row = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    return _mm512_permutexvar_ps(row, _mm512_broadcast_f32x4(_mm_load_ps(p)));
}

static inline vf v_rsqrt_estimate(vf a) { return _mm512_rsqrt14_ps(a); }
/* Not the estimate and a Newton step: a division is fewer instructions, and no slower among the others. */
static inline vf v_rcp(vf a) { return _mm512_div_ps(v_set1(1), a); }
/* v_split: a less its floor, and what v_scale needs to multiply by 2^floor(a). */
static inline vf v_split(vf a, vf *fraction)
{
    *fraction = _mm512_reduce_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    return a;
}
static inline vf v_scale(vf p, vf a) { return _mm512_scalef_ps(p, a); }
/* clang-format on */

/* a and b become one vector whose halves hold the two halves of a added, and those of b. */
static inline vf fold_halves(vf a, vf b)
{
    return v_add(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xEE));
}
static inline vf fold_quarters(vf a, vf b)
{
    return v_add(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD));
}

/* out[i] = the sum of a[i]'s lanes, i < 10; out[10] and out[11] are 0. A transposing butterfly: each step
 * halves the number of vectors, so that ten sums cost 33 operations. */
static inline void v_sum10(const vf a[10], float *out)
{
    /* quarter q of p[i] holds 4 partial sums of a[4i+q]. */
    vf p0 = fold_quarters(fold_halves(a[0], a[1]), fold_halves(a[2], a[3]));
    vf p1 = fold_quarters(fold_halves(a[4], a[5]), fold_halves(a[6], a[7]));
    vf h = fold_halves(a[8], a[9]);
    vf p2 = fold_quarters(h, h);
    vf s01 = v_add(_mm512_shuffle_ps(p0, p1, 0x44), _mm512_shuffle_ps(p0, p1, 0xEE));
    vf s2 = v_add(_mm512_shuffle_ps(p2, p2, 0x44), _mm512_shuffle_ps(p2, p2, 0xEE));
    vf s = v_add(_mm512_shuffle_ps(s01, s2, 0x88), _mm512_shuffle_ps(s01, s2, 0xDD));
    /* lane 4q+i holds the sum of a[4i+q]. */
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 0, 0, 0, 0, 0, 0);
    _mm512_mask_storeu_ps(out, 0x0FFF, _mm512_maskz_permutexvar_ps(0x03FF, order, s));
}

#include "cpu/tile_body.inc"

#endif
