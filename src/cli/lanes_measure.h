/* The workloads of `lanes` on a device, predicted beside measured. */
#ifndef GPUBENCH_CLI_LANES_MEASURE_H
#define GPUBENCH_CLI_LANES_MEASURE_H

#include "cli/lanes_work.h"
#include "model/renderer.h"
#include "report/table.h"

/* Fills an initialised table. ERR_WRONG when what the device computed is not what the model says. */
bool lanes_measure(const struct lanes_set *set, struct renderer *renderer, struct table *t,
                   struct err *err) GB_NODISCARD;

#endif
