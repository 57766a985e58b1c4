/* gpubench report: tables again, from a results file. */
#include "cli/commands.h"
#include "cli/measure_options.h"
#include "cli/tables.h"

struct report_options {
    struct base_options base;
    struct text_list tables;
    const char *format;
};

static const struct option table[] = {
    {.name = "table",
     .letter = 'T',
     .type = OPTION_LIST,
     .argument = "NAME",
     .help = "speedup, forward, gradient, batch, crossover, reduction, phases, kernels, what-if or scaling, "
             "instead of those "
             "that the config asked for; may repeat",
     .offset = offsetof(struct report_options, tables)},
    FORMAT_OPTION(offsetof(struct report_options, format)),
    QUIET_OPTION,
    HELP_OPTION,
    {0},
};

static const char *const examples[] = {
    "gpubench report results.json",
    "gpubench report results.json --table speedup",
    NULL,
};

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    const struct report_options *options = values;
    struct results results = {0};
    struct err err = ERR_INIT;
    int code = EXIT_OK;

    (void)argc;
    (void)argv;
    if (results_load(arguments->items[0], &results, &err)) {
        if (results.partial)
            say(&options->base, "%s is not complete: the run was interrupted", arguments->items[0]);
        if (tables_print(&results, options->tables.items, options->tables.count, options->format, &err) &&
            results.cell_count == 0)
            code = EXIT_NOTHING;
    }
    if (err.code)
        code = report_error(&err);
    results_fini(&results);
    return code;
}

const struct command command_report = {
    .name = "report",
    .help = "print tables from a results file",
    .description = "Prints the tables of a results file, or of a FILE.partial that an interrupted run left.",
    .arguments = "RESULTS",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct report_options),
    .run = run,
};
