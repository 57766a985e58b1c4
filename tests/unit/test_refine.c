#include "unit/made.h"

#include "report/refine.h"
#include "report/view.h"

/* The CPU takes x ns a pixel and triangle, the device the square root: it crosses where size² x triangles is
 * 65536. */
static void add_pair(struct results *r, uint32_t size, uint32_t triangles)
{
    const uint64_t work = (uint64_t)size * size * triangles;
    char id[64];
    struct err err = ERR_INIT;

    made_cell(r, "cpu", MADE_CPU, size, triangles, 100 * work, 10);
    struct cell *device =
        made_cell(r, "device", MADE_GPU, size, triangles, (uint64_t)(25600 * sqrt((double)work)), 10);
    snprintf(id, sizeof(id), "device/%u/%u", (unsigned)size, (unsigned)triangles);
    device->id = mem_strdup(id, &err);
    snprintf(id, sizeof(id), "cpu/%u/%u", (unsigned)size, (unsigned)triangles);
    device[-1].id = mem_strdup(id, &err);
}

static bool has(const struct refine_place *places, size_t count, uint32_t size, uint32_t triangles)
{
    for (size_t i = 0; i < count; i++)
        if (places[i].width == size && places[i].height == size && places[i].triangles == triangles)
            return true;
    return false;
}

static void test_places_are_around_the_crossing(void **state)
{
    struct results r;
    struct refine_place *places;
    struct err err = ERR_INIT;
    size_t count;
    (void)state;
    made_init(&r);
    add_pair(&r, 16, 64);
    add_pair(&r, 64, 64);
    assert_true(refine_places(&r, &places, &count, &err));
    /* 16² x 64 is 1/4 of it, 64² x 64 four times: 32² crosses; between that and the ends 23 and 45. */
    assert_int_equal(count, 3);
    assert_true(has(places, count, 32, 64) && has(places, count, 23, 64) && has(places, count, 45, 64));
    free(places);
    made_fini(&r);
}

static void test_no_crossing_no_places(void **state)
{
    struct results r;
    struct refine_place *places;
    struct err err = ERR_INIT;
    size_t count;
    (void)state;
    made_init(&r);
    add_pair(&r, 64, 64);
    add_pair(&r, 128, 64);
    assert_true(refine_places(&r, &places, &count, &err));
    assert_int_equal(count, 0);
    free(places);
    made_fini(&r);
}

static void test_neighbours_have_no_room(void **state)
{
    struct results r;
    struct refine_place *places;
    struct err err = ERR_INIT;
    size_t count;
    (void)state;
    made_init(&r);
    for (size_t i = 0; i < 2; i++) {
        made_cell(&r, "cpu", MADE_CPU, 64, 4 + (uint32_t)i, i ? 2000000 : 1000000, 10);
        made_cell(&r, "device", MADE_GPU, 64, 4 + (uint32_t)i, 1500000, 10);
    }
    for (size_t i = 0; i < r.cell_count; i++)
        r.cells[i].id = mem_strdup("x", &err);
    assert_true(refine_places(&r, &places, &count, &err));
    assert_int_equal(count, 0);
    free(places);
    made_fini(&r);
}

struct seen {
    size_t rows;
    struct crossing crossing;
};

static bool look(void *context, const struct view *v, struct err *err)
{
    struct seen *seen = context;
    struct view_crossing found;

    seen->rows = v->plane.size_count;
    bool ok = view_crossing(v, true, 0, true, &found, err);
    seen->crossing = found.crossing;
    view_crossing_fini(&found);
    return ok;
}

/* Tables keep to the grid; the crossing is found by what was added, too. */
static void test_added_points_narrow_the_crossing_alone(void **state)
{
    struct results r;
    struct err err = ERR_INIT;
    struct seen seen;
    (void)state;
    made_init(&r);
    add_pair(&r, 16, 64);
    add_pair(&r, 128, 64);
    add_pair(&r, 30, 64);
    add_pair(&r, 36, 64);
    struct json *refined = json_set_array(r.head, "refined");
    for (size_t i = 4; i < 8; i++)
        json_add_string(refined, r.cells[i].id);
    assert_true(
        view_each(&r, 1u << MODE_GRADIENT, VIEW_OTHERS, keys_named("size triangles"), look, &seen, &err));
    assert_int_equal(seen.rows, 2);
    assert_int_equal(seen.crossing.changes, 1);
    assert_int_equal(seen.crossing.from, 1);
    assert_int_equal(seen.crossing.to, 2);
    assert_true(fabs(seen.crossing.at - 32) < 0.1);
    /* A run that goes on looks for the places of its beginning. */
    struct refine_place *places;
    size_t count;
    assert_true(refine_places(&r, &places, &count, &err));
    assert_int_equal(count, 3);
    assert_true(has(places, count, 32, 64) && has(places, count, 23, 64) && has(places, count, 64, 64));
    free(places);
    made_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_are_around_the_crossing),
        cmocka_unit_test(test_no_crossing_no_places),
        cmocka_unit_test(test_neighbours_have_no_room),
        cmocka_unit_test(test_added_points_narrow_the_crossing_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
