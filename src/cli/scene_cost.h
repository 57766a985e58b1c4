/* What a gradient of a scene takes, counted, and how long by a results file: for gpubench scene. */
#ifndef GPUBENCH_CLI_SCENE_COST_H
#define GPUBENCH_CLI_SCENE_COST_H

#include "base/strbuf.h"
#include "model/scene_stats.h"
#include "record/results.h"

void scene_cost_text(const struct scene_stats *stats, const struct render_spec *spec, struct strbuf *out);
void scene_cost_json(const struct scene_stats *stats, const struct render_spec *spec, struct json *root);

/* The times of a call of the scene on what the results have. */
bool scene_times_text(const struct scene_stats *stats, const struct render_spec *spec,
                      const struct results *results, struct strbuf *out, struct err *err) GB_NODISCARD;
bool scene_times_json(const struct scene_stats *stats, const struct render_spec *spec,
                      const struct results *results, struct json *root, struct err *err) GB_NODISCARD;

#endif
