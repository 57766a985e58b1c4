#include "record/results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "bench/device_json.h"

void results_fini(struct results *results)
{
    if (results == NULL)
        return;
    for (size_t i = 0; i < results->cell_count; i++)
        cell_fini(&results->cells[i]);
    free(results->cells);
    free(results->devices);
    free(results->path);
    json_free(results->head);
    *results = (struct results){0};
}

const struct device_info *results_device(const struct results *results, size_t device)
{
    return device < results->device_count ? &results->devices[device] : NULL;
}

const struct cell *results_find(const struct results *results, const char *id)
{
    for (size_t i = 0; i < results->cell_count; i++)
        if (strcmp(results->cells[i].id, id) == 0)
            return &results->cells[i];
    return NULL;
}

/* ---- adding ---- */

/* Takes over what cell owns. */
static bool put_cell(struct results *results, struct cell *cell, struct err *err)
{
    for (size_t i = 0; i < results->cell_count; i++) {
        if (strcmp(results->cells[i].id, cell->id) == 0) {
            cell_fini(&results->cells[i]);
            results->cells[i] = *cell;
            return true;
        }
    }
    void *array = results->cells;
    if (!mem_grow(&array, &results->cell_capacity, results->cell_count + 1, sizeof *cell, "cells", err)) {
        cell_fini(cell);
        return false;
    }
    results->cells = array;
    results->cells[results->cell_count++] = *cell;
    return true;
}

bool results_add(struct results *results, const struct cell *cell, struct err *err)
{
    struct json *object = json_new_object();
    struct cell copy;
    bool ok = cell_to_json(cell, object, err) && cell_from_json(&copy, object, err) &&
              put_cell(results, &copy, err);
    json_free(object);
    return ok;
}

/* ---- writing ---- */

static bool build(const struct results *results, struct json **out, struct err *err)
{
    struct json *root = results->head != NULL ? json_copy(results->head, err) : json_new_object();
    if (root == NULL)
        return err_set(err, ERR_MEMORY, "out of memory while writing results");
    json_set_bool(root, "complete", !results->partial);
    struct json *devices = json_set_array(root, "devices");
    for (size_t i = 0; i < results->device_count; i++)
        device_to_json(&results->devices[i], json_add_object(devices));
    struct json *cells = json_set_array(root, "cells");
    for (size_t i = 0; i < results->cell_count; i++) {
        if (!cell_to_json(&results->cells[i], json_add_object(cells), err)) {
            json_free(root);
            return false;
        }
    }
    *out = root;
    return true;
}

bool results_print(const struct results *results, struct strbuf *out, struct err *err)
{
    struct json *root = NULL;
    bool ok = build(results, &root, err) && json_print(root, true, out, err);
    json_free(root);
    strbuf_addc(out, '\n');
    return ok && strbuf_ok(out, err);
}

static bool write_synced(const char *path, const struct strbuf *text, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_set_native(err, ERR_IO, errno, "%s cannot be written", path);
    bool ok = true;
    for (size_t done = 0; ok && done < text->len;) {
        ssize_t n = write(fd, text->data + done, text->len - done);
        if (n < 0 && errno == EINTR)
            continue;
        ok = n >= 0 || err_set_native(err, ERR_IO, errno, "%s cannot be written", path);
        done += n > 0 ? (size_t)n : 0;
    }
    if (ok && fsync(fd) != 0)
        ok = err_set_native(err, ERR_IO, errno, "%s cannot be written", path);
    if (close(fd) != 0 && ok)
        ok = err_set_native(err, ERR_IO, errno, "%s cannot be written", path);
    return ok;
}

static bool exists_already(const char *path, struct err *err)
{
    return err_set_native(err, ERR_IO, EEXIST, "%s is not overwritten: move it away, or choose another name",
                          path);
}

