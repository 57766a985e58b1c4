/* Finding a config by file name or as one of the standard ones inside the program. */
#ifndef GPUBENCH_CLI_CONFIGS_H
#define GPUBENCH_CLI_CONFIGS_H

#include "cli/measure_options.h"
#include "plan/config.h"

/* `name` is a standard config's ("crossover"), a file's, or "-". Applies -a, --seed and -t, and checks that
 * the config's tables exist and fit its mode. */
bool configs_open(const char *name, const struct measure_options *options, struct config *out,
                  struct err *err) GB_NODISCARD;

/* Applies -a, --seed and -t to a config that came from elsewhere. */
bool configs_override(struct config *config, const struct measure_options *options,
                      struct err *err) GB_NODISCARD;

bool configs_is_standard(const char *name);

/* The same names, but in place of "record" those of all configs that the original record's tables come from.
 * out->items is the caller's to free. */
bool configs_expand(const struct text_list *names, struct text_list *out, struct err *err) GB_NODISCARD;

#endif
