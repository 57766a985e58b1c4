/* Which devices a run uses. */
#include "unit/check.h"

#include <string.h>

#include "bench/choose.h"

static struct device_info device(enum backend_kind backend, enum device_kind kind, const char *selector,
                                 const char *name, const char *pci)
{
    struct device_info d = {.backend = backend, .kind = kind};
    strcpy(d.selector, selector);
    strcpy(d.name, name);
    strcpy(d.pci, pci);
    return d;
}

static struct backend_config backends[] = {{.name = "cpu", .kind = BACKEND_OPENMP},
                                           {.name = "device", .kind = BACKEND_OPENCL}};
static const struct config config = {.backends = backends, .backend_count = 2};

/* The chosen selectors in one line: "cpu: openmp; device: ocl:0:0 ocl:1:0;". */
static const char *chosen(const struct device_info *all, size_t count, const char *const *selectors, size_t n,
                          struct choice *choice, struct err *err)
{
    static char line[512];
    line[0] = '\0';
    if (!choose_devices(all, count, &config, selectors, n, NULL, choice, err))
        return "error";
    for (size_t b = 0; b < 2; b++) {
        strcat(strcat(line, backends[b].name), ":");
        for (size_t i = 0; i < choice->of_backend[b].count; i++) {
            const char *selector = choice->of_backend[b].selectors[i];
            strcat(strcat(line, " "), selector);
            /* The index is a place in the list of used devices. */
            assert_string_equal(all[choice->used[choice->of_backend[b].indices[i]]].selector, selector);
        }
        strcat(line, ";");
    }
    return line;
}

static void expect(const struct device_info *all, size_t count, const char *selector, const char *line)
{
    struct choice choice;
    struct err err = ERR_INIT;
    assert_string_equal(chosen(all, count, &selector, selector != NULL, &choice, &err), line);
    choice_fini(&choice);
}

static void fill(struct device_info all[5])
{
    all[0] = device(BACKEND_OPENMP, DEVICE_CPU, "openmp", "AMD EPYC", "");
    all[1] = device(BACKEND_OPENCL, DEVICE_CPU, "ocl:0:0", "pthread-AMD EPYC", "");
    all[2] = device(BACKEND_OPENCL, DEVICE_ACCELERATOR, "ocl:1:0", "Board", "");
    all[3] = device(BACKEND_OPENCL, DEVICE_GPU, "ocl:2:0", "NVIDIA H200", "0000:17:00.0");
    all[4] = device(BACKEND_OPENCL, DEVICE_GPU, "ocl:2:1", "NVIDIA H200", "0000:18:00.0");
    strcpy(all[1].platform, "Portable Computing Language");
}

static void test_default_is_the_best_there_is(void **state)
{
    (void)state;
    struct device_info all[5];
    fill(all);
    expect(all, 5, NULL, "cpu: openmp;device: ocl:2:0;");
    expect(all, 3, NULL, "cpu: openmp;device: ocl:1:0;");
    expect(all, 2, NULL, "cpu: openmp;device: ocl:0:0;");
    all[4].compute_units = 132;
    expect(all, 5, NULL, "cpu: openmp;device: ocl:2:1;");
    all[4].compute_units = 0;
    strcpy(all[3].trouble, "no kernel can be built");
    expect(all, 5, NULL, "cpu: openmp;device: ocl:2:1;");
}

static void test_selectors_replace_the_default(void **state)
{
    (void)state;
    struct device_info all[5];
    fill(all);
    expect(all, 5, "openmp", "cpu: openmp;device:;");
    expect(all, 5, "gpu", "cpu:;device: ocl:2:0 ocl:2:1;");
    expect(all, 5, "ocl", "cpu:;device: ocl:0:0 ocl:1:0 ocl:2:0 ocl:2:1;");
    expect(all, 5, "ocl:2", "cpu:;device: ocl:2:0 ocl:2:1;");
    expect(all, 5, "ocl:0:0", "cpu:;device: ocl:0:0;");
    expect(all, 5, "h200", "cpu:;device: ocl:2:0 ocl:2:1;");
    expect(all, 5, "portable", "cpu:;device: ocl:0:0;");
    /* The CPU renderer is named by its own name alone. */
    expect(all, 5, "epyc", "cpu:;device: ocl:0:0;");
    const char *const several[] = {"openmp", "ocl:2:1", "board", "ocl:2:1"};
    struct choice choice;
    struct err err = ERR_INIT;
    assert_string_equal(chosen(all, 5, several, 4, &choice, &err), "cpu: openmp;device: ocl:1:0 ocl:2:1;");
    assert_int_equal(choice.used_count, 3);
    choice_fini(&choice);
}

static void test_a_backend_without_a_device_is_left_out_with_a_note(void **state)
{
    (void)state;
    struct device_info all[5];
    struct choice choice;
    struct err err = ERR_INIT;
    fill(all);
    assert_string_equal(chosen(all, 1, NULL, 0, &choice, &err), "cpu: openmp;device:;");
    assert_int_equal(choice.note_count, 1);
    assert_string_equal(choice.notes[0],
                        "backend \"device\" is left out: there is no OpenCL device; the package "
                        "pocl-opencl-icd makes one of the CPU");
    choice_fini(&choice);
    strcpy(all[1].trouble, "its driver has no compiler for kernels");
    chosen(all, 2, NULL, 0, &choice, &err);
    assert_string_equal(choice.notes[0], "backend \"device\" is left out: ocl:0:0 cannot be used: its driver has no "
                                         "compiler for kernels");
    choice_fini(&choice);
    all[1].trouble[0] = '\0';
    const char *openmp = "openmp";
    chosen(all, 5, &openmp, 1, &choice, &err);
    assert_string_equal(choice.notes[0], "backend \"device\" is left out: -d names no OpenCL device");
    choice_fini(&choice);
}