static bool move_into_place(const char *from, const char *to, bool overwrite, struct err *err)
{
    if (!overwrite) {
        if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
            return true;
        if (errno == EEXIST)
            return exists_already(to, err);
        /* A file system that cannot do it in one step. */
        if (errno != EINVAL && errno != ENOSYS)
            return err_set_native(err, ERR_IO, errno, "%s cannot be renamed to %s", from, to);
        if (access(to, F_OK) == 0)
            return exists_already(to, err);
    }
    if (rename(from, to) != 0)
        return err_set_native(err, ERR_IO, errno, "%s cannot be renamed to %s", from, to);
    return true;
}

/* So that the new name survives a power failure; a folder that cannot be synced is no error. */
static void sync_folder(const char *path)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        strcpy(folder, ".");
    else
        slash[slash == folder] = '\0';
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

bool results_save(const struct results *results, const char *path, bool overwrite, struct err *err)
{
    struct strbuf text = STRBUF_INIT, temporary = STRBUF_INIT;
    strbuf_addf(&temporary, "%s.tmp", path);
    bool ok = strbuf_ok(&temporary, err) && results_print(results, &text, err);
    if (ok && !overwrite && access(path, F_OK) == 0)
        ok = exists_already(path, err);
    if (ok) {
        ok = write_synced(strbuf_str(&temporary), &text, err) &&
             move_into_place(strbuf_str(&temporary), path, overwrite, err);
        if (ok)
            sync_folder(path);
        else
            unlink(strbuf_str(&temporary));
    }
    strbuf_fini(&text);
    strbuf_fini(&temporary);
    return ok;
}

/* A name is free when neither a results file nor the journal of an unfinished run has it. */
static bool taken(const char *path)
{
    struct strbuf journal = STRBUF_INIT;
    strbuf_addf(&journal, "%s.partial", path);
    bool yes = access(path, F_OK) == 0 || access(strbuf_str(&journal), F_OK) == 0;
    strbuf_fini(&journal);
    return yes;
}

bool results_default_path(const char *dir, const char *name, char *out, size_t size, struct err *err)
{
    char stamp[32];
    clock_stamp_file(stamp, sizeof stamp);
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return err_set_native(err, ERR_IO, errno, "folder %s cannot be made", dir);
    for (unsigned i = 1; i < 10000; i++) {
        char counter[16] = "";
        if (i > 1)
            snprintf(counter, sizeof counter, "-%u", i);
        int n = snprintf(out, size, "%s/%s-%s%s.json", dir, name, stamp, counter);
        if (n < 0 || (size_t)n >= size)
            return err_set(err, ERR_IO, "%s/%s: the path is too long", dir, name);
        if (!taken(out))
            return true;
    }
    return err_set(err, ERR_IO, "%s/%s-%s: too many files of this name", dir, name, stamp);
}

/* ---- reading ---- */

/* Whoever wrote the file: what it says goes to terminals. */
static struct json *parse_plain(const char *text, size_t len, const char *name, struct err *err)
{
    struct json *root = json_parse(text, len, name, err);

    json_plain(root);
    return root;
}

static bool check_version(const struct json *root, const char *path, struct err *err)
{
    const char *schema = json_string(json_get(root, "schema"));
    uint64_t version;
    if (strcmp(schema, RESULTS_SCHEMA) != 0)
        return err_set(err, ERR_CONFIG, "%s is not a gpubench results file: its \"schema\" is not \"%s\"",
                       path, RESULTS_SCHEMA);
    if (!json_u64(json_get(root, "version"), &version))
        return err_set(err, ERR_CONFIG, "%s: $.version must be an integer", path);
    if (version != RESULTS_VERSION)
        return err_set(err, ERR_VERSION, "%s is of results version %llu, and this gpubench reads version %d",
                       path, (unsigned long long)version, RESULTS_VERSION);
    return true;
}

