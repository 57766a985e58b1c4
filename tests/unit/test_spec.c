#include "unit/check.h"

#include <string.h>

#include "model/spec.h"

static const struct spec_key *key_of(const char *name)
{
    const struct spec_key *key = spec_find(name);
    assert_non_null(key);
    return key;
}

static void set(struct render_spec *spec, const char *name, const char *value)
{
    struct err err = ERR_INIT;
    bool ok = spec_set_text(spec, key_of(name), value, &err);
    assert_string_equal(err.text, "");
    assert_true(ok);
}

static void expect_text(const struct render_spec *spec, const char *name, const char *want)
{
    char got[SPEC_TEXT_MAX];
    spec_text(spec, key_of(name), got);
    assert_string_equal(got, want);
}

static void test_defaults(void **state)
{
    static const char *const want[][2] = {
        {"mode", "gradient"}, {"size", "256x256"},   {"triangles", "512"},     {"batch", "16"},
        {"sigma", "0.01"},    {"source", "random"},  {"call", "loader"},    {"upstream", "false"},    {"variant", "fast"},
        {"threads", "0"},     {"strategy", "fused"}, {"reduction", "ordered"}, {"dispatch", "batched"},
        {"loss", "device"},   {"pool", "on"},        {"images", "device"},     {"workgroup", "0"}};
    struct render_spec spec;
    size_t count;
    (void)state;
    spec_init(&spec);
    assert_non_null(spec_keys(&count));
    assert_int_equal(count, sizeof(want) / sizeof(want[0]));
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(spec_keys(&count)[i].name, want[i][0]);
        expect_text(&spec, want[i][0], want[i][1]);
    }
    assert_false(spec.keep_images);
}

static void test_text_in_is_text_out(void **state)
{
    static const char *const values[][2] = {
        {"mode", "forward"},     {"size", "37x19"},      {"triangles", "0"},     {"triangles", "1048576"},
        {"batch", "0"},          {"sigma", "0.0015"},    {"sigma", "1e-08"},     {"sigma", "1000"},
        {"source", "file"},      {"call", "resident"},    {"upstream", "true"},   {"variant", "scalar"},  {"threads", "4096"},
        {"strategy", "taped"},   {"reduction", "local"}, {"dispatch", "single"}, {"loss", "host"},
        {"images", "roundtrip"}, {"pool", "off"},        {"workgroup", "64"},    {"size", "32768x1"}};
    struct render_spec spec;
    (void)state;
    spec_init(&spec);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        set(&spec, values[i][0], values[i][1]);
        expect_text(&spec, values[i][0], values[i][1]);
    }
    set(&spec, "size", "64");
    expect_text(&spec, "size", "64x64");
    assert_true(spec.images == IMAGES_ROUNDTRIP && spec.reduction == REDUCTION_LOCAL && !spec.pool);
}

