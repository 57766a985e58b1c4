#include "cli/options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "base/units.h"

static bool list_add(struct text_list *list, const char *text, struct err *err)
{
    void *items = list->items;

    if (!mem_grow(&items, &list->capacity, list->count + 1, sizeof *list->items, "arguments", err))
        return false;
    list->items = items;
    list->items[list->count++] = text;
    return true;
}

static bool unknown_name(const struct option *table, const char *name, struct err *err)
{
    struct suggest near;

    suggest_init(&near, name);
    for (const struct option *option = table; option->name; option++) {
        suggest_offer(&near, option->name);
        /* A word cut short is meant too: --dry for --dry-run. */
        if (!near.best && strlen(name) >= 3 && strncmp(option->name, name, strlen(name)) == 0)
            near.best = option->name;
    }
    if (near.best)
        return err_set(err, ERR_USAGE, "unknown option --%s; did you mean --%s?", name, near.best);
    return err_set(err, ERR_USAGE, "unknown option --%s", name);
}

static const struct option *find_name(const struct option *table, const char *name, size_t len)
{
    for (; table->name; table++)
        if (strlen(table->name) == len && strncmp(table->name, name, len) == 0)
            return table;
    return NULL;
}

static const struct option *find_letter(const struct option *table, char letter)
{
    for (; table->name; table++)
        if (table->letter == letter)
            return table;
    return NULL;
}

static bool set_choice(const struct option *option, const char *text, struct err *err)
{
    struct strbuf list = STRBUF_INIT;
    const char *near = suggest_from(text, option->choices);

    for (const char *const *choice = option->choices; *choice; choice++) {
        if (strcmp(*choice, text) == 0) {
            strbuf_fini(&list);
            return true;
        }
        strbuf_addf(&list, "%s%s", list.len ? ", " : "", *choice);
    }
    err_set(err, ERR_USAGE,
            near ? "--%s: \"%s\" is not one of %s; did you mean \"%s\"?" : "--%s: \"%s\" is not one of %s",
            option->name, text, strbuf_str(&list), near);
    strbuf_fini(&list);
    return false;
}

static bool set_number(const struct option *option, const char *text, struct option_u64 *out, struct err *err)
{
    bool ok = option->type == OPTION_BYTES ? units_parse_bytes(text, &out->value)
                                           : units_parse_u64(text, &out->value);

    if (!ok || out->value < option->min || out->value > option->max) {
        if (option->type == OPTION_BYTES)
            return err_set(err, ERR_USAGE, "--%s: \"%s\" is not a number of bytes (512M, 2Gi)", option->name,
                           text);
        return err_set(err, ERR_USAGE, "--%s: \"%s\" is not an integer from %" PRIu64 " to %" PRIu64,
                       option->name, text, option->min, option->max);
    }
    out->given = true;
    return true;
}

static bool needs_argument(const struct option *option, struct err *err)
{
    if (option->letter)
        return err_set(err, ERR_USAGE, "--%s (-%c) needs %s", option->name, option->letter, option->argument);
    return err_set(err, ERR_USAGE, "--%s needs %s", option->name, option->argument);
}

static bool set_value(const struct option *option, const char *text, void *values, struct err *err)
{
    void *at = (char *)values + option->offset;

    switch (option->type) {
    case OPTION_FLAG:
        *(bool *)at = true;
        return true;
    case OPTION_TEXT:
        if (option->choices && !set_choice(option, text, err))
            return false;
        if (!*text)
            return needs_argument(option, err);
        *(const char **)at = text;
        return true;
    case OPTION_LIST:
        return list_add(at, text, err);
    case OPTION_U64:
    case OPTION_BYTES:
        return set_number(option, text, at, err);
    }
    return err_set(err, ERR_INTERNAL, "--%s: an option of unknown type", option->name);
}

struct parser {
    const struct option *table;
    int argc, next;
    char **argv;
    void *values;
    struct err *err;
};

/* text: what follows --. */
static bool parse_long(struct parser *p, const char *text)
{
    const char *equals = strchr(text, '=');
    size_t len = equals ? (size_t)(equals - text) : strlen(text);
    const struct option *option = find_name(p->table, text, len);
    char name[64];

    if (!option) {
        len = len < sizeof name ? len : sizeof name - 1;
        memcpy(name, text, len);
        name[len] = '\0';
        return unknown_name(p->table, name, p->err);
    }
    if (option->type == OPTION_FLAG) {
        if (equals)
            return err_set(p->err, ERR_USAGE, "--%s takes no value", option->name);
        return set_value(option, NULL, p->values, p->err);
    }
    if (equals)
        return set_value(option, equals + 1, p->values, p->err);
    if (p->next >= p->argc)
        return needs_argument(option, p->err);
    return set_value(option, p->argv[p->next++], p->values, p->err);
}

/* letters: what follows a single -. */
static bool parse_letters(struct parser *p, const char *letters)
{
    for (; *letters; letters++) {
        const struct option *option = find_letter(p->table, *letters);
        if (!option && find_name(p->table, letters, strlen(letters)))
            return err_set(p->err, ERR_USAGE, "unknown option -%s; did you mean --%s?", letters, letters);
        if (!option)
            return err_set(p->err, ERR_USAGE, "unknown option -%c", *letters);
        if (option->type == OPTION_FLAG) {
            if (!set_value(option, NULL, p->values, p->err))
                return false;
            continue;
        }
        if (letters[1])
            return set_value(option, letters + 1, p->values, p->err);
        if (p->next >= p->argc)
            return needs_argument(option, p->err);
        return set_value(option, p->argv[p->next++], p->values, p->err);
    }
    return true;
}

bool options_parse(const struct option *table, int argc, char **argv, void *values,
                   struct text_list *arguments, struct err *err)
{
    struct parser p = {.table = table, .argc = argc, .next = 1, .argv = argv, .values = values, .err = err};
    bool options_over = false;

    while (p.next < argc) {
        const char *text = argv[p.next++];
        bool ok;
        if (options_over || text[0] != '-' || text[1] == '\0')
            ok = list_add(arguments, text, err);
        else if (strcmp(text, "--") == 0)
            ok = options_over = true;
        else
            ok = text[1] == '-' ? parse_long(&p, text + 2) : parse_letters(&p, text + 1);
        if (!ok)
            return false;
    }
    return true;
}

void options_fini(const struct option *table, void *values, struct text_list *arguments)
{
    for (; table->name; table++)
        if (table->type == OPTION_LIST)
            free(((struct text_list *)(void *)((char *)values + table->offset))->items);
    free(arguments->items);
}
