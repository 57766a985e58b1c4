/* The shared structures as the device's compiler lays them out; compared with the host's by
 * src/gpu/layout.c. */
#include "shared.h"

#define MEMBER(type, field) (((global struct type *)0)->field)
#define FIELD(type, field, kind, count)             \
    *next++ = (uint)((size_t)&MEMBER(type, field)); \
    *next++ = (uint)sizeof(MEMBER(type, field));    \
    *next++ = (uint)__alignof__(MEMBER(type, field));
#define WHOLE(type)                      \
    *next++ = 0;                         \
    *next++ = (uint)sizeof(struct type); \
    *next++ = (uint)__alignof__(struct type);

/* out: [rows of SHARED_LAYOUT][3]: offset, size, alignment. */
kernel void layout(global uint *out)
{
    global uint *next = out;
    SHARED_LAYOUT(FIELD, WHOLE)
}
