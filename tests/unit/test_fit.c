#include "unit/check.h"

#include <math.h>
#include <string.h>

#include "bench/fit.h"
#include "cpu/openmp.h"
#include "gpu/job.h"
#include "model/fit.h"
#include "unit/gpu_fixture.h"

#define SIZE 40u
#define TRIANGLES 12u
#define STEPS 40u

static const float rates[3] = {0.004f, 0.02f, 0.01f};
static const float background[3] = {0.2f, 0.3f, 0.4f};

/* ---- a step ---- */

static void test_a_step_is_adams(void **state)
{
    float params[SCENE_STRIDE], grads[SCENE_STRIDE], moments[2 * SCENE_STRIDE] = {0};
    double want[SCENE_STRIDE], m[SCENE_STRIDE] = {0}, v[SCENE_STRIDE] = {0};
    (void)state;
    for (size_t i = 0; i < SCENE_STRIDE; i++)
        want[i] = (double)(params[i] = 0.5f);
    for (uint32_t step = 0; step < 5; step++) {
        struct fit_step how = fit_step_at(step, 5, 0.02f, 0.0015f, rates);
        for (size_t i = 0; i < SCENE_STRIDE; i++) {
            const double g = sin((double)(step + 3 * i)) * 1e-4, rate = i < 6 ? 0.004 : i < 9 ? 0.02 : 0.01;
            grads[i] = (float)g;
            m[i] = 0.9 * m[i] + 0.1 * g;
            v[i] = 0.999 * v[i] + 0.001 * g * g;
            want[i] -=
                rate * (m[i] / (1 - pow(0.9, step + 1))) / (sqrt(v[i] / (1 - pow(0.999, step + 1))) + 1e-8);
        }
        fit_update(params, grads, moments, 1, &how);
    }
    for (size_t i = 0; i < SCENE_STRIDE; i++)
        if (!(fabs((double)params[i] - want[i]) < 2e-6))
            fail_msg("parameter %zu is %.9g, not %.9g", i, (double)params[i], want[i]);
}

static void test_softness_goes_down_by_the_same_factor(void **state)
{
    (void)state;
    assert_true(fit_step_at(0, 3, 0.02f, 0.005f, rates).sigma == 0.02f);
    assert_true(fabs((double)fit_step_at(1, 3, 0.02f, 0.005f, rates).sigma - 0.01) < 1e-8);
    assert_true(fit_step_at(2, 3, 0.02f, 0.005f, rates).sigma == 0.005f);
    assert_true(fit_step_at(0, 1, 0.02f, 0.005f, rates).sigma == 0.005f);
}

static void test_parameters_stay_in_their_ranges(void **state)
{
    static const float low[3] = {FIT_MIN_COORD, 0.0f, FIT_MIN_ALPHA},
                       high[3] = {FIT_MAX_COORD, 1.0f, FIT_MAX_ALPHA};
    const struct fit_step how = fit_step_at(0, 1, 0.01f, 0.01f, (float[]){9.0f, 9.0f, 9.0f});
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        float params[SCENE_STRIDE] = {0}, grads[SCENE_STRIDE], moments[2 * SCENE_STRIDE] = {0};
        for (size_t i = 0; i < SCENE_STRIDE; i++)
            grads[i] = (float)sign;
        fit_update(params, grads, moments, 1, &how);
        for (size_t i = 0; i < SCENE_STRIDE; i++)
            assert_true(params[i] == (sign > 0 ? low : high)[i < 6 ? 0 : i < 9 ? 1 : 2]);
    }
}

/* ---- a run ---- */

static struct fit_options options_of(uint32_t steps)
{
    return (struct fit_options){
        .steps = steps, .rates = {rates[0], rates[1], rates[2]}, .first_sigma = 0.02f, .last_sigma = 0.002f};
}

static struct render_spec spec_of(void)
{
    struct render_spec spec;
    spec_init(&spec);
    spec.width = spec.height = SIZE;
    spec.triangles = TRIANGLES;
    spec.batch = 1;
    spec.call = CALL_RESIDENT;
    return spec;
}

static float target[SIZE * SIZE * 3];

/* A ramp with a bright square in it. */
static void make_target(void)
{
    for (size_t i = 0; i < SIZE * SIZE; i++) {
        const size_t x = i % SIZE, y = i / SIZE;
        const bool bright = x > 10 && x < 25 && y > 12 && y < 30;
        target[3 * i] = bright ? 0.9f : (float)x / SIZE;
        target[3 * i + 1] = bright ? 0.8f : (float)y / SIZE;
        target[3 * i + 2] = 0.3f;
    }
}

static struct fit_run train(struct renderer *r, const struct fit_options *options)
{
    struct render_spec spec = spec_of();
    struct fit_run run;
    struct err err = ERR_INIT;
    float params[TRIANGLES * SCENE_STRIDE];

