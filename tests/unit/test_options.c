#include "unit/check.h"

#include <string.h>

#include "cli/options.h"

struct values {
    bool quiet, dry_run;
    const char *output, *format;
    struct text_list devices;
    struct option_u64 threads, budget;
};

static const char *const formats[] = {"text", "json", NULL};

static const struct option table[] = {
    {.name = "quiet", .letter = 'q', .type = OPTION_FLAG, .offset = offsetof(struct values, quiet)},
    {.name = "dry-run", .letter = 'n', .type = OPTION_FLAG, .offset = offsetof(struct values, dry_run)},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_TEXT,
     .argument = "FILE",
     .offset = offsetof(struct values, output)},
    {.name = "format",
     .type = OPTION_TEXT,
     .argument = "FORMAT",
     .choices = formats,
     .offset = offsetof(struct values, format)},
    {.name = "device",
     .letter = 'd',
     .type = OPTION_LIST,
     .argument = "WHICH",
     .offset = offsetof(struct values, devices)},
    {.name = "threads",
     .letter = 't',
     .type = OPTION_U64,
     .argument = "N",
     .min = 1,
     .max = 8,
     .offset = offsetof(struct values, threads)},
    {.name = "budget",
     .type = OPTION_BYTES,
     .argument = "BYTES",
     .min = 1,
     .max = UINT64_MAX,
     .offset = offsetof(struct values, budget)},
    {0},
};

static bool parse(const char *const *argv, struct values *v, struct text_list *rest, struct err *err)
{
    int argc = 0;

    memset(v, 0, sizeof *v);
    memset(rest, 0, sizeof *rest);
    while (argv[argc])
        argc++;
    return options_parse(table, argc, (char **)(uintptr_t)argv, v, rest, err);
}

static void test_every_way_to_write_it(void **state)
{
    static const char *const argv[] = {
        "x",  "-qn", "a", "-ofile",   "--device=cpu", "-d",           "gpu", "--device",
        "-",  "-t",  "8", "--format", "json",         "--budget=2Ki", "-",   "--",
        "-q", "--",  NULL};
    struct err err = ERR_INIT;
    struct text_list rest;
    struct values v;
    (void)state;
    assert_true(parse(argv, &v, &rest, &err));
    assert_true(v.quiet && v.dry_run);
    assert_string_equal(v.output, "file");
    assert_string_equal(v.format, "json");
    assert_int_equal(v.devices.count, 3);
    assert_string_equal(v.devices.items[1], "gpu");
    assert_string_equal(v.devices.items[2], "-");
    assert_true(v.threads.given && v.threads.value == 8);
    assert_int_equal(v.budget.value, 2048);
    assert_int_equal(rest.count, 4);
    assert_string_equal(rest.items[0], "a");
    assert_string_equal(rest.items[1], "-");
    assert_string_equal(rest.items[2], "-q");
    assert_string_equal(rest.items[3], "--");
    options_fini(table, &v, &rest);
}

static void test_nothing_given(void **state)
{
    static const char *const argv[] = {"x", NULL};
    struct err err = ERR_INIT;
    struct text_list rest;
    struct values v;
    (void)state;
    assert_true(parse(argv, &v, &rest, &err));
    assert_false(v.quiet || v.threads.given);
    assert_null(v.output);
    assert_int_equal(rest.count, 0);
    options_fini(table, &v, &rest);
}

static void test_errors(void **state)
{
    static const char *const cases[][4] = {
        {"unknown option --dryrun; did you mean --dry-run?", "--dryrun"},
        {"unknown option --dry; did you mean --dry-run?", "--dry"},
        {"unknown option --frobnicate", "--frobnicate=1"},
        {"unknown option -z", "-qz"},
        {"unknown option -format; did you mean --format?", "-format"},
        {"--output (-o) needs FILE", "-o"},
        {"--budget needs BYTES", "--budget"},
        {"--quiet takes no value", "--quiet=1"},
        {"--threads: \"0\" is not an integer from 1 to 8", "-t0"},
        {"--threads: \"two\" is not an integer from 1 to 8", "-t", "two"},
        {"--budget: \"2X\" is not a number of bytes (512M, 2Gi)", "--budget=2X"},
        {"--format: \"jsn\" is not one of text, json; did you mean \"json\"?", "--format=jsn"},
        {"--format: \"pdf\" is not one of text, json", "--format=pdf"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const argv[] = {"x", cases[i][1], cases[i][2], NULL};
        struct err err = ERR_INIT;
        struct text_list rest;
        struct values v;
        assert_false(parse(argv, &v, &rest, &err));
        assert_int_equal(err.code, ERR_USAGE);
        assert_string_equal(err.text, cases[i][0]);
        options_fini(table, &v, &rest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_way_to_write_it),
        cmocka_unit_test(test_nothing_given),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
