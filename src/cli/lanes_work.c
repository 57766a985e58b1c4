#include "cli/lanes_work.h"

#include <stdlib.h>

#include "base/mem.h"
#include "model/oracle.h"

static bool work_init(struct lanes_work *work, const char *name, uint32_t width, uint32_t height,
                      uint64_t seed, struct err *err)
{
    bool ok;

    *work = (struct lanes_work){.name = name, .width = width, .height = height};
    work->steps = mem_calloc((uint64_t)width * height, sizeof(*work->steps), "steps", err);
    ok = work->steps != NULL;
    for (int layout = 0; ok && layout < LANE_LAYOUTS; layout++)
        if (height > 1 || layout == LANES_ROWS || layout == LANES_SHUFFLED)
            ok = lane_order_init((enum lane_layout)layout, width, height, seed, &work->orders[layout], err);
    return ok;
}

static void work_fini(struct lanes_work *work)
{
    free(work->steps);
    for (int layout = 0; layout < LANE_LAYOUTS; layout++)
        lane_order_fini(&work->orders[layout]);
}

static bool render(struct lanes_set *set, struct err *err)
{
    const struct render_spec *s = &set->spec;
    const struct oracle_input in = {.width = s->width,
                                    .height = s->height,
                                    .triangles = s->triangles,
                                    .sigma = s->sigma,
                                    .params = set->params,
                                    .background = set->background};
    struct oracle_output out = {.image = set->image, .covered = set->covered.steps};

    return oracle_render(&in, &out, err);
}

bool lanes_set_init(struct lanes_set *set, const struct render_spec *spec, struct err *err)
{
    const uint64_t pixels = (uint64_t)spec->width * spec->height;

    set->spec = *spec;
    set->background[0] = 0.1f;
    set->background[1] = 0.11f;
    set->background[2] = 0.14f;
    set->params = mem_calloc((uint64_t)spec->triangles * SCENE_STRIDE, sizeof(float), "a scene", err);
    set->image = mem_calloc(pixels * 3, sizeof(double), "a picture", err);
    if (!set->params || !set->image ||
        !work_init(&set->tested, "triangles tested", spec->width, spec->height, set->seed, err) ||
        !work_init(&set->covered, "composited", spec->width, spec->height, set->seed, err) ||
        !work_init(&set->rays, "marched rays", MARCH_RAYS, 1, set->seed, err))
        return false;
    scene_random(set->params, spec->triangles, set->seed, 0, SCENE_DEFAULT_EXTENT);
    if (!pixel_lists_init(set->params, spec->triangles, spec->sigma, spec->width, spec->height, &set->lists,
                          err) ||
        !render(set, err))
        return false;
    for (uint64_t p = 0; p < pixels; p++)
        set->tested.steps[p] = set->lists.first[p + 1] - set->lists.first[p];
    march_directions(set->directions);
    for (uint32_t i = 0; i < MARCH_RAYS; i++)
        set->rays.steps[i] = march_steps(set->directions[i]);
    return true;
}

void lanes_set_fini(struct lanes_set *set)
{
    free(set->params);
    free(set->image);
    pixel_lists_fini(&set->lists);
    work_fini(&set->tested);
    work_fini(&set->covered);
    work_fini(&set->rays);
}
