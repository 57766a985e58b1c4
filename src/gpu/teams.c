#include "gpu/teams.h"

#include "gpu/renderer.h"
#include "shared.h"

#define MOST_LANES 256u
#define FIRST_SUM 2u
#define FIRST_RANK (FIRST_SUM + SHARED_SLOT)
#define VALUES (FIRST_RANK + MOST_LANES)

/* Small whole numbers: their sums are exact in every order. */
static bool expect(const char *what, size_t index, float got, size_t want, struct err *err)
{
    return got == (float)want ||
           err_set(err, ERR_WRONG, "lanes.cl: %s %zu came to %g, not %zu", what, index, (double)got, want);
}

static bool compare(const struct tile_shape *shape, enum gpu_path path, const float *out, struct err *err)
{
    const size_t lanes = shape->lanes, pixels = path == PATH_CPU ? shape->block_w * shape->block_h : lanes;
    const size_t sums = path == PATH_CPU ? SHARED_STRIDE : SHARED_SLOT;
    bool ok = expect("the count of odd lanes of", lanes, out[0], lanes / 2, err) &&
              expect("the sum over lanes of", lanes, out[1], lanes * (lanes + 1) / 2, err);

    for (size_t i = 0; ok && i < sums; i++)
        ok = expect("sum", i, out[FIRST_SUM + i], (i + 1) * pixels, err);
    for (size_t i = 0; ok && i < lanes; i++)
        ok = expect("the rank of lane", i, out[FIRST_RANK + i], i / 2, err);
    return ok;
}

bool teams_check(struct renderer *renderer, struct err *err)
{
    struct opencl_renderer *r = (struct opencl_renderer *)renderer;
    struct strbuf defines = STRBUF_INIT;
    struct tile_shape shape;
    struct render_spec spec;
    float out[VALUES];
    cl_program program;

    spec_init(&spec);
    bool ok = renderer_shape(r, &spec, &shape, err);
    if (ok) {
        shape_defines(r->path, &shape, &defines);
        ok = strbuf_ok(&defines, err) && renderer_program(r, "lanes.cl", strbuf_str(&defines), &program, err);
    }
    strbuf_fini(&defines);
    if (ok && shape.lanes > MOST_LANES)
        ok = err_set(err, ERR_UNSUPPORTED, "a team of %u lanes", (unsigned)shape.lanes);
    return ok && renderer_ask(r, program, "lanes", shape.lanes, out, sizeof(out), err) &&
           compare(&shape, r->path, out, err);
}
