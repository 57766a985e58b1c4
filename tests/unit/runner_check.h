/* For tests of whole runs: a worker that is the test program itself, with the fake backend. */
#ifndef GPUBENCH_TESTS_UNIT_RUNNER_CHECK_H
#define GPUBENCH_TESTS_UNIT_RUNNER_CHECK_H

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

/* Under Valgrind /proc/self/exe is Valgrind. */
static inline const char *const *worker_argv(void)
{
    static const char *argv[] = {NULL, "worker", NULL};
    argv[0] = program_invocation_name;
    return argv;
}

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
    char environment[256]; /* when there was a record of it, in order */
    size_t readings;       /* of the canary, in the latest one */
    uint64_t elapsed_ns;
};

static volatile sig_atomic_t stop;
static bool tunes = true; /* devices, before their first run */

static inline bool on_cell(void *context, size_t index, const struct cell *cell, struct err *err)
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

static inline bool on_have(void *context, size_t index, const char *id)
{
    const struct record *r = context;
    (void)index;
    return r->have != NULL && strstr(id, r->have) != NULL;
}

static inline void on_stage(void *context, size_t done, size_t total, size_t index, const char *what,
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

static inline void on_note(void *context, const char *text)
{
    struct record *r = context;
    strncat(r->notes, text, sizeof r->notes - strlen(r->notes) - 2);
    strcat(r->notes, "\n");
}

static inline void on_environment(void *context, const struct json *environment)
{
    struct record *r = context;
    const char *when = json_string(json_get(environment, "when"));
    uint64_t elapsed;
    assert_true(json_u64(json_get(environment, "elapsed_ns"), &elapsed));
    assert_true(elapsed >= r->elapsed_ns);
    r->elapsed_ns = elapsed;
    r->readings = json_count(json_get(environment, "canary"));
    strncat(r->environment, when, sizeof r->environment - strlen(r->environment) - 2);
    strcat(r->environment, " ");
}

struct session_of_test {
    struct config config;
    struct runner *runner;
    struct record record;
    struct runner_summary summary;
};

static inline bool begin(struct session_of_test *t, const char *config, const char *fault, const char *device,
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
                                           .backend = {.tune = tunes},
                                           .stop = &stop,
                                           .worker_argv = worker_argv()};
    if (!runner_create(&options, &t->runner, err))
        return false;
    t->record.grid = runner_grid(t->runner);
    return true;
}

static inline bool go(struct session_of_test *t, struct err *err)
{
    const struct runner_sink sink = {&t->record, on_cell, on_have, on_stage, on_note, on_environment};
    return runner_run(t->runner, &sink, &t->summary, err);
}

/* Nothing is left behind: no worker, and no zombie. */
static inline void end(struct session_of_test *t)
{
    runner_destroy(t->runner);
    config_fini(&t->config);
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static inline void run_config(struct session_of_test *t, const char *config, const char *fault)
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
static inline size_t cell_at(const struct session_of_test *t, const char *backend, unsigned triangles)
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

static inline void expect(const struct session_of_test *t, const char *backend, unsigned triangles,
                          enum cell_status status, const char *reason)
{
    size_t i = cell_at(t, backend, triangles);
    assert_string_equal(t->record.cells[i].reason, reason);
    assert_int_equal(t->record.cells[i].status, status);
}

/* The program was started as a worker: "worker IN,OUT". */
static inline int be_worker(char **argv)
{
    return worker_main(atoi(argv[2]), atoi(strchr(argv[2], ',') + 1), fake_factories, 2);
}

#endif
