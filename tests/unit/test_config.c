#include "unit/scratch.h"

#include "plan/config.h"

/* A config with the members given, over the least that is needed. */
#define LEAST "\"version\": 1, \"name\": \"n\", \"backends\": [{\"name\": \"cpu\", \"backend\": \"openmp\"}]"
#define WITH(members) "{" LEAST ", " members "}"
#define DEVICE(members)                                                                                      \
    "{\"version\": 1, \"name\": \"n\", \"axes\": {\"reduction\": [\"local\"]}, "                             \
    "\"backends\": [{\"name\": \"gpu\", \"backend\": \"opencl\", " members "}]}"

static bool parse(const char *text, struct config *config, struct err *err)
{
    struct json *root = json_parse(text, strlen(text), "x.json", err);

    if (!root)
        return false;
    bool ok = config_from_json(root, "x.json", config, err);
    json_free(root);
    return ok;
}

static void expect_error(const char *text, const char *want)
{
    struct config config = {0};
    struct err err = ERR_INIT;

    assert_false(parse(text, &config, &err));
    assert_string_equal(err.text, want);
    assert_int_equal(err.code, ERR_CONFIG);
    err_fini(&err);
}

static void must_parse(const char *text, struct config *config)
{
    struct err err = ERR_INIT;
    bool ok = parse(text, config, &err);

    assert_string_equal(err.text, "");
    assert_true(ok);
}

static void test_defaults(void **state)
{
    struct config c;
    (void)state;
    must_parse("{" LEAST "}", &c);
    assert_string_equal(c.name, "n");
    assert_int_equal(c.axis_count, 0);
    assert_int_equal(c.backend_count, 1);
    assert_int_equal(c.base.source, SOURCE_RANDOM);
    assert_int_equal(c.target.kind, TARGET_FLAT);
    assert_int_equal(c.base.mode, MODE_GRADIENT);
    assert_int_equal(c.measure.min_samples, 10);
    assert_int_equal(c.table_count, 1);
    assert_string_equal(c.tables[0], "speedup");
    config_fini(&c);
    config_fini(&c);
    config_fini(NULL);
}

static void test_everything(void **state)
{
    struct config c;
    (void)state;
    must_parse(
        "{\"version\": 1, \"name\": \"a-b_1\", \"mode\": \"forward\","
        "\"axes\": {\"triangles\": [32, 128], \"size\": [64, \"37x19\"], \"workgroup\": [64, 128]},"
        "\"sigma\": 0.02, \"threads\": 3,"
        "\"scene\": {\"kind\": \"random\", \"seed\": 11, \"extent\": 0.25, \"background\": [0.5, 0, -1]},"
        "\"target\": {\"kind\": \"scene\", \"seed\": \"18446744073709551615\"},"
        "\"backends\": [{\"name\": \"cpu\", \"backend\": \"openmp\", \"variant\": \"scalar\"},"
        "{\"name\": \"d\", \"backend\": \"opencl\", \"device\": \"ocl:0:0\", \"pool\": \"off\"}],"
        "\"measure\": {\"warmup\": 0, \"min_samples\": 1, \"max_samples\": 3, \"target_ci\": 0.5,"
        "\"max_seconds\": 0.25, \"timeout_seconds\": 7}, \"tables\": []}",
        &c);
    assert_int_equal(c.base.mode, MODE_FORWARD);
    assert_int_equal(c.axis_count, 3);
    assert_string_equal(c.axes[0].key->name, "size"); /* spec_keys' order, not the file's */
    assert_string_equal(c.axes[0].values[0], "64x64");
    assert_string_equal(c.axes[0].values[1], "37x19");
    assert_string_equal(c.axes[1].key->name, "triangles");
    assert_int_equal(c.threads, 3);
    assert_int_equal(c.scene.seed, 11);
    assert_true(c.scene.extent == 0.25f && c.scene.background[2] == -1.0f);
    assert_true(c.target.kind == TARGET_SCENE && c.target.seed == UINT64_MAX);
    assert_int_equal(c.backends[0].options.variant, VARIANT_SCALAR);
    assert_int_equal(c.backends[0].options.threads, 3);
    assert_true(c.backends[1].options.sigma == 0.02f);
    assert_string_equal(c.backends[1].device, "ocl:0:0");
    assert_false(c.backends[1].options.pool);
    assert_int_equal(c.measure.max_samples, 3);
    assert_int_equal(c.table_count, 0);
    config_fini(&c);
}

