/* Fixed loops on all CPU threads that the process may use: what they take tells whether the machine itself
 * became slower. Devices have loops of their own (renderer_ops.canary). */
#ifndef GPUBENCH_BENCH_CANARY_H
#define GPUBENCH_BENCH_CANARY_H

#include "base/err.h"
#include "model/renderer.h"

/* How many times each loop runs; the median counts. */
#define CANARY_REPEATS 3

/* Arithmetic, memory, and waking all threads up (launch). Some tens of milliseconds; its threads are gone
 * afterwards. */
bool canary_cpu(struct render_canary *out, struct err *err) GB_NODISCARD;

#endif
