/* Remedies and what is predicted of them. */
#include "unit/made.h"

#include "report/what_if.h"

#define BIT(r) (1u << REMEDY_##r)

static void test_lists(void **state)
{
    unsigned set;
    struct err err = ERR_INIT;
    (void)state;
    assert_true(remedies_parse("resident,pinned,pool,local", &set, &err));
    assert_int_equal(set, BIT(RESIDENT) | BIT(PINNED) | BIT(POOL) | BIT(LOCAL));
    assert_true(remedies_parse("loss", &set, &err));
    assert_int_equal(set, BIT(LOSS));
    static const char *const wrong[] = {"", "pool,", ",pool", "pol", "pool;loss"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(remedies_parse(wrong[i], &set, &err));
        assert_int_equal(err.code, ERR_USAGE);
        err_fini(&err);
    }
}

static void test_values(void **state)
{
    const unsigned both = BIT(PINNED) | BIT(RESIDENT);
    (void)state;
    assert_string_equal(remedy_value(REMEDY_POOL, BIT(POOL), 0), "off");
    assert_string_equal(remedy_value(REMEDY_POOL, BIT(POOL), BIT(POOL)), "on");
    assert_string_equal(remedy_value(REMEDY_RESIDENT, BIT(RESIDENT), 0), "loader");
    assert_string_equal(remedy_value(REMEDY_RESIDENT, both, 0), "pageable");
    assert_string_equal(remedy_value(REMEDY_PINNED, both, BIT(PINNED)), "loader");
    assert_string_equal(remedy_value(REMEDY_PINNED, both, BIT(RESIDENT)), "resident");
    assert_string_equal(remedy_value(REMEDY_PINNED, both, both), "resident");
    assert_string_equal(remedies_name(both, 0), "base");
    assert_string_equal(remedies_name(both, BIT(PINNED)), "pinned");
    assert_string_equal(remedies_name(both, both), "all");
}

/* 64 x 64, 16 scenes: targets and images of 786432 bytes. The call takes half of what the phases add up to.
 */
static struct cell *base_cell(struct results *r)
{
    struct cell *c = made_cell(r, "base", MADE_GPU, 64, 32, 500000, 10);
    c->spec.loss = LOSS_HOST;
    c->has_phases = true;
    c->phases = (struct render_phases){.alloc_ns = 100000,
                                       .upload_ns = 200000,
                                       .dispatch_ns = 400000,
                                       .readback_ns = 160000,
                                       .loss_ns = 90000,
                                       .total_ns = 1000000};
    c->counts.bytes_up = 786432 * 4 / 3;
    c->counts.bytes_down = 786432 * 2;
    return c;
}

static uint64_t predicted(const struct cell *base, unsigned applied)
{
    uint64_t ns = 0;
    assert_true(remedies_predict(base, applied, &ns));
    return ns;
}

static void test_predictions(void **state)
{
    struct results r;
    uint64_t ns;
    (void)state;
    made_init(&r);
    struct cell *base = base_cell(&r);
    assert_int_equal(predicted(base, 0), 500000);
    assert_int_equal(predicted(base, BIT(POOL)), 450000);
    assert_int_equal(predicted(base, BIT(LOCAL)), 300000);
    assert_int_equal(predicted(base, BIT(LOSS)), 500000 - 45000 - 40000);
    assert_int_equal(predicted(base, BIT(RESIDENT)), 500000 - 75000);
    assert_int_equal(predicted(base, BIT(PINNED)), 500000 - 135000);
    /* What no phase covers stays whatever is done: 50 of 1000 us. */
    const unsigned all = BIT(POOL) | BIT(LOCAL) | BIT(LOSS) | BIT(RESIDENT) | BIT(PINNED);
    assert_int_equal(predicted(base, all), 25000 + 25000 / 4 + 40000 / 4);
    base->counts.bytes_up = base->counts.bytes_down = 0; /* memory is shared */
    assert_int_equal(predicted(base, BIT(RESIDENT)), 500000);
    assert_int_equal(predicted(base, BIT(PINNED)), 500000);
    base->has_phases = false;
    assert_false(remedies_predict(base, BIT(POOL), &ns));
    made_fini(&r);
}

static void test_table(void **state)
{
    struct results r;
    struct err err = ERR_INIT;
    struct table *tables = NULL;
    size_t count = 0;
    (void)state;
    made_init(&r);
    struct cell *base = base_cell(&r);
    struct json *predictions = json_set_array(r.head, "predictions");
    base->id = mem_strdup("base/64x64/t32/b16", &err);
    const unsigned listed = BIT(POOL) | BIT(LOCAL);
    assert_true(prediction_add(predictions, base, listed, BIT(LOCAL), &err));
    assert_true(prediction_add(predictions, base, listed, BIT(POOL), &err));
    assert_true(prediction_add(predictions, base, listed, listed, &err));
    made_cell(&r, "local", MADE_GPU, 64, 32, 400000, 10)->id = mem_strdup("local/64x64/t32/b16", &err);
    struct cell *pool = made_cell(&r, "pool", MADE_GPU, 64, 32, 500000, 10);
    pool->id = mem_strdup("pool/64x64/t32/b16", &err);
    made_fail(pool, CELL_FAILED, "it broke");
    assert_true(table_kind_find("what-if")->make(&r, &tables, &count, &err));
    assert_int_equal(count, 1);
    char *text = made_text(&tables[0], 120, false);
    assert_non_null(strstr(text, "What if: predicted from the phases, then measured"));
    assert_non_null(strstr(text, " 64²  base                            500\n"));
    assert_non_null(strstr(text, "      local       ≥ 300  ≤ 1.67       400  1.25 ["));
    assert_non_null(strstr(text, "      pool          450    1.11    failed  -"));
    assert_non_null(strstr(text, "      all         ≥ 250   ≤ 2.0         -  -"));
    assert_non_null(strstr(text, "dispatch, at most all of it"));
    assert_non_null(strstr(text, "\n64² × 32 on H200 failed: it broke\n"));
    free(text);
    tables_free(tables, count);
    made_fini(&r);
}

static void test_no_predictions(void **state)
{
    struct results r;
    struct err err = ERR_INIT;
    struct table *tables = NULL;
    size_t count = 0;
    (void)state;
    made_init(&r);
    base_cell(&r);
    assert_true(table_kind_find("what-if")->make(&r, &tables, &count, &err));
    assert_non_null(strstr(tables[0].title, "no predictions"));
    tables_free(tables, count);
    made_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),          cmocka_unit_test(test_values),
        cmocka_unit_test(test_predictions),    cmocka_unit_test(test_table),
        cmocka_unit_test(test_no_predictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
