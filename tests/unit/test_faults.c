/* What becomes of the cells when a driver crashes, hangs, fails or is wrong, and when somebody stops the run.
 */
#include "unit/runner_check.h"

static void test_a_crash_is_a_row(void **state)
{
    (void)state;
    struct session_of_test t;
    run_config(&t, PLAIN, "call:crash:4");
    assert_int_equal(t.summary.by_status[CELL_OK], 9);
    assert_int_equal(t.summary.restarts, 1);
    expect(&t, "gpu", 4, CELL_FAILED, "the worker ended (SIGSEGV) while verifying");
    expect(&t, "cpu", 4, CELL_OK, "");
    expect(&t, "gpu", 6, CELL_OK, "");
    end(&t);
}

static void test_a_crash_at_the_end_starts_no_worker(void **state)
{
    (void)state;
    struct session_of_test t;
    run_config(&t, PLAIN, "phased:quit:6");
    expect(&t, "gpu", 6, CELL_FAILED, "the worker ended (exit code 3) while profiling");
    assert_int_equal(t.summary.restarts, 0);
    end(&t);
}

static void test_killed_for_memory(void **state)
{
    (void)state;
    struct session_of_test t;
    run_config(&t, PLAIN, "open:kill:2");
    expect(&t, "gpu", 2, CELL_FAILED,
           "the worker ended (SIGKILL) while building, perhaps for want of memory");
    end(&t);
}

static void test_a_hang_is_a_row(void **state)
{
    (void)state;
    struct session_of_test t;
    run_config(&t, CONFIG("\"triangles\": [2, 3], \"batch\": [1]", "0.3"), "call:hang:2");
    expect(&t, "gpu", 2, CELL_TIMEOUT, "over its 0.3 s while verifying; the worker was ended");
    expect(&t, "gpu", 3, CELL_OK, "");
    expect(&t, "cpu", 2, CELL_OK, "");
    end(&t);
}

/* The point's other cell has used most of its time as the worker crashes, and all of it anew in the next one. */
static void test_a_cell_that_is_measured_again_has_its_whole_time(void **state)
{
    static const char config[] =
        "{\"version\": 1, \"name\": \"t\", \"axes\": {\"size\": [8], \"triangles\": [2], \"batch\": [1]},"
        "\"backends\": [{\"name\": \"gpu\", \"backend\": \"opencl\"}, {\"name\": \"cpu\", \"backend\": \"openmp\"}],"
        "\"measure\": {\"warmup\": 1, \"min_samples\": 6, \"max_samples\": 6, \"max_seconds\": 0.02,"
        "\"timeout_seconds\": 3}, \"tables\": []}";
    struct session_of_test t;

    (void)state;
    setenv("FAKE_SLOW_NS", "185000000", 1);
    run_config(&t, config, "phased:crash");
    unsetenv("FAKE_SLOW_NS");
    expect(&t, "gpu", 2, CELL_FAILED, "the worker ended (SIGSEGV) while profiling");
    expect(&t, "cpu", 2, CELL_OK, "");
    end(&t);
}

static void test_a_device_is_given_up(void **state)
{
    (void)state;
    struct session_of_test t;
    run_config(&t, PLAIN, "open:crash");
    assert_int_equal(t.summary.by_status[CELL_FAILED], RUNNER_GIVE_UP);
    assert_int_equal(t.summary.by_status[CELL_SKIPPED], 2);
    assert_int_equal(t.summary.by_status[CELL_OK], 5);
    expect(&t, "gpu", 6, CELL_SKIPPED, "ocl:0:0 is given up: 3 of its cells in a row crashed or did not end");
    assert_non_null(strstr(t.record.notes, "ocl:0:0 is given up"));
    end(&t);
}

static void test_errors_are_rows(void **state)
{
    (void)state;
    struct session_of_test t;
    run_config(&t, PLAIN, "open:error:3");
    expect(&t, "gpu", 3, CELL_FAILED, "clFake on fake failed: CL_OUT_OF_RESOURCES (-5)");
    assert_int_equal(t.summary.restarts, 0);
    end(&t);
    run_config(&t, PLAIN, "footprint:limit:3");
    expect(&t, "gpu", 3, CELL_SKIPPED, "needs 4 GB, there is 1 GB");
    assert_int_equal(t.summary.by_status[CELL_OK], 9);
    end(&t);
    run_config(&t, PLAIN, "footprint:huge:3");
    const size_t huge = cell_at(&t, "gpu", 3);
    assert_int_equal(t.record.cells[huge].status, CELL_SKIPPED);
    assert_memory_equal(t.record.cells[huge].reason, "needs 1.15 EB of host memory; a cell may take ", 46);
    end(&t);
    run_config(&t, PLAIN, "create:error");
    expect(&t, "gpu", 3, CELL_FAILED, "clFake on fake failed: CL_OUT_OF_RESOURCES (-5)");
    assert_int_equal(t.summary.by_status[CELL_OK], 5);
    end(&t);
}

static void test_wrong_results_are_not_timed(void **state)
{
    (void)state;
    struct session_of_test t;
    run_config(&t, PLAIN, "call:wrong:3");
    const size_t wrong = cell_at(&t, "gpu", 3);
    assert_int_equal(t.record.cells[wrong].status, CELL_WRONG);
    assert_non_null(strstr(t.record.cells[wrong].reason, "scene 0: colour off by "));
    assert_int_equal(t.record.cells[wrong].samples, 0);
    assert_int_equal(t.summary.by_status[CELL_OK], 9);
    end(&t);
    run_config(&t, PLAIN, "call:lazy:3");
    assert_int_equal(t.record.cells[wrong].status, CELL_WRONG);
    assert_non_null(strstr(t.record.cells[wrong].reason, "scene 0: element 0 of the "));
    end(&t);
    /* Right when verified, wrong later: the last output is looked at again. */
    run_config(&t, PLAIN, "call:late:3");
    assert_int_equal(t.record.cells[wrong].status, CELL_WRONG);
    assert_int_equal(t.record.cells[wrong].samples, 0);
    end(&t);
}

