/* gpubench report: tables again, from a results file. */
#include "cli/commands.h"
#include "cli/measure_options.h"
#include "cli/tables.h"
#include "cli/update.h"

struct report_options {
    struct base_options base;
    struct text_list tables;
    const char *format, *update;
};

static const struct option table[] = {
    {.name = "table",
     .letter = 'T',
     .type = OPTION_LIST,
     .argument = "NAME",
     .help = "speedup, forward, gradient, batch, crossover, reduction, phases, kernels, what-if, scaling or "
             "roofline, instead of those that the config asked for; may repeat",
     .offset = offsetof(struct report_options, tables)},
    FORMAT_OPTION(offsetof(struct report_options, format)),
    {.name = "update",
     .type = OPTION_TEXT,
     .argument = "FILE.md",
     .help =
         "make the tables in this Markdown file anew: those between <!-- gpubench report RESULTS TABLE... "
         "--> and <!-- end -->",
     .offset = offsetof(struct report_options, update)},
    QUIET_OPTION,
    HELP_OPTION,
    {0},
};

static const char *const examples[] = {
    "gpubench report results.json",
    "gpubench report results.json --table speedup",
    "gpubench report --update README.md",
    NULL,
};

static int update(const struct report_options *options)
{
    struct err err = ERR_INIT;
    size_t count;

    if (!update_file(options->update, &count, &err))
        return report_error(&err);
    say(&options->base, "%s: %zu place%s", options->update, count, count == 1 ? "" : "s");
    return count ? EXIT_OK : EXIT_NOTHING;
}

static bool print(const struct report_options *options, const char *path, size_t *cells, struct err *err)
{
    struct results results = {0};
    bool ok = results_load(path, &results, err);

    if (ok && results.partial)
        say(&options->base, "%s is not complete: the run was interrupted", path);
    ok = ok && tables_print(&results, options->tables.items, options->tables.count, options->format, err);
    *cells = results.cell_count;
    results_fini(&results);
    return ok;
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    const struct report_options *options = values;
    struct err err = ERR_INIT;
    size_t cells = 0;

    (void)argc;
    (void)argv;
    if (options->update && arguments->count == 0)
        return update(options);
    if (options->update || arguments->count == 0) {
        err_set(&err, ERR_USAGE, "report takes a results file, or --update with a Markdown file");
        return report_error(&err);
    }
    if (!print(options, arguments->items[0], &cells, &err))
        return report_error(&err);
    return cells ? EXIT_OK : EXIT_NOTHING;
}

const struct command command_report = {
    .name = "report",
    .help = "print tables from a results file",
    .description = "Prints the tables of a results file, or of a FILE.partial that an interrupted run left.",
    .arguments = "[RESULTS]",
    .max_arguments = 1,
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct report_options),
    .run = run,
};
