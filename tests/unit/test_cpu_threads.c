/* How many threads, from which sources; where they run; what they allocate. */
#include <errno.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "cpu/topology.h"
#include "unit/cpu_check.h"
#include "unit/scratch.h"

#if defined(__has_feature)
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif

/* Sanitizers bring an allocator of their own. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !HAS_FEATURE(address_sanitizer)
#define COUNTS_ALLOCATIONS 1
static unsigned long allocations;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static void count(void)
{
    __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
}

/* LLVM's OpenMP runtime allocates in every region: there, only the renderer's own work arrays count. */
#if !defined(__clang__)
void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    count();
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    count();
    return __libc_realloc(p, size);
}
#endif

void *aligned_alloc(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}
#else
#define COUNTS_ALLOCATIONS 0
#endif

static void check_allocations(enum cpu_variant variant, enum render_mode mode)
{
#if COUNTS_ALLOCATIONS
    struct err err = ERR_INIT;
    struct renderer *r = renderer_open(2, NULL);
    struct render_spec spec;
    spec_init(&spec);
    spec.variant = variant;
    spec.mode = mode;
    spec.width = spec.height = 100;
    spec.triangles = 150;
    spec.batch = 3;
    struct render_job *job = job_open(r, &spec);
    job_fill(job, 3, 0.2f);
    job_call(job);
    unsigned long before = __atomic_load_n(&allocations, __ATOMIC_RELAXED);
    for (int i = 0; i < 5; i++) {
        check_ok(r->ops->inputs_changed(job, &err), &err);
        check_ok(r->ops->call(job, &err), &err);
    }
    assert_int_equal(__atomic_load_n(&allocations, __ATOMIC_RELAXED) - before, 0);
    r->ops->close(job);
    r->ops->destroy(r);
#else
    (void)variant;
    (void)mode;
    print_message("# skipped: another allocator is in place\n");
    skip();
#endif
}

static void test_repeated_call_allocates_nothing(void **state)
{
    (void)state;
    check_allocations(VARIANT_FAST, MODE_GRADIENT);
    check_allocations(VARIANT_FAST, MODE_FORWARD);
    check_allocations(VARIANT_SCALAR, MODE_GRADIENT);
    check_allocations(VARIANT_SCALAR, MODE_FORWARD);
}

static void test_the_caller_keeps_its_mask(void **state)
{
    (void)state;
    cpu_set_t before, after;
    struct renderer *r = renderer_open(2, NULL);
    struct render_spec spec;
    spec_init(&spec);
    spec.width = spec.height = 128;
    spec.triangles = 64;
    spec.batch = 4;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    struct render_job *job = job_open(r, &spec);
    job_fill(job, 4, 0.15f);
    for (int i = 0; i < 20; i++)
        job_call(job);
    r->ops->close(job);
    r->ops->destroy(r);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}

/* ---- control groups, from files of our own ---- */

static char root[SCRATCH_MAX];

static void put(const char *path, const char *text)
{
    char full[600], dir[600];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(dir, sizeof dir, "%.*s", (int)(slash - full), full);
        assert_true(mkdir(dir, 0700) == 0 || errno == EEXIST);
    }
    scratch_write(full, text, strlen(text));
}

static int make_root(void **state)
{
    (void)state;
    scratch_make(root);
    return 0;
}

