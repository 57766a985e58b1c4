/* The machine's state: the canary, what a GPU's driver tells (a made one), and the record of both. */
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/canary.h"
#include "bench/environment.h"
#include "bench/nvml.h"

static void test_canary_takes_time(void **state)
{
    (void)state;
    struct render_canary c;
    struct err err = ERR_INIT;
    assert_true(canary_cpu(&c, &err));
    assert_true(c.launch_ns > 0);
    assert_true(c.arithmetic_ns > 200000);
    assert_true(c.memory_ns > 200000);
}

/* ---- a driver's library ---- */

struct process {
    unsigned pid;
    unsigned long long bytes;
    unsigned instances[2];
};

static int fine(void)
{
    return 0;
}

static int broken(void)
{
    return 9;
}

static int by_pci(const char *pci, void **out)
{
    *out = NULL;
    return strcmp(pci, "0000:17:00.0") == 0 ? 0 : 6;
}

static int get_clock(void *device, int kind, unsigned *out)
{
    (void)device;
    *out = kind == 1 ? 1980 : 2619;
    return 0;
}

static int milliwatts(void *device, unsigned *out)
{
    (void)device;
    *out = 123456;
    return 0;
}

static int throttled(void *device, unsigned long long *out)
{
    (void)device;
    *out = 0x1 | 0x4 | 0x20; /* idle, power cap, software thermal */
    return 0;
}

static int this_and_another(void *device, unsigned *count, struct process *list)
{
    (void)device;
    *count = 2;
    list[0] = (struct process){.pid = (unsigned)getpid()};
    list[1] = (struct process){.pid = 1};
    return 0;
}

static int strangers(void *device, unsigned *count, struct process *list)
{
    (void)device;
    *count = 1;
    list[0] = (struct process){.pid = 7};
    return 0;
}

static int name_of(unsigned pid, char *out, unsigned size)
{
    (void)pid;
    strncpy(out, "train.py", size);
    return 0;
}

struct symbol {
    const char *name;
    void (*function)(void);
};

#define AS(function) ((void (*)(void))(uintptr_t)(function))

static void *lookup(void *context, const char *name)
{
    for (const struct symbol *s = context; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return (void *)(uintptr_t)s->function;
    return NULL;
}

static void test_gpu_state(void **state)
{
    (void)state;
    struct symbol symbols[] = {{"nvmlInit_v2", AS(fine)},
                               {"nvmlShutdown", AS(fine)},
                               {"nvmlDeviceGetHandleByPciBusId_v2", AS(by_pci)},
                               {"nvmlDeviceGetClockInfo", AS(get_clock)},
                               {"nvmlDeviceGetPowerUsage", AS(milliwatts)},
                               {"nvmlDeviceGetTemperature", AS(broken)},
                               {"nvmlDeviceGetCurrentClocksThrottleReasons", AS(throttled)},
                               {"nvmlDeviceGetComputeRunningProcesses_v3", AS(this_and_another)},
                               {"nvmlSystemGetProcessName", AS(name_of)},
                               {NULL, NULL}};
    struct nvml *nvml = nvml_open_with(lookup, symbols);
    assert_non_null(nvml);
    struct json *gpu = json_new_object();
    assert_false(nvml_describe(nvml, "0000:99:00.0", gpu));
    assert_true(nvml_describe(nvml, "0000:17:00.0", gpu));
    assert_true(json_number(json_get(gpu, "clock_mhz")) > 1979);
    assert_true(json_number(json_get(gpu, "memory_clock_mhz")) > 2618);
    assert_true(json_number(json_get(gpu, "power_w")) > 123.4);
    assert_int_equal(json_type(json_get(gpu, "temperature_c")), JSON_NULL);
    assert_int_equal(json_type(json_get(gpu, "pcie_width")), JSON_NULL);
    assert_string_equal(json_string(json_get(gpu, "throttle")), "power cap, software thermal");
    const struct json *processes = json_get(gpu, "processes");
    assert_int_equal(json_count(processes), 1);
    assert_string_equal(json_string(json_get(json_at(processes, 0), "name")), "train.py");
    json_free(gpu);
    gpu = json_new_object();
    assert_true(nvml_clocks(nvml, "0000:17:00.0", gpu)); /* what is cheap enough for every block */
    assert_true(json_number(json_get(gpu, "clock_mhz")) > 1979);
    assert_null(json_get(gpu, "processes"));
    json_free(gpu);
    nvml_close(nvml);

    /* Numbers of another name space: who is who is unknown. */
    symbols[7].function = AS(strangers);
    nvml = nvml_open_with(lookup, symbols);
    gpu = json_new_object();
    assert_true(nvml_describe(nvml, "0000:17:00.0", gpu));
    assert_int_equal(json_type(json_get(gpu, "processes")), JSON_NULL);
    json_free(gpu);
    nvml_close(nvml);
}

static void test_a_library_that_does_not_work(void **state)
{
    (void)state;
    struct symbol symbols[] = {{"nvmlInit_v2", AS(broken)},
                               {"nvmlShutdown", AS(fine)},
                               {"nvmlDeviceGetHandleByPciBusId_v2", AS(by_pci)},
                               {NULL, NULL}};
    assert_null(nvml_open_with(lookup, symbols));
    symbols[0].function = AS(fine);
    symbols[1].name = "other";
    assert_null(nvml_open_with(lookup, symbols));
    nvml_close(NULL);
}

/* ---- the record ---- */

static bool made_canary(struct renderer *r, struct render_canary *out, struct err *err)
{
    if (r->info.compute_units == 0)
        return err_set(err, ERR_OPENCL, "lost");
    *out = (struct render_canary){11, 22, 33};
    return true;
}

static void test_record(void **state)
{
    (void)state;
    const struct renderer_ops with = {.canary = made_canary}, without = {0};
    struct renderer good = {&with, {.selector = "ocl:0:0", .compute_units = 1}};
    struct renderer lost = {&with, {.selector = "ocl:0:1"}}, none = {&without, {.selector = "openmp"}};
    struct renderer *const all[] = {&none, &good, NULL, &lost};
    struct json *record = json_new_object();
    environment_record(all, 4, NULL, record);
    const struct json *canary = json_get(record, "canary");
    assert_int_equal(json_count(canary), 2);
    assert_string_equal(json_string(json_get(json_at(canary, 0), "on")), "cpu");
    assert_string_equal(json_string(json_get(json_at(canary, 1), "on")), "ocl:0:0");
    assert_int_equal(json_number(json_get(json_at(canary, 1), "memory_ns")), 22);
    assert_int_equal(json_count(json_get(record, "gpus")), 0);
    assert_non_null(json_get(record, "load"));
    json_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canary_takes_time),
        cmocka_unit_test(test_gpu_state),
        cmocka_unit_test(test_a_library_that_does_not_work),
        cmocka_unit_test(test_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
