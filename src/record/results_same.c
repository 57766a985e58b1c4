/* Whether a run that starts is the one that is to be gone on with. */
#include <string.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "record/results.h"

static bool same_json(const struct json *a, const struct json *b)
{
    struct strbuf left = STRBUF_INIT, right = STRBUF_INIT;
    struct err ignored = ERR_INIT;
    bool same = (a == NULL) == (b == NULL);
    if (same && a != NULL)
        same = json_print(a, false, &left, &ignored) && json_print(b, false, &right, &ignored) &&
               strcmp(strbuf_str(&left), strbuf_str(&right)) == 0;
    err_fini(&ignored);
    strbuf_fini(&left);
    strbuf_fini(&right);
    return same;
}

/* The first member in which two objects differ, in either's order; NULL when they are the same. */
static const char *first_difference(const struct json *a, const struct json *b)
{
    for (size_t i = 0; i < json_count(a); i++)
        if (!same_json(json_at(a, i), json_get(b, json_key(json_at(a, i)))))
            return json_key(json_at(a, i));
    for (size_t i = 0; i < json_count(b); i++)
        if (json_get(a, json_key(json_at(b, i))) == NULL)
            return json_key(json_at(b, i));
    return NULL;
}

static bool differs(const struct results *then, struct err *err, const char *what, const char *before,
                    const char *now)
{
    return err_set(err, ERR_CONFIG,
                   "%s was measured with another %s (%s, now %s): it can only be gone on with as it "
                   "was begun",
                   then->path, what, before, now);
}

static bool same_member(const struct results *then, const struct results *now, const char *member, const char *words,
                        struct err *err)
{
    const struct json *made = json_get(now->head, member);
    struct json *after = made ? json_copy(made, err) : NULL;
    if (made != NULL && after == NULL)
        return false;
    json_plain(after); /* as `then` was read from a file */
    const char *key = first_difference(json_get(then->head, member), after);
    if (key != NULL)
        err_set(err, ERR_CONFIG, "%s was measured with %s: \"%s\" has changed", then->path, words, key);
    json_free(after);
    return key == NULL;
}

bool results_same_run(const struct results *then, const struct results *now, struct err *err)
{
    if (!same_member(then, now, "config", "another config", err) ||
        !same_member(then, now, "options", "other options", err))
        return false;
    static const char *const parts[] = {"version", "revision"};
    for (size_t i = 0; i < 2; i++) {
        const char *before = json_string(json_get(json_get(then->head, "tool"), parts[i]));
        const char *after = json_string(json_get(json_get(now->head, "tool"), parts[i]));
        if (strcmp(before, after) != 0)
            return differs(then, err, "gpubench", before, after);
    }
    if (then->device_count != now->device_count)
        return err_set(err, ERR_CONFIG, "%s was measured on %zu devices, and there are %zu now", then->path,
                       then->device_count, now->device_count);
    for (size_t i = 0; i < then->device_count; i++) {
        const struct device_info *a = &then->devices[i], *b = &now->devices[i];
        if (strcmp(a->selector, b->selector) != 0 || strcmp(a->name, b->name) != 0)
            return differs(then, err, "device", a->name, b->name);
        if (strcmp(a->driver_version, b->driver_version) != 0)
            return differs(then, err, "driver", a->driver_version, b->driver_version);
        if (strcmp(a->path, b->path) != 0)
            return differs(then, err, "code path", a->path, b->path);
        if (strcmp(a->tiles, b->tiles) != 0)
            return differs(then, err, "choice of tiles", a->tiles, b->tiles);
        if (a->threads != b->threads)
            return err_set(err, ERR_CONFIG, "%s was measured with %u threads, and there are %u now", then->path,
                           (unsigned)a->threads, (unsigned)b->threads);
        if (a->max_submit_ns != b->max_submit_ns)
            return err_set(err, ERR_CONFIG, "%s was measured with another --max-submit-ms (%llu, now %llu)", then->path,
                           (unsigned long long)(a->max_submit_ns / 1000000),
                           (unsigned long long)(b->max_submit_ns / 1000000));
    }
    return true;
}
