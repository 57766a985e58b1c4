/* The files that a fit writes: PREFIX.json, PREFIX.png, PREFIX.csv. */
#ifndef GPUBENCH_CLI_FIT_FILES_H
#define GPUBENCH_CLI_FIT_FILES_H

#include "base/strbuf.h"
#include "bench/fit.h"
#include "model/scene.h"

/* What all names of a command begin with: `asked`, or, where it is NULL, the picture's name and -fit, in the
 * current folder, with a number behind where files of that name are there. *out is the caller's to free. */
bool fit_files_prefix(const char *asked, const char *image, char **out, struct err *err) GB_NODISCARD;
/* Appends a run's name: the prefix; device not NULL: and which run it is. */
void fit_files_name(const char *prefix, const struct device_info *device, const struct render_spec *spec,
                    struct strbuf *out);
/* A run may take long: ERR_IO, before it, where one of the files is there already or the folder cannot be written
 * to. */
bool fit_files_free(const char *name, struct err *err) GB_NODISCARD;
/* Writes the best scene, its picture as the renderer draws it at that step's softness, and the losses. */
bool fit_files_save(const char *name, struct renderer *renderer, const struct scene *scene,
                    const struct render_spec *spec, const struct fit_run *run, struct err *err) GB_NODISCARD;

#endif
