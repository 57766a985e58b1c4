/* Properties of the CPU renderer that hold for every scene, on every path that this CPU runs. */
#include "unit/cpu_check.h"

static void sizes(struct renderer *r, struct render_spec spec)
{
    static const uint32_t size[][4] = {{1, 1, 3, 1},    {37, 19, 20, 2}, {300, 7, 9, 1},
                                       {16, 48, 33, 1}, {5, 130, 4, 3},  {64, 64, 0, 2}};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        char what[128];
        snprintf(what, sizeof what, "%ux%u on %s", size[i][0], size[i][1], r->info.path);
        set_size(&spec, size[i][0], size[i][1], size[i][2], size[i][3]);
        spec.keep_images = true;
        struct render_job *job = job_open(r, &spec);
        job_fill(job, 5, 0.4f);
        job_call(job);
        job_check(what, job);
        r->ops->close(job);
    }
}

static void test_sizes(void **state)
{
    (void)state;
    each_path(sizes);
}

/* Edges much sharper than a pixel, where most blocks in bounds are passed over, and large triangles. */
static void sharp_edges(struct renderer *r, struct render_spec spec)
{
    static const float sigma[] = {0.0015f, 0.0004f};
    static const float extent[] = {0.15f, 2.0f, 9.0f};
    spec.keep_images = true;
    set_size(&spec, 120, 90, 60, 1);
    for (size_t i = 0; i < 6; i++) {
        char what[128];
        spec.sigma = sigma[i / 3];
        snprintf(what, sizeof what, "sigma %g, extent %g on %s", (double)spec.sigma, (double)extent[i % 3],
                 r->info.path);
        struct render_job *job = job_open(r, &spec);
        job_fill(job, 14, extent[i % 3]);
        job_call(job);
        job_check(what, job);
        r->ops->close(job);
    }
}

static void test_sharp_edges(void **state)
{
    (void)state;
    each_path(sharp_edges);
}

static void modes(struct renderer *r, struct render_spec spec)
{
    set_size(&spec, 50, 40, 30, 2);
    spec.mode = MODE_FORWARD;
    struct render_job *job = job_open(r, &spec);
    assert_null(job->io.target);
    assert_null(job->io.loss);
    assert_null(job->io.grads);
    job_fill(job, 6, 0.2f);
    job_call(job);
    job_check("forward", job);
    r->ops->close(job);

    spec.mode = MODE_GRADIENT;
    spec.upstream = true;
    job = job_open(r, &spec);
    assert_null(job->io.target);
    assert_null(job->io.loss);
    assert_null(job->io.image);
    job_fill(job, 6, 0.2f);
    job_call(job);
    job_check("upstream", job);
    r->ops->close(job);
}

static void test_modes(void **state)
{
    (void)state;
    each_path(modes);
}

static void empty_batch(struct renderer *r, struct render_spec spec)
{
    set_size(&spec, 20, 20, 5, 0);
    struct render_job *job = job_open(r, &spec);
    job_call(job);
    struct render_counts counts;
    r->ops->counts(job, &counts);
    assert_int_equal(counts.dispatches, 0);
    r->ops->close(job);
}

static void test_empty_batch(void **state)
{
    (void)state;
    each_path(empty_batch);
}

/* Every output of a job one after another; the caller frees it. */
static float *outputs(const struct render_job *job, size_t *bytes)
{
    const struct render_spec *spec = &job->spec;
    size_t grads = (size_t)spec->batch * spec->triangles * SCENE_STRIDE * sizeof(float);
    size_t image = (size_t)spec->batch * spec->width * spec->height * 3 * sizeof(float);
    size_t loss = spec->batch * sizeof(double);
    char *all = malloc(grads + image + loss);
    assert_non_null(all);
    memcpy(all, job->io.grads, grads);
    memcpy(all + grads, job->io.image, image);
    memcpy(all + grads + image, job->io.loss, loss);
    *bytes = grads + image + loss;
    return (float *)(void *)all;
}