static bool read_head(struct results *results, const struct json *root, struct err *err)
{
    static const char *const apart[] = {"devices", "cells", "complete", "journal"};
    results->head = json_new_object();
    for (size_t i = 0; i < json_count(root); i++) {
        const struct json *member = json_at(root, i);
        bool skip = false;
        for (size_t k = 0; k < sizeof apart / sizeof *apart; k++)
            skip = skip || strcmp(json_key(member), apart[k]) == 0;
        if (skip)
            continue;
        struct json *copy = json_copy(member, err);
        if (copy == NULL)
            return false;
        json_set(results->head, json_key(member), copy);
    }
    const struct json *devices = json_get(root, "devices");
    results->devices = mem_calloc(json_count(devices), sizeof *results->devices, "devices", err);
    if (results->devices == NULL)
        return false;
    for (size_t i = 0; i < json_count(devices); i++, results->device_count++)
        if (!device_from_json(&results->devices[i], json_at(devices, i), err))
            return err_wrap(err, "%s", results->path);
    return true;
}

/* Files from before there were sources say it once, of all cells. */
static enum scene_source source_of_all(const struct results *results)
{
    const struct json *kind = json_get(json_get(json_get(results->head, "config"), "scene"), "kind");
    return kind != NULL && strcmp(json_string(kind), "file") == 0 ? SOURCE_FILE : SOURCE_RANDOM;
}

static bool read_cell(struct results *results, const struct json *object, struct err *err)
{
    struct cell cell;
    if (!cell_from_json(&cell, object, err))
        return err_wrap(err, "%s", results->path);
    if (json_get(json_get(object, "params"), "source") == NULL)
        cell.spec.source = source_of_all(results);
    if (cell.device >= results->device_count) {
        err_set(err, ERR_CONFIG, "%s: cell \"%.200s\": device %zu is not in the file", results->path, cell.id,
                cell.device);
        cell_fini(&cell);
        return false;
    }
    return put_cell(results, &cell, err);
}

static bool read_whole(struct results *results, const char *text, size_t len, struct err *err)
{
    struct json *root = parse_plain(text, len, results->path, err);
    if (root == NULL)
        return false;
    const struct json *cells = json_get(root, "cells"), *complete = json_get(root, "complete");
    bool ok = check_version(root, results->path, err) && read_head(results, root, err);
    if (ok && (cells == NULL || json_type(cells) != JSON_ARRAY))
        ok = err_set(err, ERR_CONFIG, "%s: $.cells must be an array", results->path);
    for (size_t i = 0; ok && i < json_count(cells); i++) {
        ok = read_cell(results, json_at(cells, i), err);
        /* A second one takes the place of the first: right for a journal, but what is this? */
        if (ok && results->cell_count <= i)
            ok = err_set(err, ERR_CONFIG, "%s: $.cells[%zu]: cell \"%.200s\" is there twice", results->path, i,
                         json_string(json_get(json_at(cells, i), "id")));
    }
    results->partial = complete != NULL && !json_bool(complete);
    json_free(root);
    return ok;
}

static bool mark_refined(struct results *results, const char *id, struct err *err)
{
    const struct json *earlier = json_get(results->head, "refined");
    struct json *ids = earlier ? json_copy(earlier, err) : json_new_array();

    if (ids == NULL)
        return false;
    if (!results_is_refined(results, id))
        json_add_string(ids, id);
    json_set(results->head, "refined", ids);
    return true;
}

/* What a journal's lines say beside the cells. */
struct extras {
    struct json *environment; /* array */
    struct json *passes;      /* array of {"id", "index", "median_ns"} in the order of the lines */
};

static bool read_line(struct results *results, const struct json *line, struct extras *extras, struct err *err)
{
    const struct json *record = json_get(line, "environment"), *pass = json_get(line, "pass");
    struct json *copy = record || pass ? json_copy(record ? record : pass, err) : NULL;

    if ((record || pass) && copy == NULL)
        return false;
    if (record) {
        json_add(extras->environment, copy);
        return true;
    }
    if (pass) {
        json_set_string(copy, "id", json_string(json_get(line, "id")));
        json_add(extras->passes, copy);
    }
    return read_cell(results, line, err) && (!json_bool(json_get(line, "refined")) ||
                                             mark_refined(results, json_string(json_get(line, "id")), err));
}

