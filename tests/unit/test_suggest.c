#include "unit/check.h"

#include <limits.h>
#include <string.h>

#include "base/suggest.h"

static const char *const reductions[] = {"ordered", "local", "direct", NULL};

static void test_distance_counts_edits(void **state)
{
    (void)state;
    assert_int_equal(suggest_distance("local", "local"), 0);
    assert_int_equal(suggest_distance("lokal", "local"), 1);
    assert_int_equal(suggest_distance("kitten", "sitting"), 3);
    assert_int_equal(suggest_distance("", "abc"), 3);
    assert_int_equal(suggest_distance("abc", ""), 3);
    assert_int_equal(suggest_distance("BATCH", "batch"), 0);
}

static void test_swapped_neighbours_are_one_edit(void **state)
{
    (void)state;
    assert_int_equal(suggest_distance("sgima", "sigma"), 1);
    assert_int_equal(suggest_distance("ca", "ac"), 1);
}

static void test_nearest_of_a_list(void **state)
{
    (void)state;
    assert_string_equal(suggest_from("lokal", reductions), "local");
    assert_string_equal(suggest_from("Ordred", reductions), "ordered");
    assert_null(suggest_from("atomic", reductions));
    assert_null(suggest_from("", reductions));
}

static void test_short_words_need_a_likeness(void **state)
{
    static const char *const names[] = {"on", "off", "a", NULL};
    (void)state;
    assert_string_equal(suggest_from("offf", names), "off");
    assert_null(suggest_from("x", names));
}

static void test_a_word_too_long_to_compare_has_no_suggestion(void **state)
{
    char word[200];
    (void)state;
    memset(word, 'a', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    assert_int_equal(suggest_distance(word, "a"), UINT_MAX);
    assert_null(suggest_from(word, reductions));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance_counts_edits),
        cmocka_unit_test(test_swapped_neighbours_are_one_edit),
        cmocka_unit_test(test_nearest_of_a_list),
        cmocka_unit_test(test_short_words_need_a_likeness),
        cmocka_unit_test(test_a_word_too_long_to_compare_has_no_suggestion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
