/* A team: the work-items that share one tile, and what they do together. Chosen by the host
 * with -DPATH_...; one text of the tiles' kernel serves the first three, tile_cpu.cl is the last one's:
 *
 *   PATH_PTX        a team is a warp; shuffles and votes by inline PTX (NVIDIA's OpenCL has no sub-groups)
 *   PATH_SUBGROUPS  a team is a sub-group that fills its work-group
 *   PATH_LOCAL      a team is a work-group; barriers and local memory: runs everywhere
 *   PATH_CPU        a team is one work-item with a vector of pixels: no barrier, no local memory
 *
 * Every function here must be reached by all lanes of a team together. */
#ifndef GPUBENCH_KERNELS_LANES_H
#define GPUBENCH_KERNELS_LANES_H

#include "shared.h"

#define SUMS SHARED_STRIDE /* values that are summed over a tile's pixels */

/* Where triangles' records and a tile's partial sums lie: LOCAL_RECORDS is scene.cl's. */
#ifdef LOCAL_RECORDS
#define RECORD_SPACE local
#else
#define RECORD_SPACE global
#endif

#ifdef PATH_CPU
#define LANES 1u
#define TEAMS 1u
#if WIDTH == 16u
typedef float16 real;
typedef int16 mask;
#define AS_REAL(m) as_float16(m)
#define AS_MASK(v) as_int16(v)
#else
typedef float8 real;
typedef int8 mask;
#define AS_REAL(m) as_float8(m)
#define AS_MASK(v) as_int8(v)
#endif
#else
typedef float real;
typedef int mask;
#define WIDTH 1u
#define TEAM_MEMORY local
#endif

#ifdef PATH_SUBGROUPS
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
/* REQUIRE_LANES: from the host, where kernels may ask for a size of sub-groups. */
#if defined(PATH_SUBGROUPS) && defined(REQUIRE_LANES)
#define IN_TEAMS __attribute__((intel_reqd_sub_group_size(LANES)))
#else
#define IN_TEAMS
#endif

/* HAS_FMA: from the host. Not every compiler whose device has it says so. */
#if defined(FP_FAST_FMAF) || defined(HAS_FMA)
#define FMA(a, b, c) fma((real)(a), (real)(b), (real)(c))
#else
#define FMA(a, b, c) ((real)(a) * (real)(b) + (real)(c))
#endif

/* select() takes a scalar's condition as a truth value and a vector's as sign bits: comparisons give both.
 * (`?:` between elements of an array would choose an address, and put the array into memory.) */
#define CHOOSE(condition, yes, no) select((real)(no), (real)(yes), (mask)(condition))

/* Where the compiler makes loops of the work-items between two barriers: an array that lives across barriers goes wrong
 * in PoCL 3.1, and a condition around a barrier takes it (and PoCL 5) minutes. */
#if defined(PATH_LOCAL) || (defined(PATH_SUBGROUPS) && defined(ON_CPU))
#define LOOPED_LANES
#endif

#define TEAM_VOTES ((LANES + 31u) / 32u)
#if defined(PATH_LOCAL) || defined(PATH_SUBGROUPS)
#define SEGMENTS (LANES / SHARED_SLOT)
#define TEAM_SUMS (SHARED_SLOT * (LANES + 1u + SEGMENTS))
#elif defined(PATH_PTX)
/* A lane's values stand 20 floats apart, and those of the upper half 16 further: neither the lanes that write their
 * own values four at a time nor those that read one value of all lanes of a half meet in the same banks. */
#define SUM_STRIDE (SHARED_SLOT + 4u)
#define TEAM_SUMS (32u * SUM_STRIDE + 16u)
#endif

struct team {
    uint lane;
#ifdef TEAM_SUMS
    local float *sums; /* [TEAM_SUMS], aligned to 16 bytes */
#endif
#ifdef PATH_LOCAL
    local uint *votes; /* [TEAM_VOTES] */
#endif
};

