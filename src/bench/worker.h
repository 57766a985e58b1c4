/* The worker process: holds the drivers, measures points, answers in JSON lines (bench/protocol.h).
 *
 * It knows a backend only by a factory, which cli/ hands in. Everything that can crash or hang in a driver
 * happens here, so that it takes one cell with it and not the run.
 */
#ifndef GPUBENCH_BENCH_WORKER_H
#define GPUBENCH_BENCH_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/device.h"
#include "model/renderer.h"

/* What renderers are made with; the same for every device of a run. Strings are borrowed. */
struct backend_options {
    uint32_t threads;             /* -t or the config's; 0: the backend's own choice */
    const char *kernel_dir;       /* kernels are read from this folder; NULL: those in the program */
    const char *isa;              /* forces the CPU renderer's code path; NULL: the best there is */
    const char *path;             /* forces the OpenCL renderer's code path; NULL: the best there is */
    const char *tile;             /* forces the OpenCL renderer's tiles; NULL: what suits the device */
    bool tune;                    /* finds out what suits a device before its first run; not where nothing is measured */
    uint64_t memory_budget_bytes; /* --memory-budget; 0: a share of the memory there is */
    uint64_t max_submit_ns;       /* --max-submit-ms; 0: what suits the device; UINT64_MAX: no limit */
};

/* How long a driver may take to list its devices, or to open one: many GPUs that slept, cold caches and slow disks
 * included. A process in which it takes longer is ended by SIGALRM. Compiling kernels does not count. */
#define DRIVER_LIMIT_S 30
/* ERR_TIMEOUT: that it took longer while `what`. Always false. */
bool worker_driver_silent(const char *what, struct err *err);

struct backend_factory {
    enum backend_kind kind;
    /* Every device of this kind, in a fixed order, those that cannot be used too (trouble says why).
     * *out is the caller's to free. None at all is true with *count 0, or false with ERR_NO_DEVICE and a
     * text that says how to get one; neither ends a run. */
    bool (*list)(const struct backend_options *options, struct device_info **out, size_t *count,
                 struct err *err);
    /* Opens the device with this selector; the renderer's info then holds what was chosen (path, threads). */
    bool (*create)(const char *selector, const struct backend_options *options, struct renderer **out,
                   struct err *err);
};

/* Exit codes of the worker process; everything that matters has been said in messages before. */
enum worker_exit { WORKER_DONE = 0, WORKER_PROTOCOL = 1 };

/* The hidden command `worker`, started by bench/runner.h with two pipe ends. Serves requests until it is told
 * to quit or its input ends. What drivers print on standard output goes to standard error. Must be called
 * before anything used OpenMP or OpenCL in this process. Returns the process's exit code. */
int worker_main(int in_fd, int out_fd, const struct backend_factory *factories, size_t factory_count);

#endif