    make_target();
    scene_random(params, TRIANGLES, 7, 0, 0.15f);
    expect_ok(fit_train(r, &spec, params, background, target, options, &run, &err), &err, "fit_train");
    return run;
}

static void expect_same(const struct fit_run *a, const struct fit_run *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->loss, b->loss, a->count * sizeof *a->loss);
    assert_memory_equal(a->params, b->params, TRIANGLES * SCENE_STRIDE * sizeof *a->params);
}

static struct renderer *open_cpu(uint32_t threads)
{
    struct renderer *r = NULL;
    struct err err = ERR_INIT;
    expect_ok(openmp_create(threads, NULL, &r, &err), &err, "openmp_create");
    return r;
}

/* The reference's loss of the best scene is the least loss. */
static void expect_best(const struct fit_run *run)
{
    struct err err = ERR_INIT;
    struct oracle_output out = {0};
    const struct oracle_input in = {.width = SIZE,
                                    .height = SIZE,
                                    .triangles = TRIANGLES,
                                    .sigma = run->sigma[run->best],
                                    .params = run->params,
                                    .background = background,
                                    .target = target};
    expect_ok(oracle_render(&in, &out, &err), &err, "oracle_render");
    assert_true(agreement_loss(run->loss[run->best], out.loss) < 1e-5);
    for (uint32_t i = 0; i < run->count; i++)
        assert_true(run->loss[i] >= run->loss[run->best]);
}

static void test_the_cpu_fits_and_repeats_itself(void **state)
{
    const struct fit_options options = options_of(STEPS);
    struct renderer *one = open_cpu(1), *two = open_cpu(2);
    struct fit_run a = train(one, &options), b = train(two, &options);
    (void)state;
    assert_int_equal(a.end, FIT_STEPS);
    assert_true(a.loss[a.best] < 0.5 * a.loss[0]);
    expect_same(&a, &b);
    expect_best(&a);
    fit_run_fini(&a);
    fit_run_fini(&b);
    one->ops->destroy(one);
    two->ops->destroy(two);
}

static void test_a_device_fits_and_repeats_itself(void **state)
{
    const struct fit_options options = options_of(STEPS);
    struct renderer *r = open_renderer(NULL);
    struct fit_run a = train(r, &options), b = train(r, &options);
    (void)state;
    assert_true(a.loss[a.best] < 0.5 * a.loss[0]);
    expect_same(&a, &b);
    expect_best(&a);
    fit_run_fini(&a);
    fit_run_fini(&b);
    r->ops->destroy(r);
}

/* The device's own loop against its calls with updates on the host: rounding alone may differ. */
static void expect_like_the_host(struct renderer *r, const struct fit_options *options)
{
    const struct renderer_ops *ops = r->ops;
    struct renderer_ops no_fit = *ops;
    struct fit_run device = train(r, options);

    assert_non_null(no_fit.fit);
    no_fit.fit = NULL;
    r->ops = &no_fit;
    struct fit_run host = train(r, options);
    r->ops = ops;
    for (uint32_t i = 0; i < options->steps; i++)
        assert_true(agreement_loss(device.loss[i], host.loss[i]) < 1e-4);
    fit_run_fini(&device);
    fit_run_fini(&host);
}

static void test_the_loop_on_the_device_is_the_one_on_the_host(void **state)
{
    struct renderer *r = open_renderer(NULL);
    struct fit_options options = options_of(10);
    (void)state;
    expect_like_the_host(r, &options);
    /* A step so wide that all parameters come to the ends of their ranges. */
    options = options_of(2);
    options.rates[0] = options.rates[1] = options.rates[2] = 9.0f;
    expect_like_the_host(r, &options);
    r->ops->destroy(r);
}

/* Steps of one block, with the room for partial sums as given before each. */
static void run_block(struct renderer *r, uint32_t room, double loss[8], float best[TRIANGLES * SCENE_STRIDE])
{
    struct render_spec spec = spec_of();
    struct render_job *job = open_job(r, &spec);
    struct fit_step steps[8];
    struct err err = ERR_INIT;

    make_target();
    for (uint32_t i = 0; i < 8; i++) /* softer and softer: more and more tiles are met */
        steps[i] = fit_step_at(i, 8, 0.001f, 0.05f, rates);
    scene_random(job->io.params, TRIANGLES, 7, 0, 0.15f);
    memcpy(job->io.background, background, sizeof background);
    memcpy(job->io.target, target, sizeof target);
    job->spec.sigma = steps[0].sigma;
    expect_ok(r->ops->inputs_changed(job, &err), &err, "inputs_changed");
    if (room > 0)
        ((struct opencl_job *)job)->slot_capacity = room;
    const struct fit_block block = {.steps = steps, .count = 8, .start = true, .loss = loss, .best = best};
    expect_ok(r->ops->fit(job, &block, &err), &err, "fit");
    if (room > 0)
        assert_true(((struct opencl_job *)job)->slot_capacity > room);
    r->ops->close(job);
}