static void test_broken(void **state)
{
    static const char *const cases[][2] = {
        {"[]", "x.json: $: is an array, not an object"},
        {"{}", "x.json: $: has no \"version\" (1)"},
        {"{\"version\": 2}", "x.json: $.version: the file's version is 2, this gpubench reads version 1"},
        {"{\"version\": \"1\"}", "x.json: $.version: is a string, not a number"},
        {"{\"version\": 1}", "x.json: $: has no \"name\""},
        {"{\"version\": 1, \"name\": \"a b\"}",
         "x.json: $.name: \"a b\" is not a name of 1 to 63 letters, digits, - and _"},
        {"{\"version\": 1, \"name\": \"n\"}", "x.json: $: has no \"backends\""},
        {"{\"version\": 1, \"name\": \"n\", \"backends\": []}", "x.json: $.backends: has no backend"},
        {WITH("\"tabels\": []"), "x.json: $.tabels: unknown key; did you mean \"tables\"?"},
        {WITH("\"size\": 64"), "x.json: $.size: belongs under $.axes, as a list of values"},
        {WITH("\"strategy\": \"taped\""), "x.json: $.strategy: belongs under $.axes or to a backend"},
        {WITH("\"mode\": \"gradeint\""),
         "x.json: $.mode: \"gradeint\" is not one of forward, gradient; did you mean \"gradient\"?"},
        {WITH("\"sigma\": 0"), "x.json: $.sigma: 0 is not a number above 0, up to 1000"},
        {WITH("\"axes\": []"), "x.json: $.axes: is an array, not an object"},
        {WITH("\"axes\": {\"size\": 64}"), "x.json: $.axes.size: is a number, not an array"},
        {WITH("\"axes\": {\"size\": []}"), "x.json: $.axes.size: has no value"},
        {WITH("\"axes\": {\"size\": [64, 128, 0]}"),
         "x.json: $.axes.size[2]: 0 is not an integer from 1 to 32768 (square), or \"WxH\""},
        {WITH("\"axes\": {\"size\": [256, \"256x256\"]}"), "x.json: $.axes.size[1]: 256x256 is there twice"},
        {WITH("\"axes\": {\"batch\": [1, 1.5]}"),
         "x.json: $.axes.batch[1]: 1.5 is not an integer from 0 to 1048576"},
        {WITH("\"axes\": {\"sise\": [64]}"), "x.json: $.axes.sise: not an axis; did you mean \"size\"?"},
        {WITH("\"sigma\": 0.01, \"axes\": {\"sigma\": [0.1]}"),
         "x.json: $.axes.sigma: is an axis and a fixed value ($.sigma) too"},
        {DEVICE("\"reduction\": \"local\""),
         "x.json: $.backends[0].reduction: is an axis ($.axes.reduction) and a backend's key too"},
        {DEVICE("\"variant\": \"fast\""), "x.json: $.backends[0].variant: is no key of an opencl backend"},
        {DEVICE("\"stratgy\": \"taped\""),
         "x.json: $.backends[0].stratgy: unknown key; did you mean \"strategy\"?"},
        {DEVICE("\"size\": 64"),
         "x.json: $.backends[0].size: is the same for every backend: an axis, not a backend's key"},
        {DEVICE("\"pool\": true"), "x.json: $.backends[0].pool: true is not one of off, on"},
        {"{\"version\": 1, \"name\": \"n\", \"backends\": [{\"name\": \"c\", \"backend\": \"openmp\", "
         "\"device\": \"x\"}]}",
         "x.json: $.backends[0].device: is no key of an openmp backend"},
        {"{\"version\": 1, \"name\": \"n\", \"backends\": [{\"name\": \"c\", \"backend\": \"openlc\"}]}",
         "x.json: $.backends[0].backend: \"openlc\" is not one of openmp, opencl; did you mean \"opencl\"?"},
        {"{\"version\": 1, \"name\": \"n\", \"backends\": [{\"name\": \"c\", \"backend\": \"openmp\"}, "
         "{\"name\": \"c\", \"backend\": \"opencl\"}]}",
         "x.json: $.backends[1].name: \"c\" is another backend's name too"},
        {WITH("\"axes\": {\"source\": [\"random\", \"file\"]}"),
         "x.json: $.axes.source: wants files, and $.scene has no \"file\""},
        {WITH("\"axes\": {\"source\": [\"random\"]}, \"scene\": {\"kind\": \"random\"}"),
         "x.json: $.scene.kind: is an axis ($.axes.source) and a fixed value too"},
        {WITH("\"scene\": {\"seed\": 1}"), "x.json: $.scene: has no \"kind\" (random, file)"},
        {WITH("\"scene\": {\"kind\": \"random\", \"sead\": 1}"),
         "x.json: $.scene.sead: unknown key; did you mean \"seed\"?"},
        {WITH("\"scene\": {\"kind\": \"random\", \"seed\": -1}"),
         "x.json: $.scene.seed: is not an integer from 0 to 2^64-1 (over 2^53 as a string of digits)"},
        {WITH("\"scene\": {\"kind\": \"random\", \"background\": [1, 2]}"),
         "x.json: $.scene.background: has 2 values, not the 3 of a linear RGB colour"},
        {WITH("\"scene\": {\"kind\": \"file\"}"),
         "x.json: $.scene: has no \"file\" (a scene file, or a list of them)"},
        {WITH("\"scene\": {\"kind\": \"file\", \"file\": []}"), "x.json: $.scene.file: is an empty list"},
        {WITH("\"target\": {\"kind\": \"flat\", \"color\": [1e39, 0, 0]}"),
         "x.json: $.target.color[0]: 1e+39 does not fit a 32-bit float"},
        {WITH("\"target\": {\"kind\": \"flat\", \"seed\": 1}"),
         "x.json: $.target.seed: unknown key; known here: kind, color"},
        {WITH("\"measure\": {\"min_samples\": 0}"),
         "x.json: $.measure.min_samples: 0 is not an integer from 1 to 1000000"},
        {WITH("\"measure\": {\"min_samples\": 300}"),
         "x.json: $.measure.min_samples: 300 is more than max_samples (200)"},
        {WITH("\"measure\": {\"max_samples\": 3}"),
         "x.json: $.measure.max_samples: 3 is less than min_samples (10)"},
        {WITH("\"measure\": {\"target_ci\": 2}"),
         "x.json: $.measure.target_ci: 2 is not a number from 0 to 1"},
        {WITH("\"tables\": \"crossover\""), "x.json: $.tables: is a string, not an array"},
        {WITH("\"tables\": [\"a\", \"a\"]"), "x.json: $.tables[1]: \"a\" is there twice"},
        {WITH("\"tables\": [1]"), "x.json: $.tables[0]: is a number, not a string"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_error(cases[i][0], cases[i][1]);
}

static void test_override_axis(void **state)
{
    static const char *const lists[][3] = {
        {"size=64,37x19", "size", "64x64 37x19"},
        {"triangles=32:512:x2", "triangles", "32 64 128 256 512"},
        {"triangles=32:500:x2", "triangles", "32 64 128 256"},
        {"batch=8:64:+28", "batch", "8 36 64"},
        {"batch=1,8:16:+8", "batch", "1 8 16"},
        {"sigma=0.1:0.3:+0.1", "sigma", "0.1 0.2 0.3"},
        {"strategy=taped,fused", "strategy", "taped fused"},
        {"upstream=true,false", "upstream", "true false"},
    };
    struct err err = ERR_INIT;
    struct config c;
    (void)state;
    must_parse("{\"version\": 1, \"name\": \"n\", \"sigma\": 0.01, \"axes\": {\"size\": [8], \"batch\": [3]},"
               "\"backends\": [{\"name\": \"d\", \"backend\": \"opencl\", \"strategy\": \"recompute\"}]}",
               &c);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char got[256] = "";
        assert_true(config_override_axis(&c, lists[i][0], &err));
        for (size_t k = 0; k < c.axis_count; k++) {
            if (strcmp(c.axes[k].key->name, lists[i][1]) != 0)
                continue;
            for (size_t v = 0; v < c.axes[k].count; v++) {
                strcat(got, v ? " " : "");
                strcat(got, c.axes[k].values[v]);
            }
        }
        assert_string_equal(got, lists[i][2]);
    }
    /* What was fixed has become an axis, in the document too. */
    assert_null(json_get(c.json, "sigma"));
    assert_null(json_get(json_at(json_get(c.json, "backends"), 0), "strategy"));
    assert_int_equal(json_count(json_get(json_get(c.json, "axes"), "sigma")), 3);
    config_fini(&c);
}

static void test_bad_overrides(void **state)
{
    static const char *const cases[][2] = {
        {"size", "-a size: is not NAME=LIST"},
        {"size=", "-a size=: is not NAME=LIST"},
        {"sise=1", "-a sise=1: \"sise\" is not an axis; did you mean \"size\"?"},
        {"size=64,0", "-a size=64,0: 0 is not an integer from 1 to 32768 (square), or \"WxH\""},
        {"size=64,64x64", "-a size=64,64x64: 64x64 is there twice"},
        {"batch=1,,2", "-a batch=1,,2: \"\" is not an integer from 0 to 1048576"},
        {"batch=1:2", "-a batch=1:2: \"1:2\" is not FIRST:LAST:xFACTOR or FIRST:LAST:+STEP"},
        {"batch=8:1:x2", "-a batch=8:1:x2: \"8:1:x2\": the last is below the first"},
        {"batch=1:8:x1", "-a batch=1:8:x1: \"1:8:x1\": needs a factor above 1 and a first value above 0"},
        {"batch=1:8:+0", "-a batch=1:8:+0: \"1:8:+0\": needs a step above 0"},
        {"batch=0:1000000:+1", "-a batch=0:1000000:+1: more than 4096 values"},
        {"call=a:b:x2", "-a call=a:b:x2: \"a:b:x2\": call has names, not numbers: list them"},
    };
    struct config c;
    (void)state;
    must_parse("{" LEAST "}", &c);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct err err = ERR_INIT;
        assert_false(config_override_axis(&c, cases[i][0], &err));
        assert_string_equal(err.text, cases[i][1]);
        assert_int_equal(c.axis_count, 0);
        err_fini(&err);
    }
    config_fini(&c);
}

