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

/* Reads a PNG, or a PPM (P3 or P6, 8 or 16 bits), decoding sRGB (a PNG's gAMA) to linear light; "-" is
 * standard input. What is transparent is laid over `background` (linear RGB; NULL: black). Sides up to 32768
 * (SPEC_MAX_SIZE). A file that is cut short, a PPM with a sample over its own maximum or bytes after its last
 * pixel is ERR_CONFIG. */
bool image_load(const char *path, const float background[3], struct image *out, struct err *err) GB_NODISCARD;
/* The same from len bytes in memory; `name` appears in messages. */
bool image_parse(const void *data, size_t len, const char *name, const float background[3], struct image *out,
                 struct err *err) GB_NODISCARD;
/* Writes a PNG, or, where the path ends in .ppm, a P6: 8 bits, linear light encoded as sRGB, clamped to
 * [0,1]. */
bool image_save(const char *path, const float *pixels, uint32_t width, uint32_t height,
                struct err *err) GB_NODISCARD;
/* Resamples by area average in linear light into out[height][width][3]; enlarging repeats. Same size: copies.
 */
void image_resample(const struct image *image, float *out, uint32_t width, uint32_t height);
/* Fills out[height][width][3] with one colour. */
void image_fill(float *out, uint32_t width, uint32_t height, const float colour[3]);

#endif
