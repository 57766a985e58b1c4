/* gpubench check in its parts: check.c compares, check_save.c makes baselines. */
#ifndef GPUBENCH_CLI_CHECK_H
#define GPUBENCH_CLI_CHECK_H

#include "cli/measure_options.h"
#include "cli/measurement.h"
#include "report/regress.h"

#define CHECK_BASELINE "results/baseline.json"
/* The standard config that a first baseline is made with. */
#define CHECK_CONFIG "baseline"
/* Cells that the first process (of a baseline: the first processes) leaves undecided are measured in more, until that
 * took this many times as long as the first, and at least so long. */
#define CHECK_MORE_TIMES 4
#define CHECK_MORE_NS UINT64_C(30000000000)
#define CHECK_SAVE_MORE_NS UINT64_C(120000000000) /* a baseline is made once */

struct check_options {
    struct measure_options measure;
    const char *baseline, *threshold, *config;
    struct option_u64 runs;
    bool strict, save;
};

const char *check_baseline_path(const struct check_options *options);
/* "5%", "5", "2x": 0.05, 0.05, 1. NULL is JUDGE_THRESHOLD. */
bool check_threshold(const char *text, double *out, struct err *err) GB_NODISCARD;
/* The config that a results file was measured with; -a, --seed and -t are applied. Where options have no -d, they take
 * over that of the file (borrowed texts in a list that is the caller's to free). */
bool check_config_of(const struct results *results, struct measure_options *options, struct config *out,
                     struct err *err) GB_NODISCARD;
/* How long more processes may take, by what the first took. */
uint64_t check_more_ns(uint64_t first_ns);
/* Prints the report in the format asked for, and annotations where a GitHub workflow runs. */
bool check_print(const struct regression *r, const struct check_options *options, int code,
                 struct err *err) GB_NODISCARD;

/* check --save. results: the file whose config is measured; NULL: --config, else the old baseline's own, else
 * CHECK_CONFIG. Returns an exit code. */
int check_save(struct check_options *options, const char *results, int argc, char **argv);

#endif
