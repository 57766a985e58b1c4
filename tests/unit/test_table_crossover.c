#include "unit/made.h"

static void expect_tables(const struct results *r, const char *kind, const char *want)
{
    struct table *tables = NULL;
    struct strbuf got = STRBUF_INIT;
    struct err err = ERR_INIT;
    size_t count = 0;

    assert_true(table_kind_find(kind)->make(r, &tables, &count, &err));
    for (size_t i = 0; i < count; i++)
        assert_true(table_write_text(&tables[i], 80, false, &got, &err));
    assert_string_equal(strbuf_str(&got), want);
    assert_null(strstr(strbuf_str(&got), "inf"));
    assert_null(strstr(strbuf_str(&got), "nan"));
    tables_free(tables, count);
    strbuf_fini(&got);
}

#define HEADING                                                                                              \
    "CPU time / device time (above 1: device faster)\n"                                                      \
    "gradient, batch 16, sigma 0.01, random scenes\n"                                                        \
    "CPU: AMD EPYC 7B13, 2 threads, AVX2\n"                                                                  \
    "device: NVIDIA H200 [0:0 ptx], fused + ordered    call: loader, 1 in flight\n"                              \
    "dev: the same ratio for the device's own time, by its events\n"

static void test_the_nine_cells(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_crossover(&r, MADE_GPU, 20);
    expect_tables(&r, "crossover",
                  HEADING "      32 triangles            128                     512\n"
                          " 64²  0.56 [0.56,0.57] CPU    1.58 [1.57,1.59] H200   2.90 [2.88,2.92] H200\n"
                          "      131 / 233 us  dev 1.13  524 / 331 us  dev 3.2   2.1 / 0.72 ms  dev 5.8\n"
                          "128²  1.58 [1.57,1.59] H200   2.90 [2.88,2.92] H200   3.7 [3.6,3.7] H200\n"
                          "      524 / 331 us  dev 3.2   2.1 / 0.72 ms  dev 5.8  8.4 / 2.3 ms  dev 7.3\n"
                          "256²  2.90 [2.88,2.92] H200   3.7 [3.6,3.7] H200      3.91 [3.88,3.93] H200\n"
                          "      2.1 / 0.72 ms  dev 5.8  8.4 / 2.3 ms  dev 7.3   34 / 8.6 ms  dev 7.8\n"
                          "64²: CPU below 69 [68,70] triangles, H200 above\n"
                          "32 triangles: CPU below 94² [94,94], H200 above\n");
    made_fini(&r);
}

static void add_reading(struct json *records, double ns)
{
    struct json *entry = json_add_object(json_set_array(json_add_object(records), "canary"));

    json_set_string(entry, "on", "cpu");
    json_set_number(entry, "arithmetic_ns", ns);
    json_set_number(entry, "memory_ns", 1000);
}

/* Who wins by less than the machine varied did so by accident, perhaps. */
static void test_an_unsteady_machine(void **state)
{
    (void)state;
    for (int varied = 1; varied < 4; varied++) {
        struct table *tables = NULL;
        struct err err = ERR_INIT;
        struct results r;
        size_t count = 0;
        made_init(&r);
        struct json *records = json_set_array(r.head, "environment");
        add_reading(records, 9000); /* alone, it says nothing */
        for (int i = 0; i < 8; i++)
            add_reading(records, i % 2 ? 1000 : 1000 * varied);
        made_cell(&r, "cpu", MADE_CPU, 64, 32, 5000000, 10);
        made_cell(&r, "device", MADE_GPU, 64, 32, 2000000, 10);
        assert_true(table_kind_find("crossover")->make(&r, &tables, &count, &err));
        assert_int_equal(tables[0].footer_count, varied == 3 ? 2 : 1);
        if (varied == 3)
            assert_string_equal(tables[0].footer[1],
                                "the machine varied by 200 % while this ran: who wins by less is not certain");
        tables_free(tables, count);
        made_fini(&r);
    }
}

