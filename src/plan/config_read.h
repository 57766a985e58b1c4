/* Reading a config's JSON: typed getters whose errors name file and JSON path. Internal to plan/. */
#ifndef GPUBENCH_PLAN_CONFIG_READ_H
#define GPUBENCH_PLAN_CONFIG_READ_H

#include "plan/config.h"

struct reader {
    const struct json *root;
    const char *path; /* the config's, for messages */
    struct err *err;
};

/* "FILE: $.axes.size[2]: " and the text; always false. */
bool reader_fail(const struct reader *r, const struct json *node, const char *fmt, ...) GB_PRINTF(3, 4);
/* Puts "FILE: $.path: " in front of an error that is already in r->err; always false. */
bool reader_wrap(const struct reader *r, const struct json *node);

/* node is of the type; "is a number, not an object" otherwise. */
bool reader_expect(const struct reader *r, const struct json *node, enum json_type type);
/* Every key of the object is in the NULL-terminated list; else an error with a near one. */
bool reader_check_keys(const struct reader *r, const struct json *object, const char *const *allowed);

/* Each leaves *out as it was where the key is absent. Ranges are inclusive. */
bool reader_u64(const struct reader *r, const struct json *object, const char *key, uint64_t *out);
bool reader_u32(const struct reader *r, const struct json *object, const char *key, uint32_t min,
                uint32_t max, uint32_t *out);
bool reader_number(const struct reader *r, const struct json *object, const char *key, double min, double max,
                   double *out);
bool reader_colour(const struct reader *r, const struct json *object, const char *key, float out[3]);
/* Index of the object's string `key` in the NULL-terminated names; an error when absent or another. */
bool reader_choice(const struct reader *r, const struct json *object, const char *key,
                   const char *const *names, int *out);
/* A required string, copied. A relative path is taken from the config's folder. Owned by the caller. */
bool reader_file(const struct reader *r, const struct json *node, char **out);

/* Letters, digits, - and _, at most 63 of them, at least one. */
bool reader_name(const struct reader *r, const struct json *object, const char *key, char out[64]);

/* The sections. */
bool config_read_scene(const struct reader *r, const struct json *object, struct scene_config *out,
                       enum scene_source *source);
bool config_read_target(const struct reader *r, const struct json *object, struct target_config *out);
bool config_read_measure(const struct reader *r, const struct json *object, struct measure_config *out);
bool config_read_tables(const struct reader *r, const struct json *array, struct config *out);
bool config_read_axes(const struct reader *r, const struct json *object, struct config *out);
/* The files against the axes: a point needs those with as many triangles as it has. */
bool config_check_source(const struct reader *r, struct config *out);
const struct json *config_scene_file(const struct reader *r, size_t index); /* where its name stands */
bool config_read_backends(const struct reader *r, const struct json *array, struct config *out);

#endif
