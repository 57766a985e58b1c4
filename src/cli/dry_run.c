#include "cli/dry_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "cli/wrap.h"

static void print_cell(const struct grid_cell *cell, const struct runner_footprint *need)
{
    char device[UNITS_MAX], host[UNITS_MAX], split[24] = "";

    units_bytes(device, need->bytes.device_bytes);
    if (need->bytes.device_bytes == 0)
        strcpy(device, "-");
    units_bytes(host, need->bytes.host_bytes);
    if (need->bytes.split > 1)
        snprintf(split, sizeof split, "  in %u parts", need->bytes.split);
    printf("%-52s %10s %10s%s\n", cell->id, device, host, split);
    const char *why = cell->refuse ? cell->refuse : need->fits ? NULL : need->reason;
    if (why) {
        fputs("    skipped:", stdout);
        wrap_text(stdout, why, strlen("    skipped:"), 4);
    }
}

/* Samples are taken for max_seconds a cell at most, as a rule; what comes before them is not known yet. */
static void print_time(const struct config *config, size_t runnable)
{
    char each[UNITS_MAX], total[UNITS_MAX], limit[UNITS_MAX];

    units_duration(each, (uint64_t)(config->measure.max_seconds * 1e9));
    units_duration(total, (uint64_t)((double)runnable * config->measure.max_seconds * 1e9));
    units_duration(limit, (uint64_t)(config->measure.timeout_seconds * 1e9));
    struct strbuf text = STRBUF_INIT;
    strbuf_addf(&text,
                "Time: sampling takes at most %s a cell, %s in all, unless %u samples take longer; checks, "
                "warm-up and "
                "kernel builds come on top. A cell is given up after %s.",
                each, total, config->measure.min_samples, limit);
    wrap_text(stdout, strbuf_str(&text), 0, 0);
    strbuf_fini(&text);
}

static void print_note(const char *text)
{
    fputs("Note:", stdout);
    wrap_text(stdout, text, strlen("Note:"), 0);
}

bool dry_run_check(const struct measure_options *options, struct err *err)
{
    if (!options->dry_run || !options->format || strcmp(options->format, "text") == 0)
        return true;
    return err_set(err, ERR_USAGE, "--dry-run prints a plan, as text: --format %s is for tables", options->format);
}

bool dry_run_print(struct runner *runner, const struct config *config, struct err *err)
{
    const struct grid *grid = runner_grid(runner);
    struct runner_footprint *needs = mem_calloc(grid->cell_count, sizeof *needs, "footprints", err);
    size_t runnable = 0;
    bool ok = needs && runner_footprints(runner, needs, err);

    if (!ok)
        goto out;
    for (size_t i = 0; i < grid->cell_count; i++)
        runnable += !grid->cells[i].refuse && needs[i].fits;
    printf("%s: %zu cell%s at %zu point%s, %zu to skip\n\n", config->name, grid->cell_count,
           grid->cell_count == 1 ? "" : "s", grid->point_count, grid->point_count == 1 ? "" : "s",
           grid->cell_count - runnable);
    printf("%-52s %10s %10s\n", "cell", "device", "host");
    for (size_t i = 0; i < grid->cell_count; i++)
        print_cell(&grid->cells[i], &needs[i]);
    putchar('\n');
    for (size_t i = 0; i < grid->note_count; i++)
        print_note(grid->notes[i]);
    if (runnable > 0)
        print_time(config, runnable);
out:
    free(needs);
    return ok;
}
