/* A scene file is read into finite numbers or refused with a reason. */
#include "fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "model/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = ERR_INIT;
    struct scene scene = {0};
    struct json *root = json_parse((const char *)data, size, "input", &err);

    if (root && scene_from_json(root, "input", &scene, &err)) {
        for (size_t i = 0; i < (size_t)scene.triangles * SCENE_STRIDE; i++)
            if (!isfinite(scene.params[i]))
                abort();
    } else if (err.code == ERR_NONE) {
        abort();
    }
    scene_fini(&scene);
    json_free(root);
    err_fini(&err);
    return 0;
}
