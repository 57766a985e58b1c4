/* The options that all measuring commands share. */
#ifndef GPUBENCH_CLI_MEASURE_OPTIONS_H
#define GPUBENCH_CLI_MEASURE_OPTIONS_H

#include "bench/worker.h"
#include "cli/command.h"
#include "cli/tables.h"
#include "model/spec.h"

/* The first member of a measuring command's struct. */
struct measure_options {
    struct base_options base;
    struct text_list devices, axes;
    struct option_u64 threads, seed, memory_budget, max_submit;
    const char *output, *format, *kernel_dir, *isa, *path, *tile;
    bool dry_run, no_progress;
};

#define HELP_OPTION                                                                                          \
    {                                                                                                        \
        .name = "help", .letter = 'h', .type = OPTION_FLAG, .help = "show this help",                        \
        .offset = offsetof(struct base_options, help)                                                        \
    }
#define QUIET_OPTION                                                                                         \
    {                                                                                                        \
        .name = "quiet", .letter = 'q', .type = OPTION_FLAG,                                                 \
        .help = "only tables and errors: no progress, no notes",                                             \
        .offset = offsetof(struct base_options, quiet)                                                       \
    }
#define VERBOSE_OPTION(text)                                                                                 \
    {                                                                                                        \
        .name = "verbose", .letter = 'v', .type = OPTION_FLAG, .help = text,                                 \
        .offset = offsetof(struct base_options, verbose)                                                     \
    }

/* Which kernels the OpenCL renderer takes, for every command that has one. */
#define KERNEL_OPTIONS                                                                                       \
    {.name = "path",                                                                                         \
     .type = OPTION_TEXT,                                                                                    \
     .argument = "NAME",                                                                                     \
     .help = "code path of the OpenCL renderer: ptx, subgroups, local or cpu. A device that cannot run it is "\
             "left out; it is an error where none can",                                                      \
     .choices = measure_paths,                                                                               \
     .offset = offsetof(struct measure_options, path)},                                                      \
    {.name = "tile",                                                                                         \
     .type = OPTION_TEXT,                                                                                    \
     .argument = "SHAPE",                                                                                    \
     .help = "blocks of a tile on OpenCL GPUs, across x down (2x4), also with teams a work-group (2x4x2); "  \
             "or 'whole': gradients of scenes of at most 32 triangles in one launch, where ptx is the path. " \
             "Default: by the image's size, or what a short probe found and remembers",                      \
     .offset = offsetof(struct measure_options, tile)},                                                      \
    {                                                                                                        \
        .name = "kernel-dir", .type = OPTION_TEXT, .argument = "DIR",                                        \
        .help = "read the kernels from this folder, which has all of them, instead of the program",          \
        .offset = offsetof(struct measure_options, kernel_dir)                                               \
    }

/* Which devices, and how renderers on them are made. */
#define DEVICE_OPTIONS                                                                                       \
    {.name = "device",                                                                                       \
     .letter = 'd',                                                                                          \
     .type = OPTION_LIST,                                                                                    \
     .argument = "WHICH",                                                                                    \
     .help = "openmp, ocl:P:D, gpu (every OpenCL GPU), or part of a device's name; may repeat; "             \
             "-d list shows them. Default: openmp and the best OpenCL device",                               \
     .offset = offsetof(struct measure_options, devices)},                                                   \
        {.name = "threads",                                                                                  \
         .letter = 't',                                                                                      \
         .type = OPTION_U64,                                                                                 \
         .argument = "N",                                                                                    \
         .min = 1,                                                                                           \
         .max = SPEC_MAX_THREADS,                                                                            \
         .help = "threads of the OpenMP renderer. Default: the config's, else OMP_NUM_THREADS, else the "    \
                 "physical "                                                                                 \
                 "cores that may be used",                                                                   \
         .offset = offsetof(struct measure_options, threads)},                                               \
        {.name = "memory-budget",                                                                            \
         .type = OPTION_BYTES,                                                                               \
         .argument = "BYTES",                                                                                \
         .min = 1,                                                                                           \
         .max = UINT64_MAX,                                                                                  \
         .help = "the most memory a cell's buffers may take on an OpenCL device (512M, 2Gi); a batch that "   \
                 "does not fit is split. Default: 80 % of the device's memory, 50 % where that is the "     \
                 "host's",                                                                                   \
         .offset = offsetof(struct measure_options, memory_budget)},                                         \
        {.name = "max-submit-ms",                                                                            \
         .type = OPTION_U64,                                                                                 \
         .argument = "N",                                                                                    \
         .max = 3600000,                                                                                     \
         .help = "cut long kernels into submissions that each take less than N milliseconds; 0: never. "     \
                 "Default: 150 where the device drives a display or has a watchdog, else 0",                 \
         .offset = offsetof(struct measure_options, max_submit)},                                            \
        {.name = "isa",                                                                                      \
         .type = OPTION_TEXT,                                                                                \
         .argument = "NAME",                                                                                 \
         .help = "code path of the OpenMP renderer: avx512, avx2 or portable",                               \
         .choices = measure_isas,                                                                            \
         .offset = offsetof(struct measure_options, isa)},                                                   \
        KERNEL_OPTIONS

