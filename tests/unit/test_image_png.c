#include "unit/check.h"

#include <math.h>
#include <png.h>

#include "model/image.h"
#include "model/rng.h"
#include "unit/scratch.h"

/* A PNG as libpng writes it. */
struct made {
    unsigned char *data; /* owned */
    size_t len;
};

struct kind {
    int depth, colour, interlace;
    double gamma; /* 0: no gAMA */
    const png_color *palette;
    int colours;
    const unsigned char *clear; /* alpha of the palette's colours */
    int clear_count;
};

static void sink(png_structp png, png_bytep data, size_t len)
{
    struct made *made = png_get_io_ptr(png);
    made->data = realloc(made->data, made->len + len);
    assert_non_null(made->data);
    memcpy(made->data + made->len, data, len);
    made->len += len;
}

static void no_flush(png_structp png)
{
    (void)png;
}

static struct made make(const struct kind *kind, uint32_t width, uint32_t height, const unsigned char *rows,
                        size_t row_bytes)
{
    struct made made = {0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_bytep row[64];
    assert_true(height <= 64);
    for (uint32_t y = 0; y < height; y++)
        row[y] = (png_bytep)(rows + y * row_bytes);
    png_set_write_fn(png, &made, sink, no_flush);
    png_set_IHDR(png, info, width, height, kind->depth, kind->colour, kind->interlace,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (kind->gamma > 0)
        png_set_gAMA(png, info, kind->gamma);
    if (kind->palette)
        png_set_PLTE(png, info, kind->palette, kind->colours);
    if (kind->clear)
        png_set_tRNS(png, info, kind->clear, kind->clear_count, NULL);
    png_write_info(png, info);
    png_write_image(png, row);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return made;
}

static void expect_pixels(const struct made *made, const float *background, size_t values, const double *want)
{
    struct image image;
    struct err err = ERR_INIT;
    bool ok = image_parse(made->data, made->len, "p.png", background, &image, &err);
    assert_string_equal(err.text, "");
    assert_true(ok);
    assert_int_equal((size_t)image.width * image.height * 3, values);
    for (size_t i = 0; i < values; i++)
        if (!(fabs((double)image.pixels[i] - want[i]) <= 1e-6))
            fail_msg("value %zu is %.9g, not %.9g", i, (double)image.pixels[i], want[i]);
    image_fini(&image);
}

static void check(const struct kind *kind, uint32_t width, uint32_t height, const unsigned char *rows,
                  size_t row_bytes, const float *background, const double *want)
{
    struct made made = make(kind, width, height, rows, row_bytes);
    expect_pixels(&made, background, (size_t)width * height * 3, want);
    free(made.data);
}

/* sRGB 188 and 128 of 255 in linear light, by IEC 61966-2-1. */
#define L188 0.50288646
#define L128 0.21586050

static void test_each_colour_type_and_depth(void **state)
{
    static const png_color palette[2] = {{188, 128, 0}, {0, 255, 128}};
    static const unsigned char rgb[] = {0, 255, 188, 128, 0, 255}, grey[] = {188, 0}, bits[] = {0x40};
    static const unsigned char wide[] = {0xbc, 0xbc, 0x80, 0x80}; /* 16 bits: 188*257, 128*257 */
    (void)state;
    check(&(struct kind){.depth = 8, .colour = PNG_COLOR_TYPE_RGB}, 2, 1, rgb, 6, NULL,
          (double[]){0, 1, L188, L128, 0, 1});
    check(&(struct kind){.depth = 8, .colour = PNG_COLOR_TYPE_GRAY}, 2, 1, grey, 2, NULL,
          (double[]){L188, L188, L188, 0, 0, 0});
    check(&(struct kind){.depth = 16, .colour = PNG_COLOR_TYPE_GRAY}, 2, 1, wide, 4, NULL,
          (double[]){L188, L188, L188, L128, L128, L128});
    check(&(struct kind){.depth = 1, .colour = PNG_COLOR_TYPE_GRAY}, 2, 1, bits, 1, NULL,
          (double[]){0, 0, 0, 1, 1, 1});
    check(&(struct kind){.depth = 1, .colour = PNG_COLOR_TYPE_PALETTE, .palette = palette, .colours = 2}, 2,
          1, bits, 1, NULL, (double[]){L188, L128, 0, 0, 1, L128});
}

static void test_a_16_bit_grey_keeps_its_16_bits(void **state)
{
    static const unsigned char wide[] = {0x80, 0x01};
    const double v = 0x8001 / 65535.0, linear = pow((v + 0.055) / 1.055, 2.4);
    (void)state;
    check(&(struct kind){.depth = 16, .colour = PNG_COLOR_TYPE_GRAY}, 1, 1, wide, 2, NULL,
          (double[]){linear, linear, linear});
}

static void test_alpha_is_laid_over_the_background_in_linear_light(void **state)
{
    static const png_color palette[2] = {{255, 255, 255}, {255, 0, 0}};
    static const unsigned char rgba[] = {188, 188, 188, 51, 7, 7, 7, 0}, clear[] = {51}, bits[] = {0x40};
    static const float background[3] = {0.1f, 0.2f, 0.4f};
    (void)state;
    check(&(struct kind){.depth = 8, .colour = PNG_COLOR_TYPE_RGB_ALPHA}, 2, 1, rgba, 8, background,
          (double[]){0.2 * L188 + 0.08, 0.2 * L188 + 0.16, 0.2 * L188 + 0.32, 0.1, 0.2, 0.4});
    check(&(struct kind){.depth = 8, .colour = PNG_COLOR_TYPE_RGB_ALPHA}, 2, 1, rgba, 8, NULL,
          (double[]){0.2 * L188, 0.2 * L188, 0.2 * L188, 0, 0, 0});
    check(&(struct kind){.depth = 1,
                         .colour = PNG_COLOR_TYPE_PALETTE,
                         .palette = palette,
                         .colours = 2,
                         .clear = clear,
                         .clear_count = 1},
          2, 1, bits, 1, background, (double[]){0.28, 0.36, 0.52, 1, 0, 0});
}

static void test_a_gamma_of_the_file_is_used(void **state)
{
    static const unsigned char grey[] = {128};
    (void)state;
    check(&(struct kind){.depth = 8, .colour = PNG_COLOR_TYPE_GRAY, .gamma = 1.0}, 1, 1, grey, 1, NULL,
          (double[]){128 / 255.0, 128 / 255.0, 128 / 255.0});
    check(&(struct kind){.depth = 8, .colour = PNG_COLOR_TYPE_GRAY, .gamma = 0.5}, 1, 1, grey, 1, NULL,
          (double[]){pow(128 / 255.0, 2), pow(128 / 255.0, 2), pow(128 / 255.0, 2)});
}

static void test_interlaced_is_the_same(void **state)
{
    unsigned char rows[13][11];
    double want[13 * 11 * 3];
    (void)state;
    for (size_t i = 0; i < 13 * 11; i++) {
        rows[i / 11][i % 11] = (unsigned char)i;
        for (size_t c = 0; c < 3; c++)
            want[3 * i + c] = (double)i / 255;
    }
    check(
        &(struct kind){
            .depth = 8, .colour = PNG_COLOR_TYPE_GRAY, .interlace = PNG_INTERLACE_ADAM7, .gamma = 1.0},
        11, 13, &rows[0][0], 11, NULL, want);
}

static void test_cut_short_anywhere_is_an_error(void **state)
{
    static const unsigned char rgb[] = {0, 255, 188, 128, 0, 255};
    struct made made = make(&(struct kind){.depth = 8, .colour = PNG_COLOR_TYPE_RGB}, 2, 1, rgb, 6);
    (void)state;
    for (size_t len = 0; len < made.len; len++) {
        struct image image;
        struct err err = ERR_INIT;
        unsigned char *exact = malloc(len ? len : 1); /* so that a checker sees a read past the end */
        assert_non_null(exact);
        memcpy(exact, made.data, len);
        assert_false(image_parse(exact, len, "p.png", NULL, &image, &err));
        assert_int_equal(err.code, ERR_CONFIG);
        assert_non_null(strstr(err.text, len < 8 ? "not a picture" : "p.png: broken PNG: cut short"));
        assert_null(image.pixels);
        err_fini(&err);
        free(exact);
    }
    free(made.data);
}

/* Width and height of a header, and its checksum as zlib works it out. */
static void set_size(struct made *made, uint32_t width, uint32_t height)
{
    uint32_t crc = 0xffffffffu;
    for (int i = 0; i < 4; i++) {
        made->data[16 + i] = (unsigned char)(width >> (24 - 8 * i));
        made->data[20 + i] = (unsigned char)(height >> (24 - 8 * i));
    }
    for (size_t i = 12; i < 29; i++) {
        crc ^= made->data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    for (int i = 0; i < 4; i++)
        made->data[29 + i] = (unsigned char)(~crc >> (24 - 8 * i));
}

static void test_a_huge_header_takes_no_memory(void **state)
{
    static const unsigned char rgb[] = {0, 255, 188, 128, 0, 255};
    static const struct {
        uint32_t width, height;
        const char *want;
    } cases[] = {{32768, 32768, "cut short: 32768x32768 pixels cannot be in the"},
                 {32769, 1, "a PNG of 32769x1 pixels; sides up to 32768 are read"},
                 {1, 2000000000, "a PNG of 1x2000000000 pixels; sides up to 32768 are read"}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made made = make(&(struct kind){.depth = 8, .colour = PNG_COLOR_TYPE_RGB}, 2, 1, rgb, 6);
        struct image image;
        struct err err = ERR_INIT;
        set_size(&made, cases[i].width, cases[i].height);
        assert_false(image_parse(made.data, made.len, "p.png", NULL, &image, &err));
        if (!strstr(err.text, cases[i].want))
            fail_msg("%s", err.text);
        err_fini(&err);
        free(made.data);
    }
}

static void test_any_bytes_are_survived(void **state)
{
    static const unsigned char rgba[] = {188, 188, 188, 51, 7, 7, 7, 0};
    struct rng rng;
    (void)state;
    rng_init(&rng, 1, 0);
    for (int round = 0; round < 3000; round++) {
        struct made made =
            make(&(struct kind){.depth = 8, .colour = PNG_COLOR_TYPE_RGB_ALPHA, .gamma = 0.4}, 2, 1, rgba, 8);
        struct image image;
        struct err err = ERR_INIT;
        for (uint64_t edits = 1 + rng_next(&rng) % 4; edits > 0; edits--)
            made.data[8 + rng_next(&rng) % (made.len - 8)] = (unsigned char)rng_next(&rng);
        if (image_parse(made.data, made.len, "fuzz", NULL, &image, &err)) {
            for (size_t i = 0; i < (size_t)image.width * image.height * 3; i++)
                assert_true(image.pixels[i] >= 0.0f && image.pixels[i] <= 1.0f);
        } else {
            assert_true(err.code != ERR_NONE && image.pixels == NULL);
        }
        image_fini(&image);
        err_fini(&err);
        free(made.data);
    }
}

static void test_what_is_saved_is_read_again(void **state)
{
    static const char *const names[] = {"p.png"};
    char dir[SCRATCH_MAX], path[SCRATCH_MAX];
    struct image photo, again;
    struct err err = ERR_INIT;
    (void)state;
    scratch_make(dir);
    assert_true(image_load("tests/golden/photo-128.ppm", NULL, &photo, &err));
    assert_true(image_save(scratch_path(path, dir, names[0]), photo.pixels, 128, 128, &err));
    assert_true(image_load(path, NULL, &again, &err));
    assert_memory_equal(photo.pixels, again.pixels, 128 * 128 * 3 * sizeof(float));
    image_fini(&photo);
    image_fini(&again);
    scratch_remove(dir, names, 1);
    assert_false(image_save("/nonexistent/p.png", (const float[3]){0}, 1, 1, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_non_null(strstr(err.text, "/nonexistent/p.png"));
    err_fini(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_colour_type_and_depth),
        cmocka_unit_test(test_a_16_bit_grey_keeps_its_16_bits),
        cmocka_unit_test(test_alpha_is_laid_over_the_background_in_linear_light),
        cmocka_unit_test(test_a_gamma_of_the_file_is_used),
        cmocka_unit_test(test_interlaced_is_the_same),
        cmocka_unit_test(test_cut_short_anywhere_is_an_error),
        cmocka_unit_test(test_a_huge_header_takes_no_memory),
        cmocka_unit_test(test_any_bytes_are_survived),
        cmocka_unit_test(test_what_is_saved_is_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