static void test_wrong_text_is_refused_with_what_is_allowed(void **state)
{
    static const char *const cases[][3] = {
        {"triangles", "0x20", "0x20 is not an integer from 0 to 1048576"},
        {"triangles", "1048577", "1048577 is not an integer from 0 to 1048576"},
        {"triangles", "-1", "-1 is not an integer from 0 to 1048576"},
        {"triangles", "1e3", "1e3 is not an integer from 0 to 1048576"},
        {"batch", "", "\"\" is not an integer from 0 to 1048576"},
        {"reduction", "lokal", "\"lokal\" is not one of ordered, local, direct; did you mean \"local\"?"},
        {"reduction", "atomic", "\"atomic\" is not one of ordered, local, direct"},
        {"pool", "true", "\"true\" is not one of off, on"},
        {"sigma", "0", "0 is not a number above 0, up to 1000"},
        {"sigma", "1e-60", "1e-60 is not a number above 0, up to 1000"},
        {"sigma", "nan", "nan is not a number above 0, up to 1000"},
        {"sigma", "0,01", "0,01 is not a number above 0, up to 1000"},
        {"size", "0", "0 is not an integer from 1 to 32768 (square), or \"WxH\""},
        {"size", "64x", "64x is not an integer from 1 to 32768 (square), or \"WxH\""},
        {"size", "x64", "x64 is not an integer from 1 to 32768 (square), or \"WxH\""},
        {"size", "64x32x16", "64x32x16 is not an integer from 1 to 32768 (square), or \"WxH\""},
        {"size", "64x32769", "64x32769 is not an integer from 1 to 32768 (square), or \"WxH\""},
        {"mode", "a\nb", "\"a?b\" is not one of forward, gradient"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct render_spec spec, before;
        struct err err = ERR_INIT;
        spec_init(&spec);
        before = spec;
        assert_false(spec_set_text(&spec, key_of(cases[i][0]), cases[i][1], &err));
        assert_string_equal(err.text, cases[i][2]);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_memory_equal(&spec, &before, sizeof(spec));
        err_fini(&err);
    }
}

/* Sets name from a JSON value; returns the error's text, "" where there was none. */
static const char *set_json(struct render_spec *spec, const char *name, const char *value)
{
    static char text[sizeof(((struct err *)0)->text)];
    struct err err = ERR_INIT;
    struct json *document = json_parse(value, strlen(value), "value", &err);

    assert_non_null(document);
    bool ok = spec_set_json(spec, key_of(name), json_at(document, 0), &err);
    assert_int_equal(ok, err.code == ERR_NONE);
    memcpy(text, err.text, sizeof(text));
    json_free(document);
    err_fini(&err);
    return text;
}

static void test_json_values_must_have_their_type(void **state)
{
    static const char *const cases[][3] = {
        {"triangles", "[\"32\"]", "\"32\" is not an integer from 0 to 1048576"},
        {"triangles", "[32.5]", "32.5 is not an integer from 0 to 1048576"},
        {"triangles", "[-0.5]", "-0.5 is not an integer from 0 to 1048576"},
        {"triangles", "[[32]]", "an array is not an integer from 0 to 1048576"},
        {"triangles", "[1e300]", "1e+300 is not an integer from 0 to 1048576"},
        {"sigma", "[\"0.01\"]", "\"0.01\" is not a number above 0, up to 1000"},
        {"pool", "[true]", "true is not one of off, on"},
        {"upstream", "[\"true\"]", "\"true\" is not one of false, true"},
        {"upstream", "[1]", "1 is not one of false, true"},
        {"strategy", "[null]", "null is not one of fused, recompute, taped"},
        {"strategy", "[{}]", "an object is not one of fused, recompute, taped"},
        {"size", "[true]", "true is not an integer from 1 to 32768 (square), or \"WxH\""},
        {"size", "[64.5]", "64.5 is not an integer from 1 to 32768 (square), or \"WxH\""},
    };
    struct render_spec spec;
    (void)state;
    spec_init(&spec);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(set_json(&spec, cases[i][0], cases[i][1]), cases[i][2]);
}

static void test_json_values_are_read(void **state)
{
    struct render_spec spec;
    (void)state;
    spec_init(&spec);
    assert_string_equal(set_json(&spec, "size", "[64]"), "");
    expect_text(&spec, "size", "64x64");
    assert_string_equal(set_json(&spec, "size", "[\"512x256\"]"), "");
    expect_text(&spec, "size", "512x256");
    assert_string_equal(set_json(&spec, "triangles", "[1e2]"), "");
    expect_text(&spec, "triangles", "100");
    assert_string_equal(set_json(&spec, "sigma", "[1.5e-3]"), "");
    expect_text(&spec, "sigma", "0.0015");
    assert_string_equal(set_json(&spec, "upstream", "[true]"), "");
    assert_true(spec.upstream);
    assert_string_equal(set_json(&spec, "pool", "[\"off\"]"), "");
    assert_false(spec.pool);
}

static void expect_json(const struct render_spec *spec, enum backend_kind kind, const char *want)
{
    struct strbuf sb = STRBUF_INIT;
    struct err err = ERR_INIT;
    struct json *object = json_new_object();

    spec_to_json(spec, kind, object);
    assert_true(json_print(object, false, &sb, &err));
    assert_string_equal(strbuf_str(&sb), want);
    strbuf_fini(&sb);
    json_free(object);
}

static void test_params_hold_what_matters(void **state)
{
    struct render_spec spec;
    (void)state;
    spec_init(&spec);
    expect_json(&spec, BACKEND_OPENMP,
                "{\"mode\":\"gradient\",\"width\":256,\"height\":256,\"triangles\":512,\"batch\":16,"
                "\"sigma\":0.01,\"source\":\"random\",\"upstream\":false,\"variant\":\"fast\",\"threads\":0}");
    expect_json(&spec, BACKEND_OPENCL,
                "{\"mode\":\"gradient\",\"width\":256,\"height\":256,\"triangles\":512,\"batch\":16,"
                "\"sigma\":0.01,\"source\":\"random\",\"call\":\"loader\",\"upstream\":false,\"strategy\":\"fused\","
                "\"reduction\":\"ordered\",\"dispatch\":\"batched\",\"loss\":\"device\",\"pool\":\"on\","
                "\"images\":\"device\",\"workgroup\":0}");
    spec.mode = MODE_FORWARD;
    expect_json(
        &spec, BACKEND_OPENCL,
        "{\"mode\":\"forward\",\"width\":256,\"height\":256,\"triangles\":512,\"batch\":16,"
        "\"sigma\":0.01,\"source\":\"random\",\"call\":\"loader\",\"upstream\":false,\"dispatch\":\"batched\",\"pool\":\"on\","
        "\"workgroup\":0}");
}

static void test_params_read_back(void **state)
{
    struct render_spec spec, back;
    struct err err = ERR_INIT;
    size_t count;
    (void)state;
    spec_init(&spec);
    set(&spec, "size", "300x7");
    set(&spec, "sigma", "0.0015");
    set(&spec, "strategy", "taped");
    set(&spec, "pool", "off");
    set(&spec, "loss", "host");
    struct json *object = json_new_object();
    spec_to_json(&spec, BACKEND_OPENCL, object);
    json_set_number(object, "a later version's key", 1);
    assert_true(spec_from_json(&back, object, &err));
    for (size_t i = 0; i < (spec_keys(&count), count); i++)
        assert_true(spec_equal(&spec, &back, &spec_keys(&count)[i]));
    json_free(object);
}

static void test_params_that_cannot_be_read_name_the_key(void **state)
{
    static const char *const cases[][2] = {
        {"{\"width\":0}", "width: not an integer from 1 to 32768"},
        {"{\"height\":\"x\"}", "height: not an integer from 1 to 32768"},
        {"{\"strategy\":\"fuse\"}",
         "strategy: \"fuse\" is not one of fused, recompute, taped; did you mean \"fused\"?"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct render_spec spec;
        struct err err = ERR_INIT;
        struct json *object = json_parse(cases[i][0], strlen(cases[i][0]), "params", &err);
        assert_non_null(object);
        assert_false(spec_from_json(&spec, object, &err));
        assert_string_equal(err.text, cases[i][1]);
        json_free(object);
        err_fini(&err);
    }
}

static void test_each_key_tells_specs_apart(void **state)
{
    static const char *const other[][2] = {
        {"mode", "forward"}, {"size", "256x255"},   {"triangles", "1"},      {"batch", "1"},
        {"sigma", "0.02"},   {"call", "pageable"},  {"upstream", "true"},    {"variant", "scalar"},
        {"threads", "1"},    {"strategy", "taped"}, {"reduction", "local"},  {"dispatch", "single"},
        {"loss", "host"},    {"pool", "off"},       {"images", "roundtrip"}, {"workgroup", "32"}};
    size_t count;
    (void)state;
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
        struct render_spec a, b;
        spec_init(&a);
        spec_init(&b);
        set(&b, other[i][0], other[i][1]);
        for (size_t k = 0; k < (spec_keys(&count), count); k++) {
            const struct spec_key *key = &spec_keys(&count)[k];
            assert_int_equal(spec_equal(&a, &b, key), strcmp(key->name, other[i][0]) != 0);
        }
    }
}

static void test_what_matters(void **state)
{
    struct render_spec spec;
    (void)state;
    spec_init(&spec);
    assert_true(spec_matters(&spec, key_of("size"), BACKEND_OPENMP));
    assert_true(spec_matters(&spec, key_of("variant"), BACKEND_OPENMP));
    assert_false(spec_matters(&spec, key_of("variant"), BACKEND_OPENCL));
    assert_false(spec_matters(&spec, key_of("strategy"), BACKEND_OPENMP));
    assert_false(spec_matters(&spec, key_of("call"), BACKEND_OPENMP));
    assert_true(spec_matters(&spec, key_of("reduction"), BACKEND_OPENCL));
    assert_true(spec_matters(&spec, key_of("loss"), BACKEND_OPENCL));
    spec.upstream = true;
    assert_true(spec_matters(&spec, key_of("reduction"), BACKEND_OPENCL));
    assert_false(spec_matters(&spec, key_of("loss"), BACKEND_OPENCL));
    assert_false(spec_matters(&spec, key_of("images"), BACKEND_OPENCL));
    spec.upstream = false;
    spec.mode = MODE_FORWARD;
    assert_false(spec_matters(&spec, key_of("strategy"), BACKEND_OPENCL));
    assert_false(spec_matters(&spec, key_of("reduction"), BACKEND_OPENCL));
    assert_true(spec_matters(&spec, key_of("dispatch"), BACKEND_OPENCL));
}

static bool check(const char *const (*settings)[2], size_t count, enum backend_kind kind, struct err *err)
{
    struct render_spec spec;

    spec_init(&spec);
    for (size_t i = 0; i < count; i++)
        set(&spec, settings[i][0], settings[i][1]);
    return spec_check(&spec, kind, err);
}

static void test_contradictions_are_refused(void **state)
{
    static const char *const upstream_forward[][2] = {{"upstream", "true"}, {"mode", "forward"}};
    static const char *const roundtrip[][2] = {{"images", "roundtrip"}, {"strategy", "recompute"}};
    static const char *const host_loss[][2] = {{"loss", "host"}, {"strategy", "recompute"}};
    struct err err = ERR_INIT;
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        assert_true(check(NULL, 0, (enum backend_kind)kind, &err));
        assert_false(check(upstream_forward, 2, (enum backend_kind)kind, &err));
        assert_int_equal(err.code, ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, "upstream with mode=forward"));
        err_fini(&err);
    }
    assert_true(check(roundtrip, 2, BACKEND_OPENCL, &err));
    assert_false(check(roundtrip, 1, BACKEND_OPENCL, &err));
    assert_non_null(strstr(err.text, "images=roundtrip with strategy=fused"));
    err_fini(&err);
    assert_true(check(host_loss, 2, BACKEND_OPENCL, &err));
    assert_false(check(host_loss, 1, BACKEND_OPENCL, &err));
    assert_non_null(strstr(err.text, "loss=host with strategy=fused"));
    err_fini(&err);
}

