#include "unit/check.h"

#include <string.h>

#include "report/table.h"

static void test_every_table_has_a_name_and_help(void **state)
{
    size_t count;
    const struct table_kind *kinds = table_kinds(&count);
    (void)state;
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(table_kind_find(kinds[i].name), &kinds[i]);
        assert_true(strlen(kinds[i].name) < sizeof(((struct table *)0)->name));
        assert_true(strlen(kinds[i].help) > 0 && kinds[i].modes && kinds[i].make);
    }
    assert_null(table_kind_find("nosuch"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_table_has_a_name_and_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