/* The CPU and the GPU win in turn along the triangles of one size. */
static void test_crosses_more_than_once(void **state)
{
    struct results r;
    struct table *tables = NULL;
    struct err err = ERR_INIT;
    size_t count = 0;
    (void)state;
    made_init(&r);
    for (uint32_t t = 32; t <= 512; t *= 4) {
        made_cell(&r, "cpu", MADE_CPU, 64, t, 1000000, 10);
        made_cell(&r, "device", MADE_GPU, 64, t, t == 128 ? 500000 : 2000000, 10);
    }
    assert_true(table_kind_find("crossover")->make(&r, &tables, &count, &err));
    assert_int_equal(tables[0].footer_count, 1);
    assert_string_equal(tables[0].footer[0], "64²: crosses more than once along triangles");
    tables_free(tables, count);
    made_fini(&r);
}

/* The device takes as long for 64 scenes as for one: it crosses where the CPU does, at the geometric mean. */
static void test_crossings_along_other_axes(void **state)
{
    struct results r;
    struct table *tables = NULL;
    struct err err = ERR_INIT;
    size_t count = 0;
    (void)state;
    made_init(&r);
    for (uint32_t batch = 1; batch <= 64; batch *= 64) {
        made_cell(&r, "cpu", MADE_CPU, 64, 32, 1000000 * batch, 10)->spec.batch = batch;
        made_cell(&r, "device", MADE_GPU, 64, 32, 8000000, 10)->spec.batch = batch;
    }
    assert_true(table_kind_find("crossover")->make(&r, &tables, &count, &err));
    assert_int_equal(count, 2);
    assert_int_equal(tables[0].footer_count, 2);
    assert_string_equal(tables[0].footer[0], "CPU wins everywhere measured");
    assert_string_equal(tables[0].footer[1], "along batch    64² × 32: CPU below 8 [7.92,8.08], H200 above");
    assert_int_equal(tables[1].footer_count, 1); /* told once */
    tables_free(tables, count);
    made_fini(&r);
}

static void test_what_has_no_time_says_why(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_crossover(&r, MADE_GPU, 20);
    made_fail(&r.cells[1], CELL_WRONG, "vertices 3.1e-2, allowed 2e-3");
    made_fail(&r.cells[2], CELL_TIMEOUT, "60 s were not enough");
    made_fail(&r.cells[4], CELL_SKIPPED, "needs 6.44 GB, has 4.00 GB");
    made_fail(&r.cells[5], CELL_FAILED, "CL_OUT_OF_RESOURCES (-5)");
    r.cells[17].counts.split = 4;
    expect_tables(&r, "crossover",
                  HEADING "      32 triangles            128                     512\n"
                          " 64²  - (H200 wrong)          - (CPU timeout)         - (H200 failed)\n"
                          "      131 us / wrong          timeout / 331 us        skipped / failed\n"
                          "128²  1.58 [1.57,1.59] H200   2.90 [2.88,2.92] H200   3.7 [3.6,3.7] H200\n"
                          "      524 / 331 us  dev 3.2   2.1 / 0.72 ms  dev 5.8  8.4 / 2.3 ms  dev 7.3\n"
                          "256²  2.90 [2.88,2.92] H200   3.7 [3.6,3.7] H200      3.91 [3.88,3.93] H200\n"
                          "      2.1 / 0.72 ms  dev 5.8  8.4 / 2.3 ms  dev 7.3   34 / 8.6÷4 ms  dev 7.8\n"
                          "H200 wins everywhere measured\n"
                          "64² × 32 on H200 wrong: vertices 3.1e-2, allowed 2e-3\n"
                          "64² × 128 on CPU timeout: 60 s were not enough\n"
                          "64² × 512 on CPU skipped: needs 6.44 GB, has 4.00 GB\n"
                          "64² × 512 on H200 failed: CL_OUT_OF_RESOURCES (-5)\n");
    made_fini(&r);
}

