/* A run from the parent's side when all goes well: cells, devices, footprints, an earlier run gone on with. */
#include "unit/runner_check.h"

static void test_all_is_well(void **state)
{
    (void)state;
    struct session_of_test t;
    run_config(&t, PLAIN, NULL);
    assert_int_equal(t.summary.by_status[CELL_OK], 10);
    assert_int_equal(t.summary.restarts, 0);
    assert_string_equal(t.record.notes, "");
    const size_t gpu = cell_at(&t, "gpu", 4), cpu = cell_at(&t, "cpu", 4);
    const struct cell *cell = &t.record.cells[gpu].last;
    assert_true(cell->has_ci && cell->median_ns >= cell->ci95_ns[0] && cell->median_ns <= cell->ci95_ns[1]);
    assert_true(cell->has_device_time);
    assert_int_equal(cell->device_ns, 7);
    assert_int_equal(cell->kernel_count, 1);
    assert_int_equal(cell->phases.total_ns, 25);
    assert_int_equal(cell->counts.dispatches, 2);
    assert_int_equal(cell->checked_scenes, 2);
    assert_int_equal(cell->checked_pixels, 64);
    assert_true(cell->pairs > 0 && cell->pairs <= cell->pairs_in_bounds);
    for (int g = 0; g < AGREE_GROUPS; g++)
        assert_true(cell->agreement.value[g] >= 0 && cell->agreement.value[g] < 1e-6);
    assert_false(t.record.cells[cpu].last.has_device_time);
    assert_int_equal(t.record.cells[gpu].samples, 6);
    size_t count;
    const struct device_info *devices = runner_devices(t.runner, &count);
    assert_int_equal(count, 2);
    assert_string_equal(devices[0].selector, "openmp");
    assert_string_equal(devices[1].path, "fake");
    end(&t);
}

static void test_the_machine_is_recorded(void **state)
{
    (void)state;
    struct session_of_test t;
    struct err err = ERR_INIT;
    run_config(&t, PLAIN, NULL);
    assert_string_equal(t.record.environment, "before after "); /* it is over in less than a second */
    assert_int_equal(t.record.readings, 3);                     /* all CPU threads, and both devices */
    end(&t);

    /* What is there already needs no record. */
    assert_true(begin(&t, PLAIN, NULL, NULL, &err));
    t.record.have = "/";
    assert_true(go(&t, &err));
    assert_string_equal(t.record.environment, "");
    end(&t);

    run_config(&t, PLAIN, "canary:error");
    assert_int_equal(t.record.readings, 2);
    assert_int_equal(t.summary.by_status[CELL_OK], 10);
    end(&t);
}

/* A driver that crashes in its canary costs no cell. */
static void test_a_canary_that_crashes(void **state)
{
    (void)state;
    struct session_of_test t;
    run_config(&t, PLAIN, "canary:crash");
    assert_string_equal(t.record.environment, "");
    assert_int_equal(t.summary.by_status[CELL_OK], 10);
    assert_int_equal(t.summary.restarts, 1);
    assert_non_null(strstr(t.record.notes, "did not survive the canary"));
    end(&t);
}

static const char *first_note(const struct session_of_test *t)
{
    size_t count;
    const char *const *notes = runner_notes(t->runner, &count);
    return count > 0 ? notes[0] : "";
}

/* What a device could be told of itself does not cost its cells. */
static void test_tuning(void **state)
{
    static const char *const faults[][2] = {{"tune:print", "tuned Fake GPU 0"},
                                            {"tune:error", "Fake GPU 0 is used as it is: clFake"},
                                            {"tune:crash", "ocl:0:0 did not survive the probe of its tiles"}};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct session_of_test t;
        tunes = i < 3;
        run_config(&t, PLAIN, faults[i < 3 ? i : 2][0]);
        size_t count;
        const struct device_info *devices = runner_devices(t.runner, &count);
        assert_int_equal(t.summary.by_status[CELL_OK], 10);
        assert_non_null(strstr(first_note(&t), i < 3 ? faults[i][1] : ""));
        assert_true(i < 3 || first_note(&t)[0] == '\0');
        assert_int_equal(count, 2);
        assert_string_equal(devices[1].tiles, i < 2 ? "of glass" : "");
        end(&t);
    }
    tunes = true;
}

static void test_going_on(void **state)
{
    (void)state;
    struct session_of_test t;
    struct err err = ERR_INIT;
    assert_true(begin(&t, PLAIN, NULL, NULL, &err));
    t.record.have = "gpu";
    assert_true(go(&t, &err));
    assert_int_equal(t.summary.already_there, 5);
    assert_int_equal(t.summary.by_status[CELL_OK], 5);
    assert_int_equal(t.record.cells[cell_at(&t, "gpu", 3)].times, 0);
    end(&t);
}

