/* A cell's JSON form, there and back. */
#include "unit/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "bench/cell.h"
#include "bench/device_json.h"

static uint64_t samples[] = {802100, 799800, 800400};
static size_t blocks[] = {0, 2};
static struct kernel_time kernels[] = {{"setup", 1, 2100, 33024}, {"fused", 2, 500000, 12910592}};

static struct cell example(void)
{
    struct cell cell = {.id = (char *)(uintptr_t) "device/256x256/t512/b16/call=loader",
                        .backend = "device",
                        .kind = BACKEND_OPENCL,
                        .device = 1,
                        .samples_ns = samples,
                        .sample_count = 3,
                        .block_starts = blocks,
                        .block_count = 2,
                        .median_ns = 800400,
                        .ended_by = END_MAX_SECONDS,
                        .has_device_time = true,
                        .device_ns = 512300,
                        .kernels = kernels,
                        .kernel_count = 2,
                        .has_phases = true,
                        .phases = {2100, 600, 262000, 521000, 31000, 0, 820000},
                        .counts = {.dispatches = 2,
                                   .submissions = 9,
                                   .longest_submission_ns = 149000000,
                                   .bytes_up = 12910592,
                                   .bytes_down = 327744,
                                   .pool_hits = 6,
                                   .pool_bytes = 25493504,
                                   .split = 1,
                                   .partial_sums = 70000},
                        .pairs = 33300000,
                        .pairs_in_bounds = 35000000,
                        .pairs_opaque = 3000000,
                        .layers_p99 = 61,
                        .layers_most = 74,
                        .checked_scenes = 4,
                        .checked_pixels = 65536,
                        .tape_touched_bytes = 420000000,
                        .build_ns = 12345678};
    spec_init(&cell.spec);
    cell.agreement.value[AGREE_IMAGE] = 2.4e-7;
    cell.agreement.value[AGREE_LOSS] = 3e-8;
    cell.agreement.value[AGREE_VERTICES] = 2.2e-5;
    cell.agreement.value[AGREE_COLOUR] = 4e-7;
    cell.agreement.value[AGREE_ALPHA] = 5e-7;
    return cell;
}

static struct json *to_json(const struct cell *cell)
{
    struct err err = ERR_INIT;
    struct json *object = json_new_object();
    assert_true(cell_to_json(cell, object, &err));
    return object;
}

static char *text_of(const struct cell *cell)
{
    struct err err = ERR_INIT;
    struct strbuf text = STRBUF_INIT;
    struct json *object = to_json(cell);
    assert_true(json_print(object, false, &text, &err));
    json_free(object);
    return text.data;
}

/* Through text, as a file would. */
static bool reread(const char *text, struct cell *out, struct err *err)
{
    struct json *object = json_parse(text, strlen(text), "a cell", err);
    bool ok = object != NULL && cell_from_json(out, object, err);
    json_free(object);
    return ok;
}

