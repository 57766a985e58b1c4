/* A run from the parent's side, over a worker that is this program with a fake backend: what becomes of cells
 * when things go well, and when they go wrong. */
#include "unit/check.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "bench/runner.h"
#include "unit/fake_backend.h"

#define CONFIG(axes, timeout)                                                                                \
    "{\"version\": 1, \"name\": \"t\", \"axes\": {\"size\": [8], " axes "},"                                 \
    "\"backends\": [{\"name\": \"cpu\", \"backend\": \"openmp\"}, {\"name\": \"gpu\", \"backend\": "         \
    "\"opencl\"}],"                                                                                          \
    "\"measure\": {\"warmup\": 1, \"min_samples\": 6, \"max_samples\": 6, \"target_ci\": 0.5, "              \
    "\"max_seconds\": 0.02,"                                                                                 \
    "\"timeout_seconds\": " timeout "}, \"tables\": []}"

#define PLAIN CONFIG("\"triangles\": [2, 3, 4, 5, 6], \"batch\": [2]", "20")

static const char *const worker_argv[] = {"/proc/self/exe", "worker", NULL};

struct record {
    const struct grid *grid;
    struct {
        enum cell_status status;
        char reason[300];
        size_t samples;
        unsigned times;
        struct cell last; /* figures only; what it owns is gone */
    } cells[64];
    char notes[4096];
    const char *have;    /* part of the ids that are there already */
    size_t stop_after;   /* cells; 0: never */
    const char *stop_at; /* part of the id of a cell that is begun */
    size_t seen;
    bool disk_full;
};

static volatile sig_atomic_t stop;

static bool on_cell(void *context, size_t index, const struct cell *cell, struct err *err)
{
    struct record *r = context;
    assert_string_equal(cell->id, r->grid->cells[index].id);
    r->cells[index].status = cell->status;
    snprintf(r->cells[index].reason, sizeof r->cells[index].reason, "%s",
             cell->reason != NULL ? cell->reason : "");
    r->cells[index].samples = cell->sample_count;
    r->cells[index].last = *cell;
    r->cells[index].times++;
    if (++r->seen == r->stop_after)
        stop = 1;
    return !r->disk_full || err_set_native(err, ERR_IO, ENOSPC, "out.json.partial cannot be written");
}

static bool on_have(void *context, size_t index, const char *id)
{
    const struct record *r = context;
    (void)index;
    return r->have != NULL && strstr(id, r->have) != NULL;
}

static void on_stage(void *context, size_t done, size_t total, size_t index, const char *what,
                     const char *stage)
{
    const struct record *r = context;
    if (r->stop_at != NULL && index != SIZE_MAX && strstr(what, r->stop_at) != NULL)
        stop = 1;
    assert_true(done < total);
    assert_true(index == SIZE_MAX || index < total);
    assert_non_null(strstr(what, "8x8"));
    assert_true(stage[0] != '\0');
}

static void on_note(void *context, const char *text)
{
    struct record *r = context;
    strncat(r->notes, text, sizeof r->notes - strlen(r->notes) - 2);
    strcat(r->notes, "\n");
}

struct session_of_test {
    struct config config;
    struct runner *runner;
    struct record record;
    struct runner_summary summary;
};

static bool begin(struct session_of_test *t, const char *config, const char *fault, const char *device,
                  struct err *err)
{
    *t = (struct session_of_test){0};
    stop = 0;
    if (fault != NULL)
        setenv("FAKE_FAULT", fault, 1);
    else
        unsetenv("FAKE_FAULT");
    struct json *json = json_parse(config, strlen(config), "test", err);
    assert_non_null(json);
    assert_true(config_from_json(json, "test.json", &t->config, err));
    json_free(json);
    const struct runner_options options = {.config = &t->config,
                                           .selectors = &device,
                                           .selector_count = device != NULL,
                                           .stop = &stop,
                                           .worker_argv = worker_argv};
    if (!runner_create(&options, &t->runner, err))
        return false;
    t->record.grid = runner_grid(t->runner);
    return true;
}

static bool go(struct session_of_test *t, struct err *err)
{
    const struct runner_sink sink = {&t->record, on_cell, on_have, on_stage, on_note};
    return runner_run(t->runner, &sink, &t->summary, err);
}

/* Nothing is left behind: no worker, and no zombie. */
static void end(struct session_of_test *t)
{
    runner_destroy(t->runner);
    config_fini(&t->config);
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void run_config(struct session_of_test *t, const char *config, const char *fault)
{
    struct err err = ERR_INIT;
    assert_true(begin(t, config, fault, NULL, &err));
    bool ok = go(t, &err);
    if (!ok)
        print_error("%s\n", err.text);
    assert_true(ok);
    for (size_t i = 0; i < t->record.grid->cell_count && !t->summary.interrupted; i++)
        assert_int_equal(t->record.cells[i].times, 1);
}

/* The cell of a backend at a number of triangles. */
static size_t cell_at(const struct session_of_test *t, const char *backend, unsigned triangles)
{
    char part[32];
    snprintf(part, sizeof part, "/t%u/", triangles);
    for (size_t i = 0; i < t->record.grid->cell_count; i++) {
        const char *id = t->record.grid->cells[i].id;
        if (strncmp(id, backend, strlen(backend)) == 0 && strstr(id, part) != NULL)
            return i;
    }
    fail_msg("there is no such cell");
    return 0;
}

static void expect(const struct session_of_test *t, const char *backend, unsigned triangles,
                   enum cell_status status, const char *reason)
{
    size_t i = cell_at(t, backend, triangles);
    assert_string_equal(t->record.cells[i].reason, reason);
    assert_int_equal(t->record.cells[i].status, status);
}

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
    assert_non_null(strstr(notes[1], "backend \"gpu\" is left out: there is no opencl device"));
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

/* The run goes on in a process of its own, which is killed; the worker, which hangs, comes to this one. */
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
    close(said[1]);
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
    const struct runner_options options = {.worker_argv = worker_argv};
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
    if (argc == 3 && strcmp(argv[1], "worker") == 0)
        return worker_main(atoi(argv[2]), atoi(strchr(argv[2], ',') + 1), fake_factories, 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_well),
        cmocka_unit_test(test_a_crash_is_a_row),
        cmocka_unit_test(test_a_crash_at_the_end_starts_no_worker),
        cmocka_unit_test(test_killed_for_memory),
        cmocka_unit_test(test_a_hang_is_a_row),
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
        cmocka_unit_test(test_going_on),
        cmocka_unit_test(test_a_full_disk_ends_the_run),
        cmocka_unit_test(test_selectors),
        cmocka_unit_test(test_footprints),
        cmocka_unit_test(test_listing),
        cmocka_unit_test(test_other_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
