#include "unit/check.h"

#include <math.h>

#include "model/scene.h"
#include "unit/scratch.h"

#define TRIANGLES 512

/* FNV-1a over the values' bits, least significant byte first. */
static uint64_t hash(const float *values, size_t count)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);

    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof(bits));
        for (int byte = 0; byte < 4; byte++)
            h = (h ^ (bits >> (8 * byte) & 0xFF)) * UINT64_C(0x100000001B3);
    }
    return h;
}

/* The hashes come from a program of its own that rounds each operation to float32. */
static void test_random_scenes_have_the_same_bits_everywhere(void **state)
{
    static const struct {
        uint64_t seed;
        uint32_t index;
        uint64_t hash;
    } cases[] = {{11, 0, UINT64_C(0x033750783E8617AE)},
                 {11, 1, UINT64_C(0x69FFA9DB04474E02)},
                 {11, 15, UINT64_C(0xD81EA4F4D6966605)},
                 {UINT64_MAX, 3, UINT64_C(0xE7DFEE90F42D4D7D)}};
    static float params[TRIANGLES * SCENE_STRIDE];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        scene_random(params, TRIANGLES, cases[i].seed, cases[i].index, SCENE_DEFAULT_EXTENT);
        assert_true(hash(params, TRIANGLES * SCENE_STRIDE) == cases[i].hash);
    }
}

static void test_a_shorter_scene_is_the_start_of_a_longer_one(void **state)
{
    float few[3 * SCENE_STRIDE], more[7 * SCENE_STRIDE];
    (void)state;
    scene_random(few, 3, 4, 2, 0.1f);
    scene_random(more, 7, 4, 2, 0.1f);
    assert_memory_equal(few, more, sizeof(few));
}

static void test_random_scenes_follow_the_distribution(void **state)
{
    static float params[TRIANGLES * SCENE_STRIDE];
    (void)state;
    scene_random(params, TRIANGLES, 3, 0, 0.05f);
    for (size_t t = 0; t < TRIANGLES; t++) {
        const float *p = params + t * SCENE_STRIDE;
        for (size_t i = 0; i < 6; i++) {
            assert_true(p[i] >= -0.051f && p[i] <= 1.051f);
            assert_true(fabsf(p[i] - p[i % 2]) <= 0.101f);
        }
        for (size_t i = 6; i < 9; i++)
            assert_true(p[i] >= 0.0f && p[i] < 1.0f);
        assert_true(p[9] >= 0.3f && p[9] <= 0.8f);
    }
}

static void test_upstream_gradients_are_a_stream_of_their_own(void **state)
{
    float values[1000], scene[SCENE_STRIDE];
    (void)state;
    scene_random_upstream(values, 1000, 11, 2);
    assert_true(hash(values, 1000) == UINT64_C(0xD8382801CFF3D352));
    for (size_t i = 0; i < 1000; i++)
        assert_true(values[i] >= -1.0f && values[i] < 1.0f);
    scene_random(scene, 1, 11, 2, SCENE_DEFAULT_EXTENT);
    assert_true(scene[6] != (values[8] + 1.0f) / 2.0f);
}

#define TRIANGLE "{\"verts\":[[0,0],[1,0],[0,1]],\"color\":[1,0.5,0],\"alpha\":0.5}"

static bool parse(const char *text, struct scene *out, struct err *err)
{
    struct json *root = json_parse(text, strlen(text), "s.json", err);
    bool ok = root && scene_from_json(root, "s.json", out, err);
    json_free(root);
    return ok;
}

static void test_a_scene_is_read(void **state)
{
    static const float want[SCENE_STRIDE] = {0, 0, 1, 0, 0, 1, 1, 0.5f, 0, 0.5f};
    struct scene scene;
    struct err err = ERR_INIT;
    (void)state;
    assert_true(parse("{\"version\":1,\"background\":[0.25,-1,2],\"triangles\":[" TRIANGLE "," TRIANGLE "]}",
                      &scene, &err));
    assert_int_equal(scene.triangles, 2);
    assert_true(scene.background[0] == 0.25f && scene.background[1] == -1.0f && scene.background[2] == 2.0f);
    assert_memory_equal(scene.params + SCENE_STRIDE, want, sizeof(want));
    scene_fini(&scene);
    assert_null(scene.params);
}

static void test_a_scene_without_triangles_is_fine(void **state)
{
    struct scene scene;
    struct err err = ERR_INIT;
    (void)state;
    assert_true(parse("{\"version\":1,\"background\":[0,0,0],\"triangles\":[]}", &scene, &err));
    assert_int_equal(scene.triangles, 0);
    scene_fini(&scene);
}

