/* Warnings of a run: each for its reason, and none without one. */
#include "unit/made.h"

#include "report/warnings.h"

struct heard {
    char text[4096];
    size_t count;
};

static void hear(void *context, const char *text)
{
    struct heard *h = context;
    const size_t len = strlen(h->text);

    snprintf(h->text + len, sizeof(h->text) - len, "%s\n", text);
    h->count++;
}

static struct json *add_record(struct json *records, double cpu, double gpu)
{
    struct json *record = json_add_object(records), *canary = json_set_array(record, "canary");
    const char *const names[] = {"cpu", "ocl:0:0"};

    for (size_t k = 0; k < 2; k++) {
        struct json *entry = json_add_object(canary);
        json_set_string(entry, "on", names[k]);
        json_set_number(entry, "arithmetic_ns", 1e6 * (k ? gpu : cpu));
        json_set_number(entry, "memory_ns", 1e6);
    }
    return record;
}

static struct json *make(struct results *r, struct json **machine)
{
    made_init(r);
    made_cell(r, "cpu", MADE_CPU, 64, 32, 1000000, 40)->id = strdup("cpu/64x64/t32/b16");
    *machine = json_set_object(r->head, "machine");
    return json_set_array(r->head, "environment");
}

static void test_a_quiet_run_has_none(void **state)
{
    (void)state;
    struct results r;
    struct json *machine;
    struct heard h = {0};
    struct json *records = make(&r, &machine);

    json_set_string(machine, "governor", "performance");
    for (int i = 0; i < 4; i++)
        add_record(records, 1 + 0.01 * i, 1);
    warnings_tell(&r, hear, &h);
    assert_string_equal(h.text, "");
    made_fini(&r);
}

static void test_canary(void **state)
{
    (void)state;
    struct results r;
    struct json *machine;
    struct heard h = {0};
    struct json *records = make(&r, &machine);

    add_record(records, 1, 1);
    add_record(records, 1.08, 1.3);
    add_record(records, 1.12, 1.01);
    warnings_tell(&r, hear, &h);
    assert_int_equal(h.count, 2);
    assert_non_null(strstr(h.text, "the CPU became 12 % slower while this ran (canary, arithmetic"));
    assert_non_null(strstr(h.text, "H200 [ocl:0:0] varied by 30 % while this ran"));
    made_fini(&r);
}

static void test_host(void **state)
{
    (void)state;
    struct results r;
    struct json *machine;
    struct heard h = {0};

    make(&r, &machine);
    json_set_string(machine, "governor", "powersave");
    json_set_number(machine, "affinity_cpus", 2);
    json_set_number(machine, "cpu_quota", 1.5);
    json_add_number(json_set_array(machine, "load_average"), 3.2);
    warnings_tell(&r, hear, &h);
    assert_int_equal(h.count, 3);
    assert_non_null(strstr(h.text, "the load average was 3.2 on 2 CPUs"));
    assert_non_null(strstr(h.text, "governor is powersave"));
    assert_non_null(strstr(h.text, "grants 1.5 CPUs to 2 threads"));
    assert_non_null(strstr(h.text, "give -t 1\n"));
    made_fini(&r);
}

static void test_gpu(void **state)
{
    (void)state;
    struct results r;
    struct json *machine;
    struct heard h = {0};
    struct json *records = make(&r, &machine);

    for (int i = 0; i < 3; i++) {
        struct json *gpu = json_add_object(json_set_array(add_record(records, 1, 1), "gpus"));
        json_set_string(gpu, "on", "ocl:0:0");
        json_set_number(gpu, "clock_mhz", 1200 + 300 * i);
        json_set_string(gpu, "throttle", "");
        json_set_number(gpu, "pcie_width", 8);
        json_set_number(gpu, "max_pcie_width", 16);
        struct json *processes = json_set_array(gpu, "processes");
        if (i == 2)
            json_set_string(json_add_object(processes), "name", "train.py");
    }
    /* Before a block it may rest. */
    struct json *block = json_add_object(records);
    json_set_string(block, "when", "block");
    struct json *rests = json_add_object(json_set_array(block, "gpus"));
    json_set_string(rests, "on", "ocl:0:0");
    json_set_number(rests, "clock_mhz", 345);
    warnings_tell(&r, hear, &h);
    assert_int_equal(h.count, 3);
    assert_non_null(strstr(h.text, "the clock of ocl:0:0 went from 1200 to 1800 MHz"));
    assert_non_null(strstr(h.text, "1 other process computes on ocl:0:0 (train.py)"));
    assert_non_null(strstr(h.text, "8 of its 16 PCIe lanes"));
    made_fini(&r);
}

static void test_samples(void **state)
{
    (void)state;
    struct results r;
    struct json *machine;
    struct heard h = {0};

    make(&r, &machine);
    r.cells[0].outliers = 5;
    r.cells[0].samples_ns[0] = 3000000;
    warnings_tell(&r, hear, &h);
    assert_int_equal(h.count, 2);
    assert_non_null(
        strstr(h.text, "over 10 % outliers in 1 of 1 cells (cpu/64x64/t32/b16: 5 of 40 samples)"));
    assert_non_null(
        strstr(h.text, "the first sample is the slowest in 1 of 1 cells (cpu/64x64/t32/b16: 3.0 times"));
    made_fini(&r);
}

static void test_few_samples(void **state)
{
    (void)state;
    struct results r;
    struct json *machine;
    struct heard h = {0};

    make(&r, &machine);
    made_cell(&r, "cpu", MADE_CPU, 64, 128, 1000000, 2)->id = strdup("cpu/64x64/t128/b16");
    made_fail(made_cell(&r, "cpu", MADE_CPU, 64, 512, 1000000, 3), CELL_FAILED, "it broke");
    warnings_tell(&r, hear, &h);
    assert_string_equal(h.text, "under 6 samples, and so no interval, in 1 of 3 cells (cpu/64x64/t128/b16: 2): raise "
                                "measure.timeout_seconds or measure.max_samples\n");
    made_fini(&r);
}

static void test_a_path_that_did_not_work(void **state)
{
    (void)state;
    struct results r;
    struct json *machine;
    struct heard h = {0};

    make(&r, &machine);
    strcpy(r.devices[MADE_GPU].path, "local");
    strcpy(r.devices[MADE_GPU].path_note, "kernels with its sub-groups do not build or run");
    warnings_tell(&r, hear, &h);
    assert_string_equal(h.text, "ocl:0:0 took the code path local, not a faster one: kernels with its sub-groups do not "
                                "build or run\n");
    made_fini(&r);
}

static void test_long_submissions(void **state)
{
    (void)state;
    struct results r;
    struct json *machine;
    struct heard h = {0};
    make(&r, &machine);

    r.cells[0].counts.longest_submission_ns = 900000000;
    warnings_tell(&r, hear, &h);
    assert_int_equal(h.count, 0);
    r.cells[0].counts.longest_submission_ns = 1300000000;
    warnings_tell(&r, hear, &h);
    assert_int_equal(h.count, 1);
    assert_non_null(strstr(h.text, "a submission took 1.30 s (cpu/64x64/t32/b16)"));
    made_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_quiet_run_has_none),
        cmocka_unit_test(test_canary),
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_gpu),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_few_samples),
        cmocka_unit_test(test_a_path_that_did_not_work),
        cmocka_unit_test(test_long_submissions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
