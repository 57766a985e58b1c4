#include "cli/update.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/tables.h"

#define BEGIN "<!-- gpubench report "
#define CLOSE "-->"
#define END "<!-- end -->"
#define MAX_TABLES 16

/* Length of the line without its end, LF or CRLF. */
static size_t line_length(const char *line)
{
    size_t length = strcspn(line, "\n");

    return length > 0 && line[length] && line[length - 1] == '\r' ? length - 1 : length;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

static bool has_crlf(const char *line)
{
    return line[line_length(line)] == '\r';
}

static bool starts_with(const char *line, const char *what)
{
    return strncmp(line, what, strlen(what)) == 0;
}

/* arguments: what stands in the marker, "h200/crossover.json crossover"; cut up in place. */
static bool add_tables(const char *path, char *arguments, struct strbuf *out, struct err *err)
{
    const char *names[MAX_TABLES];
    struct results results = {0};
    struct strbuf file = STRBUF_INIT;
    size_t count = 0;
    char *rest = NULL, *word = strtok_r(arguments, " ", &rest);
    const char *slash = strrchr(path, '/');
    bool ok = false;

    if (!word) {
        err_set(err, ERR_CONFIG, "the marker names no results file");
        goto out;
    }
    strbuf_addf(&file, "%.*s%s", slash && *word != '/' ? (int)(slash + 1 - path) : 0, path, word);
    while ((word = strtok_r(NULL, " ", &rest)) && count < MAX_TABLES)
        names[count++] = word;
    ok = strbuf_ok(&file, err) && results_load(strbuf_str(&file), &results, err) &&
         tables_write(&results, 1, names, count, "markdown", out, err);
out:
    results_fini(&results);
    strbuf_fini(&file);
    return ok;
}

/* A fenced code block (CommonMark 4.5). */
struct fence {
    char mark; /* ` or ~; 0 outside of one */
    size_t length;
};

/* Whether the line is a block's, its first and last among them. */
static bool in_fence(struct fence *fence, const char *line)
{
    size_t indent = strspn(line, " "), length = 0;
    const char *at = line + indent;

    while ((*at == '`' || *at == '~') && at[length] == *at)
        length++;
    if (!fence->mark) {
        bool begins =
            indent < 4 && length >= 3 && !(*at == '`' && memchr(at + length, '`', line_length(at + length)));
        if (begins)
            *fence = (struct fence){*at, length};
        return begins;
    }
    if (indent < 4 && *at == fence->mark && length >= fence->length &&
        strspn(at + length, " \t") == line_length(at + length))
        fence->mark = 0;
    return true;
}

/* With the line ends of the marker. */
static void add_lines(struct strbuf *out, const struct strbuf *text, bool crlf)
{
    for (const char *at = strbuf_str(text); *at; at = next_line(at)) {
        strbuf_add_bytes(out, at, line_length(at));
        strbuf_add(out, crlf ? "\r\n" : "\n");
    }
}

/* The tables of one marker, and the place behind it. */
static bool update_place(const char *path, const char **line, struct strbuf *out, struct err *err)
{
    const char *begin = *line, *end = next_line(begin);
    size_t length = line_length(begin), close = strlen(CLOSE), head = strlen(BEGIN);
    struct strbuf arguments = STRBUF_INIT, tables = STRBUF_INIT;

    if (length < head + close || strncmp(begin + length - close, CLOSE, close) != 0)
        return err_set(err, ERR_CONFIG, "the marker does not end with %s", CLOSE);
    while (*end && !(starts_with(end, END) && line_length(end) == strlen(END)))
        end = next_line(end);
    if (!*end)
        return err_set(err, ERR_CONFIG, "there is no line %s behind this marker", END);
    strbuf_add_bytes(out, begin, (size_t)(next_line(begin) - begin));
    strbuf_add_bytes(&arguments, begin + head, length - head - close);
    strbuf_addc(&arguments, ' '); /* something to cut up, even where there are none */
    bool ok = strbuf_ok(&arguments, err) && add_tables(path, arguments.data, &tables, err);
    add_lines(out, &tables, has_crlf(begin));
    strbuf_fini(&arguments);
    strbuf_fini(&tables);
    *line = end;
    return ok;
}

bool update_text(const char *path, const char *text, struct strbuf *out, size_t *count, struct err *err)
{
    struct fence fence = {0};
    size_t number = 0;

    *count = 0;
    for (const char *line = text; *line;) {
        const char *counted = line;
        if (!in_fence(&fence, line) && starts_with(line, BEGIN)) {
            if (!update_place(path, &line, out, err))
                return err_wrap(err, "%s:%zu", path, number + 1);
            ++*count;
        }
        for (; counted < line; counted = next_line(counted))
            number++;
        size_t length = (size_t)(next_line(line) - line);
        strbuf_add_bytes(out, line, length);
        line += length;
        number++;
    }
    if (*count == 0)
        return err_set(err, ERR_CONFIG, "%s: there is no line %sRESULTS TABLE... %s outside of code blocks",
                       path, BEGIN, CLOSE);
    return strbuf_ok(out, err);
}

static bool write_file(const char *path, const struct strbuf *text, struct err *err)
{
    struct strbuf made = STRBUF_INIT;
    bool ok = false;

    strbuf_addf(&made, "%s.tmp", path);
    if (!strbuf_ok(&made, err))
        goto out;
    FILE *file = fopen(strbuf_str(&made), "w");
    if (!file) {
        err_set_native(err, ERR_IO, errno, "%s: cannot be written", strbuf_str(&made));
        goto out;
    }
    ok = fwrite(text->data, 1, text->len, file) == text->len;
    ok = (fclose(file) == 0) && ok && rename(strbuf_str(&made), path) == 0;
    if (!ok) {
        err_set_native(err, ERR_IO, errno, "%s: cannot be written", path);
        unlink(strbuf_str(&made));
    }
out:
    strbuf_fini(&made);
    return ok;
}

bool update_file(const char *path, size_t *count, struct err *err)
{
    struct strbuf old = STRBUF_INIT, new = STRBUF_INIT;
    bool ok = strbuf_add_file(&old, path, err) && update_text(path, strbuf_str(&old), &new, count, err);

    if (ok && strcmp(strbuf_str(&old), strbuf_str(&new)) != 0)
        ok = write_file(path, &new, err);
    strbuf_fini(&old);
    strbuf_fini(&new);
    return ok;
}