/* What a run measures. */
#define GRID_OPTIONS                                                                                         \
    {.name = "axis",                                                                                         \
     .letter = 'a',                                                                                          \
     .type = OPTION_LIST,                                                                                    \
     .argument = "NAME=LIST",                                                                                \
     .help = "replace an axis or a fixed value: size=64,128 or triangles=32:512:x2 or batch=8:64:+8; may "   \
             "repeat",                                                                                       \
     .offset = offsetof(struct measure_options, axes)},                                                      \
        {.name = "seed",                                                                                     \
         .type = OPTION_U64,                                                                                 \
         .argument = "N",                                                                                    \
         .max = UINT64_MAX,                                                                                  \
         .help = "seed of the random scenes",                                                                \
         .offset = offsetof(struct measure_options, seed)},                                                  \
    {                                                                                                        \
        .name = "dry-run", .type = OPTION_FLAG,                                                              \
        .help = "show what would run, with memory and time; measure nothing",                                \
        .offset = offsetof(struct measure_options, dry_run)                                                  \
    }

/* Where its results go. */
#define OUTPUT_OPTION(text)                                                                                  \
    {                                                                                                        \
        .name = "output", .letter = 'o', .type = OPTION_TEXT, .argument = "FILE", .help = text,              \
        .offset = offsetof(struct measure_options, output)                                                   \
    }

#define NO_PROGRESS_OPTION                                                                                   \
    {                                                                                                        \
        .name = "no-progress", .type = OPTION_FLAG, .help = "no progress lines",                             \
        .offset = offsetof(struct measure_options, no_progress)                                              \
    }

#define RUN_OPTIONS                                                                                          \
    GRID_OPTIONS,                                                                                            \
        OUTPUT_OPTION("the results file, - for standard output; of several configs, the folder of their "    \
                      "files. Default: results/NAME-TIME.json"),                                             \
        NO_PROGRESS_OPTION

#define FORMAT_OPTION(where)                                                                                 \
    {                                                                                                        \
        .name = "format", .letter = 'f', .type = OPTION_TEXT, .argument = "FORMAT",                          \
        .help = "of the tables: text, markdown, json, html (a page with charts); or csv: the results "       \
                "themselves, a row a cell and quantity",                                                     \
        .choices = table_formats, .offset = where                                                            \
    }

#define VERDICT_FORMAT_OPTION(where)                                                                         \
    {                                                                                                        \
        .name = "format", .letter = 'f', .type = OPTION_TEXT, .argument = "FORMAT",                          \
        .help = "of the report: text, markdown or json", .choices = verdict_formats, .offset = where         \
    }

extern const char *const measure_isas[], *const measure_paths[];

/* The part of them that renderers are made with; strings are argv's. ERR_IO, ERR_BUILD: there is no such folder of
 * kernels, or one is missing there. */
bool measure_backend_options(const struct measure_options *options, struct backend_options *out,
                             struct err *err) GB_NODISCARD;

#endif
