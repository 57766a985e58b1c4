#include "unit/check.h"

#include "model/rng.h"

static void test_known_outputs_of_splitmix64(void **state)
{
    struct rng rng;
    (void)state;
    rng_init(&rng, 0, 0);
    assert_true(rng_next(&rng) == UINT64_C(0xE220A8397B1DCDAF));
    assert_true(rng_next(&rng) == UINT64_C(0x6E789E6AA1B965F4));
    assert_true(rng_next(&rng) == UINT64_C(0x06C45D188009454F));
    rng_init(&rng, 1234567, 0);
    assert_true(rng_next(&rng) == UINT64_C(6457827717110365317));
    assert_true(rng_next(&rng) == UINT64_C(3203168211198807973));
    assert_true(rng_next(&rng) == UINT64_C(9817491932198370423));
}

static void test_streams_start_apart_and_wrap(void **state)
{
    struct rng a, b;
    (void)state;
    rng_init(&a, 11, 3);
    rng_init(&b, 11 + UINT64_C(3) * UINT64_C(0xD1342543DE82EF95), 0);
    assert_true(rng_next(&a) == rng_next(&b));
    rng_init(&a, UINT64_MAX, 1);
    rng_init(&b, UINT64_C(0xD1342543DE82EF95) - 1, 0);
    assert_true(rng_next(&a) == rng_next(&b));
    rng_init(&b, UINT64_MAX, 2);
    assert_true(rng_next(&a) != rng_next(&b));
}

static void test_uniform_takes_the_upper_24_bits(void **state)
{
    struct rng bits, uniform;
    (void)state;
    rng_init(&bits, 5, 0);
    rng_init(&uniform, 5, 0);
    for (int i = 0; i < 1000; i++) {
        float want = (float)(rng_next(&bits) >> 40) / 16777216.0f;
        float got = rng_uniform(&uniform);
        assert_true(got == want);
        assert_true(got >= 0.0f && got < 1.0f);
    }
}

static void test_range_stays_inside_and_has_its_mean(void **state)
{
    struct rng rng;
    double sum = 0.0;
    (void)state;
    rng_init(&rng, 5, 0);
    for (int i = 0; i < 10000; i++) {
        float v = rng_range(&rng, -0.5f, 1.5f);
        assert_true(v >= -0.5f && v <= 1.5f);
        sum += (double)v;
    }
    assert_true(sum / 10000 > 0.48 && sum / 10000 < 0.52);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_outputs_of_splitmix64),
        cmocka_unit_test(test_streams_start_apart_and_wrap),
        cmocka_unit_test(test_uniform_takes_the_upper_24_bits),
        cmocka_unit_test(test_range_stays_inside_and_has_its_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