/* Cells that have it in common share a line. */
static void test_a_reason_is_told_once(void **state)
{
    struct results r;
    struct strbuf text = STRBUF_INIT;
    struct table *tables = NULL;
    struct err err = ERR_INIT;
    size_t count = 0;
    (void)state;
    made_init(&r);
    made_crossover(&r, MADE_GPU, 20);
    for (size_t i = 1; i < 16; i += 2)
        made_fail(&r.cells[i], CELL_SKIPPED, i == 5 ? "another reason" : "no image between them to move");
    assert_true(table_kind_find("crossover")->make(&r, &tables, &count, &err));
    assert_true(table_write_text(&tables[0], 400, false, &text, &err));
    assert_non_null(strstr(strbuf_str(&text), "64² × 32, 64² × 128, 128² × 32, 128² × 128, 128² × 512 and 2 more "
                                              "on H200 skipped: no image between them to move\n"));
    assert_non_null(strstr(strbuf_str(&text), "\n64² × 512 on H200 skipped: another reason\n"));
    strbuf_fini(&text);
    tables_free(tables, count);
    made_fini(&r);
}

static void test_two_samples_decide_nothing_for_sure(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 1000, 2);
    made_cell(&r, "device", MADE_GPU, 64, 32, 4000, 1)->device_ns = 0;
    made_cell(&r, "cpu", MADE_CPU, 64, 128, 0, 1);
    made_cell(&r, "device", MADE_GPU, 64, 128, 0, 1);
    made_cell(&r, "device", MADE_GPU, 96, 128, 7000, 1)->spec.height = 64;
    expect_tables(&r, "crossover",
                  HEADING "       32 triangles  128\n"
                          "  64²  0.25 CPU?     -\n"
                          "       1.0 / 4.0 us  0 us / 0 us\n"
                          "96x64  -             -\n"
                          "                     - / 7.00 us\n"
                          "CPU wins everywhere measured\n"
                          "?: under 6 samples, so no interval: by the medians alone\n");
    made_fini(&r);
}

static void test_one_table_a_call_shape_and_device(void **state)
{
    struct results r;
    struct table *tables = NULL;
    struct err err = ERR_INIT;
    size_t count = 0;
    (void)state;
    made_init(&r);
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 1000, 10);
    made_cell(&r, "device", MADE_GPU, 64, 32, 1000, 10);
    made_cell(&r, "device", MADE_GPU, 64, 32, 500, 10)->spec.call = CALL_RESIDENT;
    made_cell(&r, "device", MADE_POCL, 64, 32, 2000, 10);
    assert_true(table_kind_find("crossover")->make(&r, &tables, &count, &err));
    assert_int_equal(count, 3);
    assert_string_equal(tables[0].fields[1].text, "1.00 [0.99,1.01] tie");
    assert_int_equal(tables[0].fields[1].mark, MARK_TIE);
    assert_string_equal(tables[1].fields[1].text, "2.00 [1.98,2.02] H200");
    assert_int_equal(tables[1].fields[1].mark, MARK_WINNER);
    assert_string_equal(tables[2].fields[1].text, "0.50 [0.49,0.51] CPU");
    assert_int_equal(tables[2].fields[1].mark, MARK_LOSER);
    assert_non_null(strstr(tables[1].notes[0], "call: resident"));
    assert_non_null(strstr(tables[2].notes[0], "device: PoCL (pthread-AMD EPYC 7B13) [1:0 cpu]"));
    tables_free(tables, count);
    made_fini(&r);
}

