/* Renderers in this process, and a picture of a scene from one of them. */
#ifndef GPUBENCH_CLI_RENDER_H
#define GPUBENCH_CLI_RENDER_H

#include "cli/measure_options.h"
#include "model/renderer.h"
#include "model/scene.h"

/* The usable devices that -d names, in the order of `gpubench devices`; without -d: openmp and the best
 * OpenCL device. *out is the caller's to free. ERR_NO_DEVICE, naming what was asked for. */
bool render_devices(const struct measure_options *options, struct device_info **out, size_t *count,
                    struct err *err) GB_NODISCARD;
bool render_open(const struct measure_options *options, const struct device_info *device,
                 struct renderer **out, struct err *err) GB_NODISCARD;
/* Draws the scene and writes the picture (image_save). */
bool render_save(struct renderer *renderer, const struct scene *scene, float sigma, uint32_t width,
                 uint32_t height, const char *path, struct err *err) GB_NODISCARD;

#endif
