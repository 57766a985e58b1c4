#include "unit/check.h"

#include <math.h>

#include "model/golden.h"
#include "model/image.h"
#include "model/rng.h"
#include "unit/scratch.h"

#define PHOTO "tests/golden/photo-128.ppm"

static void expect_near(float got, double want, double tolerance)
{
    if (!(fabs((double)got - want) <= tolerance))
        fail_msg("%.9g is not within %g of %.9g", (double)got, tolerance, want);
}

static void parse(const void *data, size_t len, struct image *out)
{
    struct err err = ERR_INIT;
    bool ok = image_parse(data, len, "p.ppm", NULL, out, &err);

    assert_string_equal(err.text, "");
    assert_true(ok);
}

static void expect_pixels(const struct image *image, uint32_t width, uint32_t height, const double *want)
{
    assert_int_equal(image->width, width);
    assert_int_equal(image->height, height);
    for (size_t i = 0; i < (size_t)width * height * 3; i++)
        expect_near(image->pixels[i], want[i], 1e-7);
}

/* sRGB 188, 128 and 10 of 255 in linear light, by IEC 61966-2-1. */
#define L188 0.50288646
#define L128 0.21586050
#define L10 0.00303527

static void test_each_kind_of_ppm_is_read(void **state)
{
    static const double want[6] = {0, 1, L188, L128, L10, 0};
    static const unsigned char binary8[] = "P6 2 1 255\n\0\377\274\200\012";
    static const unsigned char binary16[] = "P6\n2\r1\t65535 \0\0\377\377\274\274\200\200\012\012\0";
    static const char ascii8[] = "P3\n# made by hand\n2 # wide\n1\n255 0 255 188\n128#\n10 # \n\n0";
    static const char ascii16[] = "P3 2 1 65535 0 65535 48316 32896 2570 0\n";
    const struct {
        const void *data;
        size_t len;
    } cases[] = {{binary8, sizeof(binary8)}, /* the string's NUL is the last sample */
                 {binary16, sizeof(binary16)},
                 {ascii8, sizeof(ascii8) - 1},
                 {ascii16, sizeof(ascii16) - 1}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct image image;
        parse(cases[i].data, cases[i].len, &image);
        expect_pixels(&image, 2, 1, want);
        image_fini(&image);
        assert_null(image.pixels);
    }
}

static void test_samples_are_relative_to_the_largest_value(void **state)
{
    static const double want[3] = {0, 0.21404114, 1};
    struct image image;
    (void)state;
    parse("P3 1 1 2 0 1 2", 14, &image);
    expect_pixels(&image, 1, 1, want);
    image_fini(&image);
}

