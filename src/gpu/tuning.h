/* How many pixels a tile has on a device: the rule's answer (gpu/variant.c), or what a short probe found to
 * be clearly faster. The probe's answer is remembered by the device's and its driver's name and the kernels'
 * text. */
#ifndef GPUBENCH_GPU_TUNING_H
#define GPUBENCH_GPU_TUNING_H

#include "gpu/renderer.h"

/* Which of these times [count][samples] (ns) to take: the least median of those whose median is 5 % under
 * that of candidate 0, with 95 % intervals of the medians that do not touch; else 0. Sorts them. samples: at
 * least 6. */
size_t tuning_pick(uint64_t *times, size_t count, size_t samples);

/* What is remembered of a device: pixels a tile by class of image, as in struct tile_request. false without
 * an error: nothing, or nothing of use; with ERR_IO: what there is is not trusted. path: NULL for any. */
bool tuning_load(const struct device_info *info, const char *path, uint32_t pixels[TILE_CLASSES],
                 struct err *err) GB_NODISCARD;
bool tuning_store(const struct device_info *info, const uint32_t pixels[TILE_CLASSES],
                  struct err *err) GB_NODISCARD;

/* Takes what is remembered, where the shape is not asked for by an option, and says in info.tiles what is in
 * use. */
void tuning_recall(struct opencl_renderer *r);

/* renderer_ops.tune */
bool tuning_probe(struct renderer *renderer, char *note, size_t size, struct err *err) GB_NODISCARD;

/* Of a device that is not opened: what info.tiles would say, "" where only the renderer knows. */
void tuning_describe(struct device_info *info);

#endif
