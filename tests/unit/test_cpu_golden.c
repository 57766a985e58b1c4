/* Every golden case on every instruction-set path that this CPU runs, and on the scalar variant. */
#include "unit/cpu_check.h"

#define GOLDEN "tests/golden"

static void run_case(struct renderer *r, enum cpu_variant variant, const struct golden_case *c)
{
    struct render_spec spec;
    spec_init(&spec);
    spec.variant = variant;
    spec.width = c->width;
    spec.height = c->height;
    spec.triangles = c->scene.triangles;
    spec.sigma = c->sigma;
    spec.batch = 1;
    spec.keep_images = true;
    struct render_job *job = job_open(r, &spec);
    size_t values = (size_t)c->width * c->height * 3, params = (size_t)spec.triangles * SCENE_STRIDE;
    memcpy(job->io.params, c->scene.params, params * sizeof *job->io.params);
    memcpy(job->io.background, c->scene.background, sizeof c->scene.background);
    memcpy(job->io.target, c->target, values * sizeof *job->io.target);
    job_call(job);

    struct agreement errors;
    agreement_init(&errors);
    errors.value[AGREE_IMAGE] = agreement_image(job->io.image, c->image, values);
    errors.value[AGREE_LOSS] = agreement_loss(job->io.loss[0], c->loss);
    agreement_grads(&errors, job->io.grads, c->grads, spec.triangles, c->vertices_summed);
    char what[256];
    snprintf(what, sizeof what, "%s on %s", c->name, variant == VARIANT_SCALAR ? "scalar" : r->info.path);
    print_message("# %s: image %.1e loss %.1e vertices %.1e colour %.1e alpha %.1e\n", what, errors.value[0],
                  errors.value[1], errors.value[2], errors.value[3], errors.value[4]);
    check_within(what, &errors, &c->tolerance);
    r->ops->close(job);
}

static void run_all(const char *isa, enum cpu_variant variant)
{
    struct err err = ERR_INIT;
    char **names;
    size_t count;
    check_ok(golden_list(GOLDEN, &names, &count, &err), &err);
    assert_int_equal(count, 11);
    struct renderer *r = renderer_open(2, isa);
    for (size_t i = 0; i < count; i++) {
        char dir[512];
        struct golden_case c;
        snprintf(dir, sizeof dir, "%s/%s", GOLDEN, names[i]);
        check_ok(golden_load(dir, &c, &err), &err);
        run_case(r, variant, &c);
        golden_fini(&c);
    }
    r->ops->destroy(r);
    golden_list_free(names, count);
}

static void run_isa(const char *name)
{
    if (!openmp_isa_runs(name)) {
        print_message("# skipped: this CPU does not run %s\n", name);
        skip();
    }
    run_all(name, VARIANT_FAST);
}

static void test_scalar(void **state)
{
    (void)state;
    run_all(NULL, VARIANT_SCALAR);
}

static void test_portable(void **state)
{
    (void)state;
    run_isa("portable");
}

static void test_avx2(void **state)
{
    (void)state;
    run_isa("avx2");
}

static void test_avx512(void **state)
{
    (void)state;
    run_isa("avx512");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar),
        cmocka_unit_test(test_portable),
        cmocka_unit_test(test_avx2),
        cmocka_unit_test(test_avx512),
    };
    return cmocka_run_group_tests_name("cpu_golden", tests, NULL, NULL);
}
