/* A picture is read into pixels between 0 and 1 or refused with a reason. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "model/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = ERR_INIT;
    struct image image = {0};
    float resampled[7 * 5 * 3];

    if (image_parse(data, size, "input", NULL, &image, &err)) {
        for (size_t i = 0; i < (size_t)image.width * image.height * 3; i++)
            if (!(image.pixels[i] >= 0 && image.pixels[i] <= 1))
                abort();
        image_resample(&image, resampled, 7, 5);
        for (size_t i = 0; i < sizeof(resampled) / sizeof(resampled[0]); i++)
            if (!(resampled[i] >= 0 && resampled[i] <= 1))
                abort();
    } else if (err.code == ERR_NONE) {
        abort();
    }
    image_fini(&image);
    err_fini(&err);
    return 0;
}