static float *run_with_threads(struct renderer *r, struct render_spec spec, uint32_t threads, size_t *bytes)
{
    spec.threads = threads;
    struct render_job *job = job_open(r, &spec);
    job_fill(job, 7, 0.15f);
    job_call(job);
    float *first = outputs(job, bytes);
    for (int i = 0; i < 2; i++) {
        job_call(job);
        float *again = outputs(job, bytes);
        assert_memory_equal(first, again, *bytes);
        free(again);
    }
    r->ops->close(job);
    return first;
}

static void any_threads(struct renderer *r, struct render_spec spec)
{
    static const uint32_t threads[] = {2, 3, 8};
    static const uint32_t size[][4] = {{130, 70, 200, 3}, {256, 256, 64, 1}};
    spec.keep_images = true;
    for (size_t s = 0; s < 2; s++) {
        size_t bytes;
        set_size(&spec, size[s][0], size[s][1], size[s][2], size[s][3]);
        float *one = run_with_threads(r, spec, 1, &bytes);
        for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
            float *more = run_with_threads(r, spec, threads[i], &bytes);
            assert_memory_equal(one, more, bytes);
            free(more);
        }
        free(one);
    }
}

static void test_any_threads_same_bits(void **state)
{
    (void)state;
    each_path(any_threads);
}

static void batch_is_single_calls(struct renderer *r, struct render_spec spec)
{
    set_size(&spec, 61, 45, 40, 4);
    spec.keep_images = true;
    struct render_job *batch = job_open(r, &spec);
    spec.batch = 1;
    struct render_job *single = job_open(r, &spec);
    size_t params = (size_t)spec.triangles * SCENE_STRIDE, values = (size_t)spec.width * spec.height * 3;
    job_fill(batch, 8, 0.2f);
    job_call(batch);
    for (size_t b = 0; b < 4; b++) {
        memcpy(single->io.params, batch->io.params + b * params, params * sizeof(float));
        memcpy(single->io.background, batch->io.background + 3 * b, 3 * sizeof(float));
        memcpy(single->io.target, batch->io.target + b * values, values * sizeof(float));
        job_call(single);
        assert_memory_equal(single->io.grads, batch->io.grads + b * params, params * sizeof(float));
        assert_memory_equal(single->io.image, batch->io.image + b * values, values * sizeof(float));
        assert_memory_equal(single->io.loss, batch->io.loss + b, sizeof(double));
    }
    r->ops->close(single);
    r->ops->close(batch);
}

static void test_batch_is_single_calls(void **state)
{
    (void)state;
    each_path(batch_is_single_calls);
}

/* Vertex 0 and 2 of every triangle change places: the other winding, the edges in another order. */
static void swap_vertices(float *params, size_t triangles)
{
    for (size_t i = 0; i < triangles; i++)
        for (size_t axis = 0; axis < 2; axis++) {
            float *p = params + i * SCENE_STRIDE + axis, v = p[0];
            p[0] = p[4];
            p[4] = v;
        }
}

static void vertex_order(struct renderer *r, struct render_spec spec)
{
    set_size(&spec, 80, 60, 30, 1);
    spec.keep_images = true;
    struct render_job *a = job_open(r, &spec), *b = job_open(r, &spec);
    job_fill(a, 9, 0.3f);
    job_fill(b, 9, 0.3f);
    swap_vertices(b->io.params, spec.triangles);
    job_call(a);
    job_call(b);
    swap_vertices(b->io.grads, spec.triangles); /* gradients follow their vertices */
    size_t params = (size_t)spec.triangles * SCENE_STRIDE, values = (size_t)spec.width * spec.height * 3;
    double *image = malloc(values * sizeof *image), *grads = malloc(params * sizeof *grads);
    assert_non_null(image);
    assert_non_null(grads);
    for (size_t i = 0; i < values; i++)
        image[i] = (double)a->io.image[i];
    for (size_t i = 0; i < params; i++)
        grads[i] = (double)a->io.grads[i];
    struct agreement errors, tolerance;
    agreement_init(&errors);
    errors.value[AGREE_IMAGE] = agreement_image(b->io.image, image, values);
    errors.value[AGREE_LOSS] = agreement_loss(b->io.loss[0], a->io.loss[0]);
    agreement_grads(&errors, b->io.grads, grads, spec.triangles, false);
    agreement_tolerance(&tolerance, spec.sigma, false, a->io.params, spec.triangles);
    check_within("vertex order", &errors, &tolerance);
    free(image);
    free(grads);
    r->ops->close(a);
    r->ops->close(b);
}

