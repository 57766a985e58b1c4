/* gpubench compare: two results files side by side. */
#include <string.h>

#include "cli/commands.h"
#include "cli/measure_options.h"
#include "cli/tables.h"
#include "report/compare.h"

struct compare_options {
    struct base_options base;
    const char *format;
};

static const struct option table[] = {
    VERDICT_FORMAT_OPTION(offsetof(struct compare_options, format)),
    QUIET_OPTION,
    HELP_OPTION,
    {0},
};

static const char *const examples[] = {
    "gpubench compare before.json after.json",
    NULL,
};

static bool print(const struct comparison *c, const char *format, struct err *err)
{
    struct strbuf text = STRBUF_INIT;
    struct table *tables = NULL;
    size_t count = 0;
    bool ok;

    if (format && strcmp(format, "json") == 0)
        ok = comparison_json(c, &text, err) && print_text(&text, err);
    else
        ok = comparison_table(c, &tables, &count, err) && tables_show(tables, count, format, err);
    tables_free(tables, count);
    strbuf_fini(&text);
    return ok;
}

static int code_of(const struct comparison *c)
{
    int code = c->compared ? EXIT_OK : EXIT_INCOMPARABLE;

    if (c->was->cell_count == 0 || c->now->cell_count == 0)
        code = EXIT_NOTHING;
    for (size_t i = 0; i < c->cell_count; i++)
        if (c->cells[i].match.now->status == CELL_WRONG)
            code = worse_exit(code, EXIT_WRONG_RESULT);
    return code;
}

static bool load(const char *path, const struct base_options *base, struct results *out, struct err *err)
{
    if (!results_load(path, out, err))
        return false;
    if (out->partial)
        say(base, "%s is not complete: the run was interrupted", path);
    return true;
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    const struct compare_options *options = values;
    struct results was = {0}, now = {0};
    struct comparison c = {0};
    struct err err = ERR_INIT;
    int code = EXIT_OK;

    (void)argc;
    (void)argv;
    if (load(arguments->items[0], &options->base, &was, &err) &&
        load(arguments->items[1], &options->base, &now, &err) && compare_runs(&was, &now, &c, &err) &&
        print(&c, options->format, &err))
        code = code_of(&c);
    if (err.code == ERR_VERSION) {
        report_error(&err);
        code = EXIT_INCOMPARABLE;
    } else if (err.code)
        code = report_error(&err);
    comparison_fini(&c);
    results_fini(&was);
    results_fini(&now);
    return code;
}

const struct command command_compare = {
    .name = "compare",
    .help = "two results files side by side: faster, slower, same, or cannot tell",
    .description =
        "Compares the cells that both files have: the second file's time divided by the first one's, with "
        "its "
        "interval, the smallest change that would have been told, and what explains a change. The rest is "
        "named. Cells of grids with other axes are found by what they compute.",
    .arguments = "A B",
    .min_arguments = 2,
    .max_arguments = 2,
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct compare_options),
    .run = run,
};