/* "passes" as a finished run has it: "count" is in the journal's head. */
static void put_passes(struct results *results, const struct json *lines)
{
    uint64_t passes = 0;
    (void)!json_u64(json_get(json_get(results->head, "passes"), "count"), &passes);
    struct json *object = json_set_object(results->head, "passes");
    json_set_u64(object, "count", passes);
    struct json *medians = json_set_object(object, "medians_ns");
    for (size_t i = 0; i < results->cell_count; i++) {
        struct json *list = NULL;
        for (size_t k = 0; k < json_count(lines); k++) {
            const struct json *line = json_at(lines, k);
            uint64_t ns;
            if (strcmp(json_string(json_get(line, "id")), results->cells[i].id) != 0 ||
                !json_u64(json_get(line, "median_ns"), &ns) || ns == 0)
                continue;
            list = list ? list : json_set_array(medians, results->cells[i].id);
            json_add_u64(list, ns);
        }
    }
}

static void put_extras(struct results *results, struct extras *extras)
{
    if (json_count(extras->environment) > 0) {
        json_set(results->head, "environment", extras->environment);
        extras->environment = NULL;
    }
    if (json_get(results->head, "passes"))
        put_passes(results, extras->passes);
}

/* A journal's lines behind its first; a last one without an end was cut short by a crash. */
static bool read_lines(struct results *results, const char *at, const char *end, struct err *err)
{
    struct extras extras = {json_new_array(), json_new_array()};
    bool ok = true;

    for (const char *next; ok && at < end; at = next + 1) {
        next = memchr(at, '\n', (size_t)(end - at));
        if (next == NULL)
            break;
        struct json *line = parse_plain(at, (size_t)(next - at), results->path, err);
        ok = line != NULL && read_line(results, line, &extras, err);
        json_free(line);
    }
    if (ok)
        put_extras(results, &extras);
    json_free(extras.environment);
    json_free(extras.passes);
    results->partial = true;
    return ok;
}

/* The first line of a journal, parsed; NULL when the text is none. */
static struct json *journal_head(const char *text, const char *end, const char *name)
{
    struct err ignored = ERR_INIT;
    struct json *first = end != NULL ? parse_plain(text, (size_t)(end - text), name, &ignored) : NULL;
    err_fini(&ignored);
    if (first != NULL && !json_bool(json_get(first, "journal"))) {
        json_free(first);
        return NULL;
    }
    return first;
}

bool results_parse(const char *text, size_t len, const char *name, struct results *out, struct err *err)
{
    *out = (struct results){0};
    out->path = mem_strdup(name, err);
    bool ok = out->path != NULL;
    if (ok) {
        const char *end = len > 0 ? memchr(text, '\n', len) : NULL;
        struct json *head = journal_head(text, end, name);
        if (head != NULL)
            ok = check_version(head, name, err) && read_head(out, head, err) &&
                 read_lines(out, end + 1, text + len, err);
        else
            ok = read_whole(out, text, len, err);
        json_free(head);
    }
    if (!ok)
        results_fini(out);
    return ok;
}

bool results_load(const char *path, struct results *out, struct err *err)
{
    struct strbuf text = STRBUF_INIT;
    bool ok = strbuf_add_file(&text, path, err) && results_parse(strbuf_str(&text), text.len, path, out, err);
    strbuf_fini(&text);
    return ok;
}

/* ---- refined cells ---- */

bool results_is_refined(const struct results *results, const char *id)
{
    const struct json *refined = json_get(results->head, "refined");

    for (size_t i = 0; i < json_count(refined); i++)
        if (strcmp(json_string(json_at(refined, i)), id) == 0)
            return true;
    return false;
}

bool results_add_refined(struct results *results, const struct results *more, struct err *err)
{
    for (size_t i = 0; i < more->cell_count; i++)
        if (!results_add(results, &more->cells[i], err) || !mark_refined(results, more->cells[i].id, err))
            return false;
    return true;
}
