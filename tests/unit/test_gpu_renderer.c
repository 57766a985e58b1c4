/* What must hold on every path of the OpenCL renderer, beside the golden cases. */
#include "unit/gpu_fixture.h"

#include "base/mem.h"
#include "base/units.h"

static void check_job(struct renderer *r, const struct render_spec *spec)
{
    struct render_job *job = open_job(r, spec);
    char what[128];

    fill_job(job, 11);
    call_job(job);
    snprintf(what, sizeof(what), "%ux%u T=%u B=%u on %s", (unsigned)spec->width, (unsigned)spec->height,
             (unsigned)spec->triangles, (unsigned)spec->batch, r->info.path);
    for (uint32_t b = 0; b < spec->batch; b++)
        check_scene(job, b, what);
    r->ops->close(job);
}

static void test_sizes(void **state)
{
    static const uint32_t sizes[][4] = {{1, 1, 3, 1},   {37, 19, 33, 2},  {300, 7, 40, 1}, {7, 300, 40, 1},
                                        {16, 16, 0, 2}, {33, 17, 300, 1}, {64, 64, 32, 3}};
    (void)state;
    FOR_PATHS(r)
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct render_spec spec = small_spec(sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3]);
        check_job(r, &spec);
        if (builds_slowly(r))
            continue;
        spec.upstream = true;
        check_job(r, &spec);
        spec.upstream = false;
        spec.mode = MODE_FORWARD;
        check_job(r, &spec);
    }
}

/* More triangles on one tile than a team's list has room for: they are walked in parts. */
static void test_long_lists(void **state)
{
    (void)state;
    FOR_PATHS(r)
    {
        struct render_spec spec = small_spec(16, 16, 2100, 1);
        spec.sigma = 0.1f;
        check_job(r, &spec);
        if (builds_slowly(r))
            continue;
        spec.strategy = STRATEGY_TAPED;
        check_job(r, &spec);
    }
}

static void test_not_finite(void **state)
{
    (void)state;
    FOR_PATHS(r)
    check_not_finite(r);
}

static void test_empty_batch(void **state)
{
    (void)state;
    FOR_PATHS(r)
    {
        struct render_spec spec = small_spec(32, 32, 8, 0);
        struct render_job *job = open_job(r, &spec);
        struct render_counts counts;
        fill_job(job, 11);
        call_job(job);
        r->ops->counts(job, &counts);
        assert_int_equal(counts.dispatches, 0);
        r->ops->close(job);
    }
}

static void test_batch_equals_single(void **state)
{
    (void)state;
    FOR_PATHS(r)
    {
        struct render_spec spec = small_spec(50, 41, 40, 4);
        const size_t grads = (size_t)spec.triangles * SCENE_STRIDE;
        struct render_job *batch = open_job(r, &spec);
        fill_job(batch, 5);
        call_job(batch);
        spec.dispatch = DISPATCH_SINGLE;
        struct render_job *singles = open_job(r, &spec);
        fill_job(singles, 5);
        call_job(singles);
        assert_memory_equal(batch->io.grads, singles->io.grads, 4 * grads * sizeof(float));
        assert_memory_equal(batch->io.loss, singles->io.loss, 4 * sizeof(double));
        assert_memory_equal(batch->io.image, singles->io.image, 4 * 50 * 41 * 12);
        r->ops->close(singles);
        /* A scene alone is what it is among others. */
        spec.batch = 1;
        struct render_job *alone = open_job(r, &spec);
        memcpy(alone->io.params, batch->io.params + 2 * grads, grads * sizeof(float));
        memcpy(alone->io.background, batch->io.background, 3 * sizeof(float));
        memcpy(alone->io.target, batch->io.target, 50 * 41 * 12);
        struct err err = ERR_INIT;
        expect_ok(r->ops->inputs_changed(alone, &err), &err, "inputs_changed");
        call_job(alone);
        assert_memory_equal(batch->io.grads + 2 * grads, alone->io.grads, grads * sizeof(float));
        r->ops->close(alone);
        r->ops->close(batch);
    }
}

