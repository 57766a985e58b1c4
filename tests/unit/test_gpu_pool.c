/* The buffer pool, with buffers that are only counted. */
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/pool.h"

struct fake {
    int created, released;
    bool refuses;
};

static cl_mem fake_create(void *context, cl_mem_flags usage, size_t bytes, cl_int *code)
{
    struct fake *fake = context;

    (void)usage;
    (void)bytes;
    *code = fake->refuses ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_SUCCESS;
    if (fake->refuses)
        return NULL;
    fake->created++;
    return malloc(1);
}

static void fake_release(void *context, cl_mem buffer)
{
    ((struct fake *)context)->released++;
    free(buffer);
}

static void open_pool(struct pool *pool, struct fake *fake, uint64_t limit)
{
    *fake = (struct fake){0};
    pool_init(pool, &(struct pool_source){fake_create, fake_release, fake}, "a device", limit);
}

static cl_mem take(struct pool *pool, cl_mem_flags usage, uint64_t bytes)
{
    struct err err = ERR_INIT;
    cl_mem buffer = NULL;

    assert_true(pool_take(pool, usage, bytes, &buffer, &err));
    return buffer;
}

static void test_same_usage_and_size_hit(void **state)
{
    struct pool pool;
    struct fake fake;

    (void)state;
    open_pool(&pool, &fake, 1 << 20);
    cl_mem a = take(&pool, CL_MEM_READ_ONLY, 5000);
    pool_give(&pool, a);
    assert_ptr_equal(take(&pool, CL_MEM_READ_ONLY, 5000), a);
    pool_give(&pool, a);
    /* Another usage, and another size, are other buffers. */
    assert_ptr_not_equal(take(&pool, CL_MEM_READ_WRITE, 5000), a);
    assert_ptr_not_equal(take(&pool, CL_MEM_READ_ONLY, 9000), a);
    assert_int_equal(pool.hits, 1);
    assert_int_equal(pool.misses, 3);
    assert_int_equal(pool.bytes, 8192 + 8192 + 12288);
    pool_fini(&pool);
    assert_int_equal(fake.created, fake.released);
}

static void test_busy_buffers_are_not_shared(void **state)
{
    struct pool pool;
    struct fake fake;

    (void)state;
    open_pool(&pool, &fake, 1 << 20);
    cl_mem a = take(&pool, CL_MEM_READ_WRITE, 100), b = take(&pool, CL_MEM_READ_WRITE, 100);
    assert_ptr_not_equal(a, b);
    pool_fini(&pool);
    assert_int_equal(fake.released, 2);
}

static void test_evicts_the_one_idle_longest(void **state)
{
    struct pool pool;
    struct fake fake;

    (void)state;
    open_pool(&pool, &fake, 4 * POOL_GRANULE);
    cl_mem a = take(&pool, CL_MEM_READ_ONLY, POOL_GRANULE), b = take(&pool, CL_MEM_READ_WRITE, POOL_GRANULE);
    pool_give(&pool, b);
    pool_give(&pool, a);
    a = take(&pool, CL_MEM_READ_ONLY, POOL_GRANULE); /* used after b */
    pool_give(&pool, a);
    take(&pool, CL_MEM_READ_ONLY, 3 * POOL_GRANULE);
    assert_int_equal(fake.released, 1);
    assert_ptr_equal(take(&pool, CL_MEM_READ_ONLY, POOL_GRANULE), a);
    pool_fini(&pool);
}

static void test_limit_names_both_figures(void **state)
{
    struct pool pool;
    struct fake fake;
    struct err err = ERR_INIT;
    cl_mem buffer;

    (void)state;
    open_pool(&pool, &fake, 100000);
    take(&pool, CL_MEM_READ_ONLY, 50000);
    assert_false(pool_take(&pool, CL_MEM_READ_ONLY, 80000, &buffer, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_non_null(strstr(err.text, "81.9 kB"));
    assert_non_null(strstr(err.text, "100 kB"));
    assert_int_equal(pool.misses, 1);
    err_fini(&err);
    pool_fini(&pool);
}

static void test_failed_allocation_evicts_then_reports(void **state)
{
    struct pool pool;
    struct fake fake;
    struct err err = ERR_INIT;
    cl_mem buffer;

    (void)state;
    open_pool(&pool, &fake, 1 << 20);
    pool_give(&pool, take(&pool, CL_MEM_READ_ONLY, 5000));
    fake.refuses = true;
    assert_false(pool_take(&pool, CL_MEM_READ_ONLY, 9000, &buffer, &err));
    assert_int_equal(err.code, ERR_OPENCL);
    assert_non_null(strstr(err.text, "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)"));
    assert_non_null(strstr(err.text, "a device"));
    assert_int_equal(fake.released, 1);
    assert_int_equal(pool.bytes, 0);
    err_fini(&err);
    pool_fini(&pool);
}

static void test_off_keeps_nothing(void **state)
{
    struct pool pool;
    struct fake fake;

    (void)state;
    open_pool(&pool, &fake, 1 << 20);
    pool_give(&pool, take(&pool, CL_MEM_READ_ONLY, 5000));
    pool.keeps = false;
    cl_mem a = take(&pool, CL_MEM_READ_ONLY, 5000);
    assert_int_equal(pool.hits, 0);
    pool_give(&pool, a);
    assert_int_equal(fake.released, 1);
    pool_trim(&pool);
    assert_int_equal(fake.released, 2);
    pool_fini(&pool);
}

static void test_rounding(void **state)
{
    (void)state;
    assert_int_equal(pool_round(0), POOL_GRANULE);
    assert_int_equal(pool_round(1), POOL_GRANULE);
    assert_int_equal(pool_round(POOL_GRANULE), POOL_GRANULE);
    assert_int_equal(pool_round(POOL_GRANULE + 1), 2 * POOL_GRANULE);
    assert_true(pool_round(UINT64_MAX) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_usage_and_size_hit), cmocka_unit_test(test_busy_buffers_are_not_shared),
        cmocka_unit_test(test_evicts_the_one_idle_longest), cmocka_unit_test(test_limit_names_both_figures),
        cmocka_unit_test(test_failed_allocation_evicts_then_reports), cmocka_unit_test(test_off_keeps_nothing),
        cmocka_unit_test(test_rounding),
    };

    return cmocka_run_group_tests_name("buffer pool", tests, NULL, NULL);
}
