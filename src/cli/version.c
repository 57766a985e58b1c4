#include "cli/version.h"

#include "base/json.h"
#include "base/version.h"
#include "cpu/topology.h"
#include "gpu/opencl.h"

void version_print(bool verbose, FILE *out)
{
    fprintf(out, "gpubench %s (%s)\n", version_number(), version_revision());
    if (!verbose)
        return;
    unsigned hwloc[3];
    char loader[512];
    topology_library_version(hwloc);
    opencl_loader(loader, sizeof loader);
    fprintf(out, "built with %s, %s\n", version_compiler(), version_flags());
    fprintf(out, "cJSON %s, hwloc %u.%u.%u, OpenMP %d\n", json_library_version(), hwloc[0], hwloc[1],
            hwloc[2], _OPENMP);
    fprintf(out, "OpenCL loader %s\n", loader);
}
