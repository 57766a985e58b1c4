#include "base/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool folder_path(char out[PATH_MAX], struct err *err)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool given = base && base[0] == '/'; /* a relative one is to be ignored, says its specification */
    int length = given                    ? snprintf(out, PATH_MAX, "%s/gpubench", base)
                 : home && home[0] == '/' ? snprintf(out, PATH_MAX, "%s/.cache/gpubench", home)
                                          : -1;

    return (length > 0 && length < PATH_MAX) ||
           err_set(err, ERR_IO, "no place for a cache: neither XDG_CACHE_HOME nor HOME is an absolute path");
}

/* Whether what fd is open on belongs to this user, and nobody else can write it. */
static bool is_trusted(int fd, mode_t type, const char *path, const char *name, struct err *err)
{
    struct stat s;

    if (fstat(fd, &s) != 0)
        return err_set_native(err, ERR_IO, errno, "%s/%s", path, name);
    if ((s.st_mode & S_IFMT) != type)
        return err_set(err, ERR_IO, "%s/%s is not trusted: it is no %s", path, name,
                       type == S_IFDIR ? "folder" : "plain file");
    if (s.st_uid != geteuid())
        return err_set(err, ERR_IO, "%s/%s is not trusted: another user owns it", path, name);
    if (s.st_mode & (S_IWGRP | S_IWOTH))
        return err_set(err, ERR_IO, "%s/%s is not trusted: other users can write it", path, name);
    return true;
}

/* Opens the folder; -1 without an error: there is none. */
static int open_folder(char path[PATH_MAX], struct err *err)
{
    int fd;

    if (!folder_path(path, err))
        return -1;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT)
            err_set_native(err, ERR_IO, errno, "the cache %s", path);
        return -1;
    }
    if (!is_trusted(fd, S_IFDIR, path, "", err)) {
        close(fd);
        return -1;
    }
    return fd;
}

bool cache_file_read(const char *name, struct strbuf *out, struct err *err)
{
    char path[PATH_MAX], chunk[4096];
    int folder = open_folder(path, err), fd = -1;
    ssize_t got = 0;
    bool ok = false;

    if (folder < 0)
        return false;
    fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT)
            err_set_native(err, ERR_IO, errno, "the cache %s/%s", path, name);
        goto out;
    }
    if (!is_trusted(fd, S_IFREG, path, name, err))
        goto out;
    while (out->len <= CACHE_FILE_MAX && (got = read(fd, chunk, sizeof chunk)) > 0)
        strbuf_add_bytes(out, chunk, (size_t)got);
    if (got < 0)
        err_set_native(err, ERR_IO, errno, "reading the cache %s/%s", path, name);
    else if (out->len > CACHE_FILE_MAX)
        err_set(err, ERR_IO, "the cache %s/%s is larger than it can be", path, name);
    else
        ok = strbuf_ok(out, err);
out:
    if (fd >= 0)
        close(fd);
    close(folder);
    return ok;
}

/* The folder and what it lies in, as far as they are missing. */
static bool make_folder(struct err *err)
{
    char path[PATH_MAX];

    if (!folder_path(path, err))
        return false;
    for (char *at = path + 1;; at++) {
        const char was = *at;
        if (was != '/' && was != '\0')
            continue;
        *at = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return err_set_native(err, ERR_IO, errno, "making the cache %s", path);
        *at = was;
        if (was == '\0')
            return true;
    }
}

bool cache_file_write(const char *name, const struct strbuf *text, struct err *err)
{
    char path[PATH_MAX], temporary[NAME_MAX];
    int folder = -1, fd = -1;
    bool ok = false;

    if (!strbuf_ok(text, err) || !make_folder(err) || (folder = open_folder(path, err)) < 0)
        return false;
    snprintf(temporary, sizeof temporary, ".%.200s.%ld", name, (long)getpid());
    fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        err_set_native(err, ERR_IO, errno, "writing the cache %s/%s", path, temporary);
        goto out;
    }
    ok = write(fd, strbuf_str(text), text->len) == (ssize_t)text->len &&
         renameat(folder, temporary, folder, name) == 0;
    if (!ok) {
        err_set_native(err, ERR_IO, errno, "writing the cache %s/%s", path, name);
        unlinkat(folder, temporary, 0);
    }
out:
    if (fd >= 0)
        close(fd);
    close(folder);
    return ok;
}