static void test_vertex_order(void **state)
{
    (void)state;
    each_path(vertex_order);
}

static void phases_and_counts(struct renderer *r, struct render_spec spec)
{
    struct err err = ERR_INIT;
    set_size(&spec, 96, 96, 64, 2);
    struct render_job *job = job_open(r, &spec);
    job_fill(job, 13, 0.15f);
    job_call(job);
    struct render_phases p;
    check_ok(r->ops->call_phased(job, &p, &err), &err);
    assert_true(p.total_ns > 0 && p.dispatch_ns > 0);
    assert_true(p.pack_ns + p.alloc_ns + p.dispatch_ns <= p.total_ns);
    assert_int_equal(p.upload_ns + p.readback_ns + p.loss_ns, 0);
    struct render_profile profile;
    check_ok(r->ops->call_profiled(job, &profile, &err), &err);
    assert_false(profile.valid);
    assert_int_equal(profile.device_ns, 0);
    assert_int_equal(profile.note[0], '\0'); /* nothing wrong with having no events */
    struct render_counts counts;
    r->ops->counts(job, &counts);
    assert_int_equal(counts.dispatches, 1);
    assert_int_equal(counts.pool_misses, 0);
    assert_int_equal(counts.split, 1);
    r->ops->close(job);
}

static void test_phases_and_counts(void **state)
{
    (void)state;
    each_path(phases_and_counts);
}

static void test_footprint(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct renderer *r = renderer_open(1, NULL);
    struct render_footprint f;
    struct render_spec spec;
    spec_init(&spec);
    check_ok(r->ops->footprint(r, &spec, &f, &err), &err);
    assert_true(f.host_bytes > 16u * 256 * 256 * 3 * 4);
    assert_int_equal(f.split, 1);
    set_size(&spec, SPEC_MAX_SIZE, SPEC_MAX_SIZE, 1, SPEC_MAX_BATCH);
    assert_false(r->ops->footprint(r, &spec, &f, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_int_equal(f.split, 0);
    err_fini(&err);
    r->ops->destroy(r);
}

static void test_isa_names(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct renderer *r;
    assert_false(openmp_create(0, "avx9", &r, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_non_null(strstr(err.text, "portable"));
    assert_null(r);
    err_fini(&err);
    assert_true(openmp_isa_runs("portable"));
    assert_false(openmp_isa_runs("avx9"));
    r = renderer_open(3, "portable");
    assert_string_equal(r->info.path, "portable");
    assert_int_equal(r->info.threads, 3);
    assert_non_null(strstr(r->info.extensions, "portable"));
    r->ops->destroy(r);

    struct device_info info;
    openmp_info(3, "portable", &info);
    assert_string_equal(info.path, "portable");
    assert_int_equal(info.threads, 3);
    assert_string_equal(info.trouble, "");
    openmp_info(0, "avx9", &info);
    assert_non_null(strstr(info.trouble, "avx9"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_sharp_edges),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_empty_batch),
        cmocka_unit_test(test_any_threads_same_bits),
        cmocka_unit_test(test_batch_is_single_calls),
        cmocka_unit_test(test_vertex_order),
        cmocka_unit_test(test_phases_and_counts),
        cmocka_unit_test(test_footprint),
        cmocka_unit_test(test_isa_names),
    };
    return cmocka_run_group_tests_name("cpu_renderer", tests, NULL, NULL);
}