static void test_a_path_that_no_device_can_run_is_an_error(void **state)
{
    (void)state;
    struct device_info all[5];
    struct choice choice;
    struct err err = ERR_INIT;
    fill(all);
    strcpy(all[1].trouble, "it cannot run the code path 'ptx': it has no warps");
    assert_false(choose_devices(all, 2, &config, NULL, 0, "ptx", &choice, &err));
    assert_int_equal(err.code, ERR_NO_DEVICE);
    assert_string_equal(err.text, "ocl:0:0 cannot be used: it cannot run the code path 'ptx': it has no warps");
    err_fini(&err);
    /* Others can, or none was to. */
    assert_true(choose_devices(all, 5, &config, NULL, 0, "ptx", &choice, &err));
    assert_string_equal(choice.of_backend[1].selectors[0], "ocl:2:0");
    choice_fini(&choice);
    const char *const openmp = "openmp", *const each[] = {"openmp", "ocl:0:0", "ocl:2:1"};
    assert_true(choose_devices(all, 2, &config, &openmp, 1, "ptx", &choice, &err));
    choice_fini(&choice);
    /* Of those that are named, one that cannot is left out where another can. */
    assert_true(choose_devices(all, 5, &config, each, 3, "ptx", &choice, &err));
    assert_int_equal(choice.used_count, 2);
    assert_int_equal(choice.note_count, 1);
    assert_string_equal(choice.notes[0], "ocl:0:0 (pthread-AMD EPYC) is left out: it cannot run the code path 'ptx': it "
                                         "has no warps");
    choice_fini(&choice);
    assert_false(choose_devices(all, 5, &config, each, 2, "ptx", &choice, &err));
    assert_string_equal(err.text, "device \"ocl:0:0\" (pthread-AMD EPYC) cannot be used: it cannot run the code path "
                                  "'ptx': it has no warps");
    err_fini(&err);
}

static void test_a_device_that_a_selector_leaves_out_is_told_once(void **state)
{
    (void)state;
    struct device_info all[5];
    struct choice choice;
    struct err err = ERR_INIT;
    const char *const several[] = {"gpu", "h200"};
    fill(all);
    strcpy(all[3].trouble, "its driver has no compiler for kernels");
    assert_string_equal(chosen(all, 5, several, 2, &choice, &err), "cpu:;device: ocl:2:1;");
    assert_int_equal(choice.note_count, 2);
    assert_string_equal(choice.notes[0],
                        "ocl:2:0 (NVIDIA H200) is left out: its driver has no compiler for kernels");
    assert_string_equal(choice.notes[1], "backend \"cpu\" is left out: -d names no OpenMP device");
    choice_fini(&choice);
}

static void test_a_backend_names_its_device(void **state)
{
    (void)state;
    struct device_info all[5];
    struct choice choice;
    struct err err = ERR_INIT;
    fill(all);
    strcpy(backends[1].device, "portable");
    expect(all, 5, NULL, "cpu: openmp;device: ocl:0:0;");
    expect(all, 5, "gpu", "cpu:;device: ocl:2:0 ocl:2:1;");
    strcpy(backends[1].device, "radeon");
    assert_string_equal(chosen(all, 2, NULL, 0, &choice, &err), "error");
    assert_int_equal(err.code, ERR_NO_DEVICE);
    assert_string_equal(err.text,
                        "backend \"device\": no device matches \"radeon\"; there are: openmp (AMD EPYC), "
                        "ocl:0:0 (pthread-AMD EPYC)");
    err_fini(&err);
    strcpy(backends[1].device, "gpu");
    assert_string_equal(chosen(all, 2, NULL, 0, &choice, &err), "error");
    assert_non_null(strstr(err.text, "; there are: openmp (AMD EPYC), ocl:0:0 (pthread-AMD EPYC). gpubench devices says"));
    err_fini(&err);
    backends[1].device[0] = '\0';
}

static void test_nothing_to_run_on(void **state)
{
    (void)state;
    struct device_info all[5];
    struct choice choice;
    struct err err = ERR_INIT;
    const char *broken = "ocl:2:0", *none = "";
    fill(all);
    assert_string_equal(chosen(all, 0, NULL, 0, &choice, &err), "error");
    assert_int_equal(err.code, ERR_NO_DEVICE);
    err_fini(&err);
    strcpy(all[3].trouble, "its compiler crashes");
    assert_string_equal(chosen(all, 5, &broken, 1, &choice, &err), "error");
    assert_string_equal(err.text, "device \"ocl:2:0\" (NVIDIA H200) cannot be used: its compiler crashes");
    err_fini(&err);
    assert_string_equal(chosen(all, 5, &none, 1, &choice, &err), "error");
    err_fini(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_is_the_best_there_is),
        cmocka_unit_test(test_selectors_replace_the_default),
        cmocka_unit_test(test_a_backend_without_a_device_is_left_out_with_a_note),
        cmocka_unit_test(test_a_path_that_no_device_can_run_is_an_error),
        cmocka_unit_test(test_a_device_that_a_selector_leaves_out_is_told_once),
        cmocka_unit_test(test_a_backend_names_its_device),
        cmocka_unit_test(test_nothing_to_run_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