/* Makes what the team wrote to its memory visible to all of its lanes. */
static inline void team_sync(void)
{
#if defined(PATH_PTX)
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
#elif defined(PATH_SUBGROUPS)
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
#elif defined(PATH_LOCAL)
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

/* The same for what it wrote to global memory. */
static inline void team_sync_global(void)
{
#if defined(PATH_PTX)
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
#elif defined(PATH_SUBGROUPS)
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
#elif defined(PATH_LOCAL)
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
}

/* How many lower lanes have hit set; *total is how many lanes have. */
static inline uint team_rank(const struct team *team, bool hit, uint *total)
{
#if defined(PATH_PTX)
    uint votes;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(votes)
                 : "r"((uint)hit));
    *total = popcount(votes);
    return popcount(votes & ((1u << team->lane) - 1u));
#elif defined(PATH_SUBGROUPS)
    *total = sub_group_reduce_add((uint)hit);
    return sub_group_scan_exclusive_add((uint)hit);
#elif defined(PATH_LOCAL)
    uint rank = 0;
    if (team->lane < TEAM_VOTES)
        team->votes[team->lane] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (hit)
        atomic_or(&team->votes[team->lane / 32u], 1u << (team->lane % 32u));
    barrier(CLK_LOCAL_MEM_FENCE);
    *total = 0;
    for (uint word = 0; word < TEAM_VOTES; ++word) {
        uint votes = team->votes[word];
        *total += popcount(votes);
        if (word < team->lane / 32u)
            rank += popcount(votes);
        else if (word == team->lane / 32u)
            rank += popcount(votes & ((1u << (team->lane % 32u)) - 1u));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return rank;
#else
    *total = hit;
    return 0;
#endif
}

/* The sum of the lower lanes' counts, each at most 63; *total is the sum of all. */
static inline uint team_offset(const struct team *team, uint count, uint *total)
{
#ifdef PATH_SUBGROUPS
    *total = sub_group_reduce_add(count);
    return sub_group_scan_exclusive_add(count);
#else
    uint below = 0;
    *total = 0;
    UNROLLED for (uint bit = 0; bit < 6; ++bit)
    {
        uint hits, rank = team_rank(team, (count >> bit) & 1u, &hits);
        below += rank << bit;
        *total += hits << bit;
    }
    return below;
#endif
}

/* Whether any lane has hit set. */
static inline bool team_any(const struct team *team, bool hit)
{
    uint total;
    team_rank(team, hit, &total);
    return total > 0;
}

/* *sum += value, where other work-items add to it, too. The order of the additions is not fixed. */
static inline void atomic_add_float(volatile global float *sum, float value)
{
#if defined(PATH_PTX)
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(sum), "f"(value) : "memory");
#elif defined(FLOAT_ATOMICS) && defined(__opencl_c_ext_fp32_global_atomic_add) /* the device's word, and the compiler's */
    atomic_fetch_add_explicit((volatile global atomic_float *)sum, value, memory_order_relaxed);
#else
    /* Starting from a guess instead of a load: the first exchange reads the value. */
    uint want = 0, found;
    while ((found = atomic_cmpxchg((volatile global uint *)sum, want, as_uint(as_float(want) + value))) != want)
        want = found;
#endif
}

static inline float across(real v)
{
#ifdef PATH_CPU
#if WIDTH == 16u
    float8 halves = v.lo + v.hi;
#else
    float8 halves = v;
#endif
    float4 half_sum = halves.lo + halves.hi;
    float2 quarter = half_sum.lo + half_sum.hi;
    return quarter.x + quarter.y;
#else
    return v;
#endif
}

#ifdef PATH_PTX
static inline float shuffle_xor(float v, uint lane_mask)
{
    float r;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=f"(r) : "f"(v), "r"(lane_mask));
    return r;
}

#endif

/* Sums one value over the team; every lane gets it. The order is fixed. */
static inline float team_sum(const struct team *team, float v)
{
#if defined(PATH_PTX)
    for (uint step = 16; step > 0; step /= 2)
        v += shuffle_xor(v, step);
    return v;
#elif defined(PATH_SUBGROUPS)
    return sub_group_reduce_add(v);
#elif defined(PATH_LOCAL)
    float sum = 0.0f;
    team->sums[team->lane] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint lane = 0; lane < LANES; ++lane)
        sum += team->sums[lane];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
