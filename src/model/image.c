#include "model/image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "model/image_png.h"
#include "model/spec.h"

void image_fini(struct image *image)
{
    if (!image)
        return;
    free(image->pixels);
    *image = (struct image){0};
}

/* IEC 61966-2-1. */
double srgb_to_linear(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double linear_to_srgb(double v)
{
    return v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1.0 / 2.4) - 0.055;
}

struct ppm {
    const unsigned char *at, *end;
    const char *name;
    uint32_t width, height, max;
    bool ascii;
};

static bool is_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* White space, and comments from # to the end of the line. */
static void skip_space(struct ppm *p)
{
    while (p->at < p->end && (is_space(*p->at) || *p->at == '#')) {
        if (*p->at == '#')
            while (p->at < p->end && *p->at != '\n' && *p->at != '\r')
                p->at++;
        else
            p->at++;
    }
}

/* The next decimal number, at most `max`; false at the end or where something else stands. */
static bool read_number(struct ppm *p, uint32_t max, uint32_t *out)
{
    uint64_t value = 0;

    skip_space(p);
    const unsigned char *start = p->at;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++) {
        value = value * 10 + (uint64_t)(*p->at - '0');
        if (value > max)
            return false;
    }
    *out = (uint32_t)value;
    return p->at > start && (p->at == p->end || is_space(*p->at) || *p->at == '#');
}

static bool read_header(struct ppm *p, struct err *err)
{
    if (p->end - p->at < 2 || p->at[0] != 'P' || (p->at[1] != '3' && p->at[1] != '6'))
        return err_set(err, ERR_CONFIG, "%s: not a picture that is read here: PNG, or PPM (P3 or P6)",
                       p->name);
    p->ascii = p->at[1] == '3';
    p->at += 2;
    if (!read_number(p, SPEC_MAX_SIZE, &p->width) || !read_number(p, SPEC_MAX_SIZE, &p->height) ||
        p->width == 0 || p->height == 0)
        return err_set(err, ERR_CONFIG, "%s: width and height of a PPM must be numbers from 1 to %u", p->name,
                       SPEC_MAX_SIZE);
    if (!read_number(p, 65535, &p->max) || p->max == 0)
        return err_set(err, ERR_CONFIG, "%s: the largest value of a PPM must be a number from 1 to 65535",
                       p->name);
    /* One white-space byte, no more: the next may be the first sample. */
    if (p->at == p->end || !is_space(*p->at))
        return err_set(err, ERR_CONFIG, "%s: the PPM ends after its header", p->name);
    p->at++;
    return true;
}

/* Makes sure that the samples can be there before memory for them is asked for: a header is cheap to write.
 */
static bool check_length(const struct ppm *p, struct err *err)
{
    uint64_t samples = (uint64_t)p->width * p->height * 3; /* below 2^32 * 3: no overflow */
    uint64_t have = (uint64_t)(p->end - p->at);
    uint64_t need = p->ascii ? samples * 2 - 1 : samples * (p->max > 255 ? 2 : 1);

    if (have >= need)
        return true;
    return err_set(err, ERR_CONFIG, "%s: cut short: %ux%u pixels need %llu bytes%s, %llu are there", p->name,
                   p->width, p->height, (unsigned long long)need, p->ascii ? " or more" : "",
                   (unsigned long long)have);
}

static bool read_sample(struct ppm *p, uint32_t *out)
{
    if (p->ascii)
        return read_number(p, p->max, out);
    *out = *p->at++;
    if (p->max > 255)
        *out = *out << 8 | *p->at++;
    return *out <= p->max;
}

static bool read_samples(struct ppm *p, const float *linear, struct image *out, struct err *err)
{
    uint64_t count = (uint64_t)p->width * p->height * 3;

    for (uint64_t i = 0; i < count; i++) {
        uint32_t sample;
        if (!read_sample(p, &sample))
            return err_set(err, ERR_CONFIG, "%s: pixel (%llu, %llu) is missing or not a number from 0 to %u",
                           p->name, (unsigned long long)(i / 3 % p->width),
                           (unsigned long long)(i / 3 / p->width), p->max);
        out->pixels[i] = linear[sample];
    }
    skip_space(p);
    if (p->at < p->end)
        return err_set(err, ERR_CONFIG, "%s: %llu bytes after the picture's last pixel", p->name,
                       (unsigned long long)(p->end - p->at));
    return true;
}

