/* The shared structures as the device's compiler lays them out; compared with the host's by
 * src/gpu/layout.c. */
#include "shared.h"

#define MEMBER(type, field) (((global struct type *)0)->field)
#define FIELD(type, field, kind, count)              \
    out[i++] = (uint)((size_t)&MEMBER(type, field)); \
    out[i++] = (uint)sizeof(MEMBER(type, field));    \
    out[i++] = (uint)__alignof__(MEMBER(type, field));
#define WHOLE(type)                      \
    out[i++] = 0;                        \
    out[i++] = (uint)sizeof(struct type); \
    out[i++] = (uint)__alignof__(struct type);

/* out: [rows of SHARED_LAYOUT][3]: offset, size, alignment. */
kernel void layout(global uint *out)
{
    uint i = 0;
    SHARED_LAYOUT(FIELD, WHOLE)
}