#else
    return v;
#endif
}

#ifdef PATH_CPU
/* Writes the sums of ten values to out[10]; nowhere without `write`. */
static inline void team_store_ten(const struct team *team, const real *v, global float *out, bool write)
{
    for (uint i = 0; write && i < SUMS; ++i)
        out[i] = across(v[i]);
}
#else
/* Sums SHARED_SLOT values over the team's lanes, in a fixed order. The lane that is left with the sum of value
 * i gets *which = i; other lanes get SHARED_SLOT. */
static inline float team_sum_slot(const struct team *team, const float *v, uint *which)
{
#if defined(PATH_PTX)
    /* Through memory: 24 instructions that move values, where a butterfly of shuffles takes 46. */
    const uint upper = team->lane & 16u;
    local float4 *row = (local float4 *)(team->sums + team->lane * SUM_STRIDE + upper);
    local const float *column = team->sums + upper * (SUM_STRIDE + 1u) + team->lane % 16u;
    float part[4];
    UNROLLED for (uint i = 0; i < 4; ++i) row[i] = (float4)(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]);
    team_sync();
    UNROLLED for (uint i = 0; i < 4; ++i) part[i] =
        (column[i * SUM_STRIDE] + column[(i + 4u) * SUM_STRIDE]) +
        (column[(i + 8u) * SUM_STRIDE] + column[(i + 12u) * SUM_STRIDE]);
    float sum = (part[0] + part[1]) + (part[2] + part[3]);
    sum += shuffle_xor(sum, 16);
    team_sync(); /* all have read it */
    *which = min(team->lane, (uint)SHARED_SLOT);
    return sum;
#else
    const uint value = team->lane % SHARED_SLOT, segment = team->lane / SHARED_SLOT;
    local float *partial = team->sums + SHARED_SLOT * (LANES + 1u);
    float sum = 0.0f;
    UNROLLED for (uint i = 0; i < SHARED_SLOT; ++i)
        team->sums[i * (LANES + 1u) + team->lane] = v[i];
    team_sync();
    for (uint i = 0; i < SHARED_SLOT; ++i)
        sum += team->sums[value * (LANES + 1u) + segment * SHARED_SLOT + i];
    partial[team->lane] = sum;
    team_sync();
    *which = min(team->lane, (uint)SHARED_SLOT);
    if (team->lane < SHARED_SLOT) {
        for (uint i = 1; i < SEGMENTS; ++i)
            sum += partial[i * SHARED_SLOT + team->lane];
    }
    return sum;
#endif
}

#ifdef PATH_PTX
#define EIGHT_STRIDE 12u
/* Sums eight values over the team's lanes, in a fixed order; a lane gets the sum of value lane % 8. */
static inline float team_sum_eight(const struct team *team, float4 a, float4 b)
{
    local float4 *row = (local float4 *)(team->sums + team->lane * EIGHT_STRIDE);
    /* Two rows a quarter of the lanes, of eight: then no two lanes meet in a bank. */
    local const float *column = team->sums + team->lane / 8u * (2u * EIGHT_STRIDE) + team->lane % 8u;
    float part[4];
    row[0] = a;
    row[1] = b;
    team_sync();
    UNROLLED for (uint i = 0; i < 4; ++i) part[i] =
        column[i * (8u * EIGHT_STRIDE)] + column[i * (8u * EIGHT_STRIDE) + EIGHT_STRIDE];
    float sum = (part[0] + part[1]) + (part[2] + part[3]);
    sum += shuffle_xor(sum, 8);
    sum += shuffle_xor(sum, 16);
    team_sync(); /* all have read it */
    return sum;
}
#endif

/* Writes the team's sums of SHARED_SLOT values to out[SHARED_SLOT]; nowhere without `write`. */
static inline void team_store_slot(const struct team *team, const float *v, global float *out, bool write)
{
    uint which;
    float sum = team_sum_slot(team, v, &which);
    if (write && which < SHARED_SLOT)
        out[which] = sum;
}
#endif

#endif
