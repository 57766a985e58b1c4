/* A benchmark's config: strict JSON in (gpubench-config(5)), one struct out. */
#ifndef GPUBENCH_PLAN_CONFIG_H
#define GPUBENCH_PLAN_CONFIG_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "model/spec.h"

#define CONFIG_VERSION 1

enum target_kind { TARGET_FLAT, TARGET_SCENE, TARGET_IMAGE };

struct scene_config {
    uint64_t seed;       /* random, and upstream gradients */
    float extent;        /* random */
    float background[3]; /* random; a file has its own */
    char **files;        /* file: those with a point's triangles are cycled over the batch; paths that open */
    uint32_t *triangles; /* [file_count] */
    size_t file_count;
};

struct target_config {
    enum target_kind kind;
    float color[3]; /* flat */
    uint64_t seed;  /* scene: rendered by the reference from another seed */
    char *image;    /* image: a path that opens as it is */
};

struct backend_config {
    char name[64]; /* unique in the config; the first part of cell ids */
    enum backend_kind kind;
    char device[128];           /* opencl: a selector as -d takes it; "" : the best there is */
    struct render_spec options; /* the backend's own keys over the config's base */
};

struct axis {
    const struct spec_key *key;
    char (*values)[SPEC_TEXT_MAX]; /* owned; no two the same */
    size_t count;
};

struct measure_config {
    uint32_t warmup;      /* calls before the first sample, at least */
    uint32_t min_samples; /* outranks max_seconds */
    uint32_t max_samples;
    double target_ci;       /* half width of the median's 95 % interval, relative */
    double max_seconds;     /* a cell */
    double timeout_seconds; /* a cell, everything included; outranks all */
};

struct config {
    char *path;    /* where it came from, for messages and relative paths */
    char name[64]; /* letters, digits, - and _ : file names are made of it */
    /* Top-level values (mode, sigma, upstream, threads), the scene's kind as the source, and the triangles of
     * its files where they have as many each. */
    struct render_spec base;
    struct axis *axes; /* in the order of spec_keys() */
    size_t axis_count;
    struct scene_config scene;
    struct target_config target;
    struct backend_config *backends;
    size_t backend_count;
    uint32_t threads; /* top-level "threads"; 0: not given */
    struct measure_config measure;
    char (*tables)[32];
    size_t table_count;
    struct json *json; /* the whole document as it was read, with what follows applied: for results files */
};

/* Parses and checks everything; every message names file, JSON path and, where a name is near, what was
 * meant. Nothing is opened but the config and the scene files that it names: their triangles are counted. A
 * relative path in a config is taken from the config's folder. */
bool config_load(const char *path, struct config *out, struct err *err) GB_NODISCARD;
bool config_from_json(const struct json *root, const char *path, struct config *out,
                      struct err *err) GB_NODISCARD;
/* Each replaces what the config says about the key, wherever it stands; the result passes all checks again.
 * After an error the config is as it was. */
/* -a NAME=LIST. LIST is 64,128 or FIRST:LAST:xFACTOR or FIRST:LAST:+STEP, or several of them with commas. */
bool config_override_axis(struct config *config, const char *text, struct err *err) GB_NODISCARD;
bool config_override_seed(struct config *config, uint64_t seed, struct err *err) GB_NODISCARD;
bool config_override_threads(struct config *config, uint32_t threads, struct err *err) GB_NODISCARD;
void config_fini(struct config *config); /* accepts NULL and a zeroed config */

#endif
