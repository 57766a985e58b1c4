#include "unit/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/fit.h"
#include "report/table.h"

static char *written(const struct table *t, size_t width, bool colour)
{
    struct strbuf sb = STRBUF_INIT;
    struct err err = ERR_INIT;

    assert_true(table_write_text(t, width, colour, &sb, &err));
    assert_non_null(sb.data);
    return sb.data;
}

static void expect(const struct table *t, size_t width, bool colour, const char *want)
{
    char *got = written(t, width, colour);
    assert_string_equal(got, want);
    free(got);
}

static void make(struct table *t)
{
    table_init(t, "made");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "size");
    table_column(t, ALIGN_LEFT, 10, "winner");
    table_column(t, ALIGN_RIGHT, 20, "call ms");
    table_row(t);
    table_put(t, MARK_NONE, NAN, "64²");
    table_put(t, MARK_WINNER, 1, "H200");
    table_put(t, MARK_NONE, 12.5, "12.5");
    table_row(t);
    table_put(t, MARK_NONE, NAN, "1024²");
    table_put(t, MARK_BAD, NAN, "wrong");
}

static void test_columns_line_up_by_what_is_seen(void **state)
{
    struct table t;
    (void)state;
    make(&t);
    expect(&t, 80, false,
           " size  winner  call ms\n"
           "  64²  H200       12.5\n"
           "1024²  wrong\n");
    table_fini(&t);
}

static void test_colour_adds_to_the_text_and_changes_none(void **state)
{
    struct table t;
    (void)state;
    make(&t);
    expect(&t, 80, true,
           " \033[1msize\033[0m  \033[1mwinner\033[0m  \033[1mcall ms\033[0m\n"
           "  64²  \033[32mH200\033[0m       12.5\n"
           "1024²  \033[1;31mwrong\033[0m\n");
    table_fini(&t);
}

static void test_narrow_gaps_come_before_dropped_columns(void **state)
{
    struct table t;
    (void)state;
    make(&t);
    expect(&t, 20, false,
           " size winner call ms\n"
           "  64² H200      12.5\n"
           "1024² wrong\n");
    expect(&t, 19, false,
           " size  call ms\n"
           "  64²     12.5\n"
           "1024²\n"
           "not shown for want\n"
           "of width: winner\n");
    expect(&t, 3, false,
           " size\n"
           "  64²\n"
           "1024²\n"
           "not\n"
           "shown\n"
           "for\n"
           "want\n"
           "of\n"
           "width:\n"
           "winner,\n"
           "call\n"
           "ms\n");
    table_fini(&t);
}

static void test_headings_break_between_parts_first(void **state)
{
    struct table t;
    (void)state;
    table_init(&t, "made");
    table_title(&t, "a title of %d    gradient, batch 16", 3);
    table_note(&t, "CPU: four words of it    device: H200    call: loader");
    table_foot(&t, "%s", "");
    expect(&t, 40, false,
           "a title of 3    gradient, batch 16\n"
           "CPU: four words of it    device: H200\n"
           "call: loader\n"
           "\n");
    expect(&t, 15, false,
           "a title of 3\n"
           "gradient, batch\n"
           "16\n"
           "CPU: four words\n"
           "of it\n"
           "device: H200\n"
           "call: loader\n"
           "\n");
    table_fini(&t);
}