static void test_what_does_not_matter_contradicts_nothing(void **state)
{
    static const char *const forward[][2] = {{"mode", "forward"}, {"images", "roundtrip"}, {"loss", "host"}};
    static const char *const upstream[][2] = {
        {"upstream", "true"}, {"images", "roundtrip"}, {"loss", "host"}};
    static const char *const opencl_only[][2] = {{"images", "roundtrip"}, {"loss", "host"}};
    struct err err = ERR_INIT;
    (void)state;
    assert_true(check(forward, 3, BACKEND_OPENCL, &err));
    assert_true(check(upstream, 3, BACKEND_OPENCL, &err));
    assert_true(check(opencl_only, 2, BACKEND_OPENMP, &err));
}

static void test_names_are_found_and_suggested(void **state)
{
    (void)state;
    assert_null(spec_find("colour"));
    assert_null(spec_find("SIZE"));
    assert_string_equal(spec_suggest("traingles"), "triangles");
    assert_string_equal(spec_suggest("sigm"), "sigma");
    assert_null(spec_suggest("frobnicate"));
    assert_string_equal(backend_kind_name(BACKEND_OPENMP), "openmp");
    assert_string_equal(backend_kind_name(BACKEND_OPENCL), "opencl");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_text_in_is_text_out),
        cmocka_unit_test(test_wrong_text_is_refused_with_what_is_allowed),
        cmocka_unit_test(test_json_values_must_have_their_type),
        cmocka_unit_test(test_json_values_are_read),
        cmocka_unit_test(test_params_hold_what_matters),
        cmocka_unit_test(test_params_read_back),
        cmocka_unit_test(test_params_that_cannot_be_read_name_the_key),
        cmocka_unit_test(test_each_key_tells_specs_apart),
        cmocka_unit_test(test_what_matters),
        cmocka_unit_test(test_contradictions_are_refused),
        cmocka_unit_test(test_what_does_not_matter_contradicts_nothing),
        cmocka_unit_test(test_names_are_found_and_suggested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
