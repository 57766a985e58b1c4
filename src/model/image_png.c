/* PNG through libpng (ISO/IEC 15948). */
#include "model/image_png.h"

#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/spec.h"

bool png_recognised(const void *data, size_t len)
{
    return len >= 8 && memcmp(data, "\x89PNG\r\n\x1a\n", 8) == 0;
}

/* Deflate makes at most 1032 bytes of one. */
#define DEFLATE_MOST 1032u
#define CHUNK_BYTES_MAX 16000000u

/* libpng reports an error by longjmp into the function below that called setjmp: everything that lives longer
 * is here, in the caller's frame, so that no local variable's value is lost. */
struct decoder {
    const unsigned char *at, *end;
    const char *name;
    char message[200];
    png_structp png;
    png_infop info;
    uint32_t width, height, channels, depth;
    uint64_t row_bytes;
    double gamma;           /* of the file: sample = light^gamma; 0: sRGB */
    unsigned char *samples; /* owned; [height][row_bytes] */
    png_bytep *rows;        /* owned; into samples */
};

static void fail(png_structp png, png_const_charp message)
{
    struct decoder *d = png_get_error_ptr(png);

    snprintf(d->message, sizeof d->message, "%s", message);
    longjmp(png_jmpbuf(png), 1);
}

/* Of chunks that do not matter here, too. */
static void ignore_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void take_bytes(png_structp png, png_bytep out, size_t count)
{
    struct decoder *d = png_get_io_ptr(png);

    if ((size_t)(d->end - d->at) < count)
        png_error(png, "cut short");
    memcpy(out, d->at, count);
    d->at += count;
}

static bool is_too_large(const struct decoder *d)
{
    return d->width > SPEC_MAX_SIZE || d->height > SPEC_MAX_SIZE;
}

/* Up to the first pixel. Afterwards rows are RGB or RGBA of 8 or 16 bits, in the host's byte order. */
static bool decode_header(struct decoder *d)
{
    double gamma = 0;
    int intent = 0;

    if (setjmp(png_jmpbuf(d->png)))
        return false;
    png_set_read_fn(d->png, d, take_bytes);
    /* Sizes are refused by the caller, in words of its own. */
    png_set_user_limits(d->png, 0x7fffffff, 0x7fffffff);
    png_set_chunk_malloc_max(d->png, CHUNK_BYTES_MAX);
    png_read_info(d->png, d->info);
    d->width = png_get_image_width(d->png, d->info);
    d->height = png_get_image_height(d->png, d->info);
    if (is_too_large(d))
        return true; /* before libpng makes room for such a row */
    if (!png_get_sRGB(d->png, d->info, &intent) && png_get_gAMA(d->png, d->info, &gamma) && gamma > 0)
        d->gamma = gamma;
    png_set_expand(d->png);
    png_set_gray_to_rgb(d->png);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    png_set_swap(d->png);
#endif
    (void)png_set_interlace_handling(d->png);
    png_read_update_info(d->png, d->info);
    d->channels = png_get_channels(d->png, d->info);
    d->depth = png_get_bit_depth(d->png, d->info);
    d->row_bytes = png_get_rowbytes(d->png, d->info);
    return true;
}

static bool decode_rows(struct decoder *d)
{
    if (setjmp(png_jmpbuf(d->png)))
        return false;
    png_read_image(d->png, d->rows);
    png_read_end(d->png, NULL);
    return true;
}

/* A header is cheap to write: whether the pixels can be in what follows it is looked at before memory for
 * them is asked for. The fewest bits that a pixel takes in a file is one. */
static bool check_size(const struct decoder *d, struct err *err)
{
    if (is_too_large(d))
        return err_set(err, ERR_CONFIG, "%s: a PNG of %ux%u pixels; sides up to %u are read", d->name,
                       d->width, d->height, SPEC_MAX_SIZE);
    uint64_t least = ((uint64_t)d->width / 8 + 1) * d->height / DEFLATE_MOST;
    if ((uint64_t)(d->end - d->at) < least)
        return err_set(err, ERR_CONFIG, "%s: cut short: %ux%u pixels cannot be in the %llu bytes that follow",
                       d->name, d->width, d->height, (unsigned long long)(d->end - d->at));
    return true;
}

