/* gpubench: chooses the command, hands it its options, turns errors into exit codes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/suggest.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/configs.h"
#include "cli/signals.h"
#include "cli/supervise.h"
#include "cli/version.h"

static const struct command *find_command(const char *name)
{
    for (const struct command *const *command = commands; *command; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}

/* What other programs call it; NULL where none does. */
static const char *synonym(const char *name)
{
    static const char *const known[][2] = {{"list", "devices"}, {"info", "devices"},      {"run", "sweep"},
                                           {"bench", "sweep"},  {"version", "--version"}, {"show", "report"},
                                           {"diff", "compare"}, {"test", "verify"}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i][0]) == 0)
            return known[i][1];
    return NULL;
}

static int unknown_command(const char *name)
{
    struct err err = ERR_INIT;
    struct suggest near;

    if (configs_is_standard(name)) {
        err_set(&err, ERR_USAGE, "\"%s\" is a config, not a command; did you mean \"sweep %s\"?", name, name);
        return report_error(&err);
    }
    suggest_init(&near, name);
    near.best = synonym(name);
    for (const struct command *const *command = commands; *command && !synonym(name); command++)
        if (!(*command)->hidden)
            suggest_offer(&near, (*command)->name);
    if (near.best)
        err_set(&err, ERR_USAGE, "\"%s\" is not a command; did you mean \"%s\"?", name, near.best);
    else
        err_set(&err, ERR_USAGE, "\"%s\" is not a command; gpubench --help lists them", name);
    return report_error(&err);
}

static bool check_count(const struct command *command, const struct text_list *arguments, struct err *err)
{
    if (arguments->count < command->min_arguments)
        return err_set(err, ERR_USAGE, "%s needs %s; gpubench %s --help shows how", command->name,
                       command->arguments, command->name);
    if (arguments->count > command->max_arguments)
        return err_set(err, ERR_USAGE, "%s: one argument too many: \"%s\"", command->name,
                       arguments->items[command->max_arguments]);
    return true;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    struct err err = ERR_INIT;
    struct text_list arguments = {0};
    void *values = mem_calloc(1, command->values_size, "options", &err);
    int code;

    if (!values)
        return report_error(&err);
    const struct base_options *base = values;
    if (!options_parse(command->options, argc - 1, argv + 1, values, &arguments, &err)) {
        err_wrap(&err, "%s", command->name);
        code = report_error(&err);
    } else if (base->help) {
        help_command(command, stdout);
        code = EXIT_OK;
    } else if (!check_count(command, &arguments, &err)) {
        code = report_error(&err);
    } else if (!command->supervised || !supervise(base->quiet, &code)) {
        code = command->run(values, &arguments, argc, argv);
    }
    options_fini(command->options, values, &arguments);
    free(values);
    return code;
}

/* gpubench help [COMMAND] */
static int run_help(int argc, char **argv)
{
    if (argc < 3) {
        help_program(stdout);
        return EXIT_OK;
    }
    const struct command *command = find_command(argv[2]);
    if (!command)
        return unknown_command(argv[2]);
    help_command(command, stdout);
    return EXIT_OK;
}

/* What stands before a command. */
static int run_global(int argc, char **argv)
{
    struct global_values values = {0};
    struct text_list arguments = {0};
    struct err err = ERR_INIT;
    int code = EXIT_OK;

    if (!options_parse(global_options, argc, argv, &values, &arguments, &err))
        code = report_error(&err);
    else if (values.help)
        help_program(stdout);
    else if (values.version)
        version_print(values.verbose, stdout);
    else if (arguments.count == 0)
        err_set(&err, ERR_USAGE, "there is no command; gpubench --help lists them");
    else
        err_set(&err, ERR_USAGE, "options stand behind the command: gpubench %s %s", arguments.items[0],
                argv[1]);
    if (err.code)
        code = report_error(&err);
    options_fini(global_options, &values, &arguments);
    return code;
}

int main(int argc, char **argv)
{
    int code;

    signals_keep_streams();
    signals_ignore_write_failures();
    if (argc < 2) {
        help_program(stderr);
        return EXIT_BAD_USAGE;
    }
    if (argv[1][0] == '-')
        code = run_global(argc, argv);
    else if (strcmp(argv[1], "help") == 0)
        code = run_help(argc, argv);
    else
        code =
            find_command(argv[1]) ? run_command(find_command(argv[1]), argc, argv) : unknown_command(argv[1]);
    return finish_output(code);
}
