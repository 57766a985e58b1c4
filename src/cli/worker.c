/* gpubench worker IN,OUT: the process that holds the drivers, started by the others. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/backends.h"
#include "cli/commands.h"

static bool parse_fd(const char *text, size_t len, int *out)
{
    char digits[16];
    uint64_t value;

    if (len == 0 || len >= sizeof digits)
        return false;
    memcpy(digits, text, len);
    digits[len] = '\0';
    if (!units_parse_u64(digits, &value) || value > 1000000)
        return false;
    *out = (int)value;
    return true;
}

static int run(const void *values, const struct text_list *arguments, int argc, char **argv)
{
    const char *text = arguments->items[0];
    const char *comma = strchr(text, ',');
    int in_fd, out_fd;

    (void)values;
    (void)argc;
    (void)argv;
    if (!comma || !parse_fd(text, (size_t)(comma - text), &in_fd) ||
        !parse_fd(comma + 1, strlen(comma + 1), &out_fd)) {
        struct err err = ERR_INIT;
        err_set(&err, ERR_USAGE, "worker: \"%s\" is not IN,OUT; gpubench starts workers itself", text);
        return report_error(&err);
    }
    return worker_main(in_fd, out_fd, backend_factories, BACKEND_COUNT);
}

static const struct option table[] = {
    {.name = "help",
     .letter = 'h',
     .type = OPTION_FLAG,
     .help = "show this help",
     .offset = offsetof(struct base_options, help)},
    {0},
};

const struct command command_worker = {
    .name = "worker",
    .help = "hold the drivers for another gpubench process",
    .description = "Started by gpubench itself; measures what it is asked for on two file descriptors.",
    .arguments = "IN,OUT",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = table,
    .hidden = true,
    .values_size = sizeof(struct base_options),
    .run = run,
};
