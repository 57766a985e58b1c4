/* A picture is read into pixels between 0 and 1 or refused with a reason. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = ERR_INIT;
    struct image image = {0};
    char path[64];
    int fd = memfd_create("picture", 0);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (image_load(path, &image, &err)) {
        for (size_t i = 0; i < (size_t)image.width * image.height * 3; i++)
            if (!(image.pixels[i] >= 0 && image.pixels[i] <= 1))
                abort();
    } else if (err.code == ERR_NONE) {
        abort();
    }
    image_fini(&image);
    err_fini(&err);
    close(fd);
    return 0;
}