static void test_override_seed_and_threads(void **state)
{
    struct err err = ERR_INIT;
    struct config c;
    (void)state;
    must_parse("{" LEAST ", \"axes\": {\"threads\": [1, 2]}}", &c);
    assert_true(config_override_seed(&c, UINT64_MAX, &err));
    assert_true(c.scene.seed == UINT64_MAX);
    assert_string_equal(json_string(json_get(json_get(c.json, "scene"), "seed")), "18446744073709551615");
    assert_true(config_override_threads(&c, 5, &err));
    assert_int_equal(c.threads, 5);
    assert_int_equal(c.backends[0].options.threads, 5);
    assert_int_equal(c.axis_count, 0);
    config_fini(&c);
}

static void test_files(void **state)
{
    static const char scene[] =
        "{\"version\": 1, \"background\": [0, 0, 0], \"triangles\": ["
        "{\"verts\": [[0, 0], [1, 0], [0, 1]], \"color\": [1, 1, 1], \"alpha\": 0.5}]}";
    static const char empty[] = "{\"version\": 1, \"background\": [0, 0, 0], \"triangles\": []}";
    static const char one[] = WITH("\"scene\": {\"kind\": \"file\", \"file\": \"one.json\"}, "
                                   "\"target\": {\"kind\": \"image\", \"file\": \"/pictures/p.ppm\"}");
    static const char ragged[] =
        WITH("\"scene\": {\"kind\": \"file\", \"file\": [\"one.json\", \"none.json\"]}");
    static const char mixed[] =
        WITH("\"axes\": {\"source\": [\"random\", \"file\"], \"triangles\": [0, 1]}, "
             "\"scene\": {\"seed\": 3, \"file\": [\"one.json\", \"none.json\"]}");
    static const char *const names[] = {"one.json", "none.json", "c.json"};
    char dir[SCRATCH_MAX], path[SCRATCH_MAX], config_path[SCRATCH_MAX];
    struct err err = ERR_INIT;
    struct config c;
    (void)state;
    scratch_make(dir);
    scratch_write(scratch_path(path, dir, "none.json"), empty, strlen(empty));
    scratch_write(scratch_path(path, dir, "one.json"), scene, strlen(scene));
    scratch_path(config_path, dir, "c.json");

    scratch_write(config_path, one, strlen(one));
    assert_true(config_load(config_path, &c, &err));
    assert_string_equal(c.scene.files[0], path);
    assert_string_equal(c.target.image, "/pictures/p.ppm");
    assert_int_equal(c.base.triangles, 1);
    assert_false(config_override_axis(&c, "triangles=4", &err));
    assert_non_null(strstr(err.text, "$.axes.triangles[0]: no scene file has 4 triangles"));
    err_fini(&err);
    config_fini(&c);

    scratch_write(config_path, mixed, strlen(mixed));
    assert_true(config_load(config_path, &c, &err));
    assert_int_equal(c.axis_count, 2);
    assert_int_equal(c.scene.file_count, 2);
    assert_int_equal(c.scene.triangles[0], 1);
    assert_true(config_override_axis(&c, "source=file", &err));
    assert_true(config_override_seed(&c, 5, &err));
    assert_int_equal(c.scene.seed, 5);
    assert_false(config_override_axis(&c, "triangles=1,2", &err));
    assert_non_null(strstr(err.text, "$.axes.triangles[1]: no scene file has 2 triangles"));
    err_fini(&err);
    assert_true(config_override_axis(&c, "source=random", &err));
    assert_true(config_override_axis(&c, "triangles=1,2", &err));
    config_fini(&c);

    scratch_write(config_path, ragged, strlen(ragged));
    assert_false(config_load(config_path, &c, &err));
    assert_non_null(strstr(err.text, "$.scene.file[1]: "));
    assert_non_null(strstr(err.text, "a batch needs the same number in each"));
    err_fini(&err);
    scratch_remove(dir, names, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),      cmocka_unit_test(test_everything),
        cmocka_unit_test(test_broken),        cmocka_unit_test(test_override_axis),
        cmocka_unit_test(test_bad_overrides), cmocka_unit_test(test_override_seed_and_threads),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