static bool make_room(struct decoder *d, struct image *out, struct err *err)
{
    d->samples = mem_calloc(d->height, d->row_bytes, d->name, err);
    d->rows = mem_calloc(d->height, sizeof *d->rows, d->name, err);
    out->pixels = mem_calloc((uint64_t)d->width * d->height, 3 * sizeof(float), d->name, err);
    if (!d->samples || !d->rows || !out->pixels)
        return false;
    for (uint32_t y = 0; y < d->height; y++)
        d->rows[y] = d->samples + y * d->row_bytes;
    out->width = d->width;
    out->height = d->height;
    return true;
}

static uint32_t sample_of(const struct decoder *d, const unsigned char *row, uint64_t i)
{
    uint16_t wide;

    if (d->depth == 8)
        return row[i];
    memcpy(&wide, row + 2 * i, sizeof wide);
    return wide;
}

/* Samples to light, and what is transparent laid over the background (ISO/IEC 15948, 13.16: in linear light).
 */
static bool convert(const struct decoder *d, const float background[3], struct image *out, struct err *err)
{
    const uint32_t most = d->depth == 16 ? 65535 : 255;
    float *linear = mem_calloc((uint64_t)most + 1, sizeof *linear, "a table of linear values", err);

    if (!linear)
        return false;
    for (uint32_t i = 0; i <= most; i++) {
        double v = (double)i / most;
        linear[i] = (float)(d->gamma > 0 ? pow(v, 1 / d->gamma) : srgb_to_linear(v));
    }
    for (uint32_t y = 0; y < d->height; y++) {
        float *to = out->pixels + (size_t)y * d->width * 3;
        for (uint64_t x = 0; x < d->width; x++) {
            uint64_t first = x * d->channels;
            float alpha = d->channels == 4 ? (float)sample_of(d, d->rows[y], first + 3) / (float)most : 1.0f;
            for (uint64_t c = 0; c < 3; c++) {
                float value = linear[sample_of(d, d->rows[y], first + c)];
                to[3 * x + c] = alpha < 1.0f ? alpha * value + (1.0f - alpha) * background[c] : value;
            }
        }
    }
    free(linear);
    return true;
}

static bool decode(struct decoder *d, const float background[3], struct image *out, struct err *err)
{
    if (!decode_header(d))
        return err_set(err, ERR_CONFIG, "%s: broken PNG: %s", d->name, d->message);
    if (!check_size(d, err) || !make_room(d, out, err))
        return false;
    if (!decode_rows(d))
        return err_set(err, ERR_CONFIG, "%s: broken PNG: %s", d->name, d->message);
    return convert(d, background, out, err);
}

bool png_parse(const void *data, size_t len, const char *name, const float background[3], struct image *out,
               struct err *err)
{
    struct decoder d = {.at = data, .end = (const unsigned char *)data + len, .name = name};

    *out = (struct image){0};
    d.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &d, fail, ignore_warning);
    d.info = d.png ? png_create_info_struct(d.png) : NULL;
    bool ok = d.info ? decode(&d, background, out, err)
                     : err_set(err, ERR_MEMORY, "%s: libpng cannot be started", name);
    png_destroy_read_struct(&d.png, &d.info, NULL);
    free(d.rows);
    free(d.samples);
    if (!ok)
        image_fini(out);
    return ok;
}

bool png_encode(struct strbuf *out, const unsigned char *rgb, uint32_t width, uint32_t height,
                struct err *err)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGB};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *memory = mem_calloc(size, 1, "a picture", err);

    if (!memory)
        return false;
    bool ok = png_image_write_to_memory(&image, memory, &size, 0, rgb, 0, NULL);
    if (ok)
        strbuf_add_bytes(out, memory, size);
    else
        err_set(err, ERR_INTERNAL, "a picture cannot be written as PNG: %s", image.message);
    free(memory);
    return ok;
}

void png_library_version(char out[16])
{
    const unsigned version = png_access_version_number();

    snprintf(out, 16, "%u.%u.%u", version / 10000 % 100, version / 100 % 100, version % 100);
}
