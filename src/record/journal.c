#include "record/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "bench/device_json.h"

struct journal {
    int fd;
    char *path;
    size_t cells;
    struct strbuf waiting; /* lines that go behind the next one */
};

static bool failed(const struct journal *journal, struct err *err)
{
    return err_set_native(err, ERR_IO, errno, "%s cannot be written", journal->path);
}

/* Writes object and what waits as lines, whole or not at all as far as that can be had, and syncs. */
static bool write_line(struct journal *journal, const struct json *object, struct err *err)
{
    struct strbuf line = STRBUF_INIT;
    bool ok = json_print(object, false, &line, err);
    strbuf_addc(&line, '\n');
    strbuf_add(&line, strbuf_str(&journal->waiting));
    strbuf_fini(&journal->waiting);
    ok = ok && strbuf_ok(&line, err);
    const off_t start = ok ? lseek(journal->fd, 0, SEEK_END) : 0;
    for (size_t done = 0; ok && done < line.len;) {
        ssize_t n = write(journal->fd, line.data + done, line.len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            ok = failed(journal, err);
            /* Half a line would join the next one. */
            if (start >= 0 && ftruncate(journal->fd, start) != 0)
                break;
        } else {
            done += (size_t)n;
        }
    }
    if (ok && fdatasync(journal->fd) != 0)
        ok = failed(journal, err);
    strbuf_fini(&line);
    return ok;
}

static bool write_head(struct journal *journal, const struct results *results, struct err *err)
{
    struct json *head = json_copy(results->head, err);
    if (head == NULL)
        return false;
    json_set_bool(head, "journal", true);
    struct json *devices = json_set_array(head, "devices");
    for (size_t i = 0; i < results->device_count; i++)
        device_to_json(&results->devices[i], json_add_object(devices));
    bool ok = write_line(journal, head, err);
    json_free(head);
    return ok;
}

static struct journal *open_file(const char *path, int flags, struct err *err)
{
    struct journal *journal = mem_calloc(1, sizeof *journal, "the journal", err);
    if (journal == NULL)
        return NULL;
    journal->fd = -1;
    journal->path = mem_strdup(path, err);
    if (journal->path == NULL)
        goto failed;
    journal->fd = open(path, O_RDWR | O_CLOEXEC | flags, 0666);
    if (journal->fd < 0) {
        if (errno == EEXIST)
            err_set_native(err, ERR_IO, errno,
                           "%s is what an unfinished run left: go on with it by --resume, or "
                           "remove it",
                           path);
        else
            err_set_native(err, ERR_IO, errno, "%s cannot be %s", path,
                           (flags & O_CREAT) != 0 ? "made" : "opened");
        goto failed;
    }
    return journal;
failed:
    free(journal->path);
    free(journal);
    return NULL;
}

bool journal_create(const char *path, const struct results *results, struct journal **out, struct err *err)
{
    struct journal *journal = open_file(path, O_CREAT | O_EXCL, err);
    if (journal == NULL)
        return false;
    bool ok = write_head(journal, results, err);
    for (size_t i = 0; ok && i < results->cell_count; i++)
        ok = journal_add(journal, &results->cells[i], false, err);
    if (!ok) {
        journal_close(journal, false);
        return false;
    }
    *out = journal;
    return true;
}

/* Where the last whole line ends. */
static bool find_end(int fd, off_t *end)
{
    char chunk[4096];
    off_t at = lseek(fd, 0, SEEK_END);
    while (at > 0) {
        off_t from = at > (off_t)sizeof chunk ? at - (off_t)sizeof chunk : 0;
        ssize_t n = pread(fd, chunk, (size_t)(at - from), from);
        if (n <= 0)
            return false;
        for (ssize_t i = n; i > 0; i--) {
            if (chunk[i - 1] == '\n') {
                *end = from + i;
                return true;
            }
        }
        at = from;
    }
    *end = 0;
    return at == 0;
}

bool journal_reopen(const char *path, struct journal **out, struct err *err)
{
    struct journal *journal = open_file(path, 0, err);
    off_t end;
    if (journal == NULL)
        return false;
    journal->cells = 1; /* it is there because there was something in it */
    if (!find_end(journal->fd, &end) || ftruncate(journal->fd, end) != 0) {
        failed(journal, err);
        journal_close(journal, true);
        return false;
    }
    *out = journal;
    return true;
}

/* Takes object over. */
static bool write_cell(struct journal *journal, const struct cell *cell, struct json *object, struct err *err)
{
    bool ok = cell_to_json(cell, object, err) && write_line(journal, object, err);
    json_free(object);
    journal->cells += ok;
    return ok;
}

bool journal_add(struct journal *journal, const struct cell *cell, bool refined, struct err *err)
{
    struct json *object = json_new_object();
    if (refined)
        json_set_bool(object, "refined", true);
    return write_cell(journal, cell, object, err);
}

bool journal_add_pass(struct journal *journal, const struct cell *cell, size_t pass, uint64_t median_ns,
                      struct err *err)
{
    struct json *object = json_new_object(), *about = json_set_object(object, "pass");
    json_set_u64(about, "index", pass);
    json_set_u64(about, "median_ns", median_ns);
    return write_cell(journal, cell, object, err);
}

bool journal_add_environment(struct journal *journal, const struct json *record, struct err *err)
{
    struct json *object = json_new_object(), *copy = json_copy(record, err);
    if (copy != NULL)
        json_set(object, "environment", copy);
    bool ok = copy != NULL && json_print(object, false, &journal->waiting, err);
    strbuf_addc(&journal->waiting, '\n');
    json_free(object);
    return ok && strbuf_ok(&journal->waiting, err);
}

void journal_close(struct journal *journal, bool keep)
{
    if (journal == NULL)
        return;
    if (!keep || journal->cells == 0)
        unlink(journal->path);
    close(journal->fd);
    strbuf_fini(&journal->waiting);
    free(journal->path);
    free(journal);
}