static void test_a_full_disk_ends_the_run(void **state)
{
    (void)state;
    struct session_of_test t;
    struct err err = ERR_INIT;
    assert_true(begin(&t, PLAIN, NULL, NULL, &err));
    t.record.disk_full = true;
    assert_false(go(&t, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_int_equal(err.native, ENOSPC);
    assert_int_equal(t.record.seen, 1);
    err_fini(&err);
    end(&t);
}

static void test_selectors(void **state)
{
    (void)state;
    struct session_of_test t;
    struct err err = ERR_INIT;
    assert_true(begin(&t, PLAIN, NULL, "ocl:0:1", &err));
    size_t count;
    const struct device_info *devices = runner_devices(t.runner, &count);
    assert_int_equal(count, 1);
    assert_string_equal(devices[0].selector, "ocl:0:1");
    assert_int_equal(t.record.grid->cell_count, 5);
    end(&t);
    assert_true(begin(&t, PLAIN, NULL, "gpu", &err));
    devices = runner_devices(t.runner, &count);
    assert_int_equal(count, 2);
    assert_int_equal(t.record.grid->cell_count, 10);
    end(&t);
    assert_false(begin(&t, PLAIN, NULL, "radeon", &err));
    assert_int_equal(err.code, ERR_NO_DEVICE);
    assert_string_equal(err.text,
                        "no device matches \"radeon\"; there are: openmp (Fake CPU 0), ocl:0:0 (Fake GPU 0), "
                        "ocl:0:1 (Fake GPU 1)");
    err_fini(&err);
    end(&t);
}

static void test_footprints(void **state)
{
    (void)state;
    struct session_of_test t;
    struct err err = ERR_INIT;
    struct runner_footprint needs[10];
    assert_true(begin(&t, PLAIN, "footprint:limit:3", NULL, &err));
    assert_true(runner_footprints(t.runner, needs, &err));
    const struct runner_footprint *fits = &needs[cell_at(&t, "gpu", 2)], *not = &needs[cell_at(&t, "gpu", 3)];
    assert_true(fits->fits);
    assert_int_equal(fits->bytes.device_bytes, 1000);
    assert_int_equal(fits->bytes.split, 1);
    assert_false(not ->fits);
    assert_string_equal(not ->reason, "needs 4 GB, there is 1 GB");
    end(&t);
}

static void test_listing(void **state)
{
    (void)state;
    const struct runner_options options = {.worker_argv = worker_argv()};
    struct err err = ERR_INIT;
    struct device_info *devices = NULL;
    size_t count;
    char *note;
    unsetenv("FAKE_FAULT");
    assert_true(runner_list_devices(&options, &devices, &count, &note, &err));
    assert_int_equal(count, 3);
    assert_null(note);
    free(devices);
    setenv("FAKE_FAULT", "list:error", 1);
    assert_true(runner_list_devices(&options, &devices, &count, &note, &err));
    assert_int_equal(count, 1);
    assert_string_equal(note, "clFake on fake failed: CL_OUT_OF_RESOURCES (-5)");
    free(devices);
    free(note);
}

static void test_other_modes(void **state)
{
    (void)state;
    struct session_of_test t;
    run_config(
        &t,
        "{\"version\": 1, \"name\": \"t\", \"mode\": \"forward\", \"axes\": {\"size\": [\"8x8\"], "
        "\"triangles\": [0, 3], "
        "\"batch\": [0, 2]}, \"backends\": [{\"name\": \"gpu\", \"backend\": \"opencl\"}],"
        "\"measure\": {\"min_samples\": 2, \"max_samples\": 4, \"max_seconds\": 0.02}, \"tables\": []}",
        NULL);
    assert_int_equal(t.summary.by_status[CELL_OK], 4);
    assert_false(t.record.cells[0].last.has_ci);
    end(&t);
    run_config(
        &t,
        "{\"version\": 1, \"name\": \"t\", \"upstream\": true, \"axes\": {\"size\": [\"8x8\"], "
        "\"triangles\": [3]},"
        "\"backends\": [{\"name\": \"gpu\", \"backend\": \"opencl\"}],"
        "\"measure\": {\"min_samples\": 6, \"max_samples\": 6, \"max_seconds\": 0.02}, \"tables\": []}",
        NULL);
    assert_int_equal(t.summary.by_status[CELL_OK], 1);
    end(&t);
    run_config(
        &t,
        "{\"version\": 1, \"name\": \"t\", \"axes\": {\"size\": [\"8x8\"], \"triangles\": [3]},"
        "\"target\": {\"kind\": \"scene\", \"seed\": 4},"
        "\"backends\": [{\"name\": \"gpu\", \"backend\": \"opencl\"}],"
        "\"measure\": {\"min_samples\": 6, \"max_samples\": 6, \"max_seconds\": 0.02}, \"tables\": []}",
        NULL);
    assert_int_equal(t.summary.by_status[CELL_OK], 1);
    end(&t);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return be_worker(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_well),
        cmocka_unit_test(test_the_machine_is_recorded),
        cmocka_unit_test(test_a_canary_that_crashes),
        cmocka_unit_test(test_tuning),
        cmocka_unit_test(test_going_on),
        cmocka_unit_test(test_a_full_disk_ends_the_run),
        cmocka_unit_test(test_selectors),
        cmocka_unit_test(test_footprints),
        cmocka_unit_test(test_listing),
        cmocka_unit_test(test_other_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