static void test_a_step_without_room_is_made_again(void **state)
{
    struct renderer *r = open_renderer(NULL);
    double enough[8], little[8];
    float enough_best[TRIANGLES * SCENE_STRIDE], little_best[TRIANGLES * SCENE_STRIDE];
    (void)state;
    run_block(r, 0, enough, enough_best);
    for (uint32_t room = 1; room <= 64; room *= 4) {
        run_block(r, room, little, little_best);
        assert_memory_equal(enough, little, sizeof enough);
        assert_memory_equal(enough_best, little_best, sizeof enough_best);
    }
    r->ops->destroy(r);
}

static void test_ends(void **state)
{
    static const volatile sig_atomic_t stop = 1;
    struct renderer *r = open_cpu(1);
    struct fit_options options = options_of(STEPS);
    (void)state;
    options.until = 1e9;
    struct fit_run run = train(r, &options);
    assert_int_equal(run.end, FIT_UNTIL);
    assert_int_equal(run.count, 1);
    fit_run_fini(&run);
    options = options_of(STEPS);
    options.stop = &stop;
    run = train(r, &options);
    assert_int_equal(run.end, FIT_STOPPED);
    assert_int_equal(run.count, 1);
    fit_run_fini(&run);
    options = options_of(STEPS);
    options.patience = 3;
    memset(options.rates, 0, sizeof options.rates);
    options.first_sigma = options.last_sigma;
    run = train(r, &options);
    assert_int_equal(run.end, FIT_PATIENCE);
    assert_int_equal(run.count, 4);
    fit_run_fini(&run);
    r->ops->destroy(r);
}

/* A renderer that says half of its losses. */
static bool half_call(struct render_job *job, struct err *err)
{
    struct renderer *cpu = open_cpu(1);
    bool ok = cpu->ops->call(job, err);
    job->io.loss[0] /= 2;
    cpu->ops->destroy(cpu);
    return ok;
}

static int closed, closed_at_check;

static void counted_close(struct render_job *job)
{
    struct renderer *cpu = open_cpu(1);
    cpu->ops->close(job);
    cpu->ops->destroy(cpu);
    closed++;
}

static void note_check(void)
{
    closed_at_check = closed;
}

static void test_a_wrong_loss_is_found(void **state)
{
    struct fit_options options = options_of(3);
    const struct render_spec spec = spec_of();
    struct renderer *r = open_cpu(1);
    const struct renderer_ops *ops = r->ops;
    struct renderer_ops half = *ops;
    struct err err = ERR_INIT;
    struct fit_run run;
    float params[TRIANGLES * SCENE_STRIDE];
    (void)state;
    half.call = half_call;
    half.close = counted_close;
    options.checking = note_check;
    r->ops = &half;
    make_target();
    scene_random(params, TRIANGLES, 7, 0, 0.15f);
    assert_false(fit_train(r, &spec, params, background, target, &options, &run, &err));
    assert_int_equal(err.code, ERR_WRONG);
    assert_int_equal(closed_at_check, 1);
    assert_null(run.loss);
    err_fini(&err);
    r->ops = ops;
    r->ops->destroy(r);
}

/* A target that is no number stands for a descent that went wrong: the start is what is left. */
static void test_divergence(void **state)
{
    const struct fit_options options = options_of(STEPS);
    const struct render_spec spec = spec_of();
    struct renderer *r = open_cpu(1);
    struct err err = ERR_INIT;
    struct fit_run run;
    float params[TRIANGLES * SCENE_STRIDE];
    (void)state;
    make_target();
    target[7] = NAN;
    scene_random(params, TRIANGLES, 7, 0, 0.15f);
    expect_ok(fit_train(r, &spec, params, background, target, &options, &run, &err), &err, "fit_train");
    assert_int_equal(run.end, FIT_DIVERGED);
    assert_int_equal(run.count, 1);
    assert_memory_equal(run.params, params, sizeof params);
    fit_run_fini(&run);
    r->ops->destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_is_adams),
        cmocka_unit_test(test_softness_goes_down_by_the_same_factor),
        cmocka_unit_test(test_parameters_stay_in_their_ranges),
        cmocka_unit_test(test_the_cpu_fits_and_repeats_itself),
        cmocka_unit_test(test_a_device_fits_and_repeats_itself),
        cmocka_unit_test(test_the_loop_on_the_device_is_the_one_on_the_host),
        cmocka_unit_test(test_a_step_without_room_is_made_again),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_a_wrong_loss_is_found),
        cmocka_unit_test(test_divergence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
