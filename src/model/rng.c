#include "model/rng.h"

#include <float.h>

_Static_assert(FLT_EVAL_METHOD == 0, "float32 operations must be rounded one by one (docs/MODEL.md)");

void rng_init(struct rng *rng, uint64_t seed, uint64_t index)
{
    rng->state = seed + index * UINT64_C(0xD1342543DE82EF95);
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t z = rng->state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

float rng_uniform(struct rng *rng)
{
    return (float)(rng_next(rng) >> 40) * 0x1p-24f;
}

float rng_range(struct rng *rng, float lo, float hi)
{
    return lo + rng_uniform(rng) * (hi - lo);
}