static void test_nothing_to_compare(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    expect_tables(&r, "crossover", "crossover: nothing to compare: this run has no cells for it\n");
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 1000, 10);
    expect_tables(&r, "crossover",
                  "Times of CPU alone: nothing else was measured to compare it with\n"
                  "gradient, 64x64, 32 triangles, batch 16, sigma 0.01, random scenes\n"
                  "CPU: AMD EPYC 7B13, 2 threads, AVX2\n"
                  "CPU us  worst error\n"
                  "  1.00  vertices 2.2e-5\n");
    r.cells[0].spec.mode = MODE_FORWARD;
    expect_tables(&r, "crossover", "crossover: nothing to show: all cells of this run are forward ones\n");
    r.cells[0].spec.mode = MODE_GRADIENT;
    expect_tables(&r, "forward", "forward: nothing to show: all cells of this run are gradient ones\n");
    made_fini(&r);
}

static void test_two_devices_of_one_name_are_told_apart(void **state)
{
    struct results r;
    struct table *tables = NULL;
    struct err err = ERR_INIT;
    size_t count = 0;
    (void)state;
    made_init(&r);
    snprintf(r.devices[MADE_POCL].short_name, sizeof(r.devices[0].short_name), "H200");
    made_cell(&r, "device", MADE_GPU, 64, 32, 2000, 10);
    made_cell(&r, "device", MADE_POCL, 64, 32, 1000, 10);
    assert_true(table_kind_find("crossover")->make(&r, &tables, &count, &err));
    assert_int_equal(count, 1);
    assert_string_equal(tables[0].fields[1].text, "2.00 [1.98,2.02] 1:0");
    assert_non_null(strstr(tables[0].title, "0:0 time / 1:0 time (above 1: 1:0 faster)"));
    tables_free(tables, count);
    made_fini(&r);
}

