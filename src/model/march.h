/* Rays through a flat scene of circles in front of a wall, each stepping by the distance to the nearest
 * surface (sphere tracing; Hart, The Visual Computer 12, 1996). Rays that graze a circle take many small
 * steps: lanes that need very different numbers of them. */
#ifndef GPUBENCH_MODEL_MARCH_H
#define GPUBENCH_MODEL_MARCH_H

#include <stddef.h>
#include <stdint.h>

#define MARCH_RAYS 128u
#define MARCH_CIRCLES 5u
#define MARCH_MAX_STEPS 64u
#define MARCH_NEAR 0.001f /* closer than this is a hit */
#define MARCH_WALL 10.0f  /* x of the wall */
#define MARCH_FAR 20.0f   /* a ray that went so far has left */

extern const float march_circles[MARCH_CIRCLES][3]; /* x, y, radius */

/* Directions of the rays from the origin: a fan of 1.2 radians about +x. */
void march_directions(float out[MARCH_RAYS][2]);

/* Steps of a ray: float32, every operation rounded, so that a device may agree to the step. */
uint32_t march_steps(const float direction[2]);

#endif
