/* Which code path (kernels/lanes.h) a device runs: the best that it has the features for, tried before it is
 * used. */
#ifndef GPUBENCH_GPU_PATH_H
#define GPUBENCH_GPU_PATH_H

#include "gpu/renderer.h"

/* Sets r->path and r->lanes, and adds to the build options what the path's kernels need. forced: a path's
 * name, or NULL for the best. ERR_UNSUPPORTED, with the reason, where the device cannot run the path asked
 * for. A path that is passed over for what came of a trial is told in info.path_note. */
bool path_choose(struct opencl_renderer *r, const char *forced, struct err *err) GB_NODISCARD;

/* Of a device that is not opened: fills info.path and info.path_note. Opens it for a moment where its
 * features leave the path open; both stay empty where that fails. forced: as above; where the device cannot run it,
 * that is info.trouble. */
void path_describe(cl_device_id device, const char *forced, struct device_info *info);

/* Whether a kernel of the path runs in teams as large as its text was built for: compilers may choose the
 * size of sub-groups kernel by kernel. ERR_UNSUPPORTED where it does not. */
bool path_fits(const struct opencl_renderer *r, cl_kernel kernel, const struct tile_shape *shape,
               struct err *err) GB_NODISCARD;

#endif
