#include "model/device.h"

#include <string.h>
#include <strings.h>

bool device_matches(const struct device_info *device, const char *selector)
{
    const size_t length = strlen(selector);

    if (device->backend == BACKEND_OPENMP || strcasecmp(selector, backend_kind_name(BACKEND_OPENMP)) == 0)
        return strcasecmp(device->selector, selector) == 0;
    if (strcasecmp(selector, "ocl") == 0)
        return true;
    if (strcasecmp(selector, "gpu") == 0)
        return device->kind == DEVICE_GPU;
    if (strncasecmp(selector, "ocl:", 4) == 0)
        return strncasecmp(device->selector, selector, length) == 0 &&
               (device->selector[length] == '\0' || device->selector[length] == ':');
    return length > 0 &&
           (strcasestr(device->name, selector) != NULL || strcasestr(device->short_name, selector) != NULL ||
            strcasestr(device->platform, selector) != NULL);
}

static bool better(const struct device_info *a, const struct device_info *b)
{
    static const int rank[] = {
        [DEVICE_GPU] = 3, [DEVICE_ACCELERATOR] = 2, [DEVICE_CPU] = 1, [DEVICE_OTHER] = 0};

    return a->kind == b->kind ? a->compute_units > b->compute_units : rank[a->kind] > rank[b->kind];
}

bool device_is_asked(const struct device_info *device, const char *const *selectors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (device_matches(device, selectors[i]))
            return true;
    return false;
}

size_t device_best(const struct device_info *devices, size_t count, enum backend_kind backend)
{
    size_t best = count;

    for (size_t i = 0; i < count; i++)
        if (devices[i].backend == backend && devices[i].trouble[0] == '\0' &&
            (best == count || better(&devices[i], &devices[best])))
            best = i;
    return best;
}
