/* Small scenes whole, in one launch (kernels/scene.cl): on NVIDIA's devices, and on CPUs, where only tests ask for it,
 * on the path of local memory. */
#include "unit/gpu_fixture.h"

#include "gpu/job.h"

static struct renderer *open_with(uint64_t max_submit_ns, uint64_t budget_bytes)
{
    struct opencl_options options = {
        .path = "ptx", .tile = "whole", .max_submit_ns = max_submit_ns, .memory_budget_bytes = budget_bytes};
    struct renderer *r = NULL;
    struct err err = ERR_INIT;
    char selector[32];

    need_device(selector);
    if (opencl_create(selector, &options, &r, &err))
        return r;
    err_fini(&err);
    options.path = "local";
    expect_ok(opencl_create(selector, &options, &r, &err), &err, "opencl_create");
    return r;
}

static bool is_whole(const struct render_job *job)
{
    return ((const struct opencl_job *)job)->shape.whole;
}

/* A job of random scenes; skips the test where no kernel renders them whole. */
static struct render_job *open_filled(struct renderer *r, const struct render_spec *spec)
{
    struct render_job *job = open_job(r, spec);

    if (!is_whole(job)) {
        r->ops->close(job);
        r->ops->destroy(r);
        print_message("skipped: no CPU, and no device of NVIDIA's\n");
        skip();
    }
    fill_job(job, 7);
    return job;
}

static void run_golden(struct renderer *r, const struct golden_case *c)
{
    struct render_spec spec = small_spec(c->width, c->height, c->scene.triangles, 1);
    const size_t values = 3 * (size_t)c->width * c->height;
    enum agreement_group worst;
    struct agreement errors;
    struct err err = ERR_INIT;

    spec.sigma = c->sigma;
    struct render_job *job = open_filled(r, &spec);
    memcpy(job->io.params, c->scene.params, c->scene.triangles * SCENE_STRIDE * sizeof(float));
    memcpy(job->io.background, c->scene.background, sizeof(c->scene.background));
    memcpy(job->io.target, c->target, values * sizeof(float));
    expect_ok(r->ops->inputs_changed(job, &err), &err, c->name);
    call_job(job);
    agreement_init(&errors);
    errors.value[AGREE_IMAGE] = agreement_image(job->io.image, c->image, values);
    errors.value[AGREE_LOSS] = agreement_loss(job->io.loss[0], c->loss);
    agreement_grads(&errors, job->io.grads, c->grads, c->scene.triangles, c->vertices_summed);
    if (!agreement_within(&errors, &c->tolerance, &worst))
        fail_msg("%s: %s is off by %g, allowed are %g", c->name, agreement_group_name(worst), errors.value[worst],
                 c->tolerance.value[worst]);
    r->ops->close(job);
}

static void test_golden_cases(void **state)
{
    struct renderer *r = open_with(UINT64_MAX, 0);
    struct err err = ERR_INIT;
    char **names = NULL;
    size_t count = 0, run = 0;

    (void)state;
    expect_ok(golden_list(GOLDEN, &names, &count, &err), &err, "golden_list");
    for (size_t i = 0; i < count; i++) {
        struct golden_case c = {0};
        char dir[512];
        snprintf(dir, sizeof(dir), "%s/%s", GOLDEN, names[i]);
        expect_ok(golden_load(dir, &c, &err), &err, dir);
        if (c.scene.triangles > 0 && c.scene.triangles <= 32) {
            run_golden(r, &c);
            run++;
        }
        golden_fini(&c);
    }
    assert_int_equal(run, 4);
    golden_list_free(names, count);
    r->ops->destroy(r);
}

/* What a call gives: of all scenes, or of those from `first` on. */
static void expect_same(const struct render_job *a, const struct render_job *b, uint32_t first)
{
    const struct render_spec *s = &b->spec;
    const size_t grads = (size_t)s->triangles * SCENE_STRIDE, values = 3 * (size_t)s->width * s->height;

    assert_memory_equal(a->io.grads + first * grads, b->io.grads, s->batch * grads * sizeof(float));
    assert_memory_equal(a->io.loss + first, b->io.loss, s->batch * sizeof(double));
    assert_memory_equal(a->io.image + first * values, b->io.image, s->batch * values * sizeof(float));
}

