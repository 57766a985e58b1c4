/* All golden cases on the OpenCL renderer: every path that this device can run. */
#include "unit/gpu_fixture.h"

static void run_case(struct renderer *r, const struct golden_case *c, const struct render_spec *options)
{
    struct render_spec spec = *options;
    struct agreement errors;
    enum agreement_group worst;
    char what[256];

    spec.width = c->width;
    spec.height = c->height;
    spec.sigma = c->sigma;
    spec.triangles = c->scene.triangles;
    spec.batch = 1;
    spec.keep_images = true;
    snprintf(what, sizeof(what), "%s on %s", c->name, r->info.path);
    struct render_job *job = open_job(r, &spec);
    const size_t values = 3 * (size_t)c->width * c->height;
    struct err err = ERR_INIT;
    memcpy(job->io.params, c->scene.params, c->scene.triangles * SCENE_STRIDE * sizeof(float));
    memcpy(job->io.background, c->scene.background, sizeof(c->scene.background));
    if (job->io.target)
        memcpy(job->io.target, c->target, values * sizeof(float));
    expect_ok(r->ops->inputs_changed(job, &err), &err, what);
    call_job(job);
    agreement_init(&errors);
    errors.value[AGREE_IMAGE] = agreement_image(job->io.image, c->image, values);
    if (spec.mode == MODE_GRADIENT) {
        errors.value[AGREE_LOSS] = agreement_loss(job->io.loss[0], c->loss);
        agreement_grads(&errors, job->io.grads, c->grads, c->scene.triangles, c->vertices_summed);
    }
    if (getenv("GPU_TEST_VERBOSE"))
        print_message("%-40s image %.1e loss %.1e vertices %.1e colour %.1e alpha %.1e\n", what, errors.value[0],
                      errors.value[1], errors.value[2], errors.value[3], errors.value[4]);
    if (!agreement_within(&errors, &c->tolerance, &worst))
        fail_msg("%s: %s is off by %g, allowed are %g", what, agreement_group_name(worst), errors.value[worst],
                 c->tolerance.value[worst]);
    r->ops->close(job);
}

static void run_all(const char *path, const struct render_spec *options)
{
    struct renderer *r = open_renderer(path);
    struct err err = ERR_INIT;
    char **names = NULL;
    size_t count = 0;

    expect_ok(golden_list(GOLDEN, &names, &count, &err), &err, "golden_list");
    assert_int_equal(count, 11);
    for (size_t i = 0; i < count; i++) {
        struct golden_case c = {0};
        char dir[512];
        snprintf(dir, sizeof(dir), "%s/%s", GOLDEN, names[i]);
        expect_ok(golden_load(dir, &c, &err), &err, dir);
        run_case(r, &c, options);
        golden_fini(&c);
    }
    golden_list_free(names, count);
    r->ops->destroy(r);
}

static void gradient_on(const char *path, enum strategy strategy, enum reduction reduction)
{
    struct render_spec spec;

    spec_init(&spec);
    spec.strategy = strategy;
    spec.reduction = reduction;
    run_all(path, &spec);
}

static void forward_on(const char *path)
{
    struct render_spec spec;

    spec_init(&spec);
    spec.mode = MODE_FORWARD;
    run_all(path, &spec);
}

#define PATH_TESTS(path)                                                                           \
    static void test_forward_##path(void **state)                                                  \
    {                                                                                              \
        (void)state;                                                                               \
        forward_on(#path);                                                                         \
    }                                                                                              \
    static void test_fused_ordered_##path(void **state)                                            \
    {                                                                                              \
        (void)state;                                                                               \
        gradient_on(#path, STRATEGY_FUSED, REDUCTION_ORDERED);                                     \
    }                                                                                              \
    static void test_recompute_local_##path(void **state)                                          \
    {                                                                                              \
        (void)state;                                                                               \
        gradient_on(#path, STRATEGY_RECOMPUTE, REDUCTION_LOCAL);                                   \
    }                                                                                              \
    static void test_taped_direct_##path(void **state)                                             \
    {                                                                                              \
        (void)state;                                                                               \
        gradient_on(#path, STRATEGY_TAPED, REDUCTION_DIRECT);                                      \
    }

PATH_TESTS(cpu)
PATH_TESTS(local)
PATH_TESTS(subgroups)
PATH_TESTS(ptx)

#define RUN(path)                                                                                  \
    cmocka_unit_test(test_forward_##path), cmocka_unit_test(test_fused_ordered_##path),            \
        cmocka_unit_test(test_recompute_local_##path), cmocka_unit_test(test_taped_direct_##path)

int main(void)
{
    const struct CMUnitTest tests[] = {RUN(cpu), RUN(local), RUN(subgroups), RUN(ptx)};

    return cmocka_run_group_tests_name("OpenCL golden", tests, NULL, NULL);
}
