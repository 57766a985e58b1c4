/* Every kernel in every variant on a scene so small that Oclgrind, which interprets them, gets through:
 * make check-oclgrind looks for invalid accesses and races. Results are compared, too. */
#include "unit/gpu_fixture.h"

/* Neither side a multiple of a tile; triangles that overlap, and some that touch nothing. */
#define WIDTH 21
#define HEIGHT 10
#define TRIANGLES 5
#define BATCH 2

static void run(const char *path, struct render_spec spec)
{
    char what[256];
    struct renderer *r = open_renderer(path);

    spec.width = WIDTH;
    spec.height = HEIGHT;
    spec.triangles = TRIANGLES;
    spec.batch = BATCH;
    spec.sigma = 0.01f;
    struct render_job *job = open_job(r, &spec);
    fill_job(job, 5);
    for (size_t v = 0; v < 6; v++) /* far outside */
        job->io.params[v] += 7;
    call_job(job);
    snprintf(what, sizeof(what), "strategy %d, reduction %d on %s", (int)spec.strategy, (int)spec.reduction, path);
    for (uint32_t b = 0; b < BATCH; b++)
        check_scene(job, b, what);
    r->ops->close(job);
    r->ops->destroy(r);
}

static struct render_spec spec_of(enum strategy strategy, enum reduction reduction)
{
    struct render_spec spec;

    spec_init(&spec);
    spec.strategy = strategy;
    spec.reduction = reduction;
    return spec;
}

static void test_forward(void **state)
{
    struct render_spec spec = spec_of(STRATEGY_FUSED, REDUCTION_ORDERED);

    spec.mode = MODE_FORWARD;
    run(*state, spec);
}

static void test_gradient(void **state)
{
    for (int strategy = STRATEGY_FUSED; strategy <= STRATEGY_TAPED; strategy++)
        for (int reduction = REDUCTION_ORDERED; reduction <= REDUCTION_DIRECT; reduction++)
            run(*state, spec_of((enum strategy)strategy, (enum reduction)reduction));
}

static void test_upstream(void **state)
{
    struct render_spec spec = spec_of(STRATEGY_FUSED, REDUCTION_ORDERED);

    spec.upstream = true;
    run(*state, spec);
}

static void test_one_scene_a_dispatch(void **state)
{
    struct render_spec spec = spec_of(STRATEGY_TAPED, REDUCTION_ORDERED);

    spec.dispatch = DISPATCH_SINGLE;
    run(*state, spec);
}

static void test_loss_on_the_host(void **state)
{
    struct render_spec spec = spec_of(STRATEGY_RECOMPUTE, REDUCTION_ORDERED);

    spec.loss = LOSS_HOST;
    run(*state, spec);
}

static void test_images_over_the_host(void **state)
{
    struct render_spec spec = spec_of(STRATEGY_TAPED, REDUCTION_LOCAL);

    spec.images = IMAGES_ROUNDTRIP;
    run(*state, spec);
}

#define ON(path)                                                                      \
    {"forward, " path, test_forward, NULL, NULL, path},                               \
        {"gradient, " path, test_gradient, NULL, NULL, path},                         \
        {"upstream, " path, test_upstream, NULL, NULL, path},                         \
        {"one scene a dispatch, " path, test_one_scene_a_dispatch, NULL, NULL, path}, \
        {"loss on the host, " path, test_loss_on_the_host, NULL, NULL, path},         \
        {"images over the host, " path, test_images_over_the_host, NULL, NULL, path}

int main(void)
{
    struct CMUnitTest tests[] = {ON("cpu"), ON("local")};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