static void test_a_broken_ppm_says_what_is_wrong(void **state)
{
    static const char *const cases[][2] = {
        {"", "p.ppm: not a picture that is read here: PNG, or PPM (P3 or P6)"},
        {"P", "p.ppm: not a picture that is read here: PNG, or PPM (P3 or P6)"},
        {"P5 1 1 255 a", "p.ppm: not a picture that is read here: PNG, or PPM (P3 or P6)"},
        {"\x89PNG\r\n", "p.ppm: not a picture that is read here: PNG, or PPM (P3 or P6)"},
        {"P6", "p.ppm: width and height of a PPM must be numbers from 1 to 32768"},
        {"P6 0 1 255 ", "p.ppm: width and height of a PPM must be numbers from 1 to 32768"},
        {"P6 1 -1 255 ", "p.ppm: width and height of a PPM must be numbers from 1 to 32768"},
        {"P6 1x1 255 ", "p.ppm: width and height of a PPM must be numbers from 1 to 32768"},
        {"P6 32769 1 255 ", "p.ppm: width and height of a PPM must be numbers from 1 to 32768"},
        {"P6 99999999999999999999999 1 255 ",
         "p.ppm: width and height of a PPM must be numbers from 1 to 32768"},
        {"P6 1 1 0 abc", "p.ppm: the largest value of a PPM must be a number from 1 to 65535"},
        {"P6 1 1 65536 abcabc", "p.ppm: the largest value of a PPM must be a number from 1 to 65535"},
        {"P6 1 1 255", "p.ppm: the PPM ends after its header"},
        {"P6 1 1 255#", "p.ppm: the PPM ends after its header"},
        {"P6 1 1 255\nab", "p.ppm: cut short: 1x1 pixels need 3 bytes, 2 are there"},
        {"P6 32768 32768 65535\nab",
         "p.ppm: cut short: 32768x32768 pixels need 6442450944 bytes, 2 are there"},
        {"P3 32768 32768 255\n1",
         "p.ppm: cut short: 32768x32768 pixels need 6442450943 bytes or more, 1 are there"},
        {"P3 2 1 255 1 2 3 4 5", "p.ppm: cut short: 2x1 pixels need 11 bytes or more, 9 are there"},
        {"P3 2 1 255 1 2 3 44 55", "p.ppm: pixel (1, 0) is missing or not a number from 0 to 255"},
        {"P3 1 1 255 1 2 256", "p.ppm: pixel (0, 0) is missing or not a number from 0 to 255"},
        {"P3 1 1 255 1 2 0x3", "p.ppm: pixel (0, 0) is missing or not a number from 0 to 255"},
        {"P6 1 1 9 \x01\x02\x0a", "p.ppm: pixel (0, 0) is missing or not a number from 0 to 9"},
        {"P3 1 1 255 1 2 3 4", "p.ppm: 1 bytes after the picture's last pixel"},
        {"P6 1 1 255 abcP6 1 1 255 abc", "p.ppm: 14 bytes after the picture's last pixel"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct image image;
        struct err err = ERR_INIT;
        assert_false(image_parse(cases[i][0], strlen(cases[i][0]), "p.ppm", NULL, &image, &err));
        assert_string_equal(err.text, cases[i][1]);
        assert_null(image.pixels);
        err_fini(&err);
    }
}

/* Mutated and shortened pictures: refused with a message, or read into values in [0,1]. */
static void test_any_bytes_are_survived(void **state)
{
    static const char *const seeds[] = {"P3\n# c\n3 2 255\n0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 255 17\n",
                                        "P6 3 2 255\nabcdefghijklmnopqr", "P6 1 2 65535\nabcdefghijkl"};
    struct rng rng;
    size_t read = 0;
    (void)state;
    rng_init(&rng, 1, 0);
    for (int round = 0; round < 6000; round++) {
        char data[128];
        struct image image;
        struct err err = ERR_INIT;
        size_t len = (size_t)snprintf(data, sizeof(data), "%s", seeds[round % 3]);
        for (uint64_t edits = rng_next(&rng) % 4; edits > 0; edits--)
            data[rng_next(&rng) % len] = (char)(rng_next(&rng) & 0xFF);
        if (rng_next(&rng) % 4 == 0)
            len = rng_next(&rng) % len;
        char *exact = malloc(len + 1); /* so that a checker sees a read past the end */
        assert_non_null(exact);
        memcpy(exact, data, len);
        exact = realloc(exact, len ? len : 1);
        if (image_parse(exact, len, "fuzz", NULL, &image, &err)) {
            read++;
            for (size_t i = 0; i < (size_t)image.width * image.height * 3; i++)
                assert_true(image.pixels[i] >= 0.0f && image.pixels[i] <= 1.0f);
        } else {
            assert_true(err.code != ERR_NONE && image.pixels == NULL);
        }
        image_fini(&image);
        err_fini(&err);
        free(exact);
    }
    assert_true(read > 500 && read < 5500);
}

static void test_a_file_that_is_not_there(void **state)
{
    struct image image;
    struct err err = ERR_INIT;
    (void)state;
    assert_false(image_load("/nonexistent/p.ppm", NULL, &image, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_non_null(strstr(err.text, "/nonexistent/p.ppm"));
    err_fini(&err);
}

static void test_the_photograph_is_the_golden_target(void **state)
{
    struct image image;
    struct golden_case c;
    struct err err = ERR_INIT;
    (void)state;
    assert_true(image_load(PHOTO, NULL, &image, &err));
    assert_true(golden_load("tests/golden/fitted-128-photo-at-128", &c, &err));
    assert_true(image.width == 128 && image.height == 128);
    for (size_t i = 0; i < 128 * 128 * 3; i++)
        expect_near(image.pixels[i], (double)c.target[i], 1e-6);
    golden_fini(&c);
    image_fini(&image);
}

static void test_saving_and_loading_gives_the_same_bytes(void **state)
{
    static const char *const names[] = {"copy.ppm"};
    char dir[SCRATCH_MAX], path[SCRATCH_MAX];
    size_t before_len, after_len;
    struct image image;
    struct err err = ERR_INIT;
    (void)state;
    scratch_make(dir);
    assert_true(image_load(PHOTO, NULL, &image, &err));
    assert_true(image_save(scratch_path(path, dir, names[0]), image.pixels, 128, 128, &err));
    char *before = scratch_read(PHOTO, &before_len), *after = scratch_read(path, &after_len);
    size_t pixels = 128 * 128 * 3;
    assert_memory_equal(before + before_len - pixels, after + after_len - pixels, pixels);
    assert_memory_equal(after, "P6\n128 128\n255\n", 15);
    free(before);
    free(after);
    image_fini(&image);
    scratch_remove(dir, names, 1);
}

static void test_values_out_of_range_are_clamped_when_saved(void **state)
{
    static const char *const names[] = {"clamped.ppm"};
    const float pixels[6] = {-1.0f, NAN, 2.0f, INFINITY, -INFINITY, 0.0f};
    char dir[SCRATCH_MAX], path[SCRATCH_MAX];
    size_t len;
    struct err err = ERR_INIT;
    (void)state;
    scratch_make(dir);
    assert_true(image_save(scratch_path(path, dir, names[0]), pixels, 2, 1, &err));
    char *data = scratch_read(path, &len);
    assert_int_equal(len, 11 + 6);
    assert_memory_equal(data, "P6\n2 1\n255\n\0\0\377\377\0\0", len);
    free(data);
    scratch_remove(dir, names, 1);
    assert_false(image_save("/nonexistent/p.ppm", pixels, 2, 1, &err));
    assert_int_equal(err.code, ERR_IO);
    err_fini(&err);
}

/* A row of gray values resampled to `width` pixels. */
static void expect_row(const float *row, uint32_t n, const double *want, uint32_t width)
{
    float pixels[8 * 3], out[8 * 3];
    const struct image image = {n, 1, pixels};

    for (size_t i = 0; i < 3 * (size_t)n; i++)
        pixels[i] = row[i / 3];
    image_resample(&image, out, width, 1);
    for (size_t i = 0; i < 3 * (size_t)width; i++)
        expect_near(out[i], want[i / 3], 5e-7);
}

static void test_resampling_averages_areas(void **state)
{
    (void)state;
    expect_row((float[]){1, 2, 6}, 3, (double[]){1, 2, 6}, 3);
    expect_row((float[]){1, 2, 6}, 3, (double[]){3}, 1);
    expect_row((float[]){1, 2, 6}, 3, (double[]){4.0 / 3.0, 14.0 / 3.0}, 2);
    expect_row((float[]){1, 2}, 2, (double[]){1, 1, 2, 2}, 4);
    expect_row((float[]){1, 2}, 2, (double[]){1, 1.5, 2}, 3);
    expect_row((float[]){3}, 1, (double[]){3, 3, 3, 3, 3}, 5);
    expect_row((float[]){0, 1, 2, 3, 4, 5, 6}, 7, (double[]){5.0 / 7, 3, 37.0 / 7}, 3);
}

static void test_resampling_keeps_the_mean_and_the_axes(void **state)
{
    static const uint32_t sizes[][2] = {{1, 1}, {5, 3}, {37, 19}, {300, 7}, {128, 64}};
    float pixels[8 * 6 * 3];
    const struct image image = {8, 6, pixels};
    struct rng rng;
    double mean[3] = {0};
    (void)state;
    rng_init(&rng, 2, 0);
    for (size_t i = 0; i < 8 * 6 * 3; i++) {
        pixels[i] = rng_uniform(&rng);
        mean[i % 3] += (double)pixels[i] / 48.0;
    }
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        size_t count = (size_t)sizes[s][0] * sizes[s][1];
        float *out = malloc(count * 3 * sizeof(float));
        double sum[3] = {0};
        assert_non_null(out);
        image_resample(&image, out, sizes[s][0], sizes[s][1]);
        for (size_t i = 0; i < count * 3; i++)
            sum[i % 3] += (double)out[i];
        for (size_t c = 0; c < 3; c++)
            expect_near((float)(sum[c] / (double)count), mean[c], 1e-6);
        free(out);
    }
    float twice[16 * 6 * 3];
    image_resample(&image, twice, 16, 6);
    for (size_t y = 0; y < 6; y++)
        for (size_t x = 0; x < 16; x++)
            assert_memory_equal(twice + (y * 16 + x) * 3, pixels + (y * 8 + x / 2) * 3, 3 * sizeof(float));
}

static void test_fill(void **state)
{
    const float colour[3] = {0.4f, 0.5f, 0.6f};
    float out[2 * 3 * 3];
    (void)state;
    image_fill(out, 2, 3, colour);
    for (size_t i = 0; i < 2 * 3 * 3; i++)
        assert_true(out[i] == colour[i % 3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_of_ppm_is_read),
        cmocka_unit_test(test_samples_are_relative_to_the_largest_value),
        cmocka_unit_test(test_a_broken_ppm_says_what_is_wrong),
        cmocka_unit_test(test_any_bytes_are_survived),
        cmocka_unit_test(test_a_file_that_is_not_there),
        cmocka_unit_test(test_the_photograph_is_the_golden_target),
        cmocka_unit_test(test_saving_and_loading_gives_the_same_bytes),
        cmocka_unit_test(test_values_out_of_range_are_clamped_when_saved),
        cmocka_unit_test(test_resampling_averages_areas),
        cmocka_unit_test(test_resampling_keeps_the_mean_and_the_axes),
        cmocka_unit_test(test_fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
