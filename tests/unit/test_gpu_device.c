/* Choosing devices, from descriptions alone, and what the drivers here tell. */
#include "unit/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/device.h"
#include "gpu/driver_text.h"
#include "gpu/error.h"
#include "gpu/opencl.h"

static struct device_info device(const char *selector, enum device_kind kind, const char *name, uint32_t units)
{
    struct device_info info = {.backend = BACKEND_OPENCL, .kind = kind, .compute_units = units};

    snprintf(info.selector, sizeof(info.selector), "%s", selector);
    snprintf(info.name, sizeof(info.name), "%s", name);
    device_short_name(&info, info.short_name);
    return info;
}

static void test_matches(void **state)
{
    struct device_info gpu = device("ocl:0:1", DEVICE_GPU, "NVIDIA H200", 132);
    struct device_info cpu = device("ocl:1:0", DEVICE_CPU, "pthread-EPYC", 2);

    (void)state;
    assert_true(device_matches(&gpu, "ocl:0:1"));
    assert_true(device_matches(&gpu, "ocl:0"));
    assert_false(device_matches(&gpu, "ocl:0:11"));
    assert_false(device_matches(&gpu, "ocl:1"));
    assert_true(device_matches(&gpu, "GPU"));
    assert_true(device_matches(&gpu, "gpu"));
    assert_false(device_matches(&gpu, "openmp"));
    assert_false(device_matches(&cpu, "gpu"));
    assert_true(device_matches(&gpu, "h200"));
    assert_true(device_matches(&cpu, "epyc"));
    assert_true(device_matches(&cpu, "ocl"));
    assert_false(device_matches(&cpu, ""));
    assert_false(device_matches(&cpu, "radeon"));
    gpu = device("ocl:0:11", DEVICE_GPU, "x", 1);
    assert_false(device_matches(&gpu, "ocl:0:1"));
}

static void test_best(void **state)
{
    struct device_info list[5] = {
        device("ocl:0:0", DEVICE_CPU, "cpu", 64), device("ocl:1:0", DEVICE_ACCELERATOR, "fpga", 1),
        device("ocl:2:0", DEVICE_GPU, "small", 8), device("ocl:2:1", DEVICE_GPU, "large", 132),
        device("ocl:3:0", DEVICE_GPU, "large again", 132)};

    (void)state;
    assert_int_equal(device_best(list, 5, BACKEND_OPENCL), 3);
    assert_int_equal(device_best(list, 5, BACKEND_OPENMP), 5);
    list[0].kind = DEVICE_OTHER;
    assert_int_equal(device_best(list, 2, BACKEND_OPENCL), 1);
    list[1].kind = DEVICE_CPU;
    assert_int_equal(device_best(list, 2, BACKEND_OPENCL), 1);
    list[0].kind = DEVICE_CPU;
    list[1].kind = DEVICE_ACCELERATOR;
    snprintf(list[3].trouble, sizeof(list[3].trouble), "broken");
    assert_int_equal(device_best(list, 5, BACKEND_OPENCL), 4);
    assert_int_equal(device_best(list, 3, BACKEND_OPENCL), 2);
    assert_int_equal(device_best(list, 2, BACKEND_OPENCL), 1);
    assert_int_equal(device_best(list, 1, BACKEND_OPENCL), 0);
    assert_int_equal(device_best(list, 0, BACKEND_OPENCL), 0);
    snprintf(list[0].trouble, sizeof(list[0].trouble), "broken");
    assert_int_equal(device_best(list, 1, BACKEND_OPENCL), 1);
}

static void test_short_names(void **state)
{
    static const char *const names[][2] = {{"NVIDIA H200", "H200"},
                                           {"NVIDIA GeForce RTX 4090", "RTX 4090"},
                                           {"Intel(R) UHD Graphics 770", "UHD 770"},
                                           {"gfx1100", "gfx1100"}};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct device_info info = device("ocl:0:0", DEVICE_GPU, names[i][0], 1);
        assert_string_equal(info.short_name, names[i][1]);
    }
    struct device_info info = {.name = "pthread-skylake"};
    snprintf(info.platform, sizeof(info.platform), "Portable Computing Language");
    device_short_name(&info, info.short_name);
    assert_string_equal(info.short_name, "PoCL");
}

static void test_extensions_are_whole_words(void **state)
{
    struct device_info info = {.extensions = "cl_khr_fp64_extra cl_khr_subgroups cl_nv"};

    (void)state;
    assert_true(device_has_extension(&info, "cl_khr_subgroups"));
    assert_true(device_has_extension(&info, "cl_nv"));
    assert_false(device_has_extension(&info, "cl_khr_fp64"));
    assert_false(device_has_extension(&info, "khr_subgroups"));
}

