/* Submissions: nothing left out or done twice, and none longer than the limit once the picture is known. */
#include "unit/check.h"

#include <string.h>

#include "gpu/cut.h"

#define SCENES 5u
#define ROWS 7u

/* A launch whose row (scene, row) takes ns(scene, row); the longest submission. */
static uint64_t launch(struct cut *cut, uint64_t limit_ns, uint64_t (*ns)(uint32_t scene, uint32_t row),
                       size_t *count)
{
    unsigned done[SCENES][ROWS] = {{0}};
    struct cut_piece p;
    uint64_t longest = 0;

    *count = 0;
    for (cut_begin(cut, SCENES, ROWS); cut_next(cut, limit_ns, &p); ++*count) {
        uint64_t took = 0;
        assert_true(p.scenes > 0 && p.rows > 0);
        assert_true(p.scenes == 1 || (p.first_row == 0 && p.rows == ROWS));
        assert_true(p.first_scene + p.scenes <= SCENES && p.first_row + p.rows <= ROWS);
        for (uint32_t s = p.first_scene; s < p.first_scene + p.scenes; s++)
            for (uint32_t r = p.first_row; r < p.first_row + p.rows; r++) {
                done[s][r]++;
                took += ns(s, r);
            }
        cut_took(cut, took);
        longest = took > longest ? took : longest;
    }
    for (size_t s = 0; s < SCENES; s++)
        for (size_t r = 0; r < ROWS; r++)
            assert_int_equal(done[s][r], 1);
    return longest;
}

static uint64_t even(uint32_t scene, uint32_t row)
{
    (void)scene;
    (void)row;
    return 1000;
}

/* The lower rows of scene 2 are fifty times the others. */
static uint64_t uneven(uint32_t scene, uint32_t row)
{
    return scene == 2 && row > 3 ? 50000 : 1000;
}

static void test_even_work(void **state)
{
    struct cut cut = {0};
    size_t count;

    (void)state;
    /* The first launch feels its way: 1, 4, 2 rows of a scene, then whole ones. */
    assert_in_range(launch(&cut, 1000000, even, &count), 1, 1000000);
    assert_in_range(count, 3, 6);
    launch(&cut, 1000000, even, &count);
    assert_int_equal(count, 1);
    assert_in_range(launch(&cut, 10000, even, &count), 1, 10000);
    assert_int_equal(count, SCENES);
    assert_in_range(launch(&cut, 3000, even, &count), 1, 3000);
    assert_int_equal(count, SCENES * 4);
}

static void test_one_row_is_the_least(void **state)
{
    struct cut cut = {0};
    size_t count;

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(launch(&cut, 1, even, &count), 1000);
        assert_int_equal(count, SCENES * ROWS);
    }
}

static void test_uneven_work(void **state)
{
    struct cut cut = {0};
    size_t count;

    (void)state;
    /* Rows' times are known as the mean of a submission: it takes a few launches until slow ones stand alone.
     */
    for (int i = 0; i < 5; i++)
        launch(&cut, 100000, uneven, &count);
    for (int i = 0; i < 5; i++)
        assert_in_range(launch(&cut, 100000, uneven, &count), 1, 100000);
    /* What was slow and is no more is forgotten. */
    launch(&cut, 100000, even, &count);
    launch(&cut, 100000, even, &count);
    assert_int_equal(count, 1);
}

static void test_nothing_to_do(void **state)
{
    struct cut cut = {0};
    struct cut_piece p;

    (void)state;
    cut_begin(&cut, 0, ROWS);
    assert_false(cut_next(&cut, 1000, &p));
    cut_begin(&cut, UINT32_MAX, UINT32_MAX);
    assert_true(cut_next(&cut, 1000, &p));
    cut_took(&cut, 0); /* a clock that stands still */
    assert_true(cut_next(&cut, 1000, &p));
    assert_in_range(p.rows, 1, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_even_work),
        cmocka_unit_test(test_one_row_is_the_least),
        cmocka_unit_test(test_uneven_work),
        cmocka_unit_test(test_nothing_to_do),
    };

    return cmocka_run_group_tests_name("submissions", tests, NULL, NULL);
}
