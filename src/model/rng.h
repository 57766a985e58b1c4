/* SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014). */
#ifndef GPUBENCH_MODEL_RNG_H
#define GPUBENCH_MODEL_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

/* Stream `index` of a seed: the state starts at seed + index * 0xD1342543DE82EF95 (mod 2^64). */
void rng_init(struct rng *rng, uint64_t seed, uint64_t index);
uint64_t rng_next(struct rng *rng);
/* Uniform in [0,1): (z >> 40) * 2^-24, exact in float32. */
float rng_uniform(struct rng *rng);
/* Uniform in [lo,hi): lo + u*(hi-lo), each operation rounded to float32, never contracted. */
float rng_range(struct rng *rng, float lo, float hi);

#endif