static void test_many_columns_are_dropped_not_wrapped(void **state)
{
    struct results r;
    struct table *tables = NULL;
    struct err err = ERR_INIT;
    size_t count = 0;
    (void)state;
    made_init(&r);
    for (uint32_t t = 32; t <= 2048; t *= 2) {
        made_cell(&r, "cpu", MADE_CPU, 64, t, 1000u * t, 10);
        made_cell(&r, "device", MADE_GPU, 64, t, 500u * t, 10);
    }
    assert_true(table_kind_find("crossover")->make(&r, &tables, &count, &err));
    char *text = made_text(&tables[0], 80, false);
    assert_non_null(strstr(text, "not shown for want of width: 64, 128, 256, 1024\n"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(strlen(line) <= 90 &&
                    line[strlen(line) - 1] != ' '); /* bytes: a line holds a few of two */
    free(text);
    tables_free(tables, count);
    made_fini(&r);
}

/* A file's scene has a quarter of the pairs, which the CPU's time follows and the GPU's not; and, with more
 * triangles, as many pairs of which some are opaque. */
static void test_fitted_scenes_beside_random_ones(void **state)
{
    static const uint64_t ns[2][2][2] = {{{200000, 100000}, {50000, 90000}}, {{400000, 100000}, {440000, 300000}}};
    struct results r;
    (void)state;
    made_init(&r);
    for (int i = 0; i < 8; i++) {
        const int many = i / 4, source = i / 2 % 2, device = i % 2;
        struct cell *c = made_cell(&r, device ? "device" : "cpu", device ? MADE_GPU : MADE_CPU, 64, many ? 128 : 32,
                                   ns[many][source][device], 20);
        c->spec.source = source ? SOURCE_FILE : SOURCE_RANDOM;
        c->pairs = !many && source ? 65536 : 262144;
        c->pairs_opaque = source ? c->pairs / 8 : 0;
        c->layers_p99 = source ? 5 : 9;
        c->layers_most = source ? 6 : 12;
    }
    expect_tables(&r, "scenes",
                  "Scenes from files beside random ones\n"
                  "CPU time / device time (above 1: device faster)\n"
                  "gradient, batch 16, sigma 0.01\n"
                  "CPU: AMD EPYC 7B13, 2 threads, AVX2\n"
                  "device: NVIDIA H200 [0:0 ptx], fused + ordered    call: loader, 1 in flight\n"
                  "pairs: covering triangles a pixel, on average\n"
                  "layers: 99 % of the pixels have at most so many; the most\n"
                  "                                             CPU H200   pairs layers\n"
                  "size triangles source ratio                   us   us a pixel   99 % most\n"
                  " 64²        32 random 2.00 [1.99,2.01] H200  200  100     4.0      9   12\n"
                  " 64²        32 file   0.56 [0.55,0.56] CPU  50.0 90.0    1.00      5    6\n"
                  " 64²       128 random 4.00 [3.97,4.03] H200  400  100     4.0      9   12\n"
                  " 64²       128 file   1.47 [1.46,1.48] H200  440  300     4.0      5    6\n"
                  "64² × 32: 2.0 on random scenes, 0.56 on files': 0.25 times the pairs, 5 layers\n"
                  "for 9. CPU takes 0.25 times as long, H200 0.90 times: less of what H200 does\n"
                  "depends on pairs\n"
                  "64² × 128: 4.0 on random scenes, 1.47 on files': 1.0 times the pairs, 5 layers\n"
                  "for 9. CPU takes 1.1 times as long, H200 3.0 times: a pair costs H200 3 times as\n"
                  "much: 12 % of its pairs are opaque (0 % of random ones), and what lies below\n"
                  "those is composited once more for the gradient of alpha\n"
                  "Times and pairs are measured and counted; what makes them differ is concluded\n"
                  "from them\n");
    made_fini(&r);
}

/* Half of the calls on the file's scene were held up: the ratios are apart, and nothing is concluded from that. */
static void test_no_reason_from_a_disturbed_run(void **state)
{
    struct table *tables = NULL;
    struct err err = ERR_INIT;
    struct results r;
    size_t count = 0;

    (void)state;
    made_init(&r);
    for (int i = 0; i < 4; i++) {
        struct cell *c = made_cell(&r, i % 2 ? "device" : "cpu", i % 2 ? MADE_GPU : MADE_CPU, 64, 32, 100000, 20);
        c->spec.source = i / 2 ? SOURCE_FILE : SOURCE_RANDOM;
        c->pairs = 262144;
        if (i == 2) {
            for (size_t k = 0; k < 20; k++)
                c->samples_ns[k] = k % 2 ? 900000 : 90000000;
            c->median_ns = 45450000;
        }
    }
    assert_true(table_kind_find("scenes")->make(&r, &tables, &count, &err));
    assert_int_equal(tables[0].row_count, 2);
    for (size_t i = 0; i < tables[0].footer_count; i++)
        assert_null(strstr(tables[0].footer[i], "on random scenes"));
    tables_free(tables, count);
    tables = NULL;
    count = 0;
    made_fail(&r.cells[3], CELL_FAILED, "it broke");
    assert_true(table_kind_find("scenes")->make(&r, &tables, &count, &err));
    assert_string_equal(tables[0].footer[tables[0].footer_count - 1], "64² × 32 on H200 failed: it broke");
    tables_free(tables, count);
    made_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_nine_cells),
        cmocka_unit_test(test_an_unsteady_machine),
        cmocka_unit_test(test_fitted_scenes_beside_random_ones),
        cmocka_unit_test(test_no_reason_from_a_disturbed_run),
        cmocka_unit_test(test_crosses_more_than_once),
        cmocka_unit_test(test_crossings_along_other_axes),
        cmocka_unit_test(test_what_has_no_time_says_why),
        cmocka_unit_test(test_two_samples_decide_nothing_for_sure),
        cmocka_unit_test(test_one_table_a_call_shape_and_device),
        cmocka_unit_test(test_nothing_to_compare),
        cmocka_unit_test(test_two_devices_of_one_name_are_told_apart),
        cmocka_unit_test(test_many_columns_are_dropped_not_wrapped),
        cmocka_unit_test(test_a_reason_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