static void test_names_are_those_of_the_specification(void **state)
{
    (void)state;
    const struct cell cell = example();
    struct json *o = to_json(&cell);
    static const char *const keys[] = {"id",       "backend",   "device",     "status",    "reason",
                                       "params",   "agreement", "samples_ns", "median_ns", "ci95_ns",
                                       "ended_by", "device_ns", "phases_ns",  "pool",      "counts"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_string_equal(json_key(json_at(o, i)), keys[i]);
    assert_string_equal(json_string(json_get(o, "status")), "ok");
    assert_int_equal(json_type(json_get(o, "reason")), JSON_NULL);
    assert_int_equal(json_type(json_get(o, "ci95_ns")), JSON_NULL);
    assert_string_equal(json_string(json_get(o, "ended_by")), "max_seconds");
    const struct json *phases = json_get(o, "phases_ns"), *params = json_get(o, "params");
    assert_true(json_number(json_get(phases, "unaccounted")) == 3300);
    assert_true(json_number(json_get(phases, "total")) == 820000);
    assert_true(json_number(json_get(params, "width")) == 256);
    assert_string_equal(json_string(json_get(params, "reduction")), "ordered");
    assert_true(json_number(json_get(json_get(o, "counts"), "pairs")) == 33300000);
    assert_true(json_number(json_get(json_get(o, "pool"), "bytes")) == 25493504);
    json_free(o);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct cell cell = example(), back;
    struct err err = ERR_INIT;
    cell.has_ci = true;
    cell.ci95_ns[0] = 799000;
    cell.ci95_ns[1] = 802000;
    char *text = text_of(&cell);
    assert_true(reread(text, &back, &err));
    assert_string_equal(back.id, cell.id);
    assert_null(back.reason);
    assert_int_equal(back.device, 1);
    assert_int_equal(back.kind, BACKEND_OPENCL);
    assert_memory_equal(back.samples_ns, samples, sizeof samples);
    assert_memory_equal(back.block_starts, blocks, sizeof blocks);
    assert_int_equal(back.kernel_count, 2);
    assert_string_equal(back.kernels[1].name, "fused");
    assert_int_equal(back.kernels[1].launches, 2);
    assert_int_equal(back.kernels[1].device_ns, 500000);
    assert_int_equal(back.kernels[1].bytes, 12910592);
    assert_memory_equal(&back.phases, &cell.phases, sizeof cell.phases);
    assert_memory_equal(&back.counts, &cell.counts, sizeof cell.counts);
    assert_true(back.agreement.value[AGREE_VERTICES] == 2.2e-5);
    assert_int_equal(back.ci95_ns[1], 802000);
    char *again = text_of(&back);
    assert_string_equal(again, text);
    free(again);
    free(text);
    cell_fini(&back);
}

static void test_a_cell_without_figures(void **state)
{
    (void)state;
    struct cell cell = {.id = (char *)(uintptr_t) "cpu/1x1/t0/b0",
                        .backend = "cpu",
                        .status = CELL_SKIPPED,
                        .reason = (char *)(uintptr_t) "needs \"more\"\n than there is"},
                back;
    struct err err = ERR_INIT;
    spec_init(&cell.spec);
    agreement_init(&cell.agreement);
    char *text = text_of(&cell);
    assert_null(strstr(text, "nan"));
    assert_non_null(strstr(text, "\"median_ns\":null"));
    assert_non_null(strstr(text, "\"samples_ns\":[]"));
    assert_non_null(strstr(text, "\"ended_by\":null"));
    assert_true(reread(text, &back, &err));
    assert_string_equal(back.reason, cell.reason);
    assert_true(isnan(back.agreement.value[AGREE_IMAGE]));
    assert_false(back.has_phases);
    free(text);
    cell_fini(&back);
}

static void test_large_integers_keep_every_digit(void **state)
{
    (void)state;
    struct cell cell = example(), back;
    struct err err = ERR_INIT;
    cell.pairs = UINT64_MAX;
    cell.counts.bytes_up = (UINT64_C(1) << 53) + 1;
    char *text = text_of(&cell);
    assert_non_null(strstr(text, "\"pairs\":\"18446744073709551615\""));
    assert_true(reread(text, &back, &err));
    assert_true(back.pairs == UINT64_MAX);
    assert_true(back.counts.bytes_up == (UINT64_C(1) << 53) + 1);
    free(text);
    cell_fini(&back);
}

static void test_infinite_errors_are_no_numbers(void **state)
{
    (void)state;
    struct cell cell = example();
    cell.status = CELL_WRONG;
    cell.agreement.value[AGREE_ALPHA] = INFINITY;
    char *text = text_of(&cell);
    assert_null(strstr(text, "nf"));
    free(text);
}

static void refuse(const char *from, const char *to, const char *message)
{
    struct cell cell = example(), back;
    struct err err = ERR_INIT;
    char *text = text_of(&cell), *at = strstr(text, from);
    struct strbuf changed = STRBUF_INIT;
    assert_non_null(at);
    strbuf_add_bytes(&changed, text, (size_t)(at - text));
    strbuf_add(&changed, to);
    strbuf_add(&changed, at + strlen(from));
    assert_false(reread(strbuf_str(&changed), &back, &err));
    assert_int_equal(err.code, ERR_CONFIG);
    assert_string_equal(err.text, message);
    err_fini(&err);
    strbuf_fini(&changed);
    free(text);
}

#define ID "cell \"device/256x256/t512/b16/call=loader\": "

static void test_what_is_no_cell(void **state)
{
    (void)state;
    refuse("\"id\":\"device/256x256/t512/b16/call=loader\",", "", "cell \"?\": \"id\" must be a string");
    refuse("\"status\":\"ok\"", "\"status\":\"fine\"",
           ID "\"status\" must be one of the names that this version knows");
    refuse("[802100,", "[-1,", ID "\"samples_ns\" must be an array of non-negative integers");
    refuse("\"blocks\":[0,2]", "\"blocks\":[0,3]",
           ID "\"blocks\" must be ascending places in samples_ns, the first 0");
    refuse("\"ci95_ns\":null", "\"ci95_ns\":[1]", ID "\"ci95_ns\" must be null or two non-negative integers");
    refuse("\"split\":1", "\"split\":4294967296", ID "\"split\" must be below 2^32");
    refuse("\"pack\":2100", "\"pack\":\"soon\"", ID "\"pack\" must be a non-negative integer");
}

static void test_device_round_trip(void **state)
{
    (void)state;
    struct device_info device = {.backend = BACKEND_OPENCL,
                                 .kind = DEVICE_ACCELERATOR,
                                 .selector = "ocl:0:0",
                                 .name = "A \"device\"\twith quotes",
                                 .compute_units = 132,
                                 .max_work_item_sizes = {1024, 1024, 64},
                                 .global_bytes = UINT64_MAX,
                                 .has_double = true},
                       back;
    struct err err = ERR_INIT;
    struct json *object = json_new_object();
    device_to_json(&device, object);
    assert_int_equal(json_type(json_get(object, "pci")), JSON_NULL);
    assert_true(device_from_json(&back, object, &err));
    assert_memory_equal(&back, &device, sizeof device);
    json_free(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_those_of_the_specification),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_a_cell_without_figures),
        cmocka_unit_test(test_large_integers_keep_every_digit),
        cmocka_unit_test(test_infinite_errors_are_no_numbers),
        cmocka_unit_test(test_what_is_no_cell),
        cmocka_unit_test(test_device_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
