/* Kernels that are cut into submissions give what they give whole. */
#include "unit/gpu_fixture.h"

/* What a call gives when its kernels are cut is what it gives when they are not. */
static void check_cut(const struct render_job *whole, struct render_job *cut, bool every_row)
{
    const struct render_spec *s = &whole->spec;
    const size_t pixels = (size_t)s->width * s->height;
    struct render_counts one, many;

    cut->renderer->ops->counts(cut, &many);
    whole->renderer->ops->counts(whole, &one);
    assert_int_equal(one.submissions, one.dispatches);
    assert_int_equal(one.longest_submission_ns, 0);
    assert_int_equal(many.dispatches, one.dispatches);
    assert_int_equal(many.bytes_up, one.bytes_up);
    assert_int_equal(many.partial_sums, one.partial_sums);
    assert_true(many.longest_submission_ns > 0);
    if (every_row) /* setup, a pass of at least two rows of tiles, the sums; three scenes of each */
        assert_true(many.submissions >= 3 * (1 + 2 + 1));
    assert_memory_equal(whole->io.image, cut->io.image, s->batch * pixels * 12);
    assert_memory_equal(whole->io.loss, cut->io.loss, s->batch * sizeof(double));
    if (s->reduction == REDUCTION_ORDERED)
        assert_memory_equal(whole->io.grads, cut->io.grads,
                            s->batch * s->triangles * SCENE_STRIDE * sizeof(float));
    else
        for (uint32_t b = 0; b < s->batch; b++)
            check_scene(cut, b, "cut");
}

static void test_submissions(void **state)
{
    static const uint64_t limits[] = {1, 3600000000000};
    (void)state;
    FOR_PATHS(r)
    for (size_t l = 0; l < COUNT(limits); l++) {
        struct renderer *cutter = try_path(path_, limits[l]);
        assert_non_null(cutter);
        for (int strategy = 0; strategy < 3; strategy++)
            for (int reduction = 0; reduction < 3; reduction++) {
                struct render_spec spec = small_spec(50, 70, 40, 3);
                spec.strategy = (enum strategy)strategy;
                spec.reduction = (enum reduction)reduction;
                if (path_ == 0 && l == 0 && reduction == 0)
                    spec.triangles = 2100; /* sorted into bins first */
                if ((builds_slowly(r) || path_ > 0) && (strategy != reduction || strategy > 0))
                    continue;
                if (builds_slowly(r) && l > 0)
                    continue;
                struct render_job *whole = open_job(r, &spec), *cut = open_job(cutter, &spec);
                fill_job(whole, 11);
                fill_job(cut, 11);
                call_job(whole);
                for (int call = 0; call < 2; call++) {
                    call_job(cut);
                    check_cut(whole, cut, l == 0);
                }
                r->ops->close(whole);
                r->ops->close(cut);
            }
        cutter->ops->destroy(cutter);
    }
}

static void test_submissions_are_profiled(void **state)
{
    (void)state;
    struct renderer *cutter = try_path(0, 1);
    struct render_spec spec = small_spec(50, 70, 40, 3);
    struct render_profile profile;
    struct render_counts counts;
    struct err err = ERR_INIT;
    uint64_t launches = 0;

    if (!cutter) {
        print_message("skipped: no usable OpenCL device of a CPU\n");
        skip();
    }
    struct render_job *job = open_job(cutter, &spec);
    fill_job(job, 11);
    expect_ok(cutter->ops->call_profiled(job, &profile, &err), &err, "call_profiled");
    assert_true(profile.valid);
    assert_int_equal(profile.kernels, 3);
    for (uint32_t k = 0; k < profile.kernels; k++)
        launches += profile.kernel[k].launches;
    cutter->ops->counts(job, &counts);
    assert_int_equal(launches, counts.submissions);
    assert_true(launches > profile.kernels);
    cutter->ops->close(job);
    cutter->ops->destroy(cutter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_submissions),
        cmocka_unit_test(test_submissions_are_profiled),
    };

    return cmocka_run_group_tests_name("OpenCL submissions", tests, NULL, NULL);
}
