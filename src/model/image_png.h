/* PNG for image.c, which is what others use. */
#ifndef GPUBENCH_MODEL_IMAGE_PNG_H
#define GPUBENCH_MODEL_IMAGE_PNG_H

#include "base/strbuf.h"
#include "model/image.h"

/* IEC 61966-2-1; of image.c. */
double srgb_to_linear(double v);

/* Whether these bytes begin as a PNG does. */
bool png_recognised(const void *data, size_t len);
/* All colour types and depths, interlaced or not. Samples are decoded by sRGB, or by the file's gAMA where it
 * has one and no sRGB chunk; colour profiles are not applied. */
bool png_parse(const void *data, size_t len, const char *name, const float background[3], struct image *out,
               struct err *err) GB_NODISCARD;
/* Appends rgb[height][width][3], sRGB of 8 bits, as a file's bytes. Not libpng's own writing of files, which
 * removes what it could not write: a device, too. */
bool png_encode(struct strbuf *out, const unsigned char *rgb, uint32_t width, uint32_t height,
                struct err *err) GB_NODISCARD;
/* Of the libpng that runs: "1.6.39". */
void png_library_version(char out[16]);

#endif
