/* Scenes: triangles from back to front over a background (docs/MODEL.md, Scene). */
#ifndef GPUBENCH_MODEL_SCENE_H
#define GPUBENCH_MODEL_SCENE_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

#define SCENE_STRIDE 10              /* floats a triangle: x0 y0 x1 y1 x2 y2 r g b alpha */
#define SCENE_MAX_TRIANGLES (1u << 20)
#define SCENE_MAX_COORD 16384.0f     /* a coordinate beyond it counts as not finite */
#define SCENE_DEFAULT_EXTENT 0.15f

struct scene {
    uint32_t triangles;
    float *params;       /* owned; [triangles][SCENE_STRIDE] */
    float background[3]; /* linear RGB */
};

void scene_fini(struct scene *scene); /* accepts NULL and a zeroed scene */

/* The benchmark's distribution, written straight into the caller's array params[triangles][10]: scene
 * `index` of a batch drawn from `seed`. The same (seed, index, triangle) gives the same bits everywhere. */
void scene_random(float *params, uint32_t triangles, uint64_t seed, uint32_t index, float extent);

/* Upstream gradients for scene `index`, uniform in [-1, 1), written into out[count]; another stream of seed. */
void scene_random_upstream(float *out, uint64_t count, uint64_t seed, uint32_t index);

/* Reads {"version":1,"background":[r,g,b],"triangles":[{"verts":[[x,y]x3],"color":[r,g,b],"alpha":a}]}.
 * Errors name the file and the JSON path. */
bool scene_load(const char *path, struct scene *out, struct err *err) GB_NODISCARD;
bool scene_from_json(const struct json *root, const char *name, struct scene *out,
                     struct err *err) GB_NODISCARD;
bool scene_save(const char *path, const struct scene *scene, struct err *err) GB_NODISCARD;

#endif
