/* The machine as a results file describes it, on one that hwloc makes up. */
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "record/machine.h"

static void test_a_synthetic_machine(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    setenv("HWLOC_SYNTHETIC", "pack:2 numa:1 l3:1 core:4 l2:1 pu:2", 1);
    setenv("OMP_PROC_BIND", "close", 1);
    struct json *machine = json_new_object();
    assert_true(machine_to_json(machine, &err));
    const struct json *cpu = json_get(machine, "cpu");
    assert_true(json_number(json_get(cpu, "sockets")) == 2);
    assert_true(json_number(json_get(cpu, "cores")) == 8);
    assert_true(json_number(json_get(cpu, "threads")) == 16);
    assert_true(json_number(json_get(machine, "numa_nodes")) == 2);
    const struct json *caches = json_get(cpu, "caches");
    assert_int_equal(json_count(caches), 2);
    assert_string_equal(json_string(json_get(json_at(caches, 0), "name")), "L2");
    assert_true(json_number(json_get(json_at(caches, 0), "count")) == 8);
    assert_string_equal(json_string(json_get(json_get(machine, "environment"), "OMP_PROC_BIND")), "close");
    json_free(machine);
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("OMP_PROC_BIND");
}

static void test_this_machine(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct strbuf text = STRBUF_INIT;
    struct json *machine = json_new_object();
    assert_true(machine_to_json(machine, &err));
    assert_true(json_number(json_get(json_get(machine, "cpu"), "threads")) >= 1);
    assert_true(json_number(json_get(machine, "memory_bytes")) > 1e6);
    assert_true(json_number(json_get(machine, "affinity_cpus")) >= 1);
    assert_memory_equal(json_string(json_get(machine, "kernel")), "Linux ", 6);
    assert_int_equal(json_count(json_get(machine, "load_average")), 3);
    assert_true(json_print(machine, false, &text, &err));
    strbuf_fini(&text);
    json_free(machine);
}

static void test_head(void **state)
{
    (void)state;
    struct results r = {0};
    struct err err = ERR_INIT;
    const char *argv[] = {"gpubench", "sweep"};
    struct json *config = json_new_object();
    json_set_string(config, "name", "x");
    assert_true(machine_head(&r, 2, argv, config, &err));
    assert_string_equal(json_string(json_get(r.head, "schema")), RESULTS_SCHEMA);
    assert_true(json_number(json_get(r.head, "version")) == RESULTS_VERSION);
    const struct json *tool = json_get(r.head, "tool");
    assert_true(strlen(json_string(json_get(tool, "version"))) > 0);
    assert_true(strlen(json_string(json_get(tool, "compiler"))) > 0);
    assert_int_equal(strlen(json_string(json_get(r.head, "created"))), 25);
    assert_string_equal(json_string(json_get(json_get(r.head, "config"), "name")), "x");
    json_free(config);
    results_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_synthetic_machine),
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
