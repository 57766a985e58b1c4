/* What a config's scenes, targets and upstream gradients are: made one scene at a time, so that nothing of a
 * whole batch's size is held but what is dear to make (targets that the reference renders). The same config
 * gives the same bits in every process.
 */
#ifndef GPUBENCH_BENCH_INPUTS_H
#define GPUBENCH_BENCH_INPUTS_H

#include <stdint.h>

#include "base/err.h"
#include "model/image.h"
#include "model/renderer.h"
#include "model/scene.h"
#include "plan/config.h"

/* The files that a config names, read once a run. */
struct input_files {
    const struct config *config; /* borrowed */
    struct scene *scenes;        /* owned; in the config's order */
    size_t scene_count;
    struct image image; /* target.kind image */
};

/* Reads scenes and picture. */
bool input_files_load(const struct config *config, struct input_files *out, struct err *err) GB_NODISCARD;
void input_files_fini(struct input_files *files); /* accepts NULL and a zeroed one */

/* The inputs of one point. */
struct inputs {
    const struct input_files *files; /* borrowed */
    struct render_spec spec;
    const struct scene **scenes; /* owned; of the files those with the point's triangles; spec.source file */
    size_t scene_count;
    float *picture; /* owned; [H][W][3]: the target picture at the point's size, or NULL */
    float *targets; /* owned; [B][H][W][3] of target.kind scene, or NULL */
};

bool inputs_init(struct inputs *in, const struct input_files *files, const struct render_spec *spec,
                 struct err *err) GB_NODISCARD;
void inputs_fini(struct inputs *in); /* accepts NULL and a zeroed one */

bool inputs_has_target(const struct inputs *in);                            /* gradient mode with a loss */
void inputs_params(const struct inputs *in, uint32_t scene, float *params); /* [T][10] */
void inputs_background(const struct inputs *in, uint32_t scene, float background[3]);
void inputs_target(const struct inputs *in, uint32_t scene, float *target);     /* [H][W][3] */
void inputs_upstream(const struct inputs *in, uint32_t scene, float *upstream); /* [H][W][3] */

/* Fills every input array that the job has. */
void inputs_fill(const struct inputs *in, const struct render_io *io);

#endif
