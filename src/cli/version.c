#include "cli/version.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/version.h"
#include "bench/runner.h"
#include "cli/signals.h"
#include "cpu/topology.h"
#include "gpu/opencl.h"
#include "model/image_png.h"

/* In a process of its own: the loader loads the drivers before it answers. */
static void ask_loader(char *version, size_t size)
{
    int ends[2];

    if (pipe(ends) != 0)
        return;
    const pid_t child = fork();
    if (child == 0) {
        char text[128];
        signals_driver_begin();
        opencl_loader_version(text, sizeof text);
        _exit(write(ends[1], text, strlen(text) + 1) < 0);
    }
    close(ends[1]);
    char text[128] = "";
    if (child > 0 && read(ends[0], text, sizeof text - 1) > 0)
        snprintf(version, size, "%s", text);
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void print_libraries(FILE *out)
{
    unsigned hwloc[3];
    char png[16], loader[512], loader_version[128] = "of unknown version";
    void *openmp = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    Dl_info file = {0};

    topology_library_version(hwloc);
    png_library_version(png);
    opencl_loader_file(loader, sizeof loader);
    ask_loader(loader_version, sizeof loader_version);
    if (!openmp || !dladdr(openmp, &file) || !file.dli_fname)
        file.dli_fname = "unknown file";
    fprintf(out, "cJSON %s, hwloc %u.%u.%u, libpng %s\n", json_library_version(), hwloc[0], hwloc[1],
            hwloc[2], png);
    fprintf(out, "OpenMP %d (%s)\n", _OPENMP, file.dli_fname);
    fprintf(out, "OpenCL loader %s (%s)\n", loader_version, loader);
}

/* Asked of a worker, which a driver may take with it. */
static void print_drivers(FILE *out)
{
    struct runner_options how = {0};
    struct device_info *devices = NULL;
    struct err err = ERR_INIT;
    char *note = NULL;
    size_t count = 0;

    if (!runner_list_devices(&how, &devices, &count, &note, &err))
        fprintf(out, "OpenCL drivers: %s\n", err.text);
    else if (note)
        fprintf(out, "OpenCL drivers: %s\n", note);
    for (size_t i = 0; i < count; i++)
        if (devices[i].backend == BACKEND_OPENCL)
            fprintf(out, "%s %s, driver %s\n", devices[i].selector, devices[i].name,
                    *devices[i].driver_version ? devices[i].driver_version : "unknown");
    err_fini(&err);
    free(note);
    free(devices);
}

void version_print(bool verbose, FILE *out)
{
    fprintf(out, "gpubench %s (%s)\n", version_number(), version_revision());
    if (!verbose)
        return;
    fprintf(out, "built with %s, %s\n", version_compiler(), version_flags());
    print_libraries(out);
    print_drivers(out);
}
