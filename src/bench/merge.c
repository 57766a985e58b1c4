#include "bench/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/stats.h"

static bool take_status(struct cell *into, const struct cell *more, struct err *err)
{
    char *reason = more->reason != NULL ? mem_strdup(more->reason, err) : NULL;
    if (more->reason != NULL && reason == NULL)
        return false;
    free(into->reason);
    into->reason = reason;
    into->status = more->status;
    if (more->status == CELL_WRONG) {
        into->sample_count = into->block_count = 0;
        into->has_ci = into->has_device_time = into->has_phases = false;
    }
    return true;
}

static bool append(struct cell *into, const struct cell *more, struct err *err)
{
    const size_t samples = into->sample_count + more->sample_count,
                 blocks = into->block_count + more->block_count;
    uint64_t *all = mem_calloc(samples, sizeof *all, "samples", err);
    size_t *starts = mem_calloc(blocks, sizeof *starts, "blocks", err);
    if (all == NULL || starts == NULL) {
        free(all);
        free(starts);
        return false;
    }
    if (into->sample_count > 0)
        memcpy(all, into->samples_ns, into->sample_count * sizeof *all);
    if (more->sample_count > 0)
        memcpy(all + into->sample_count, more->samples_ns, more->sample_count * sizeof *all);
    for (size_t i = 0; i < blocks; i++)
        starts[i] = i < into->block_count ? into->block_starts[i]
                                          : into->sample_count + more->block_starts[i - into->block_count];
    free(into->samples_ns);
    free(into->block_starts);
    into->samples_ns = all;
    into->block_starts = starts;
    into->sample_count = samples;
    into->block_count = blocks;
    return true;
}

bool cell_merge(struct cell *into, const struct cell *more, struct err *err)
{
    agreement_worst(&into->agreement, &more->agreement);
    if (more->status != CELL_OK)
        return take_status(into, more, err);
    if (!append(into, more, err))
        return false;
    into->ended_by = more->ended_by;
    const struct series s = {into->samples_ns, into->sample_count, into->block_starts, into->block_count};
    return stats_median(s.samples_ns, s.count, &into->median_ns, err) &&
           stats_median_ci(&s, into->ci95_ns, &into->has_ci, err) &&
           stats_outliers(s.samples_ns, s.count, &into->outliers, err);
}
