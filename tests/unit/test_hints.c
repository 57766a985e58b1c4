#include "unit/check.h"

#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/hints.h"
#include "unit/scratch.h"

/* A machine in a folder: sys/bus/pci/devices/ADDRESS/{vendor,class}, dev/..., and .icd files. */
struct machine {
    char root[SCRATCH_MAX], vendors[SCRATCH_MAX];
    struct strbuf said;
};

static bool all_may(const char *path)
{
    (void)path;
    return true;
}

static bool none_may(const char *path)
{
    (void)path;
    return false;
}

static void put(const struct machine *m, const char *name, const char *text)
{
    char path[SCRATCH_MAX];

    scratch_path(path, m->root, name);
    for (char *at = path + strlen(m->root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(path, 0700);
    }
    scratch_write(path, text, strlen(text));
}

static void setup(struct machine *m)
{
    *m = (struct machine){.said = STRBUF_INIT};
    scratch_make(m->root);
    scratch_path(m->vendors, m->root, "vendors");
    put(m, "sys/bus/pci/devices/0000:00:01.0/vendor", "0x1234\n"); /* a virtual machine's screen */
    put(m, "sys/bus/pci/devices/0000:00:01.0/class", "0x030000\n");
    put(m, "sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n"); /* a bridge */
    put(m, "sys/bus/pci/devices/0000:00:02.0/class", "0x060000\n");
    put(m, "dev/null", "");
}

static void teardown(struct machine *m)
{
    char command[SCRATCH_MAX + 16];

    strbuf_fini(&m->said);
    snprintf(command, sizeof command, "rm -r '%s'", m->root);
    assert_int_equal(system(command), 0);
}

/* A library of one name alone. */
static bool can_load(const char *library)
{
    return strcmp(library, "libnvidia-opencl.so.1") == 0;
}

static const char *hints(struct machine *m, bool (*may_open)(const char *path),
                         const struct device_info *devices, size_t count)
{
    const struct hint_sources from = {m->root, m->vendors, may_open, can_load};

    strbuf_fini(&m->said);
    m->said = (struct strbuf)STRBUF_INIT;
    gpu_hints(&from, devices, count, &m->said);
    return strbuf_str(&m->said);
}

static const struct device_info h200 = {
    .backend = BACKEND_OPENCL, .kind = DEVICE_GPU, .vendor = "NVIDIA Corporation"};

static void test_no_gpu(void **state)
{
    struct machine m;
    (void)state;
    setup(&m);
    assert_string_equal(hints(&m, all_may, NULL, 0), "this machine has no GPU of NVIDIA, Intel or AMD\n");
    teardown(&m);
}

static void test_a_gpu_that_is_used_needs_nothing(void **state)
{
    struct machine m;
    (void)state;
    setup(&m);
    put(&m, "sys/bus/pci/devices/0000:17:00.0/vendor", "0x10de\n");
    put(&m, "sys/bus/pci/devices/0000:17:00.0/class", "0x030200\n");
    put(&m, "dev/nvidia0", "");
    assert_string_equal(hints(&m, none_may, &h200, 1), "");
    struct device_info broken = h200;
    strcpy(broken.trouble, "no compiler");
    assert_non_null(strstr(hints(&m, all_may, &broken, 1), "the NVIDIA GPU at PCI 0000:17:00.0 is not used"));
    teardown(&m);
}

static void test_no_driver_names_the_package(void **state)
{
    static const struct {
        const char *vendor, *node, *package;
    } cases[] = {{"0x8086\n", "dev/dri/renderD128", "intel-opencl-icd"},
                 {"0x1002\n", "dev/dri/renderD128", "mesa-opencl-icd"}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct machine m;
        setup(&m);
        put(&m, "sys/bus/pci/devices/0000:17:00.0/vendor", cases[i].vendor);
        put(&m, "sys/bus/pci/devices/0000:17:00.0/class", "0x030000\n");
        assert_non_null(strstr(hints(&m, all_may, NULL, 0), "kernel driver"));
        put(&m, cases[i].node, "");
        const char *said = hints(&m, all_may, NULL, 0);
        assert_non_null(strstr(said, "Install "));
        assert_non_null(strstr(said, cases[i].package));
        teardown(&m);
    }
}

/* As containers have it. */
static void test_a_driver_that_no_file_names(void **state)
{
    struct machine m;
    (void)state;
    setup(&m);
    put(&m, "sys/bus/pci/devices/0000:17:00.0/vendor", "0x10de\n");
    put(&m, "sys/bus/pci/devices/0000:17:00.0/class", "0x030200\n");
    put(&m, "dev/nvidia0", "");
    const char *said = hints(&m, all_may, NULL, 0);
    assert_non_null(strstr(said, "its driver libnvidia-opencl.so.1 is there, but no file in "));
    assert_non_null(strstr(said, "Run echo libnvidia-opencl.so.1 | sudo tee "));
    teardown(&m);
}

static void test_no_permission_names_the_group(void **state)
{
    struct machine m;
    char path[SCRATCH_MAX], want[SCRATCH_MAX];
    (void)state;
    setup(&m);
    put(&m, "sys/bus/pci/devices/0000:17:00.0/vendor", "0x1002\n");
    put(&m, "sys/bus/pci/devices/0000:17:00.0/class", "0x030000\n");
    put(&m, "dev/dri/renderD128", "");
    scratch_path(path, m.root, "dev/dri/renderD128");
    if (geteuid() == 0)
        assert_int_equal(chown(path, (uid_t)-1, 4), 0); /* else it is this user's own group */
    struct stat file;
    assert_int_equal(chmod(path, 0660), 0);
    assert_int_equal(stat(path, &file), 0);
    const struct group *group = getgrgid(file.st_gid);
    assert_non_null(group);
    snprintf(
        want, sizeof want,
        "/dev/dri/renderD128 may not be opened: it belongs to the group %s. Run sudo usermod -aG %s $USER",
        group->gr_name, group->gr_name);
    const char *said = hints(&m, none_may, NULL, 0);
    assert_non_null(strstr(said, want));
    assert_null(strstr(said, "Install "));
    assert_int_equal(chmod(path, 0600), 0);
    assert_non_null(strstr(hints(&m, none_may, NULL, 0), "no group may"));
    teardown(&m);
}

static void test_an_icd_file_without_its_driver(void **state)
{
    struct machine m;
    char library[SCRATCH_MAX], text[SCRATCH_MAX + 2];
    (void)state;
    setup(&m);
    put(&m, "libthere.so", "");
    snprintf(text, sizeof text, "%s\n", scratch_path(library, m.root, "libthere.so"));
    put(&m, "vendors/there.icd", text);
    put(&m, "vendors/read.me", "no driver\n");
    assert_null(strstr(hints(&m, all_may, &h200, 1), "driver"));
    put(&m, "vendors/gone.icd", "/no/such/libdriver.so\n");
    put(&m, "vendors/lost.icd", "libno-such-driver.so.1\n");
    const char *said = hints(&m, all_may, &h200, 1);
    assert_non_null(
        strstr(said, "vendors/gone.icd names the driver \"/no/such/libdriver.so\", which cannot be loaded"));
    assert_non_null(
        strstr(said, "vendors/lost.icd names the driver \"libno-such-driver.so.1\", which cannot be loaded"));
    assert_null(strstr(said, "there.icd"));
    struct device_info third = h200;
    strcpy(third.selector, "ocl:2:0");
    assert_string_equal(hints(&m, all_may, &third, 1), "");
    teardown(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_gpu),
        cmocka_unit_test(test_a_gpu_that_is_used_needs_nothing),
        cmocka_unit_test(test_no_driver_names_the_package),
        cmocka_unit_test(test_a_driver_that_no_file_names),
        cmocka_unit_test(test_no_permission_names_the_group),
        cmocka_unit_test(test_an_icd_file_without_its_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