static void test_versions(void **state)
{
    struct device_info info = {.device_version = "OpenCL 2.1 PoCL HSTR"};

    (void)state;
    assert_true(device_has_version(&info, 1, 2));
    assert_true(device_has_version(&info, 2, 1));
    assert_false(device_has_version(&info, 2, 2));
    assert_false(device_has_version(&info, 3, 0));
    info.device_version[0] = '\0';
    assert_false(device_has_version(&info, 1, 0));
}

static void expect_text(const char *text, size_t length, size_t size, const char *expected)
{
    char out[64];

    memset(out, 'z', sizeof(out));
    driver_text(out, size, text, length);
    assert_string_equal(out, expected);
}

static void test_texts_of_drivers(void **state)
{
    (void)state;
    expect_text("  Board 9000 \n", 14, 64, "Board 9000");
    expect_text("a\tb\x1b[31m\x7f\xc2\x9b c", 14, 64, "a b [31m   c");
    expect_text("\xff\xfe caf\xc3\xa9 \xe2\x82", 11, 64, "?? caf\xc3\xa9 ??");
    /* No NUL, one in the middle, none at all, and cut between characters. */
    expect_text("abcdef", 3, 64, "abc");
    expect_text("ab\0cd", 5, 64, "ab");
    expect_text("", 0, 64, "");
    expect_text("caf\xc3\xa9", 5, 5, "caf");
    expect_text("caf\xc3\xa9", 5, 6, "caf\xc3\xa9");
}

static void test_messages(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    assert_false(opencl_fail(&err, CL_OUT_OF_RESOURCES, "clFinish", "NVIDIA H200"));
    assert_string_equal(err.text, "clFinish on NVIDIA H200: CL_OUT_OF_RESOURCES (-5)");
    assert_int_equal(err.native, -5);
    assert_string_equal(opencl_code_name(-12345), "an unknown code");
    err_fini(&err);
}

static void test_wrong_selectors(void **state)
{
    static const char *const wrong[] = {"ocl:0", "ocl:0:0x", "gpu", "ocl:63:0", "ocl:0:63", ""};
    struct opencl_options options = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct renderer *r = NULL;
        struct err err = ERR_INIT;
        assert_false(opencl_create(wrong[i], &options, &r, &err));
        assert_int_equal(err.code, ERR_NO_DEVICE);
        assert_null(r);
        err_fini(&err);
    }
}

static void test_displays(void **state)
{
    static const char *const folders[] = {"bus", "bus/pci", "bus/pci/devices", "bus/pci/devices/0000:17:00.0",
                                          "bus/pci/devices/0000:17:00.0/drm", "bus/pci/devices/0000:17:00.0/drm/card0",
                                          "bus/pci/devices/0000:17:00.0/drm/card0/card0-DP-1"};
    const size_t count = sizeof(folders) / sizeof(folders[0]);
    char dir[SCRATCH_MAX], path[SCRATCH_MAX];

    (void)state;
    scratch_make(dir);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(mkdir(scratch_path(path, dir, folders[i]), 0700), 0);
    assert_false(device_drives_display(dir, "0000:17:00.0"));
    scratch_path(path, dir, "bus/pci/devices/0000:17:00.0/drm/card0/card0-DP-1/enabled");
    scratch_write(path, "disabled\n", 9);
    assert_false(device_drives_display(dir, "0000:17:00.0"));
    scratch_write(path, "enabled\n", 8);
    assert_true(device_drives_display(dir, "0000:17:00.0"));
    assert_false(device_drives_display(dir, "0000:18:00.0"));
    assert_false(device_drives_display(dir, ""));
    unlink(path);
    for (size_t i = count; i > 0; i--)
        assert_int_equal(rmdir(scratch_path(path, dir, folders[i - 1])), 0);
    scratch_remove(dir, NULL, 0);
}

static void test_this_machine(void **state)
{
    struct device_info *list = NULL;
    struct err err = ERR_INIT;
    size_t count = 0;

    (void)state;
    if (!opencl_list(NULL, &list, &count, &err)) {
        assert_int_equal(err.code, ERR_NO_DEVICE);
        assert_non_null(strstr(err.text, "pocl-opencl-icd"));
        print_message("skipped: %s\n", err.text);
        err_fini(&err);
        skip();
    }
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        assert_true(list[i].name[0] != '\0' && strncmp(list[i].selector, "ocl:", 4) == 0);
        if (list[i].trouble[0] == '\0')
            assert_true(list[i].global_bytes > 0 && list[i].max_work_group_size > 0);
    }
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches),         cmocka_unit_test(test_best),
        cmocka_unit_test(test_short_names),     cmocka_unit_test(test_extensions_are_whole_words), cmocka_unit_test(test_versions),
        cmocka_unit_test(test_messages),        cmocka_unit_test(test_wrong_selectors),
        cmocka_unit_test(test_texts_of_drivers),
        cmocka_unit_test(test_this_machine),     cmocka_unit_test(test_displays),
    };

    return cmocka_run_group_tests_name("OpenCL devices", tests, NULL, NULL);
}