static void test_errors_name_file_path_and_meaning(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "s.json: $: an array where an object should be"},
        {"{\"version\":1,\"triangles\":[]}", "s.json: $: \"background\" is missing"},
        {"{\"version\":1,\"background\":[0,0,0],\"triangles\":[],\"backgroud\":1}",
         "s.json: $.backgroud: unknown key; did you mean \"background\"?"},
        {"{\"version\":1,\"background\":[0,0,0],\"triangles\":[],\"author\":1}",
         "s.json: $.author: unknown key"},
        {"{\"version\":1,\"background\":[0,0],\"triangles\":[]}",
         "s.json: $.background: 2 elements where 3 numbers should be"},
        {"{\"version\":1,\"background\":[0,0,1e39],\"triangles\":[]}",
         "s.json: $.background[2]: 1e+39 is beyond what a float32 holds"},
        {"{\"version\":1,\"background\":[0,0,0],\"triangles\":{}}",
         "s.json: $.triangles: an object where a list of triangles should be"},
        {"{\"version\":1,\"background\":[0,0,0],\"triangles\":[" TRIANGLE ",{\"verts\":[[0,0],[1,0]],"
         "\"color\":[0,0,0],\"alpha\":1}]}",
         "s.json: $.triangles[1].verts: 2 elements where 3 vertices should be"},
        {"{\"version\":1,\"background\":[0,0,0],\"triangles\":[{\"verts\":[[0,0],[1,0],[1,\"0\"]],"
         "\"color\":[0,0,0],\"alpha\":1}]}",
         "s.json: $.triangles[0].verts[2][1]: a string where a number should be"},
        {"{\"version\":1,\"background\":[0,0,0],\"triangles\":[{\"verts\":[[0,0],[1,0],[1,0,0]],"
         "\"color\":[0,0,0],\"alpha\":1}]}",
         "s.json: $.triangles[0].verts[2]: 3 elements where 2 numbers should be"},
        {"{\"version\":1,\"background\":[0,0,0],\"triangles\":[{\"verts\":[[0,0],[1,0],[1,0]],"
         "\"colour\":[0,0,0],\"alpha\":1}]}",
         "s.json: $.triangles[0]: \"color\" is missing"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene;
        struct err err = ERR_INIT;
        assert_false(parse(cases[i].text, &scene, &err));
        assert_string_equal(err.text, cases[i].message);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_null(scene.params);
        err_fini(&err);
    }
}

static void test_another_version_is_refused_whatever_else_is_there(void **state)
{
    struct scene scene;
    struct err err = ERR_INIT;
    (void)state;
    assert_false(parse("{\"version\":2,\"layers\":[]}", &scene, &err));
    assert_int_equal(err.code, ERR_VERSION);
    assert_string_equal(err.text, "s.json: $.version: 2, and scenes of version 1 are what is read here");
}

static void test_a_saved_scene_reads_back_bit_for_bit(void **state)
{
    static const char *const names[] = {"scene.json"};
    char dir[SCRATCH_MAX], path[SCRATCH_MAX];
    float params[20 * SCENE_STRIDE];
    struct scene saved = {.triangles = 20, .params = params, .background = {0.1f, 0.11f, 0.14f}}, loaded;
    struct err err = ERR_INIT;
    (void)state;
    scene_random(params, 20, 1, 0, 0.5f);
    params[0] = 1e-30f;
    params[1] = -12345.678f;
    scratch_make(dir);
    assert_true(scene_save(scratch_path(path, dir, names[0]), &saved, &err));
    assert_true(scene_load(path, &loaded, &err));
    assert_int_equal(loaded.triangles, 20);
    assert_memory_equal(loaded.params, params, sizeof(params));
    assert_memory_equal(loaded.background, saved.background, sizeof(saved.background));
    scene_fini(&loaded);
    scratch_remove(dir, names, 1);
}

static void test_a_scene_that_cannot_be_read_back_is_not_written(void **state)
{
    float params[SCENE_STRIDE] = {0};
    struct scene scene = {.triangles = 1, .params = params};
    struct err err = ERR_INIT;
    (void)state;
    params[4] = NAN;
    assert_false(scene_save("/nonexistent/scene.json", &scene, &err));
    assert_int_equal(err.code, ERR_CONFIG);
    err_fini(&err);
    params[4] = 0.0f;
    assert_false(scene_save("/nonexistent/scene.json", &scene, &err));
    assert_int_equal(err.code, ERR_IO);
    err_fini(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_scenes_have_the_same_bits_everywhere),
        cmocka_unit_test(test_a_shorter_scene_is_the_start_of_a_longer_one),
        cmocka_unit_test(test_random_scenes_follow_the_distribution),
        cmocka_unit_test(test_upstream_gradients_are_a_stream_of_their_own),
        cmocka_unit_test(test_a_scene_is_read),
        cmocka_unit_test(test_a_scene_without_triangles_is_fine),
        cmocka_unit_test(test_errors_name_file_path_and_meaning),
        cmocka_unit_test(test_another_version_is_refused_whatever_else_is_there),
        cmocka_unit_test(test_a_saved_scene_reads_back_bit_for_bit),
        cmocka_unit_test(test_a_scene_that_cannot_be_read_back_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
