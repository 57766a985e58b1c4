/* The backends that the program is linked with. The only file that includes cpu/ and gpu/ is backends.c. */
#ifndef GPUBENCH_CLI_BACKENDS_H
#define GPUBENCH_CLI_BACKENDS_H

#include "bench/worker.h"

#define BACKEND_COUNT 2

/* By enum backend_kind. */
extern const struct backend_factory backend_factories[BACKEND_COUNT];

#endif