static void test_titles_of_two_lines_stand_on_the_last(void **state)
{
    struct table t;
    (void)state;
    table_init(&t, "made");
    table_column(&t, ALIGN_LEFT, KEEP_ALWAYS, "size");
    table_column(&t, ALIGN_RIGHT, 2, "recompute\nms");
    table_column(&t, ALIGN_LEFT, 1, "gain\ntimes");
    table_row(&t);
    table_put(&t, MARK_NONE, NAN, "64²");
    table_put(&t, MARK_NONE, 1, "1.00");
    table_put(&t, MARK_NONE, 1, "2");
    expect(&t, 80, false,
           "      recompute  gain\n"
           "size         ms  times\n"
           "64²        1.00  2\n");
    expect(&t, 16, false,
           "      recompute\n"
           "size         ms\n"
           "64²        1.00\n"
           "not shown for\n"
           "want of width:\n"
           "gain times\n");
    strcpy(t.columns[2].title, "ga-\nin"); /* a word in two parts is one */
    expect(&t, 16, false,
           "      recompute\n"
           "size         ms\n"
           "64²        1.00\n"
           "not shown for\n"
           "want of width:\n"
           "gain\n");
    strcpy(t.columns[2].title, "gain\ntimes");
    t.columns[1].keep = 0; /* with it goes the second line of the header */
    t.columns[2].title[4] = ' ';
    expect(&t, 16, false,
           "size  gain times\n"
           "64²   2\n"
           "not shown for\n"
           "want of width:\n"
           "recompute ms\n");
    table_fini(&t);
}

static void test_fit_drops_the_least_first(void **state)
{
    static const size_t widths[] = {5, 10, 10, 10};
    static const int keep[] = {KEEP_ALWAYS, 5, 1, 5};
    bool shown[4];
    (void)state;
    assert_int_equal(fit_columns(widths, keep, 4, 41, shown), 2);
    assert_true(shown[0] && shown[1] && shown[2] && shown[3]);
    assert_int_equal(fit_columns(widths, keep, 4, 40, shown), 1);
    assert_true(shown[0] && shown[1] && shown[2] && shown[3]);
    assert_int_equal(fit_columns(widths, keep, 4, 37, shown), 2);
    assert_true(shown[0] && shown[1] && !shown[2] && shown[3]);
    assert_int_equal(fit_columns(widths, keep, 4, 20, shown), 2);
    assert_true(shown[0] && shown[1] && !shown[2] && !shown[3]); /* of equals the rightmost goes first */
    fit_columns(widths, keep, 4, 1, shown);
    assert_true(shown[0] && !shown[1] && !shown[2] && !shown[3]);
    assert_int_equal(fit_columns(widths, keep, 0, 80, shown), 2);
}

static void test_widths(void **state)
{
    (void)state;
    assert_int_equal(text_width(""), 0);
    assert_int_equal(text_width("64² × 512"), 9);
    assert_int_equal(text_width("e\xcc\x81"), 1);        /* e and a combining acute */
    assert_int_equal(text_width("\xe6\x97\xa5"), 2);     /* U+65E5 */
    assert_int_equal(text_width("\xf0\x9f\x98\x80"), 2); /* U+1F600 */
    assert_int_equal(text_width("a\xff"
                                "b"),
                     3);
}

static void test_builders_refuse_what_does_not_fit(void **state)
{
    struct table t;
    struct strbuf sb = STRBUF_INIT;
    struct err err = ERR_INIT;
    (void)state;
    make(&t);
    assert_true(table_ok(&t, &err));
    table_put(&t, MARK_NONE, NAN, "third");
    assert_true(table_ok(&t, &err));
    table_put(&t, MARK_NONE, NAN, "fourth of three");
    assert_false(table_ok(&t, &err));
    assert_false(table_write_text(&t, 80, false, &sb, &err));
    err_fini(&err);
    table_fini(&t);

    make(&t);
    table_column(&t, ALIGN_LEFT, 1, "after a row");
    assert_false(table_ok(&t, &err));
    err_fini(&err);
    table_fini(&t);
    table_fini(&t);
    table_fini(NULL);
    strbuf_fini(&sb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_line_up_by_what_is_seen),
        cmocka_unit_test(test_colour_adds_to_the_text_and_changes_none),
        cmocka_unit_test(test_narrow_gaps_come_before_dropped_columns),
        cmocka_unit_test(test_headings_break_between_parts_first),
        cmocka_unit_test(test_titles_of_two_lines_stand_on_the_last),
        cmocka_unit_test(test_fit_drops_the_least_first),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_builders_refuse_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