static int remove_root(void **state)
{
    (void)state;
    char command[SCRATCH_MAX + 16];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

static double quota(const char *cgroup)
{
    char file[SCRATCH_MAX + 16];
    put("self", cgroup);
    snprintf(file, sizeof file, "%s/self", root);
    return cgroup_cpu_quota(file, root);
}

static void test_quota_v2(void **state)
{
    (void)state;
    put("a/b/cpu.max", "max 100000\n");
    put("a/cpu.max", "350000 100000\n");
    put("cpu.max", "800000 100000\n");
    assert_true(fabs(quota("0::/a/b\n") - 3.5) < 1e-9); /* an ancestor's */
    assert_true(fabs(quota("0::/\n") - 8) < 1e-9);
    put("a/b/cpu.max", "150000 100000\n");
    assert_true(fabs(quota("0::/a/b\n") - 1.5) < 1e-9);
}

static void test_quota_v1(void **state)
{
    (void)state;
    put("cpu/x/cpu.cfs_quota_us", "250000\n");
    put("cpu/x/cpu.cfs_period_us", "100000\n");
    put("cpu/cpu.cfs_quota_us", "-1\n");
    put("cpu/cpu.cfs_period_us", "100000\n");
    assert_true(fabs(quota("4:memory:/x\n3:cpu,cpuacct:/x\n") - 2.5) < 1e-9);
    assert_true(quota("3:cpu,cpuacct:/\n") == 0);
    assert_true(quota("4:memory:/x\n") == 0);
}

static uint64_t memory(const char *cgroup)
{
    char file[SCRATCH_MAX + 16];
    put("self", cgroup);
    snprintf(file, sizeof file, "%s/self", root);
    return cgroup_memory_bytes(file, root);
}

static void test_memory(void **state)
{
    (void)state;
    put("a/b/memory.max", "max\n");
    put("a/memory.max", "2147483648\n");
    put("memory.max", "8589934592\n");
    assert_true(memory("0::/a/b\n") == UINT64_C(1) << 31);
    assert_true(memory("0::/\n") == UINT64_C(1) << 33);
    put("memory/x/memory.limit_in_bytes", "1073741824\n");
    put("memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(memory("4:memory:/x\n3:cpu,cpuacct:/x\n") == 1 << 30);
    assert_true(memory("4:memory:/\n") == 0);
    assert_true(memory("3:cpu:/x\n") == 0);
    assert_true(cgroup_memory_bytes("no-such-file", "no-such-folder") == 0);
}

static void test_no_cgroups(void **state)
{
    (void)state;
    assert_true(cgroup_cpu_quota("no-such-file", "no-such-folder") == 0);
}

static void test_threads_of_a_topology(void **state)
{
    (void)state;
    struct topology *t = calloc(1, sizeof *t);
    assert_non_null(t);
    assert_int_equal(topology_threads(t), 1);
    t->usable_cores = 16;
    assert_int_equal(topology_threads(t), 16);
    t->quota_cpus = 3.5;
    assert_int_equal(topology_threads(t), 3);
    t->quota_cpus = 0.25;
    assert_int_equal(topology_threads(t), 1);
    t->quota_cpus = 64;
    assert_int_equal(topology_threads(t), 16);
    free(t);
}

static void test_synthetic_machine(void **state)
{
    (void)state;
    struct topology *t = calloc(1, sizeof *t);
    assert_non_null(t);
    setenv("HWLOC_SYNTHETIC", "pack:2 l3:1 core:6 pu:2", 1);
    topology_init(t);
    unsetenv("HWLOC_SYNTHETIC");
    assert_int_equal(t->usable_cores, 12);
    assert_int_equal(t->cores, 0); /* nobody is pinned to a machine that is not there */
    free(t);
}

static void test_omp_num_threads(void **state)
{
    (void)state;
    setenv("OMP_NUM_THREADS", "5,2", 1);
    assert_int_equal(openmp_default_threads(), 5);
    setenv("OMP_NUM_THREADS", "nonsense", 1);
    assert_in_range(openmp_default_threads(), 1, SPEC_MAX_THREADS);
    unsetenv("OMP_NUM_THREADS");
    struct device_info info;
    openmp_info(0, NULL, &info);
    assert_int_equal(info.threads, openmp_default_threads());
    assert_string_equal(info.selector, "openmp");
    assert_int_equal(info.kind, DEVICE_CPU);
    assert_string_equal(info.trouble, "");
}

static void test_affinity_limits_threads(void **state)
{
    (void)state;
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(openmp_default_threads(), 1);
    struct device_info info;
    openmp_info(0, NULL, &info);
    assert_int_equal(info.compute_units, 1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeated_call_allocates_nothing),
        cmocka_unit_test(test_the_caller_keeps_its_mask),
        cmocka_unit_test_setup_teardown(test_quota_v2, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_quota_v1, make_root, remove_root),
        cmocka_unit_test(test_no_cgroups),
        cmocka_unit_test_setup_teardown(test_memory, make_root, remove_root),
        cmocka_unit_test(test_threads_of_a_topology),
        cmocka_unit_test(test_synthetic_machine),
        cmocka_unit_test(test_omp_num_threads),
        cmocka_unit_test(test_affinity_limits_threads),
    };
    return cmocka_run_group_tests_name("cpu_threads", tests, NULL, NULL);
}
