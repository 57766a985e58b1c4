/* gpubench report: tables again, from a results file. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/measure_options.h"
#include "cli/tables.h"
#include "cli/update.h"
#include "report/kinds.h"
#include "report/warnings.h"

struct report_options {
    struct base_options base;
    struct text_list tables;
    const char *format, *output, *update;
};

static const struct option table[] = {
    {.name = "table",
     .letter = 'T',
     .type = OPTION_LIST,
     .argument = "NAME",
     .help = TABLE_NAMES "instead of those that the config asked for; may repeat",
     .offset = offsetof(struct report_options, tables)},
    FORMAT_OPTION(offsetof(struct report_options, format)),
    {.name = "output",
     .letter = 'o',
     .type = OPTION_TEXT,
     .argument = "FILE",
     .help = "write them to this file, which must not exist. Default: -, standard output",
     .offset = offsetof(struct report_options, output)},
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
    "gpubench report --format html -o page.html before.json after.json",
    "gpubench report --update README.md",
    NULL,
};

static int update(const struct report_options *options)
{
    struct err err = ERR_INIT;
    size_t count;

    if (options->format || options->output || options->tables.count > 0) {
        err_set(&err, ERR_USAGE,
                "--update takes no --format, --output or --table: it makes Markdown tables in place");
        return report_error(&err);
    }
    if (!update_file(options->update, &count, &err))
        return report_error(&err);
    say(&options->base, "%s: %zu place%s", options->update, count, count == 1 ? "" : "s");
    return EXIT_OK;
}

static bool write_new(const char *path, const struct strbuf *text, struct err *err)
{
    FILE *file = fopen(path, "wx");

    if (!file)
        return errno == EEXIST
                   ? err_set(err, ERR_IO, "%s exists already: move it away, or give -o another name", path)
                   : err_set_native(err, ERR_IO, errno, "%s cannot be written", path);
    errno = 0;
    bool ok = fwrite(strbuf_str(text), 1, text->len, file) == text->len;
    ok = fclose(file) == 0 && ok;
    if (!ok) {
        err_set_native(err, ERR_IO, errno, "%s cannot be written", path);
        unlink(path); /* made above, and cut short */
    }
    return ok;
}

/* -o FILE, or standard output. */
static bool deliver(const struct report_options *o, const struct results *runs, size_t count, struct err *err)
{
    struct strbuf text = STRBUF_INIT;

    if (!o->output || strcmp(o->output, "-") == 0)
        return tables_print(runs, count, o->tables.items, o->tables.count, o->format, err);
    bool ok = tables_write(runs, count, o->tables.items, o->tables.count, o->format, &text, err) &&
              write_new(o->output, &text, err);
    strbuf_fini(&text);
    return ok;
}

struct teller {
    const struct report_options *options;
    const char *path; /* NULL: there is but one file */
};

static void tell(void *context, const char *text)
{
    const struct teller *teller = context;

    if (teller->path)
        say(&teller->options->base, "%s: %s", teller->path, text);
    else
        say(&teller->options->base, "%s", text);
}

/* As when it was measured: to people, and not beside a page that has them itself. */
static void tell_warnings(const struct report_options *options, const struct results *results, bool several)
{
    struct teller teller = {options, several ? results->path : NULL};

    if (!options->format || strcmp(options->format, "text") == 0 || strcmp(options->format, "markdown") == 0)
        warnings_tell(results, tell, &teller);
}

static bool print(const struct report_options *options, const struct text_list *paths, size_t *cells,
                  struct err *err)
{
    struct results *runs = mem_calloc(paths->count, sizeof *runs, "results", err);
    size_t loaded = 0;
    bool ok = runs != NULL;

    for (; ok && loaded < paths->count; loaded += ok) {
        ok = results_load(paths->items[loaded], &runs[loaded], err);
        if (ok && runs[loaded].partial)
            say(&options->base, "%s is not complete: the run was interrupted", paths->items[loaded]);
        if (ok)
            tell_warnings(options, &runs[loaded], paths->count > 1);
        *cells += ok ? runs[loaded].cell_count : 0;
    }
    ok = ok && deliver(options, runs, loaded, err);
    for (size_t i = 0; i < loaded; i++)
        results_fini(&runs[i]);
    free(runs);
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
        err_set(&err, ERR_USAGE, "report takes results files, or --update with a Markdown file");
        return report_error(&err);
    }
    if (!tables_check_names(options->tables.items, options->tables.count, &err) ||
        !print(options, arguments, &cells, &err))
        return report_error(&err);
    return cells ? EXIT_OK : EXIT_NOTHING;
}

const struct command command_report = {
    .name = "report",
    .help = "print tables from results files",
    .description = "Prints the tables of results files, or of a FILE.partial that an interrupted run left; - "
                   "is standard "
                   "input. What its run warned of is said again on standard error. Several files make one "
                   "output: one page, one list of tables, one CSV under one header.",
    .arguments = "[RESULTS...]",
    .max_arguments = SIZE_MAX,
    .options = table,
    .examples = examples,
    .values_size = sizeof(struct report_options),
    .run = run,
};
