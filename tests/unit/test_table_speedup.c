#include "unit/made.h"

static char *text_at(const struct results *r, size_t width)
{
    struct table *tables = NULL;
    struct err err = ERR_INIT;
    size_t count = 0;

    assert_true(table_kind_find("speedup")->make(r, &tables, &count, &err));
    assert_int_equal(count, 1);
    char *got = made_text(&tables[0], width, false);
    tables_free(tables, count);
    return got;
}

static void expect_table(const struct results *r, size_t width, const char *want)
{
    char *got = text_at(r, width);
    assert_string_equal(got, want);
    free(got);
}

static void test_a_row_a_point(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 131000, 20);
    made_cell(&r, "device", MADE_GPU, 64, 32, 233000, 20);
    made_cell(&r, "cpu", MADE_CPU, 256, 512, 33600000, 20);
    made_cell(&r, "device", MADE_GPU, 256, 512, 8590000, 20)->counts.split = 4;
    expect_table(&r, 80,
                 "CPU time / device time (above 1: device faster)\n"
                 "gradient, batch 16, sigma 0.01, random scenes\n"
                 "CPU: AMD EPYC 7B13, 2 threads, AVX2\n"
                 "device: NVIDIA H200 [0:0 ptx], fused + ordered\n"
                 "size  triangles  CPU ms  H200 ms  speedup                 dev  worst error\n"
                 " 64²         32   0.131    0.233  0.56 [0.56,0.57] CPU   1.12  vertices 2.2e-5\n"
                 "256²        512    33.6   8.59÷4  3.91 [3.89,3.94] H200   7.8  vertices 2.2e-5\n"
                 "dev: the same ratio for the device's own time, by its events\n");
    made_fini(&r);
}

static void test_forward_and_other_axes_get_columns(void **state)
{
    struct results r;
    struct cell *c;
    (void)state;
    made_init(&r);
    c = made_cell(&r, "cpu", MADE_CPU, 64, 32, 1310000, 2);
    c->spec.mode = MODE_FORWARD;
    for (int single = 0; single < 2; single++) {
        c = made_cell(&r, "device", MADE_GPU, 64, 32, single ? 2000000 : 100000, 2);
        c->spec.mode = MODE_FORWARD;
        c->spec.dispatch = single ? DISPATCH_SINGLE : DISPATCH_BATCHED;
        agreement_init(&c->agreement);
        c->agreement.value[AGREE_IMAGE] = single ? INFINITY : 0;
    }
    made_fail(c, CELL_WRONG, "image not finite");
    expect_table(&r, 80,
                 "CPU time / device time (above 1: device faster)\n"
                 "forward, 64x64, 32 triangles, batch 16, sigma 0.01, random scenes\n"
                 "CPU: AMD EPYC 7B13, 2 threads, AVX2\n"
                 "device: NVIDIA H200 [0:0 ptx]\n"
                 "dispatch  CPU us  H200 us  speedup   dev  worst error\n"
                 "batched     1310      100  13 H200?   26  image 0.0e+0\n"
                 "single      1310    wrong  -           -  image not finite\n"
                 "dev: the same ratio for the device's own time, by its events\n"
                 "?: under 6 samples, so no interval: by the medians alone\n"
                 "64² × 32 on H200 wrong: image not finite\n");
    made_fini(&r);
}

static void test_several_devices_are_named_in_rows(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 131000, 20);
    made_cell(&r, "device", MADE_GPU, 64, 32, 233000, 20);
    made_cell(&r, "device", MADE_POCL, 64, 32, 933000, 20);
    made_cell(&r, "scalar", MADE_CPU, 64, 32, 1310000, 20)->spec.variant = VARIANT_SCALAR;
    expect_table(&r, 100,
                 "CPU time / device time (above 1: device faster)\n"
                 "gradient, 64x64, 32 triangles, batch 16, sigma 0.01, random scenes\n"
                 "CPU: AMD EPYC 7B13, 2 threads, AVX2\n"
                 "device: NVIDIA H200 [0:0 ptx], fused + ordered\n"
                 "device: PoCL (pthread-AMD EPYC 7B13) [1:0 cpu], fused + ordered\n"
                 "scalar: AMD EPYC 7B13, 2 threads, AVX2, variant scalar\n"
                 "backend  on    CPU us  device us  speedup                   dev  worst error\n"
                 "device   H200     131        233  0.56 [0.56,0.57] CPU     1.12  vertices 2.2e-5\n"
                 "device   PoCL     131        933  0.140 [0.140,0.141] CPU  0.28  vertices 2.2e-5\n"
                 "scalar   CPU      131       1310  0.100 [0.099,0.101] cpu     -  vertices 2.2e-5\n"
                 "dev: the same ratio for the device's own time, by its events\n");
    made_fini(&r);
}