static void test_a_pool_that_misses_fails(void **state)
{
    (void)state;
    struct session_of_test t;
    run_config(&t, PLAIN, "call:miss:5");
    const size_t i = cell_at(&t, "gpu", 5);
    assert_int_equal(t.record.cells[i].status, CELL_FAILED);
    assert_non_null(strstr(t.record.cells[i].reason, "the buffer pool missed 1 times"));
    end(&t);
}

static void test_garbage_device_times_are_not_shown(void **state)
{
    (void)state;
    struct session_of_test t;
    run_config(&t, PLAIN, "profiled:garbage:5");
    expect(&t, "gpu", 5, CELL_OK, "");
    assert_false(t.record.cells[cell_at(&t, "gpu", 5)].last.has_device_time);
    assert_non_null(strstr(t.record.notes, "no device time: its events took longer than the whole call"));
    end(&t);
}

static void test_a_driver_that_crashes_when_asked_costs_its_devices(void **state)
{
    (void)state;
    struct session_of_test t;
    size_t count;
    run_config(&t, PLAIN, "list:crash");
    const char *const *notes = runner_notes(t.runner, &count);
    assert_int_equal(count, 2);
    assert_string_equal(
        notes[0], "opencl devices are left out: the worker ended while listing opencl devices (SIGSEGV)");
    assert_non_null(strstr(notes[1], "backend \"gpu\" is left out: there is no OpenCL device"));
    assert_int_equal(t.summary.by_status[CELL_OK], 5);
    end(&t);
    run_config(&t, PLAIN, "create:crash");
    expect(&t, "gpu", 3, CELL_FAILED, "the worker ended while opening ocl:0:0 (SIGSEGV)");
    assert_int_equal(t.summary.by_status[CELL_OK], 5);
    end(&t);
}

static void test_a_driver_that_prints_does_not_disturb(void **state)
{
    (void)state;
    struct session_of_test t;
    run_config(&t, PLAIN, "list:print");
    assert_int_equal(t.summary.by_status[CELL_OK], 10);
    end(&t);
}

static void test_stopping(void **state)
{
    (void)state;
    struct session_of_test t;
    struct err err = ERR_INIT;
    assert_true(begin(&t, PLAIN, NULL, NULL, &err));
    t.record.stop_after = 3;
    uint64_t start = clock_now_ns();
    assert_true(go(&t, &err));
    assert_true(clock_now_ns() - start < UINT64_C(4000000000));
    assert_true(t.summary.interrupted);
    /* The first point and one cell of the second; what was in progress is said to be interrupted. */
    assert_true(t.summary.by_status[CELL_OK] >= 3);
    assert_true(t.summary.by_status[CELL_OK] + t.summary.by_status[CELL_INTERRUPTED] == 4);
    end(&t);
}

static void test_stopping_a_worker_that_hangs(void **state)
{
    (void)state;
    struct session_of_test t;
    struct err err = ERR_INIT;
    assert_true(begin(&t, PLAIN, "call:hang:3", NULL, &err));
    t.record.stop_at = "gpu/8x8/t3";
    uint64_t start = clock_now_ns();
    assert_true(go(&t, &err));
    assert_true(clock_now_ns() - start < UINT64_C(4000000000));
    assert_true(t.summary.interrupted);
    expect(&t, "gpu", 3, CELL_INTERRUPTED, "interrupted");
    end(&t);
}

static void test_a_worker_does_not_outlive_its_parent(void **state)
{
    (void)state;
    int said[2], status = 0;
    char byte;
    assert_int_equal(pipe(said), 0);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    pid_t parent = fork();
    if (parent == 0) {
        struct session_of_test t;
        struct err err = ERR_INIT;
        if (begin(&t, PLAIN, "call:hang", NULL, &err) && write(said[1], "", 1) == 1)
            (void)!go(&t, &err);
        _exit(0);
    }
    close(said[1]);
    assert_int_equal(read(said[0], &byte, 1), 1);
    clock_sleep_ns(100000000);
    kill(parent, SIGKILL);
    assert_int_equal(waitpid(parent, &status, 0), parent);
    const uint64_t start = clock_now_ns();
    pid_t worker = 0;
    while (worker == 0 && clock_now_ns() - start < UINT64_C(5000000000)) {
        clock_sleep_ns(10000000);
        worker = waitpid(-1, &status, WNOHANG);
    }
    assert_true(worker > 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(said[0]);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return be_worker(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_crash_is_a_row),
        cmocka_unit_test(test_a_crash_at_the_end_starts_no_worker),
        cmocka_unit_test(test_killed_for_memory),
        cmocka_unit_test(test_a_hang_is_a_row),
        cmocka_unit_test(test_a_cell_that_is_measured_again_has_its_whole_time),
        cmocka_unit_test(test_a_device_is_given_up),
        cmocka_unit_test(test_errors_are_rows),
        cmocka_unit_test(test_wrong_results_are_not_timed),
        cmocka_unit_test(test_a_pool_that_misses_fails),
        cmocka_unit_test(test_garbage_device_times_are_not_shown),
        cmocka_unit_test(test_a_driver_that_crashes_when_asked_costs_its_devices),
        cmocka_unit_test(test_a_driver_that_prints_does_not_disturb),
        cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_stopping_a_worker_that_hangs),
        cmocka_unit_test(test_a_worker_does_not_outlive_its_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