/* The groups that are done are counted back to 0, and which of them is the last has no say. */
static void test_calls_and_batches_give_the_same_bits(void **state)
{
    struct renderer *r = open_with(UINT64_MAX, 0);
    struct render_spec spec = small_spec(50, 41, 32, 4);
    struct render_job *batch = open_filled(r, &spec), *again = open_filled(r, &spec);
    const size_t grads = 32 * SCENE_STRIDE, values = 3 * 50 * 41;
    struct render_counts counts;
    struct err err = ERR_INIT;

    (void)state;
    assert_string_equal(r->info.tiles, "scenes whole (option)");
    call_job(batch);
    for (uint32_t b = 0; b < spec.batch; b++)
        check_scene(batch, b, "whole");
    for (int i = 0; i < 3; i++) {
        call_job(again);
        expect_same(batch, again, 0);
    }
    r->ops->counts(batch, &counts);
    assert_int_equal(counts.dispatches, 1);
    assert_in_range(counts.partial_sums, 4 * 32, 4 * 32 * 7 * 11);
    spec.batch = 1;
    struct render_job *alone = open_filled(r, &spec);
    memcpy(alone->io.params, batch->io.params + 2 * grads, grads * sizeof(float));
    memcpy(alone->io.target, batch->io.target + 2 * values, values * sizeof(float));
    expect_ok(r->ops->inputs_changed(alone, &err), &err, "inputs_changed");
    call_job(alone);
    expect_same(batch, alone, 2);
    r->ops->close(alone);
    r->ops->close(again);
    r->ops->close(batch);
    r->ops->destroy(r);
}

/* Scene by scene where submissions are short, and in slices where memory is. */
static void test_parts_give_the_same_bits(void **state)
{
    struct renderer *r = open_with(UINT64_MAX, 0);
    const struct render_spec spec = small_spec(64, 64, 20, 11);
    struct render_job *whole = open_filled(r, &spec);
    struct render_footprint footprint;
    struct render_counts counts;
    struct err err = ERR_INIT;

    (void)state;
    call_job(whole);
    expect_ok(r->ops->footprint(r, &spec, &footprint, &err), &err, "footprint");
    for (int part = 0; part < 2; part++) {
        struct renderer *other = open_with(part ? UINT64_MAX : 1, part ? footprint.device_bytes / 3 : 0);
        struct render_job *job = open_filled(other, &spec);
        for (int call = 0; call < 2; call++) {
            call_job(job);
            expect_same(whole, job, 0);
        }
        other->ops->counts(job, &counts);
        assert_int_equal(counts.pool_misses, 0);
        if (part)
            assert_in_range(counts.split, 2, 10);
        else
            assert_int_equal(counts.submissions, spec.batch);
        other->ops->close(job);
        other->ops->destroy(other);
    }
    r->ops->close(whole);
    r->ops->destroy(r);
}

static void test_upstream(void **state)
{
    struct renderer *r = open_with(UINT64_MAX, 0);
    struct render_spec spec = small_spec(33, 18, 9, 2);

    (void)state;
    spec.upstream = true;
    struct render_job *job = open_filled(r, &spec);
    call_job(job);
    for (uint32_t b = 0; b < spec.batch; b++)
        check_scene(job, b, "whole, upstream");
    r->ops->close(job);
    r->ops->destroy(r);
}

/* From the smallest image on; tiles and groups that reach beyond its edges; as many triangles as there may be. */
static void test_sizes(void **state)
{
    static const uint32_t sizes[][3] = {{1, 1, 1}, {7, 3, 31}, {9, 5, 32}, {300, 2, 32}, {2, 300, 32}};
    struct renderer *r = open_with(UINT64_MAX, 0);
    char what[64];

    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const struct render_spec spec = small_spec(sizes[i][0], sizes[i][1], sizes[i][2], 1);
        struct render_job *job = open_filled(r, &spec);
        snprintf(what, sizeof(what), "whole, %ux%u", (unsigned)spec.width, (unsigned)spec.height);
        call_job(job);
        check_scene(job, 0, what);
        r->ops->close(job);
    }
    r->ops->destroy(r);
}

static void test_not_finite(void **state)
{
    struct renderer *r = open_with(UINT64_MAX, 0);

    (void)state;
    check_not_finite(r);
    r->ops->destroy(r);
}

/* An option for tiles is named as far as the path heeds it. */
static void test_tiles_are_named(void **state)
{
    static const char *const named[][3] = {{"cpu", "whole", ""},
                                           {"cpu", "2x4", ""},
                                           {"local", "2x4x2", "2x4 blocks, 1 team a group (option)"},
                                           {"ptx", "2x4x2", "2x4 blocks, 2 teams a group (option)"}};
    char selector[32];

    (void)state;
    need_device(selector);
    for (size_t i = 0; i < COUNT(named); i++) {
        const struct opencl_options options = {.path = named[i][0], .tile = named[i][1]};
        struct renderer *r = NULL;
        struct err err = ERR_INIT;
        if (find_device(named[i][0], selector) && opencl_create(selector, &options, &r, &err)) {
            assert_string_equal(r->info.tiles, named[i][2]);
            r->ops->destroy(r);
        }
        err_fini(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_cases),
        cmocka_unit_test(test_calls_and_batches_give_the_same_bits),
        cmocka_unit_test(test_parts_give_the_same_bits),
        cmocka_unit_test(test_upstream),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_tiles_are_named),
    };

    return cmocka_run_group_tests_name("scenes whole", tests, NULL, NULL);
}