static void test_repeats_are_identical(void **state)
{
    (void)state;
    FOR_PATHS(r)
    {
        struct render_spec spec = small_spec(64, 64, 60, 2);
        const size_t values = 2 * (size_t)spec.triangles * SCENE_STRIDE;
        struct render_job *job = open_job(r, &spec);
        struct render_counts counts;
        struct err err = ERR_INIT;
        float *first = malloc(values * sizeof(float));
        double losses[2];
        assert_non_null(first);
        fill_job(job, 3);
        call_job(job);
        memcpy(first, job->io.grads, values * sizeof(float));
        memcpy(losses, job->io.loss, sizeof(losses));
        for (int i = 0; i < 100; i++) {
            mem_poison(job->io.grads, values * sizeof(float));
            expect_ok(r->ops->call(job, &err), &err, "call");
            assert_memory_equal(first, job->io.grads, values * sizeof(float));
            assert_memory_equal(losses, job->io.loss, sizeof(losses));
            r->ops->counts(job, &counts);
            assert_int_equal(counts.pool_misses, 0);
            assert_true(counts.pool_hits > 0);
        }
        free(first);
        r->ops->close(job);
    }
}

/* Every way to the gradient that the options allow. */
static void test_options_agree(void **state)
{
    (void)state;
    FOR_PATHS(r)
    for (int strategy = 0; strategy < 3 && !builds_slowly(r); strategy++)
        for (int reduction = 0; reduction < 3; reduction++)
            for (int variant = 0; variant < 6; variant++) {
                if (path_ > 0 && strategy != reduction)
                    continue; /* each builds kernels, which takes seconds */
                struct render_spec spec = small_spec(40, 24, 20, 3);
                struct err err = ERR_INIT;
                spec.strategy = (enum strategy)strategy;
                spec.reduction = (enum reduction)reduction;
                spec.keep_images = variant == 0;
                spec.loss = variant == 1 ? LOSS_HOST : LOSS_DEVICE;
                spec.images = variant == 2 ? IMAGES_ROUNDTRIP : IMAGES_DEVICE;
                spec.pool = variant != 3;
                spec.call = variant == 4 ? CALL_RESIDENT : variant == 5 ? CALL_PAGEABLE : CALL_LOADER;
                spec.dispatch = variant % 2 ? DISPATCH_SINGLE : DISPATCH_BATCHED;
                if (spec_check(&spec, BACKEND_OPENCL, &err))
                    check_job(r, &spec);
                err_fini(&err);
            }
}

static void test_pool_off_always_misses(void **state)
{
    (void)state;
    FOR_PATHS(r)
    {
        struct render_spec spec = small_spec(32, 32, 8, 1);
        struct render_counts counts;
        spec.pool = false;
        struct render_job *job = open_job(r, &spec);
        fill_job(job, 1);
        for (int i = 0; i < 3; i++) {
            call_job(job);
            r->ops->counts(job, &counts);
            assert_int_equal(counts.pool_hits, 0);
            assert_true(counts.pool_misses > 0);
            assert_int_equal(counts.pool_bytes, 0);
        }
        r->ops->close(job);
    }
}

/* Parameters that move make more partial sums than there is room for: the call notices and makes room. */
static void test_growing_triangles(void **state)
{
    (void)state;
    FOR_PATHS(r)
    {
        struct render_spec spec = small_spec(256, 256, 64, 2);
        struct render_job *job = open_job(r, &spec);
        struct render_counts counts;
        struct err err = ERR_INIT;
        fill_job(job, 9);
        for (uint32_t b = 0; b < 2; b++)
            scene_random(job->io.params + b * 64 * SCENE_STRIDE, 64, 9, b, 0.6f);
        call_job(job);
        for (uint32_t b = 0; b < 2; b++)
            check_scene(job, b, "grown");
        expect_ok(r->ops->call(job, &err), &err, "call");
        r->ops->counts(job, &counts);
        assert_int_equal(counts.pool_misses, 0);
        r->ops->close(job);
    }
}

/* They are what the tiles and bounds make them, whether or not they get places. */
static void test_partial_sums_are_counted(void **state)
{
    (void)state;
    FOR_PATHS(r)
    {
        uint64_t sums[3] = {0};
        for (int reduction = 0; reduction < 3 && !builds_slowly(r); reduction++) {
            struct render_spec spec = small_spec(40, 24, 1300, 2);
            struct render_counts counts;
            spec.reduction = (enum reduction)reduction;
            struct render_job *job = open_job(r, &spec);
            fill_job(job, 3);
            call_job(job);
            r->ops->counts(job, &counts);
            sums[reduction] = counts.partial_sums;
            r->ops->close(job);
        }
        assert_int_equal(sums[REDUCTION_ORDERED], sums[REDUCTION_LOCAL]);
        assert_int_equal(sums[REDUCTION_ORDERED], sums[REDUCTION_DIRECT]);
        assert_true(builds_slowly(r) || sums[REDUCTION_ORDERED] > 1300);
    }
}