static bool parse_ppm(const void *data, size_t len, const char *name, struct image *out, struct err *err)
{
    struct ppm p = {.at = data, .end = (const unsigned char *)data + len, .name = name};
    float *linear = NULL;
    bool ok = false;

    *out = (struct image){0};
    if (!read_header(&p, err) || !check_length(&p, err))
        return false;
    linear = mem_calloc((uint64_t)p.max + 1, sizeof(float), "a table of linear values", err);
    out->pixels = mem_calloc((uint64_t)p.width * p.height * 3, sizeof(float), name, err);
    if (!linear || !out->pixels)
        goto out;
    for (uint32_t i = 0; i <= p.max; i++)
        linear[i] = (float)srgb_to_linear((double)i / p.max);
    out->width = p.width;
    out->height = p.height;
    ok = read_samples(&p, linear, out, err);
out:
    free(linear);
    if (!ok)
        image_fini(out);
    return ok;
}

bool image_parse(const void *data, size_t len, const char *name, const float background[3], struct image *out,
                 struct err *err)
{
    static const float black[3] = {0};

    if (png_recognised(data, len))
        return png_parse(data, len, name, background ? background : black, out, err);
    return parse_ppm(data, len, name, out, err);
}

bool image_load(const char *path, const float background[3], struct image *out, struct err *err)
{
    struct strbuf file = STRBUF_INIT;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;

    *out = (struct image){0};
    bool ok = strbuf_add_file(&file, path, err) &&
              image_parse(strbuf_str(&file), file.len, name, background, out, err);
    strbuf_fini(&file);
    return ok;
}

static unsigned char encode(float linear)
{
    double v = linear > 0.0f ? fmin((double)linear, 1.0) : 0.0; /* NaN becomes black */

    return (unsigned char)(linear_to_srgb(v) * 255.0 + 0.5);
}

bool image_save(const char *path, const float *pixels, uint32_t width, uint32_t height, struct err *err)
{
    const uint64_t count = (uint64_t)width * height * 3;
    const char *suffix = strrchr(path, '.');
    unsigned char *rgb = mem_calloc(count, 1, path, err);

    if (!rgb)
        return false;
    for (uint64_t i = 0; i < count; i++)
        rgb[i] = encode(pixels[i]);
    struct strbuf file = STRBUF_INIT;
    bool ok = true;
    if (suffix && strcmp(suffix, ".ppm") == 0) {
        strbuf_addf(&file, "P6\n%u %u\n255\n", width, height);
        strbuf_add_bytes(&file, rgb, count);
    } else {
        ok = png_encode(&file, rgb, width, height, err);
    }
    ok = ok && strbuf_ok(&file, err) && strbuf_save(&file, path, err);
    strbuf_fini(&file);
    free(rgb);
    return ok;
}

/* How much of source pixel i of n the output pixel o of m covers, in units of 1/(n m) of the side: exact. */
static uint64_t overlap(uint64_t i, uint64_t n, uint64_t o, uint64_t m)
{
    uint64_t from = i * m > o * n ? i * m : o * n;
    uint64_t to = (i + 1) * m < (o + 1) * n ? (i + 1) * m : (o + 1) * n;

    return to > from ? to - from : 0;
}

static void average_area(const struct image *image, uint32_t x, uint32_t width, uint32_t y, uint32_t height,
                         float out[3])
{
    uint64_t w = image->width, h = image->height;
    uint64_t left = x * w / width, top = y * h / height;
    double sum[3] = {0};

    for (uint64_t j = top; j * height < (y + UINT64_C(1)) * h; j++) {
        for (uint64_t i = left; i * width < (x + UINT64_C(1)) * w; i++) {
            double weight = (double)(overlap(i, w, x, width) * overlap(j, h, y, height));
            for (size_t c = 0; c < 3; c++)
                sum[c] += weight * (double)image->pixels[(j * w + i) * 3 + c];
        }
    }
    for (size_t c = 0; c < 3; c++)
        out[c] = (float)(sum[c] / (double)(w * h));
}

void image_resample(const struct image *image, float *out, uint32_t width, uint32_t height)
{
    if (image->width == width && image->height == height) {
        memcpy(out, image->pixels, (size_t)width * height * 3 * sizeof(float));
        return;
    }
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            average_area(image, x, width, y, height, out + ((size_t)y * width + x) * 3);
}

void image_fill(float *out, uint32_t width, uint32_t height, const float colour[3])
{
    for (size_t i = 0; i < (size_t)width * height; i++)
        memcpy(out + 3 * i, colour, 3 * sizeof(float));
}
