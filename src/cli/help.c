/* Help pages, made from the tables in commands.c. */
#include <string.h>

#include "base/strbuf.h"
#include "cli/command.h"
#include "cli/wrap.h"

#define OPTION_COLUMN 28
#define COMMAND_COLUMN 12

/* "  -d, --device WHICH   help", the help starting at `column`, on a line of its own where the left is long.
 */
static void print_entry(FILE *out, const char *left, size_t column, const char *help)
{
    size_t length = strlen(left);

    fputs(left, out);
    if (length >= column)
        fprintf(out, "\n%*s", (int)column, "");
    else
        fprintf(out, "%*s", (int)(column - length), "");
    wrap_text(out, help, column, column);
}

static void print_options(FILE *out, const struct option *table)
{
    fputs("\nOptions:\n", out);
    for (; table->name; table++) {
        struct strbuf left = STRBUF_INIT;
        if (table->letter)
            strbuf_addf(&left, "  -%c, --%s", table->letter, table->name);
        else
            strbuf_addf(&left, "      --%s", table->name);
        if (table->argument)
            strbuf_addf(&left, " %s", table->argument);
        print_entry(out, strbuf_str(&left), OPTION_COLUMN, table->help);
        strbuf_fini(&left);
    }
}

void help_command(const struct command *command, FILE *out)
{
    fprintf(out, "Usage: gpubench %s [OPTIONS]%s%s\n\n", command->name, *command->arguments ? " " : "",
            command->arguments);
    wrap_text(out, command->description, 0, 0);
    print_options(out, command->options);
    if (command->examples) {
        fputs("\nExamples:\n", out);
        for (const char *const *example = command->examples; *example; example++)
            fprintf(out, "  %s\n", *example);
    }
}

void help_program(FILE *out)
{
    fputs("Usage: gpubench COMMAND [OPTIONS] [ARGUMENTS]\n\n", out);
    wrap_text(
        out,
        "Measures a differentiable triangle renderer, forward and backward, on OpenCL devices and on the "
        "CPU: "
        "which device wins, at which size, and why. Results are checked before they are timed.",
        0, 0);
    fputs("\nCommands:\n", out);
    for (const struct command *const *command = commands; *command; command++) {
        struct strbuf left = STRBUF_INIT;
        if ((*command)->hidden)
            continue;
        strbuf_addf(&left, "  %s", (*command)->name);
        print_entry(out, strbuf_str(&left), COMMAND_COLUMN, (*command)->help);
        strbuf_fini(&left);
    }
    print_options(out, global_options);
    fputs("\ngpubench COMMAND --help shows a command's options. gpubench sweep crossover is\n"
          "where to begin.\n",
          out);
}