static void test_budget_splits(void **state)
{
    (void)state;
    char selector[32];
    need_device(selector);
    struct err err = ERR_INIT;
    struct opencl_options options = {0};
    struct renderer *r = NULL;
    struct render_spec spec = small_spec(64, 64, 64, 11);
    struct render_footprint footprint;
    struct render_counts counts;
    char budget[UNITS_MAX], tape[UNITS_MAX];

    /* A third of what the batch takes on this device: a slice less at the end, as 11 is prime. */
    spec.keep_images = false;
    expect_ok(opencl_create(selector, &options, &r, &err), &err, "create");
    expect_ok(r->ops->footprint(r, &spec, &footprint, &err), &err, "footprint");
    assert_int_equal(footprint.split, 1);
    struct render_job *job = open_job(r, &spec);
    const size_t values = (size_t)spec.batch * spec.triangles * SCENE_STRIDE;
    float *whole = malloc(values * sizeof(float));
    double losses[11];
    assert_non_null(whole);
    fill_job(job, 2);
    call_job(job);
    memcpy(whole, job->io.grads, values * sizeof(float));
    memcpy(losses, job->io.loss, sizeof(losses));
    r->ops->close(job);
    r->ops->destroy(r);
    options.memory_budget_bytes = footprint.device_bytes / 3;
    units_bytes(budget, options.memory_budget_bytes);
    expect_ok(opencl_create(selector, &options, &r, &err), &err, "create");
    expect_ok(r->ops->footprint(r, &spec, &footprint, &err), &err, "footprint");
    assert_in_range(footprint.split, 2, 10);
    assert_true(footprint.device_bytes <= options.memory_budget_bytes);
    job = open_job(r, &spec);
    fill_job(job, 2);
    call_job(job);
    assert_memory_equal(whole, job->io.grads, values * sizeof(float));
    assert_memory_equal(losses, job->io.loss, sizeof(losses));
    free(whole);
    r->ops->counts(job, &counts);
    assert_in_range(counts.split, 2, 10);
    call_job(job);
    r->ops->counts(job, &counts);
    assert_int_equal(counts.pool_misses, 0);
    r->ops->close(job);

    /* A tape is refused, with both figures. */
    spec.strategy = STRATEGY_TAPED;
    assert_false(r->ops->footprint(r, &spec, &footprint, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_int_equal(footprint.split, 0);
    assert_int_equal(footprint.tape_bytes, 11ull * 12 * 64 * 64 * 64);
    units_bytes(tape, footprint.tape_bytes);
    assert_non_null(strstr(err.text, tape));
    assert_non_null(strstr(err.text, budget));
    err_fini(&err);
    r->ops->destroy(r);
}

/* What small triangles need is known with the scenes only: the guess before refuses none of them. */
static void test_many_small_triangles_are_not_refused(void **state)
{
    struct opencl_options options = {0};
    struct render_spec spec = small_spec(256, 256, 2000, 1);
    struct render_footprint footprint;
    struct renderer *r = NULL;
    struct err err = ERR_INIT;
    char selector[32];

    (void)state;
    need_device(selector);
    expect_ok(opencl_create(selector, &options, &r, &err), &err, "create");
    spec.keep_images = false;
    spec.sigma = 0.001f;
    expect_ok(r->ops->footprint(r, &spec, &footprint, &err), &err, "footprint");
    r->ops->destroy(r);
    options.memory_budget_bytes = footprint.device_bytes / 3 * 2;
    expect_ok(opencl_create(selector, &options, &r, &err), &err, "create");
    expect_ok(r->ops->footprint(r, &spec, &footprint, &err), &err, "footprint");
    assert_int_equal(footprint.split, 1);
    struct render_job *job = open_job(r, &spec);
    fill_job(job, 3);
    call_job(job);
    check_scene(job, 0, "small triangles");
    r->ops->close(job);
    spec.triangles = 200000;
    assert_false(r->ops->footprint(r, &spec, &footprint, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    err_fini(&err);
    r->ops->destroy(r);
}

static void test_phases_and_profile(void **state)
{
    (void)state;
    FOR_PATHS(r)
    {
        struct render_spec spec = small_spec(64, 64, 40, 4);
        struct render_job *job = open_job(r, &spec);
        struct render_phases phases;
        struct render_profile profile;
        struct err err = ERR_INIT;
        fill_job(job, 11);
        call_job(job);
        expect_ok(r->ops->call_phased(job, &phases, &err), &err, "call_phased");
        uint64_t sum = phases.pack_ns + phases.alloc_ns + phases.upload_ns + phases.dispatch_ns +
                       phases.readback_ns + phases.loss_ns;
        assert_true(sum <= phases.total_ns);
        assert_true(phases.dispatch_ns > 0);
        check_scene(job, 3, "phased");
        expect_ok(r->ops->call_profiled(job, &profile, &err), &err, "call_profiled");
        check_scene(job, 3, "profiled");
        assert_true(profile.valid);
        assert_int_equal(profile.kernels, 3);
        uint64_t kernels = 0;
        for (uint32_t k = 0; k < profile.kernels; k++)
            kernels += profile.kernel[k].device_ns;
        for (uint32_t k = 0; k < profile.kernels; k++)
            assert_true(profile.kernel[k].bytes > 0);
        assert_true(kernels > 0 && kernels <= profile.device_ns);
        r->ops->close(job);
    }
}

/* Order of vertices and winding do not matter, up to rounding. */
static void test_vertex_order(void **state)
{
    (void)state;
    FOR_PATHS(r)
    {
        struct render_spec spec = small_spec(48, 48, 30, 2);
        struct render_job *job = open_job(r, &spec);
        struct err err = ERR_INIT;
        fill_job(job, 4);
        float *second = job->io.params + 30 * SCENE_STRIDE;
        memcpy(second, job->io.params, 30 * SCENE_STRIDE * sizeof(float));
        for (size_t t = 0; t < 30; t++) {
            float *p = second + t * SCENE_STRIDE, v0[2] = {p[0], p[1]};
            memcpy(p, p + 4, sizeof(v0));
            memcpy(p + 4, v0, sizeof(v0));
        }
        expect_ok(r->ops->inputs_changed(job, &err), &err, "inputs_changed");
        call_job(job);
        for (size_t i = 0; i < 48 * 48 * 3; i++)
            assert_true(fabsf(job->io.image[i] - job->io.image[48 * 48 * 3 + i]) < 2e-6f);
        for (size_t t = 0; t < 30; t++)
            for (size_t v = 6; v < 10; v++)
                assert_true(fabsf(job->io.grads[t * 10 + v] - job->io.grads[300 + t * 10 + v]) < 1e-6f);
        r->ops->close(job);
    }
}

static void test_workgroup(void **state)
{
    static const uint32_t groups[] = {1, 16, 128};
    (void)state;
    FOR_PATHS(r)
    for (size_t i = 0; i < COUNT(groups) && !builds_slowly(r); i++) {
        struct render_spec spec = small_spec(50, 33, 20, 1);
        struct render_footprint footprint;
        struct err err = ERR_INIT;
        spec.workgroup = groups[i];
        if (r->ops->footprint(r, &spec, &footprint, &err))
            check_job(r, &spec);
        else
            assert_int_equal(err.code, ERR_UNSUPPORTED);
        err_fini(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_empty_batch),
        cmocka_unit_test(test_batch_equals_single),
        cmocka_unit_test(test_repeats_are_identical),
        cmocka_unit_test(test_options_agree),
        cmocka_unit_test(test_pool_off_always_misses),
        cmocka_unit_test(test_growing_triangles),
        cmocka_unit_test(test_partial_sums_are_counted),
        cmocka_unit_test(test_budget_splits),
        cmocka_unit_test(test_many_small_triangles_are_not_refused),
        cmocka_unit_test(test_phases_and_profile),
        cmocka_unit_test(test_vertex_order),
        cmocka_unit_test(test_workgroup),
    };

    return cmocka_run_group_tests_name("OpenCL renderer", tests, NULL, NULL);
}
