/* Pictures: float[height][width][3], linear RGB, row-major from the top left. */
#ifndef GPUBENCH_MODEL_IMAGE_H
#define GPUBENCH_MODEL_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct image {
    uint32_t width, height;
    float *pixels; /* owned; [height][width][3] */
};

void image_fini(struct image *image); /* accepts NULL and a zeroed image */

/* Reads a PPM (P3 or P6, 8 or 16 bits), decoding sRGB to linear light (IEC 61966-2-1); "-" is standard
 * input. Sides up to 32768 (SPEC_MAX_SIZE). A file that is cut short, holds a sample over its own maximum or
 * bytes after its last pixel is ERR_CONFIG. */
bool image_load(const char *path, struct image *out, struct err *err) GB_NODISCARD;
/* The same from len bytes in memory; `name` appears in messages. */
bool image_parse(const void *data, size_t len, const char *name, struct image *out,
                 struct err *err) GB_NODISCARD;
/* Writes an 8-bit P6, encoding linear light as sRGB, clamped to [0,1]. */
bool image_save_ppm(const char *path, const float *pixels, uint32_t width, uint32_t height,
                    struct err *err) GB_NODISCARD;
/* Resamples by area average in linear light into out[height][width][3]; enlarging repeats. Same size: copies. */
void image_resample(const struct image *image, float *out, uint32_t width, uint32_t height);
/* Fills out[height][width][3] with one colour. */
void image_fill(float *out, uint32_t width, uint32_t height, const float colour[3]);

#endif
