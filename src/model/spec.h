/* What one call computes and how: everything in which two cells of a grid can differ.
 *
 * Names, ranges and defaults of the fields are data, in spec.c's table: the config reader, -a, cell ids
 * and results files all go through it, so that a new option is one row there and one field here.
 */
#ifndef GPUBENCH_MODEL_SPEC_H
#define GPUBENCH_MODEL_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

enum backend_kind { BACKEND_OPENMP, BACKEND_OPENCL };

enum render_mode { MODE_FORWARD, MODE_GRADIENT };
enum call_shape { CALL_LOADER, CALL_PAGEABLE, CALL_RESIDENT };
enum cpu_variant { VARIANT_FAST, VARIANT_SCALAR };
enum strategy { STRATEGY_FUSED, STRATEGY_RECOMPUTE, STRATEGY_TAPED };
enum reduction { REDUCTION_ORDERED, REDUCTION_LOCAL, REDUCTION_DIRECT };
enum dispatch_kind { DISPATCH_BATCHED, DISPATCH_SINGLE };
enum loss_place { LOSS_DEVICE, LOSS_HOST };
enum images_kind { IMAGES_DEVICE, IMAGES_ROUNDTRIP };
enum scene_source { SOURCE_RANDOM, SOURCE_FILE };

#define SPEC_MAX_SIZE 32768u
#define SPEC_MANY_TRIANGLES 2048u /* from here on renderers sort a scene's triangles into bins of tiles */
#define SPEC_MAX_BATCH (1u << 20)
#define SPEC_MAX_THREADS 4096u

struct render_spec {
    /* the point: the same for every backend */
    enum render_mode mode;
    uint32_t width, height; /* pixels */
    uint32_t triangles;     /* a scene */
    uint32_t batch;         /* scenes a call; 0 is a call that does nothing */
    float sigma;            /* edge softness, normalised units, > 0 */
    enum scene_source source; /* where its scenes come from */
    enum call_shape call;
    bool upstream; /* gradients dL/dC given in place of a target; no loss */
    /* openmp */
    enum cpu_variant variant;
    uint32_t threads; /* 0: the renderer's own choice */
    /* opencl */
    enum strategy strategy;
    enum reduction reduction;
    enum dispatch_kind dispatch;
    enum loss_place loss;
    bool pool;
    enum images_kind images;
    uint32_t workgroup; /* work-items a group; 0: the renderer's own choice */
    /* not a config key: also write the images of a gradient call (for verification and `fit`) */
    bool keep_images;
};

enum spec_type { SPEC_ENUM, SPEC_BOOL_ONOFF, SPEC_BOOL, SPEC_U32, SPEC_FLOAT, SPEC_SIZE };

/* Which backends a key means something to; a cell of another backend collapses along it. */
#define SPEC_FOR_OPENMP (1u << BACKEND_OPENMP)
#define SPEC_FOR_OPENCL (1u << BACKEND_OPENCL)
#define SPEC_FOR_ALL (SPEC_FOR_OPENMP | SPEC_FOR_OPENCL)

struct spec_key {
    const char *name; /* the config's key and the axis' name */
    const char *help; /* one line for --help and gpubench-config(5) */
    enum spec_type type;
    unsigned applies;            /* SPEC_FOR_* */
    bool grid_only;              /* an axis (or a top-level key), never a backend's key: size, batch, ... */
    const char *const *values;   /* SPEC_ENUM: names in the enum's order, NULL-terminated */
    double min, max;             /* SPEC_U32, SPEC_FLOAT: inclusive range (a float's min is exclusive) */
    bool gradient_only;          /* changes nothing in forward mode */
    bool loss_only;              /* changes nothing where there is no loss (upstream) */
    size_t offset;               /* of the field in struct render_spec */
};

/* The table, in the order in which ids name keys, and its length. */
const struct spec_key *spec_keys(size_t *count);
/* By name; NULL when there is none. */
const struct spec_key *spec_find(const char *name);
/* The name nearest to a misspelt one; NULL when none is near. */
const char *spec_suggest(const char *name);

/* Whether the key changes anything in what `kind` does for this spec: false for another backend's keys, for
 * strategy and reduction in forward mode, for loss and images where there is no loss. Cells of a grid
 * that differ only in keys that do not matter are one cell. */
bool spec_matters(const struct render_spec *spec, const struct spec_key *key, enum backend_kind kind);

/* The defaults: gradient, 256x256, 512 triangles, batch 16, sigma 0.01, loader, fused, ordered, ... */
void spec_init(struct render_spec *spec);

/* Sets one field from a JSON value (a config) or from text (-a). A size is a number (square) or "WxH".
 * On error the message names the value, the allowed ones, and a near one; the caller knows the key's place. */
bool spec_set_json(struct render_spec *spec, const struct spec_key *key, const struct json *value,
                   struct err *err) GB_NODISCARD;
bool spec_set_text(struct render_spec *spec, const struct spec_key *key, const char *value,
                   struct err *err) GB_NODISCARD;

/* The value as ids and tables write it: "256x256", "0.01", "ordered", "on". */
#define SPEC_TEXT_MAX 32
void spec_text(const struct render_spec *spec, const struct spec_key *key, char out[SPEC_TEXT_MAX]);
/* Adds every field that matters (spec_matters) to a JSON object (a cell's "params"), the size as width and
 * height; and reads them back over the defaults, passing over keys that it does not know. */
void spec_to_json(const struct render_spec *spec, enum backend_kind kind, struct json *object);
bool spec_from_json(struct render_spec *spec, const struct json *object, struct err *err) GB_NODISCARD;
bool spec_equal(const struct render_spec *a, const struct render_spec *b, const struct spec_key *key);

/* Refuses combinations that contradict themselves, with the reason (ERR_UNSUPPORTED): images=roundtrip or
 * loss=host with strategy=fused, upstream with mode=forward. What merely does not matter is ignored. */
bool spec_check(const struct render_spec *spec, enum backend_kind kind, struct err *err) GB_NODISCARD;

const char *backend_kind_name(enum backend_kind kind); /* "openmp", "opencl" */

#endif
