/* A cell's time: what is left out of a measurement when it is used up. The clock is the renderer's own. */
#include "unit/check.h"

#include "bench/measure.h"
#include "unit/fake_backend.h"

struct slow {
    struct renderer base;
    uint64_t now_ns, call_ns;
};

static bool slow_call(struct render_job *job, struct err *err)
{
    struct slow *slow = (struct slow *)(void *)job->renderer;

    slow->now_ns += slow->call_ns;
    return fake_call(job, err);
}

static bool slow_phased(struct render_job *job, struct render_phases *out, struct err *err)
{
    *out = (struct render_phases){.dispatch_ns = 24, .total_ns = 25};
    return slow_call(job, err);
}

static bool slow_profiled(struct render_job *job, struct render_profile *out, struct err *err)
{
    *out = (struct render_profile){.device_ns = 7, .valid = true};
    return slow_call(job, err);
}

static uint64_t slow_now(void *context)
{
    return ((struct slow *)context)->now_ns;
}

static void slow_sleep(void *context, uint64_t ns)
{
    ((struct slow *)context)->now_ns += ns;
}

struct outcome {
    enum cell_status status;
    size_t samples;
    bool has_phases, has_device_time;
    char reason[200], notes[600];
};

static void on_stage(void *context, size_t cell, const char *stage)
{
    (void)context;
    (void)cell;
    (void)stage;
}

static bool on_cell(void *context, size_t index, const struct cell *cell, struct err *err)
{
    struct outcome *o = context;

    (void)index;
    (void)err;
    o->status = cell->status;
    o->samples = cell->sample_count;
    o->has_phases = cell->has_phases;
    o->has_device_time = cell->has_device_time;
    snprintf(o->reason, sizeof o->reason, "%s", cell->reason ? cell->reason : "");
    return true;
}

static void on_note(void *context, const char *text)
{
    struct outcome *o = context;

    strncat(o->notes, text, sizeof o->notes - strlen(o->notes) - 2);
    strcat(o->notes, "\n");
}

/* Measures the one cell of a config of six samples in 60 s, with calls that take so long. */
static struct outcome measure(uint64_t call_ns)
{
    static const char text[] =
        "{\"version\": 1, \"name\": \"t\", \"axes\": {\"size\": [8], \"triangles\": [2], \"batch\": [1]},"
        "\"backends\": [{\"name\": \"gpu\", \"backend\": \"opencl\"}],"
        "\"measure\": {\"warmup\": 1, \"min_samples\": 6, \"max_samples\": 6, \"timeout_seconds\": 60}, "
        "\"tables\": []}";
    struct renderer_ops ops = fake_ops;
    struct slow slow = {.base = {.ops = &ops, .info = fake_device(BACKEND_OPENCL, 0)}, .call_ns = call_ns};
    const struct sample_clock clock = {&slow, slow_now, slow_sleep, NULL};
    struct renderer *renderer = &slow.base;
    const size_t device = 0, cell = 0;
    const char *selector = "ocl:0:0";
    struct outcome out = {0};
    struct input_files files;
    struct config config;
    struct grid grid;
    struct err err = ERR_INIT;
    struct json *json = json_parse(text, strlen(text), "test", &err);

    ops.call = slow_call;
    ops.call_phased = slow_phased;
    ops.call_profiled = slow_profiled;
    unsetenv("FAKE_FAULT");
    assert_true(config_from_json(json, "t.json", &config, &err));
    json_free(json);
    assert_true(input_files_load(&config, &files, &err));
    assert_true(grid_build(&config, &(struct grid_devices){&device, &selector, 1}, &grid, &err));
    const struct measure_request request = {.config = &config,
                                            .files = &files,
                                            .grid = &grid,
                                            .cells = &cell,
                                            .cell_count = 1,
                                            .renderers = &renderer,
                                            .devices = &slow.base.info,
                                            .clock = &clock};
    assert_true(measure_point(&request, &(struct measure_sink){&out, on_stage, on_cell, on_note}, &err));
    grid_fini(&grid);
    input_files_fini(&files);
    config_fini(&config);
    return out;
}

static void test_all_in_time(void **state)
{
    struct outcome o = measure(1000000);

    (void)state;
    assert_int_equal(o.status, CELL_OK);
    assert_true(o.samples == 6 && o.has_phases && o.has_device_time);
    assert_string_equal(o.notes, "");
}

/* Two calls that are checked, six samples and their warm-ups are 11 calls: of 60 s nothing is left for more.
 */
static void test_samples_take_all(void **state)
{
    struct outcome o = measure(4900000000);

    (void)state;
    assert_int_equal(o.status, CELL_OK);
    assert_true(o.samples == 6 && !o.has_phases && !o.has_device_time);
    assert_non_null(
        strstr(o.notes, "gpu/8x8/t2/b1: no phases: samples took its 60 s (measure.timeout_seconds)\n"));
    assert_non_null(strstr(o.notes, "gpu/8x8/t2/b1: no device time: samples took its 60 s"));
    /* Two calls more would just end in time, were they no slower. */
    o = measure(4300000000);
    assert_int_equal(o.status, CELL_OK);
    assert_true(o.samples == 6 && !o.has_phases && !o.has_device_time);
}

static void test_too_few_samples(void **state)
{
    struct outcome o = measure(9000000000);

    (void)state;
    assert_int_equal(o.status, CELL_TIMEOUT);
    assert_true(o.samples > 0 && o.samples < 6);
    assert_memory_equal(o.reason, "over its 60 s after ", 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_in_time),
        cmocka_unit_test(test_samples_take_all),
        cmocka_unit_test(test_too_few_samples),
    };

    return cmocka_run_group_tests_name("the time of a cell", tests, NULL, NULL);
}
