/* Runs and baselines made in memory, for the tests of the regression check. */
#ifndef GPUBENCH_TESTS_UNIT_REGRESS_RUNS_H
#define GPUBENCH_TESTS_UNIT_REGRESS_RUNS_H

#include "unit/made.h"

#include "bench/stats.h"
#include "report/baseline.h"
#include "report/regress.h"

#define CELLS 4

static inline void make(struct results *r, double factor)
{
    struct err err = ERR_INIT;

    made_init(r);
    for (size_t i = 0; i < CELLS; i++) {
        const uint64_t ns = (uint64_t)(1e6 * factor * (double)(i + 1));
        struct cell *c =
            made_cell(r, i % 2 ? "device" : "cpu", i % 2 ? MADE_GPU : MADE_CPU, 64, 32u << i, ns, 20);
        char id[128];
        snprintf(id, sizeof(id), "%s/64x64/t%u/b16", c->backend, c->spec.triangles);
        c->id = mem_strdup(id, &err);
        /* Unscattered, so that only processes differ. */
        for (size_t k = 0; k < c->sample_count; k++)
            c->samples_ns[k] = ns;
        c->ci95_ns[0] = c->ci95_ns[1] = ns;
        c->pairs = 1000000;
        c->counts.dispatches = 2;
        made_phases(c, ns);
    }
}

static inline void add_canary(struct results *r, double factor)
{
    struct json *record = json_add_object(json_set_array(r->head, "environment"));
    struct json *canary = json_set_array(record, "canary");
    const char *const names[] = {"cpu", "ocl:0:0"};

    for (size_t k = 0; k < 2; k++) {
        struct json *entry = json_add_object(canary);
        json_set_string(entry, "on", names[k]);
        json_set_number(entry, "arithmetic_ns", 1e6 * factor);
        json_set_number(entry, "memory_ns", 1e6);
    }
}

#define MOST_RUNS 40

/* A baseline of so many processes (multiples of five): each five differ by `step` from one to the next. */
static inline void make_baseline_of(struct results *out, size_t processes, double step)
{
    struct results runs[MOST_RUNS];
    struct err err = ERR_INIT;

    for (size_t i = 0; i < processes; i++) {
        make(&runs[i], 1 + step * ((double)(i % 5) - 2));
        add_canary(&runs[i], 1);
    }
    assert_true(baseline_make(runs, processes, processes, out, &err));
    for (size_t i = 0; i < processes; i++)
        made_fini(&runs[i]);
}

static inline void make_baseline(struct results *out, double step)
{
    make_baseline_of(out, 5, step);
}

static inline void start(struct regression *r, const struct results *baseline, const struct results *now)
{
    struct err err = ERR_INIT;
    assert_true(regress_init(r, baseline, now, JUDGE_THRESHOLD, &err));
}

static inline void again(struct regression *r, const struct results *fresh)
{
    struct err err = ERR_INIT;
    assert_true(regress_again(r, fresh, &err));
}

static inline size_t suspects(const struct regression *r)
{
    size_t count;
    regress_pending(r, &count);
    return count;
}

static inline void finish(struct regression *r)
{
    struct err err = ERR_INIT;
    assert_true(regress_finish(r, &err));
}

static inline char *text_of(const struct regression *r)
{
    struct table *tables = NULL;
    size_t count = 0;
    struct err err = ERR_INIT;

    assert_true(regress_table(r, &tables, &count, &err));
    char *text = made_text(&tables[0], 200, false);
    tables_free(tables, count);
    return text;
}

#endif