static void test_backends_are_compared_on_one_device(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_cell(&r, "record", MADE_GPU, 64, 32, 400000, 20)->spec.reduction = REDUCTION_DIRECT;
    made_cell(&r, "local", MADE_GPU, 64, 32, 200000, 20)->spec.reduction = REDUCTION_LOCAL;
    made_cell(&r, "pool-off", MADE_GPU, 64, 32, 300000, 20)->spec.pool = false;
    expect_table(&r, 80,
                 "record time / time of the row (above 1: the row is faster)\n"
                 "gradient, 64x64, 32 triangles, batch 16, sigma 0.01, random scenes\n"
                 "record: NVIDIA H200 [0:0 ptx], fused + direct\n"
                 "local: NVIDIA H200 [0:0 ptx], fused + local\n"
                 "pool-off: NVIDIA H200 [0:0 ptx], fused + ordered, pool off\n"
                 "backend   record us  H200 us  speedup                    dev  worst error\n"
                 "local           400      200  2.00 [1.99,2.01] local     4.0  vertices 2.2e-5\n"
                 "pool-off        400      300  1.33 [1.32,1.34] pool-off  2.7  vertices 2.2e-5\n"
                 "dev: the same ratio for the device's own time, by its events\n");
    made_fini(&r);
}

/* Options in which a backend's own cells differ need columns, but figures stay where there is no room. */
static void test_figures_outlast_options(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_cell(&r, "record", MADE_GPU, 64, 32, 400000, 20)->spec.reduction = REDUCTION_DIRECT;
    for (int pool = 0; pool < 2; pool++) {
        struct cell *c = made_cell(&r, "local", MADE_GPU, 64, 32, pool ? 100000 : 200000, 20);
        c->spec.reduction = REDUCTION_LOCAL;
        c->spec.pool = pool;
    }
    expect_table(&r, 60,
                 "record time / time of the row (above 1: the row is faster)\n"
                 "gradient, 64x64, 32 triangles, batch 16, sigma 0.01, random\n"
                 "scenes\n"
                 "record: NVIDIA H200 [0:0 ptx], fused + direct\n"
                 "local: NVIDIA H200 [0:0 ptx], fused + local\n"
                 "pool  record us  H200 us  speedup\n"
                 "off         400      200  2.00 [1.99,2.01] local\n"
                 "on          400      100  4.00 [3.97,4.03] local\n"
                 "not shown for want of width: dev, worst error\n"
                 "dev: the same ratio for the device's own time, by its events\n");
    char *narrow = text_at(&r, 44);
    assert_non_null(strstr(narrow, "record us  H200 us  speedup\n"));
    assert_non_null(strstr(narrow, "not shown for want of width: pool, dev,\nworst error\n"));
    free(narrow);
    made_fini(&r);
}

/* The name of a backend's line does not tell its call. */
static void test_calls_have_a_column(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 400000, 20);
    made_cell(&r, "host", MADE_GPU, 64, 32, 200000, 20)->spec.call = CALL_PAGEABLE;
    made_cell(&r, "kept", MADE_GPU, 64, 32, 100000, 20)->spec.call = CALL_RESIDENT;
    char *text = text_at(&r, 80);
    assert_non_null(strstr(text, "\nhost     pageable "));
    assert_non_null(strstr(text, "\nkept     resident "));
    free(text);
    made_fini(&r);
}

static void test_one_device_alone_is_shown(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    expect_table(&r, 80, "speedup: nothing to compare: this run has no cells for it\n");
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 131000, 20);
    expect_table(&r, 80,
                 "Times of CPU alone: nothing else was measured to compare it with\n"
                 "gradient, 64x64, 32 triangles, batch 16, sigma 0.01, random scenes\n"
                 "CPU: AMD EPYC 7B13, 2 threads, AVX2\n"
                 "CPU us  worst error\n"
                 "   131  vertices 2.2e-5\n");
    made_fini(&r);
}

/* Nothing is compared with itself. */
static void test_calls_of_one_device_alone_are_shown(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_cell(&r, "device", MADE_GPU, 64, 32, 131000, 20)->spec.call = CALL_LOADER;
    made_cell(&r, "device", MADE_GPU, 64, 32, 65000, 20)->spec.call = CALL_RESIDENT;
    char *text = text_at(&r, 80);
    assert_non_null(strstr(text, "Times of device alone"));
    assert_non_null(strstr(text, "\nloader "));
    assert_non_null(strstr(text, "\nresident "));
    free(text);
    made_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_row_a_point),
        cmocka_unit_test(test_forward_and_other_axes_get_columns),
        cmocka_unit_test(test_several_devices_are_named_in_rows),
        cmocka_unit_test(test_backends_are_compared_on_one_device),
        cmocka_unit_test(test_figures_outlast_options),
        cmocka_unit_test(test_calls_have_a_column),
        cmocka_unit_test(test_one_device_alone_is_shown),
        cmocka_unit_test(test_calls_of_one_device_alone_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
